"""Where displays draw, and what they say when they cannot."""

from __future__ import annotations

import sys
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ksparse
from ksparse.inference import kaplan_meier
from ksparse.plots import (
    CoefficientIntervalDisplay,
    CoefficientPathDisplay,
    ConvergenceDisplay,
    GraphDisplay,
    ScorePathDisplay,
    SelectionFrequencyDisplay,
    SupportDisplay,
    SurvivalCurveDisplay,
)
from tests.plots import fakes

ENDS = np.array([0.5, -np.inf]), np.array([1.5, 0.0])
DISPLAYS: dict[str, Any] = {
    "intervals": CoefficientIntervalDisplay(
        np.array([1.0, -0.4]), *ENDS, ["a", "b"], frequencies=np.ones(2), label="x"
    ),
    "coefficients": CoefficientPathDisplay(np.array([1, 2]), np.eye(2), ["a", "b"], k=1),
    "scores": ScorePathDisplay(np.array([1, 2]), np.eye(2), k=1),
    "convergence": ConvergenceDisplay(fakes.history(3)),
    "frequencies": SelectionFrequencyDisplay(np.array([0.5, 1.0]), np.array([False, True]), ["a", "b"], threshold=0.6),
    "graph": GraphDisplay(np.array([[1.0, 0.5], [0.5, 1.0]]), ["a", "b"], groups=[0, 1]),
    "survival": SurvivalCurveDisplay(
        {name: kaplan_meier([[1.0, 1], [2.0, 0], [3.0, 1]]) for name in ("low risk", "high risk")}
    ),
    "support": SupportDisplay(np.array([[1.0, 0.5], [0.5, 1.0]]), ["a", "b"], groups=[0, 1]),
}
CLASSES = [
    CoefficientIntervalDisplay,
    CoefficientPathDisplay,
    ScorePathDisplay,
    ConvergenceDisplay,
    SelectionFrequencyDisplay,
    GraphDisplay,
    SupportDisplay,
    SurvivalCurveDisplay,
]


@pytest.mark.parametrize("name", DISPLAYS)
def test_without_axes_there_is_a_new_figure(name: str) -> None:
    display = DISPLAYS[name]
    assert display.plot() is display
    first = display.figure_
    assert display.plot().figure_ is not first
    assert display.figure_.get_layout_engine() is not None


@pytest.mark.parametrize("name", ["intervals", "coefficients", "scores", "frequencies", "graph", "support", "survival"])
def test_given_axes_are_drawn_in(name: str) -> None:
    figure, (left, right) = plt.subplots(1, 2)
    display = DISPLAYS[name].plot(right)
    assert display.ax_ is right
    assert display.figure_ is figure
    assert plt.get_fignums() == [figure.number]
    assert not left.has_data()


def test_given_axes_are_divided() -> None:
    figure, (left, right) = plt.subplots(1, 2)
    display = DISPLAYS["convergence"].plot(right)
    figure.draw_without_rendering()
    assert display.figure_ is figure
    assert plt.get_fignums() == [figure.number]
    assert not left.has_data()
    for panel in display.axes_:
        assert right.bbox.x0 - 1e-9 <= panel.bbox.x0 < panel.bbox.x1 <= right.bbox.x1 + 1e-9
        assert right.bbox.y0 - 1e-9 <= panel.bbox.y0 < panel.bbox.y1 <= right.bbox.y1 + 1e-9
    assert display.axes_[0].bbox.y0 > display.axes_[1].bbox.y1


def test_two_axes_can_be_given() -> None:
    figure, axes = plt.subplots(2, 1)
    display = DISPLAYS["convergence"].plot(axes)
    assert list(display.axes_) == list(axes)
    assert axes[0].get_xlim() == axes[1].get_xlim()
    with pytest.raises(ValueError, match="one or two axes, got 4"):
        DISPLAYS["convergence"].plot(figure.subplots(2, 2))


@pytest.mark.slow
def test_importing_does_not_import_matplotlib_or_networkx() -> None:
    import subprocess

    code = "import sys, ksparse.plots; sys.exit(not {'matplotlib', 'networkx'}.isdisjoint(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("display", CLASSES)
@pytest.mark.parametrize("estimator", [fakes.Fitted(), make_pipeline(StandardScaler(), fakes.Fitted())])
def test_estimators_must_be_fitted(display: Any, estimator: Any) -> None:
    with pytest.raises(NotFittedError):
        display.from_estimator(estimator)


@pytest.mark.parametrize("display", CLASSES)
def test_estimators_of_another_kind_are_refused(display: Any) -> None:
    other = LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(TypeError, match=r"expected an? .*; a LinearRegression has no .*_"):
        display.from_estimator(other)
    with pytest.raises(TypeError, match="got the class LinearRegression: make an instance"):
        display.from_estimator(LinearRegression)
    with pytest.raises(TypeError, match="got an object of type int"):
        display.from_estimator(3)


def test_a_model_of_one_k_has_no_path() -> None:
    model = ksparse.SparseLinearRegression(k=1).fit(np.eye(3), [1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="SparseLinearRegression has no coef_path_"):
        CoefficientPathDisplay.from_estimator(model)


def test_paths_and_results_of_another_kind_are_refused() -> None:
    with pytest.raises(TypeError, match=r"expected a path, as ksparse.path returns; got an object of type list"):
        CoefficientPathDisplay.from_path([1, 2])
    with pytest.raises(
        TypeError, match=r"expected a Result, as ksparse.minimize returns; got an object of type History"
    ):
        ConvergenceDisplay.from_result(fakes.history(3))  # type: ignore[arg-type]
