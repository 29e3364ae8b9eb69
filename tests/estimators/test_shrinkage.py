"""Shrinkage of graphs: closed forms, the graphical lasso, and what does not depend on the units."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.covariance import graphical_lasso, log_likelihood
from sklearn.datasets import load_wine

from ksparse import SparseDiscriminantAnalysis, SparsePrecision, SparsePrecisionCV, SparsePrecisionIC
from ksparse._types import Array
from ksparse.datasets import make_precision
from ksparse.objectives import LogDet
from ksparse.objectives.shrinkage import shrink_covariance

P = 8
PAIRS = P * (P - 1) // 2
WAYS = ("factor", "amount")


def samples(n: int = 60, seed: int = 0, p: int = P) -> Array:
    """Samples of a random graph, whose variables have different spreads."""
    return make_precision(n, p, probability=0.3, random_state=seed).X * np.linspace(0.5, 3.0, p)


def covariance_of(X: Array) -> Array:
    return np.asarray(np.cov(X, rowvar=False, bias=True))


def correlations_of(X: Array) -> Array:
    return np.asarray(np.corrcoef(X, rowvar=False))


def test_all_pairs_give_the_inverse_of_the_shrunken_covariance() -> None:
    X = samples()
    S = covariance_of(X)
    shrunken = 0.7 * S + 0.3 * np.diag(S.diagonal())
    model = SparsePrecision(k=PAIRS, shrinkage=0.3, bounds=None).fit(X)
    assert_allclose(model.precision_, np.linalg.inv(shrunken), rtol=1e-7, atol=1e-9)
    assert_allclose(model.covariance_, shrunken, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("standardize", [True, False])
def test_all_pairs_shrunken_by_an_amount_give_the_graphical_lasso(standardize: bool) -> None:
    X = samples()
    S = covariance_of(X)
    spreads = np.sqrt(S.diagonal()) if standardize else np.full(P, np.sqrt(S.diagonal().mean()))
    units = np.multiply.outer(spreads, spreads)
    _, lasso = graphical_lasso(S / units, 0.1, tol=1e-8, enet_tol=1e-10, max_iter=1000)
    model = SparsePrecision(k=PAIRS, shrinkage=0.1, shrink_by="amount", standardize=standardize).fit(X)
    assert_allclose(model.precision_ * units, lasso, atol=1e-5)


@pytest.mark.parametrize("by", WAYS)
def test_no_edges_leave_the_variances(by: str) -> None:
    X = samples()
    model = SparsePrecision(k=0, shrinkage=0.4, shrink_by=by).fit(X)
    assert_allclose(model.precision_, np.diag(1.0 / X.var(axis=0)), rtol=1e-10)


@pytest.mark.parametrize(("by", "left"), [("factor", 0.8 * 0.6), ("amount", 0.6 - 0.2)])
def test_two_variables_by_hand(by: str, left: float) -> None:
    """With a correlation of 0.6, 0.48 or 0.4 is left of it."""
    S = np.array([[4.0, 0.6 * 6.0], [0.6 * 6.0, 9.0]])
    model = SparsePrecision(k=1, shrinkage=0.2, shrink_by=by, covariance="precomputed").fit(S)
    assert_allclose(model.precision_[0, 0], 1.0 / (4.0 * (1.0 - left**2)), rtol=1e-7)
    assert_allclose(model.precision_[0, 1], -left / (6.0 * (1.0 - left**2)), rtol=1e-7)
    assert_allclose(model.edges_["partial_correlation"], [left], rtol=1e-7)


def test_an_amount_above_all_correlations_leaves_none() -> None:
    model = SparsePrecision(k=PAIRS, shrinkage=0.99, shrink_by="amount").fit(samples())
    assert len(model.edges_) == 0


@pytest.mark.parametrize("by", WAYS)
def test_the_gradient_is_zero_on_the_graph(by: str) -> None:
    X = samples()
    model = SparsePrecision(k=6, shrinkage=0.1, shrink_by=by).fit(X)
    shrunken = shrink_covariance(correlations_of(X), 0.1, by)
    point = LogDet(shrunken, bounds=None).evaluate(model.result_.x)
    assert_allclose(point.gradient[model.result_.x != 0], 0.0, atol=1e-7)
    assert model.result_.value == pytest.approx(point.value)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("amount", [0.03, 0.3])
def test_an_amount_satisfies_the_conditions_of_the_lasso(seed: int, amount: float) -> None:
    """W stays within the amount, and moves by all of it wherever Ω = W⁻¹ has an entry; also with singular Σ."""
    R = correlations_of(samples(20, seed, 30))
    W = shrink_covariance(R, amount, "amount")
    omega = np.linalg.inv(W)
    off = ~np.eye(30, dtype=bool)
    assert_allclose(W.diagonal(), 1.0)
    assert_allclose(W, W.T)
    assert np.abs(W - R).max() <= amount + 1e-7
    real = off & (np.abs(omega) > 1e-4)
    assert real.any()
    assert_allclose((W - R)[real], amount * np.sign(omega[real]), atol=1e-6)


@pytest.mark.parametrize("by", WAYS)
def test_units_do_not_matter(by: str) -> None:
    X, units = samples(), np.geomspace(1e-3, 1e4, P)
    model = SparsePrecision(k=7, shrinkage=0.15, shrink_by=by).fit(X)
    other = SparsePrecision(k=7, shrinkage=0.15, shrink_by=by).fit(X * units)
    assert_allclose(other.precision_ * np.multiply.outer(units, units), model.precision_, rtol=1e-6, atol=1e-9)


def test_without_standardizing_one_unit_for_all_does_not_matter() -> None:
    options: Any = {"k": 7, "shrinkage": 0.1, "shrink_by": "amount", "standardize": False}
    model, other = SparsePrecision(**options).fit(samples()), SparsePrecision(**options).fit(100.0 * samples())
    assert_allclose(1e4 * other.precision_, model.precision_, rtol=1e-6, atol=1e-9)


def test_by_a_factor_standardizing_changes_nothing() -> None:
    options: Any = {"k": 7, "shrinkage": 0.2}
    model = SparsePrecision(**options).fit(samples())
    other = SparsePrecision(standardize=False, **options).fit(samples())
    assert_allclose(other.precision_, model.precision_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("by", WAYS)
def test_fewer_samples_than_variables_need_no_bounds(by: str) -> None:
    model = SparsePrecision(k=200, shrinkage=0.2, shrink_by=by).fit(samples(15, p=30))
    assert model.bounds_ == (0.0, np.inf)
    assert model.result_.success


@pytest.mark.parametrize("by", WAYS)
def test_a_constant_variable_has_no_edges(by: str) -> None:
    X = samples()
    X[:, 3] = 5.0
    with pytest.warns(UserWarning, match="constant"):
        model = SparsePrecision(k=PAIRS, shrinkage=0.1, shrink_by=by).fit(X)
    assert np.count_nonzero(model.precision_[3]) == 1
    others = np.arange(P) != 3
    without = SparsePrecision(k=PAIRS, shrinkage=0.1, shrink_by=by, bounds="paper").fit(X[:, others])
    assert_allclose(model.precision_[np.ix_(others, others)], without.precision_, rtol=1e-6, atol=1e-8)


def test_held_out_samples_are_better_explained() -> None:
    X, _ = make_precision(200, 30, random_state=1)
    plain, shrunken = (SparsePrecision(k=44, shrinkage=s).fit(X[:100]).score(X[100:]) for s in (0.0, 0.1))
    assert shrunken > plain


@pytest.mark.parametrize("by", WAYS)
def test_discriminants_of_all_pairs_have_their_closed_form(by: str) -> None:
    X, y = load_wine(return_X_y=True)
    model = SparseDiscriminantAnalysis(k=100, shrinkage=0.2, shrink_by=by, bounds=None).fit(X, y)
    within = X - model.means_[y]
    spreads = within.std(axis=0)
    units = np.multiply.outer(spreads, spreads)
    shrunken = units * shrink_covariance(within.T @ within / len(X) / units, 0.2, by)
    offsets = model.means_ - model.priors_ @ model.means_
    assert_allclose(model.coef_, offsets @ np.linalg.inv(shrunken), rtol=1e-5, atol=1e-9)


def test_criteria_and_folds_measure_the_samples_not_the_shrunken_covariance() -> None:
    X = samples(100)
    model = SparsePrecisionIC(ks=[5], shrinkage=0.2, criterion="bic").fit(X)
    R = correlations_of(X)
    scaled = model.precision_ * np.multiply.outer(X.std(axis=0), X.std(axis=0))
    deviance = 100 * (np.sum(R * scaled) - np.linalg.slogdet(scaled)[1])
    assert model.criterion_[0] == pytest.approx(deviance + 5 * np.log(100))
    fold = [(np.arange(60), np.arange(60, 100))]
    chosen = SparsePrecisionCV(ks=[5], shrinkages=0.2, shrink_by="factor", cv=fold).fit(X)
    training = SparsePrecision(k=5, shrinkage=0.2).fit(X[:60])
    held_out = (X[60:] - training.location_).T @ (X[60:] - training.location_) / 40
    assert chosen.scores_[0, 0] == pytest.approx(log_likelihood(held_out, training.precision_))


@pytest.mark.parametrize("wrong", [-0.1, 1.0, 2, np.nan])
def test_shrinkage_is_at_least_0_and_below_1(wrong: float) -> None:
    with pytest.raises(ValueError, match="shrinkage must be"):
        SparsePrecision(shrinkage=wrong).fit(samples())


def test_wrong_kinds_are_refused() -> None:
    with pytest.raises(TypeError, match="shrinkage must be a number"):
        SparsePrecision(shrinkage="auto").fit(samples())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='shrink_by must be "factor" or "amount"'):
        SparsePrecision(shrink_by="lasso").fit(samples())


def test_a_hopelessly_small_amount_is_refused() -> None:
    X = samples(10, p=40)
    with pytest.raises(ValueError, match="too small for a covariance that is nearly singular"):
        SparsePrecision(k=5, shrinkage=1e-6, shrink_by="amount").fit(X)
