"""The plot of survival shows the Kaplan–Meier estimates of its groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ksparse import SparseCoxRegression, SparseLinearRegression
from ksparse.inference import kaplan_meier
from ksparse.plots import SurvivalCurveDisplay
from tests.estimators.models import X
from tests.problems import draw_survival, signal

Y = draw_survival(signal(X), entry=True)


def test_lines_are_the_estimates_of_thirds_by_risk() -> None:
    model = make_pipeline(StandardScaler(), SparseCoxRegression(k=2)).fit(X, Y)
    display: Any = SurvivalCurveDisplay.from_estimator(model, X, Y)
    assert list(display.curves) == ["low risk", "middle risk", "high risk"]
    order = np.argsort(model.predict(X))
    for line, rows in zip(display.lines_, np.array_split(order, [27, 53]), strict=True):
        curve = kaplan_meier(Y[rows])
        np.testing.assert_allclose(line.get_xdata(), [0.0, *curve.times, curve.last])
        np.testing.assert_allclose(line.get_ydata(), [1.0, *curve.survival, curve.survival[-1]])
    low, _, high = display.curves.values()
    assert low.find_survival([1.0])[0] > high.find_survival([1.0])[0]


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match=r"groups has shape \(1,\), expected \(80,\)"):
        SurvivalCurveDisplay.from_groups(Y, ["a"])
    with pytest.raises(TypeError, match="a survival model of ksparse"):
        SurvivalCurveDisplay.from_estimator(SparseLinearRegression(k=1).fit(X, Y["time"]), X, Y)
