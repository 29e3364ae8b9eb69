"""Newton's method for several ridges at once: each minimizer is that of the exact refit with this ridge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge

import ksparse
from ksparse._types import Array
from ksparse.debias.ridges import apply_to_rows, minimize_for_ridges
from ksparse.objectives import Cox, Huber, LeastSquares, Logistic, Poisson
from ksparse.objectives.losses.huber import HuberLoss
from tests.problems import CONSTANTS_IGNORED, LINEAR, MATRIX, N, P, design, linear, responses, signal

RIDGES: Array = np.array([1e-3, 0.1, 5.0])
POINTWISE = [kind for kind in LINEAR if kind not in MATRIX + CONSTANTS_IGNORED]
WEIGHTS: Array = np.random.default_rng(0).uniform(0.1, 3.0, N)
OFFSET: Array = np.random.default_rng(1).standard_normal(N)


def support_of(objective: Any) -> Any:
    mask = np.zeros(objective.shape, dtype=bool)
    mask[[1, 4, 6]] = True
    mask[P:] = True  # the intercept, if there is one
    return mask


def assert_exact(objective: Any, start: Array | None = None) -> None:
    """The minimizers are those of `FixedSupport` for each ridge."""
    support = support_of(objective)
    model = objective.restrict(support)
    found = minimize_for_ridges(model, RIDGES, np.zeros(int(support.sum())) if start is None else start)
    assert found is not None
    assert found.shape == (3, support.sum())
    for x, ridge in zip(found, RIDGES, strict=True):
        refit = ksparse.minimize(
            objective.with_alpha(ridge), 3, solver=ksparse.FixedSupport(), x0=support.astype(float)
        )
        assert_allclose(x, refit.x[support], rtol=1e-5, atol=1e-6)
        full = np.zeros(objective.shape)
        full[support] = x
        value = objective.with_alpha(ridge).evaluate(full).value
        assert value <= refit.value + 1e-9 * abs(refit.value)


@pytest.mark.parametrize("kind", POINTWISE)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("options", [{}, {"sample_weight": WEIGHTS}, {"offset": OFFSET}], ids=["", "weights", "offset"])
def test_each_ridge_is_the_exact_refit(kind: str, intercept: bool, options: dict[str, Any]) -> None:
    assert_exact(linear(kind, fit_intercept=intercept, **options))


@pytest.mark.parametrize("kind", POINTWISE)
def test_any_start_leads_to_the_same(kind: str) -> None:
    for seed in range(3):
        assert_exact(linear(kind, fit_intercept=True), np.random.default_rng(seed).normal(scale=3.0, size=4))


@pytest.mark.parametrize("kind", ["least squares", "logistic"])
def test_sparse_features(kind: str) -> None:
    X = np.where(np.random.default_rng(0).random((N, P)) < 0.5, 0.0, design())
    assert_exact(linear(kind, sparse.csc_array(X), fit_intercept=True))


def test_scikit_learn_gives_the_same() -> None:
    X = design()
    y, labels, counts = (responses(kind, signal(X)) for kind in ("least squares", "logistic", "poisson"))
    chosen = X[:, [1, 4, 6]]
    pairs: list[tuple[Any, Any]] = [
        (LeastSquares(X, y, fit_intercept=True), lambda a: Ridge(alpha=N * a).fit(chosen, y)),
        (
            Logistic(X, labels, fit_intercept=True),
            lambda a: LogisticRegression(C=1 / (N * a), tol=1e-10, max_iter=1000).fit(chosen, labels),
        ),
        (
            Poisson(X, counts, fit_intercept=True),
            lambda a: PoissonRegressor(alpha=a, tol=1e-10, max_iter=1000).fit(chosen, counts),
        ),
    ]
    for objective, theirs in pairs:
        found = minimize_for_ridges(objective.restrict(support_of(objective)), RIDGES, np.zeros(4))
        assert found is not None
        for x, ridge in zip(found, RIDGES, strict=True):
            model = theirs(ridge)
            assert_allclose(x, np.append(model.coef_.ravel(), model.intercept_), rtol=1e-4, atol=1e-5)


def test_nothing_but_an_intercept() -> None:
    objective = linear("poisson", fit_intercept=True)
    support = np.arange(P + 1) == P
    found = minimize_for_ridges(objective.restrict(support), RIDGES, np.zeros(1))
    assert found is not None
    y = responses("poisson", signal(design()))
    assert_allclose(found, np.log(np.mean(y)), rtol=1e-6)


# --- what is left to others ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MATRIX)
def test_several_outputs_are_left_to_others(kind: str) -> None:
    objective = linear(kind)
    support = support_of(objective)
    assert minimize_for_ridges(objective.restrict(support), RIDGES, np.zeros(int(support.sum()))) is None


def test_samples_without_weight_are_left_to_others() -> None:
    objective = linear("logistic", sample_weight=np.where(np.arange(N) < 3, 0.0, 1.0))
    assert minimize_for_ridges(objective.restrict(support_of(objective)), RIDGES, np.zeros(3)) is None


def test_partial_likelihoods_have_minimizers_too() -> None:
    X = design()
    times = np.random.default_rng(0).exponential(np.exp(-signal(X)))
    objective = Cox(X, np.column_stack([times, np.ones(N)]))
    restricted = objective.restrict(support_of(objective))
    solutions = minimize_for_ridges(restricted, RIDGES, np.zeros(3))
    assert solutions is not None
    for ridge, x in zip(RIDGES, solutions, strict=True):
        assert_allclose(restricted.with_alpha(ridge).evaluate(x).gradient, 0.0, atol=1e-8)


def test_losses_with_thresholds_are_left_to_others() -> None:
    objective = linear("ordinal")
    assert minimize_for_ridges(objective.restrict(support_of(objective)), RIDGES, np.zeros(3)) is None


def test_separated_classes_have_a_minimum_with_a_ridge_only() -> None:
    X = design()
    objective = Logistic(X, X[:, 1] + X[:, 4] > 0, fit_intercept=True)
    assert_exact(objective)
    model = objective.restrict(support_of(objective))
    free = minimize_for_ridges(model, np.array([0.0]), np.zeros(4))
    if free is not None:  # without a ridge f falls to 0: what is returned has come close
        assert model.evaluate(free[0]).value < 1e-6
    weak = minimize_for_ridges(model, np.array([1e-6, 1.0]), np.zeros(4))
    assert weak is not None
    refit = ksparse.minimize(
        objective.with_alpha(1e-6), 3, solver=ksparse.FixedSupport(), x0=support_of(objective) * 1.0
    )
    assert_allclose(weak[0], refit.x[support_of(objective)], rtol=1e-3)


def test_columns_that_are_equal_have_no_unique_minimum_without_a_ridge() -> None:
    X = design()
    X[:, 4] = X[:, 1]
    objective = LeastSquares(X, signal(X) + 0.1 * OFFSET)
    model = objective.restrict(support_of(objective))
    both = minimize_for_ridges(model, np.array([0.5]), np.zeros(3))
    assert both is not None
    assert both[0, 0] == pytest.approx(both[0, 1])
    none = minimize_for_ridges(model, np.array([0.0, 0.5]), np.zeros(3))
    if none is not None:
        refit = ksparse.minimize(objective, 3, solver=ksparse.FixedSupport(), x0=support_of(objective) * 1.0)
        assert model.evaluate(none[0]).value == pytest.approx(refit.value)


def test_huber_where_no_residual_is_within_delta_at_the_start() -> None:
    X = design()
    objective = Huber(X, 100.0 * signal(X) + OFFSET, delta=0.1, fit_intercept=True)
    found = minimize_for_ridges(objective.restrict(support_of(objective)), RIDGES, np.zeros(4))
    for x, ridge in zip([] if found is None else found, RIDGES, strict=found is not None):
        changed = objective.with_alpha(ridge)
        refit = ksparse.minimize(changed, 3, solver=ksparse.FixedSupport(), x0=support_of(objective) * 1.0)
        full = np.zeros(P + 1)
        full[support_of(objective)] = x
        assert changed.evaluate(full).value <= refit.value * (1 + 1e-8)


def test_a_loss_of_several_rows_of_margins() -> None:
    margins, y = np.random.default_rng(0).standard_normal((3, 5)), np.arange(5.0)
    loss = HuberLoss(0.5)
    expected = [loss.value(row, y) for row in margins]
    assert_allclose(apply_to_rows(loss.value, margins, y), expected)


def test_more_features_than_samples_without_a_ridge_are_left_to_the_caller() -> None:
    """The Hessian is singular; rounding hides that from a matrix inverse."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((32, 80))
    f = LeastSquares(X, X[:, 0] + 0.5 * rng.standard_normal(32), fit_intercept=True)
    assert minimize_for_ridges(f, np.array([0.0]), np.zeros(81)) is None
    assert minimize_for_ridges(f, np.array([0.1]), np.zeros(81)) is not None


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("kind", [LeastSquares, Logistic, Poisson])
def test_more_features_than_samples(kind: Any, intercept: bool) -> None:
    """The gradient vanishes, from any start; among the features is one twice."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 30))
    X[:, 7] = X[:, 3]
    f = kind(X, np.arange(12) % 2, fit_intercept=intercept, sample_weight=rng.uniform(0.5, 2.0, 12))
    start = rng.standard_normal(f.size)
    found = minimize_for_ridges(f.restrict(np.ones(f.shape, dtype=bool)), RIDGES, start)
    assert found is not None
    for x, ridge in zip(found, RIDGES, strict=True):
        assert_allclose(f.with_alpha(ridge).evaluate(x).gradient, 0.0, atol=1e-8)


def test_no_features_and_no_intercept() -> None:
    f = LeastSquares(design(), responses("least squares", signal(design())))
    found = minimize_for_ridges(f.restrict(np.zeros(f.shape, dtype=bool)), RIDGES, np.zeros(0))
    assert found is not None
    assert found.shape == (3, 0)


@pytest.mark.parametrize("kind", [LeastSquares, Logistic, Poisson])
@pytest.mark.parametrize("intercept", [False, True])
def test_many_samples(kind: Any, intercept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples that are too many for compiled refits; few Gram matrices serve all ridges."""
    monkeypatch.setattr("ksparse.debias.compiled.MAX_NUMBERS", 0)
    monkeypatch.setattr("ksparse.debias.ridges.MAX_NUMBERS", 0)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5)) * [1.0, 3.0, 0.5, 1.0, 1.0]
    y = rng.poisson(np.exp(0.3 * X[:, 0])) if kind is Poisson else X[:, 0] + rng.standard_normal(200) > 0
    f = kind(X, y, fit_intercept=intercept)
    ridges = np.array([0.3, 1e-3, 0.1, 0.01, 0.03])
    model = f.restrict(np.ones(f.shape, dtype=bool))
    before = model.counters.products
    found = minimize_for_ridges(model, ridges, np.zeros(f.size))
    assert found is not None
    assert model.counters.products - before <= 4 * 25
    for x, ridge in zip(found, ridges, strict=True):
        assert_allclose(f.with_alpha(ridge).evaluate(x).gradient, 0.0, atol=1e-7)


def test_many_samples_of_losses_that_are_left_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ksparse.debias.ridges.MAX_NUMBERS", 0)
    test_several_outputs_are_left_to_others("multinomial")
    test_samples_without_weight_are_left_to_others()
    test_losses_with_thresholds_are_left_to_others()
