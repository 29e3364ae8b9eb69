"""The plot of coefficients with intervals shows the numbers of the summary."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

from ksparse import SparseLinearRegression, SparseLogisticRegression
from ksparse.plots import CoefficientIntervalDisplay

X, Y = load_diabetes(return_X_y=True, as_frame=True)


def test_dots_and_lines_are_coefficients_and_intervals() -> None:
    model = SparseLinearRegression(k=3).fit(X, Y)
    summary = model.summary(resamples=10)
    display = CoefficientIntervalDisplay.from_estimator(model, summary_kw={"resamples": 10})
    deviations = X[summary.features.index].std(ddof=0).to_numpy()
    np.testing.assert_allclose(
        np.asarray(display.dots_.get_offsets())[:, 0], summary.features["coefficient"] * deviations
    )
    ends = np.array([segment[:, 0] for segment in display.lines_.get_segments()])
    np.testing.assert_allclose(ends, summary.features[["low", "high"]].to_numpy() * deviations[:, None])
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == summary.features.index.tolist()
    assert len(CoefficientIntervalDisplay.from_summary(summary, top=2).features_) == 2


def test_each_class_and_groups() -> None:
    data, y = load_iris(return_X_y=True)
    summary = SparseLogisticRegression(k=1, feature_groups=["a", "a", "b", "b"]).fit(data, y).summary(resamples=10)
    display = CoefficientIntervalDisplay.from_summary(summary, output=2)
    np.testing.assert_allclose(display.coefficients, summary.features[("standardized", 2)])
    assert display.frequencies is not None
    assert display.frequencies.tolist() == [summary.units["frequency"].iloc[0]] * 2


def test_infinite_ends_reach_the_edge() -> None:
    ends = np.array([-np.inf, 0.5]), np.array([np.inf, 1.5])
    display = CoefficientIntervalDisplay(np.array([0.2, 1.0]), *ends, ["a", "b"]).plot()
    assert display.lines_.get_segments()[0][:, 0] == pytest.approx(display.ax_.get_xlim())


def test_a_summary_without_intervals_is_refused() -> None:
    summary = SparseLinearRegression(k=3).fit(X, Y).summary(intervals=None)
    with pytest.raises(ValueError, match="no intervals"):
        CoefficientIntervalDisplay.from_summary(summary)
    with pytest.raises(TypeError, match="a Summary"):
        CoefficientIntervalDisplay.from_summary([1])  # type: ignore[arg-type]
