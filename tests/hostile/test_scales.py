"""Units do not matter: of X, y, weights and f, from 1e-100 to 1e100; what floats cannot hold is refused."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import ksparse
from ksparse import (
    SparseDiscriminantAnalysis,
    SparseHuberRegression,
    SparseHuberRegressionCV,
    SparseLinearRegression,
    SparseLinearRegressionCV,
    SparseLogisticRegression,
    SparseLogisticRegressionCV,
    SparsePoissonRegression,
    SparsePoissonRegressionCV,
    SparsePrecision,
    StabilitySelection,
)
from ksparse.objectives import Function, Multinomial
from ksparse.sparsity import Entries

_rng = np.random.default_rng(0)
X = _rng.standard_normal((60, 12))
SIGNAL = X[:, [1, 4, 7]] @ [1.0, -1.0, 0.5]
RESPONSE = SIGNAL + 0.5 * _rng.standard_normal(60)
WEIGHTS = _rng.uniform(0.5, 2.0, 60)
#: The estimator, the one that chooses, y, and by which power of the factor of y coefficients and the ridge change.
MODELS: dict[str, tuple[Any, Any, Any, int, int]] = {
    "linear": (SparseLinearRegression, SparseLinearRegressionCV, RESPONSE, 1, 0),
    "huber": (SparseHuberRegression, SparseHuberRegressionCV, RESPONSE + 5 * (_rng.random(60) < 0.1), 1, 0),
    "logistic": (SparseLogisticRegression, SparseLogisticRegressionCV, np.where(RESPONSE > 0, "yes", "no"), 0, 0),
    "multinomial": (SparseLogisticRegression, SparseLogisticRegressionCV, np.digitize(RESPONSE, [-1, 1]), 0, 0),
    "poisson": (SparsePoissonRegression, SparsePoissonRegressionCV, _rng.poisson(np.exp(SIGNAL)), 0, 1),
}
FACTORS = [(1e-100, 1.0), (1e100, 1.0), (1.0, 1e-100), (1.0, 1e100), (1e-100, 1e100), (1e100, 1e-100), (1e-9, 1e12)]
#: Models of labels, which have no units.
LABELLED = ("logistic", "multinomial")
#: Each model with the factors that make a difference.
CHOICES = list(dict.fromkeys((name, c, 1.0 if name in LABELLED else d) for name in MODELS for c, d in FACTORS))


def scale_target(name: str, d: float) -> Any:
    return MODELS[name][2] if name in LABELLED else d * MODELS[name][2]


def restore(name: str, model: Any, c: float, d: float) -> Any:
    return model.coef_ * c / d ** MODELS[name][3]


@pytest.mark.parametrize("options", [{}, {"positive": True}, {"feature_groups": np.arange(12) // 2}])
@pytest.mark.parametrize(("c", "d"), FACTORS)
@pytest.mark.parametrize("name", MODELS)
def test_fits(name: str, c: float, d: float, options: dict[str, Any]) -> None:
    estimator = MODELS[name][0]
    ridge = 0.01 * c * c * d ** MODELS[name][4] if name not in ("logistic", "multinomial") else 0.01 * c * c
    there = estimator(k=3, alpha=0.01, **options).fit(X, scale_target(name, 1.0), WEIGHTS)
    here = estimator(k=3, alpha=ridge, **options).fit(c * X, scale_target(name, d), 1e-100 * WEIGHTS)
    assert here.result_.status is there.result_.status
    assert_array_equal(here.support_, there.support_)
    assert_allclose(restore(name, here, c, d), there.coef_, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("c", [1e-100, 1e50, 1e100])
@pytest.mark.parametrize("name", MODELS)
def test_a_constant_feature_beside_others(name: str, c: float) -> None:
    data, estimator = np.column_stack([np.ones(60), X]), MODELS[name][0]
    there, here = (
        estimator(k=2, alpha=0.01, standardize=True).fit(factor * data, scale_target(name, 1.0), WEIGHTS)
        for factor in (1.0, c)
    )
    assert here.result_.status is there.result_.status
    assert_allclose(restore(name, here, c, 1.0), there.coef_, rtol=1e-5, atol=1e-8)


@cache
def choose(name: str) -> Any:
    """What is chosen in the usual units."""
    return MODELS[name][1](cv=3).fit(X, scale_target(name, 1.0), WEIGHTS)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "c", "d"), CHOICES)
def test_choices(name: str, c: float, d: float) -> None:
    there = choose(name)
    here = MODELS[name][1](cv=3).fit(c * X, scale_target(name, d), 1e100 * WEIGHTS)
    assert here.k_ == there.k_
    assert_allclose(restore(name, here, c, d), there.coef_, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("c", [1e-100, 1e-9, 1e9, 1e100])
def test_graphs(c: float) -> None:
    there, here = SparsePrecision(k=6).fit(X), SparsePrecision(k=6).fit(c * X)
    assert_array_equal(here.edges_[["i", "j"]], there.edges_[["i", "j"]])
    assert_allclose(here.precision_ * c * c, there.precision_, rtol=1e-6, atol=1e-9)
    y = RESPONSE > 0
    there, here = (SparseDiscriminantAnalysis(k=6).fit(data, y) for data in (X, c * X))
    assert_allclose(here.coef_ * c, there.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("c", "d"), [(1e20, 1e30), (1e-30, 1e20), (1e30, 1e-20)])
@pytest.mark.parametrize("name", ["linear", "huber"])
def test_single_precision(name: str, c: float, d: float) -> None:
    there = MODELS[name][0](k=3).fit(X.astype(np.float32), scale_target(name, 1.0))
    here = MODELS[name][0](k=3).fit((c * X).astype(np.float32), scale_target(name, d))
    assert_array_equal(here.support_, there.support_)
    assert_allclose(restore(name, here, c, d), there.coef_, rtol=1e-4, atol=1e-6)


def test_a_constant_variable_does_not_discriminate() -> None:
    data = np.column_stack([np.full(60, 1e80 / 3.0), X])
    model = SparseDiscriminantAnalysis(k=3).fit(data, RESPONSE > 0)
    assert_allclose(model.coef_[0, 0], 0.0, atol=1e-12)


@pytest.mark.parametrize("c", [1e-160, 1e-100, 1e100, 1e160])
def test_graphs_that_floats_cannot_hold_are_refused(c: float) -> None:
    with pytest.raises(ValueError, match=r"use standardize=True|a constant"):
        SparsePrecision(k=4, standardize=False).fit(c * X)
    if not 1e-140 < c < 1e140:
        for model in (SparsePrecision(k=4), SparseDiscriminantAnalysis(k=4)):
            with pytest.raises(ValueError, match=r"squares (over|under)flow; (divide|multiply) X by a constant"):
                model.fit(c * X, RESPONSE > 0)


def test_stability() -> None:
    selection = StabilitySelection(SparseLinearRegression(k=3), n_pairs=5, random_state=0)
    there = selection.fit(X, RESPONSE).frequencies_.copy()
    assert_array_equal(selection.fit(1e100 * X, 1e-100 * RESPONSE).frequencies_, there)


@pytest.mark.parametrize("factor", [1e-100, 1e-20, 1e11, 1e100])
@pytest.mark.parametrize("constant", [0.0, 3.0])
def test_functions_of_users(factor: float, constant: float) -> None:
    """f(0) = 0 and a minimum below −1e10 was taken to be unbounded below."""
    gram, linear = X.T @ X / 60, X.T @ RESPONSE / 60

    def minimize(c: float) -> ksparse.Result:
        f = Function(
            lambda w: c * (0.5 * w @ gram @ w - linear @ w + constant),
            gradient=lambda w: c * (gram @ w - linear),
            shape=12,
        )
        return ksparse.minimize(f, k=3)

    here, there = minimize(factor), minimize(1.0)
    assert here.status is there.status
    assert_array_equal(here.selected, there.selected)
    assert_allclose(here.x, there.x, rtol=1e-4, atol=1e-7)


def test_a_function_that_is_unbounded_below_is_said_to_be() -> None:
    f = Function(lambda w: -1e-9 * w.sum(), gradient=lambda w: np.full(3, -1e-9), shape=3)
    with pytest.warns(ConvergenceWarning, match="f has no minimum"):
        assert ksparse.minimize(f, k=2).status is ksparse.Status.NO_MINIMUM


def test_rates_with_exposures() -> None:
    exposure = _rng.uniform(1.0, 10.0, 60)
    counts = _rng.poisson(exposure * np.exp(SIGNAL))
    there = SparsePoissonRegression(k=3, alpha=0.0).fit(X, counts / exposure, exposure)
    here = SparsePoissonRegression(k=3, alpha=0.0).fit(X, 1e-15 * counts / exposure, exposure)
    assert_array_equal(here.support_, there.support_)
    assert_allclose(here.coef_, there.coef_, rtol=1e-6)
    assert here.intercept_ == pytest.approx(there.intercept_ + np.log(1e-15))


def test_a_feature_that_dominates_y() -> None:
    y = 1e9 * X[:, 0] + X[:, 1] - X[:, 2] + 0.3 * X[:, 3] + 0.05 * _rng.standard_normal(60)
    assert_array_equal(SparseLinearRegression(k=4).fit(X, y).get_support(indices=True), [0, 1, 2, 3])


def test_softmax_of_tiny_features() -> None:
    # A singular Hessian, whose ridge was relative to the curvature of the intercept.
    data, y = 2.0**-66 * np.round(2 * X[:9]), [1, 1, 2, 0, 0, 2, 0, 1, 2]
    here, there = (
        ksparse.minimize(Multinomial(c * data, y, alpha=(c * 2.0**-66) ** 2, fit_intercept=True), k=7)
        for c in (1.0, 2.0**66)
    )
    assert here.value == there.value
    assert_array_equal(here.selected, there.selected)


@pytest.mark.parametrize("c", [1e-160, 1e-156])
def test_softmax_without_ridge_of_vanishing_features(c: float) -> None:
    model = SparseLogisticRegression(k=2, alpha=0.0).fit(c * X, np.digitize(RESPONSE, [-1, 1]))
    there = SparseLogisticRegression(k=2, alpha=0.0).fit(X, np.digitize(RESPONSE, [-1, 1]))
    assert_allclose(c * model.coef_, there.coef_, rtol=1e-5)


@pytest.mark.parametrize("factor", [1e-3, 10.0, 1e6])
def test_the_automatic_delta_does_not_depend_on_the_scale_of_weights(factor: float) -> None:
    target = MODELS["huber"][2]
    deltas = [SparseHuberRegression(k=8).fit(X, target, c * WEIGHTS).delta_ for c in (1.0, factor)]
    assert deltas[1] == pytest.approx(deltas[0], rel=1e-9)


@pytest.mark.parametrize(
    ("data", "target", "match"),
    [
        (X, 1e200 * RESPONSE, "squares overflow; divide y"),
        (X, 1e-200 * RESPONSE, "squares underflow; multiply y"),
        (np.hstack([1e-200 * X[:, :6], X[:, 6:]]), RESPONSE, "rescale it, or use standardize=True"),
        (1e200 * X, 1e-139 * RESPONSE, "beyond what floats can hold; multiply X or y"),
    ],
)
def test_what_floats_cannot_hold_is_refused(data: Any, target: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        SparseLinearRegression(k=3).fit(data, target)


def test_bounds_of_the_solution_do_not_depend_on_units() -> None:
    f = ksparse.objectives.LeastSquares(1e90 * X, RESPONSE)
    result = ksparse.minimize(f, sparsity=Entries(3, lower=-0.4e-90, upper=0.4e-90))
    there = ksparse.minimize(ksparse.objectives.LeastSquares(X, RESPONSE), sparsity=Entries(3, lower=-0.4, upper=0.4))
    assert_array_equal(result.selected, there.selected)
    assert_allclose(1e90 * result.x, there.x, rtol=1e-6)
