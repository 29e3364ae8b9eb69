"""Effective degrees of freedom: without a ridge the number of coefficients, with one the trace of the hat matrix."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

import ksparse
from ksparse import (
    SparseHuberRegressionIC,
    SparseLinearRegression,
    SparseLinearRegressionIC,
    SparseLogisticRegression,
    SparsePoissonRegression,
)
from ksparse._types import Array
from ksparse.estimators import Samples
from tests.selection.held_out import MODELS, OPTIONS, RESPONSE, WEIGHTS, N, X

Z: Array = (X - X.mean(axis=0)) / X.std(axis=0)


def count(model: Any, data: Any, y: Any, weights: Any = None) -> float:
    """What an information criterion counts for the fitted model."""
    model.fit(data, y, weights)
    objective = model.prepare(Samples(data, np.asarray(y), weights))
    return float(model.count_parameters(objective, model.result_))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", MODELS)
def test_without_a_ridge_it_is_the_number_of_coefficients(name: str, intercept: bool) -> None:
    _, fixed, y = MODELS[name]
    outputs = {"responses": 2, "multinomial": 2}.get(name, 1)
    for k in (0, 1, 3):
        model = fixed(k, alpha=0.0, fit_intercept=intercept, **OPTIONS.get(name, {}))
        assert count(model, Z, y) == outputs * (k + intercept)


def hat_trace(columns: Array, alpha: float, weights: Array, intercept: bool) -> float:
    """Trace of the matrix that takes y to the fitted values of a ridge regression."""
    weights = weights / weights.sum()
    ones = np.ones((len(columns), int(intercept)))
    design = np.hstack([columns, ones])
    ridge = np.diag(np.append(np.full(columns.shape[1], alpha), np.zeros(int(intercept))))
    gram = (design.T * weights) @ design
    hat = design @ np.linalg.solve(gram + ridge, design.T * weights)
    return float(np.trace(hat))


@pytest.mark.parametrize("alpha", [1e-3, 0.3, 10.0])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
def test_least_squares_has_the_trace_of_its_hat_matrix(alpha: float, intercept: bool, weights: Any) -> None:
    for k in (1, 4, 8):
        model = SparseLinearRegression(k, alpha=alpha, fit_intercept=intercept)
        found = count(model, Z, RESPONSE, weights)
        expected = hat_trace(Z[:, model.support_], alpha, np.ones(N) if weights is None else weights, intercept)
        assert found == pytest.approx(expected, rel=1e-8)
        assert intercept < found < k + intercept


def test_several_responses_have_as_many_traces() -> None:
    model = SparseLinearRegression(3, alpha=0.3)
    found = count(model, Z, MODELS["responses"][2])
    assert found == pytest.approx(2 * hat_trace(Z[:, model.support_], 0.3, np.ones(N), intercept=True))


@pytest.mark.parametrize("name", ["logistic", "poisson"])
def test_other_losses_have_the_trace_of_their_weighted_hat_matrix(name: str) -> None:
    """Of the last step of iteratively reweighted least squares."""
    kind = SparseLogisticRegression if name == "logistic" else SparsePoissonRegression
    model = kind(3, alpha=0.1)
    found = count(model, Z, MODELS[name][2])
    margins = Z @ model.coef_.ravel() + np.ravel(model.intercept_)[0]
    curvature = expit(margins) * expit(-margins) if name == "logistic" else np.exp(margins)
    design = np.column_stack([Z[:, model.support_], np.ones(N)])
    gram = (design.T * curvature) @ design / N
    ridge = np.diag([0.1, 0.1, 0.1, 0.0])
    assert found == pytest.approx(np.trace(np.linalg.solve(gram + ridge, gram)), rel=1e-6)


def test_groups_count_all_their_coefficients() -> None:
    model = SparseLinearRegression(2, alpha=0.2, feature_groups=np.arange(8) // 2)
    found = count(model, Z, RESPONSE)
    assert model.support_.sum() == 4
    assert found == pytest.approx(hat_trace(Z[:, model.support_], 0.2, np.ones(N), intercept=True))


def test_features_without_variation_take_no_freedom() -> None:
    data = np.column_stack([Z, np.zeros(N)])
    model = SparseLinearRegression(9, alpha=0.1, always_select=[8])
    found = count(model, data, RESPONSE)
    assert found == pytest.approx(hat_trace(Z, 0.1, np.ones(N), intercept=True), rel=1e-6)


@pytest.mark.parametrize("criterion", ["aic", "bic"])
def test_criteria_of_ridge_regression(criterion: str) -> None:
    price = 2.0 if criterion == "aic" else log(N)
    model = SparseLinearRegressionIC(ks=[0, 2, 5], criterion=criterion, alpha=0.5).fit(Z, RESPONSE)
    values = []
    for coef, intercept in zip(model.coef_path_, model.intercept_path_, strict=True):
        residuals = RESPONSE - Z @ coef - intercept
        freedom = hat_trace(Z[:, coef != 0], 0.5, np.ones(N), intercept=True)
        values.append(N * np.log(np.mean(residuals**2)) + price * freedom)
    assert_allclose(model.criterion_, values, rtol=1e-8)


def test_criteria_count_with_the_ridge_of_the_refit() -> None:
    model = SparseLinearRegressionIC(ks=[2], criterion="aic", alpha=2.0, refit_alpha=0.1).fit(Z, RESPONSE)
    residuals = RESPONSE - model.predict(Z)
    freedom = hat_trace(Z[:, model.support_], 0.1, np.ones(N), intercept=True)
    assert model.criterion_[0] == pytest.approx(N * np.log(np.mean(residuals**2)) + 2 * freedom)


def test_the_delta_of_huber_does_not_depend_on_the_ridge() -> None:
    deltas = [SparseHuberRegressionIC(ks=[3], alpha=alpha).fit(Z, RESPONSE).delta_ for alpha in (0.0, 0.1, 100.0)]
    assert_allclose(deltas, deltas[0])
    model = ksparse.SparseHuberRegressionCV(ks=[3], cv=2, alphas=[0.1, 10.0]).fit(Z, RESPONSE)
    assert model.delta_ == pytest.approx(deltas[0], rel=1e-6)
