"""Swap optimality against all supports of small problems."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import ksparse
from ksparse._types import Array
from ksparse.certificates.incumbents import Incumbents
from ksparse.objectives import Function, LeastSquares, Logistic, Poisson

from .enumeration import draw_case


def differs_by(supports: Any, chosen: Any) -> Array:
    """How many units of a support each of others lacks."""
    return np.asarray((chosen & ~supports).sum(axis=1))


@pytest.mark.parametrize("kind", ["squares", "logistic", "huber", "poisson", "multiresponse"])
@pytest.mark.parametrize("setting", ["plain", "always"])
def test_swaps_are_all_that_differ_by_so_few_units(kind: str, setting: str) -> None:
    answers = []
    for seed in range(400, 406):
        with np.errstate(all="ignore"):
            case = draw_case(kind, seed, setting, features=6)
        units = case.sparsity.bind(case.objective.shape, case.objective.free)
        for support in case.supports[:: max(1, len(case.supports) // 4)]:
            x0 = np.where(units.to_mask(support), 1.0, 0.0)
            result = ksparse.minimize(case.objective, sparsity=case.sparsity, solver=ksparse.FixedSupport(), x0=x0)
            chosen = units.find_units(result.support) | units.always
            for pairs in (1, 2):
                near = differs_by(case.supports, chosen) <= pairs
                expected = result.value <= case.values[near].min() + 1e-8 * abs(result.value)
                assert result.is_swap_optimal(pairs) == expected
                answers.append(expected)
    assert 0 < sum(answers) < len(answers)


def test_functions_without_bounds_are_tried_on_all_swaps() -> None:
    A = np.diag([1.0, 2.0, 3.0, 4.0]) + 0.3
    b = np.array([1.0, 2.0, 3.0, 4.0])
    f = Function(lambda x: 0.5 * x @ A @ x - b @ x, gradient=lambda x: A @ x - b, hessian=lambda x: A, shape=4)
    assert ksparse.minimize(f, 2).is_swap_optimal(2)
    worst = ksparse.minimize(f, 2, solver=ksparse.FixedSupport(), x0=np.array([1.0, 1.0, 0.0, 0.0]))
    assert not worst.is_swap_optimal()


def test_without_a_ridge_all_swaps_are_tried() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 12))
    f = Logistic(X, X[:, 3] + X[:, 8] + rng.standard_normal(80) > 0)
    assert ksparse.minimize(f, 2).is_swap_optimal(2)
    assert not ksparse.minimize(f, 2, solver=ksparse.FixedSupport(), x0=np.eye(12)[0] + np.eye(12)[3]).is_swap_optimal()


@pytest.mark.parametrize("k", [2, 8])
def test_values_below_the_rounding_of_f_are_the_same(k: int) -> None:
    """With all counts 0, the intercept goes down and f falls to 0 without end on every support."""
    X = np.random.default_rng(0).standard_normal((60, 8))
    with pytest.warns(ConvergenceWarning, match="No ridge bounds the intercept"):
        result = ksparse.minimize(Poisson(X, np.zeros(60), alpha=0.1, fit_intercept=True), k)
    assert 0 < result.value < 1e-20
    assert result.is_swap_optimal(2)


def test_small_values_of_squares_are_exact() -> None:
    X = np.random.default_rng(0).standard_normal((60, 8))
    f = LeastSquares(X, X[:, 3] + 1e-9 * X[:, 5])
    assert not ksparse.minimize(f, 2, solver=ksparse.FixedSupport(), x0=np.eye(8)[3] + np.eye(8)[0]).is_swap_optimal()


@pytest.mark.parametrize("pairs", [0, 3, True, "1"])
def test_pairs_are_checked(pairs: Any) -> None:
    result = ksparse.minimize(Logistic(np.eye(4), [0, 1, 0, 1], alpha=0.1), 1)
    with pytest.raises(ValueError, match="pairs must be 1 or 2"):
        result.is_swap_optimal(pairs)


def test_single_swaps_are_tried_where_one_bound_does_not_exclude_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound for each of them would take longer than a trial."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 60)) + rng.standard_normal((40, 1))
    y = X[:, 0] - X[:, 1] + rng.standard_normal(40) > 0
    tried: list[int] = []

    def count(incumbents: Incumbents, chosen: Any) -> float:
        tried.append(int(chosen.sum()))
        return refit(incumbents, chosen)

    refit = Incumbents.refit
    monkeypatch.setattr(Incumbents, "refit", count)
    monkeypatch.setattr("ksparse.certificates.swaps.branch_and_bound", None)
    for alpha, most in ((1e-6, 4 * 56), (1.0, 100)):
        result = ksparse.minimize(Logistic(X, y, alpha=alpha), 4, effort=2)
        tried.clear()
        assert result.is_swap_optimal()
        assert 0 < len(tried) <= most
        assert set(tried) == {4}
