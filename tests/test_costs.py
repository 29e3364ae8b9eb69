"""What fits cost, in work rather than seconds: passes over X, columns gathered, products, Newton steps.

Counts are the same on every machine, so that a change that makes a search do more work shows here, before it shows in
a benchmark. In these cases, what a search does is not a matter of rounding, which is tested too. All counts are read
from `ksparse.counters.Counters`, which says what each of them means. Evaluations of f are not counted: how often a step
at the minimum is halved is a matter of rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import ksparse
from ksparse._types import Array
from ksparse.designs.sparse import SparseBlock
from ksparse.objectives import Function, LeastSquares, Logistic, Objective
from ksparse.selection import PathSolver
from ksparse.sparsity import Entries

#: The most that each case may cost: 1.25 times, rounded up, what `cost` counted when this was written. A count above
#: its limit is a regression; one below half of it is progress, after which the limit would let the work double unseen.
#: In both cases the message shows all counts: if they are as they should be, put 1.25 times of them here, and say in
#: the commit why they have changed.
LIMITS: dict[str, dict[str, int]] = {
    "dense linear": {
        "passes": 9,
        "columns": 93,
        "products": 12425,
        "restrictions": 14,
        "gradients": 28,
        "hessians": 17,
        "newton_steps": 0,
        "swap_models": 3,
        "compilations": 0,
    },
    "dense logistic with swaps": {
        "passes": 23,
        "columns": 319,
        "products": 117080,
        "restrictions": 35,
        "gradients": 134,
        "hessians": 59,
        "newton_steps": 95,
        "swap_models": 14,
        "compilations": 0,
    },
    "sparse logistic": {
        "passes": 4,
        "columns": 569,
        "products": 18125,
        "restrictions": 9,
        "gradients": 23,
        "hessians": 15,
        "newton_steps": 14,
        "swap_models": 3,
        "compilations": 0,
    },
    "user's function": {
        "passes": 918,
        "columns": 0,
        "products": 0,
        "restrictions": 38,
        "gradients": 524,
        "hessians": 7,
        "newton_steps": 0,
        "swap_models": 5,
        "compilations": 0,
    },
    "path of 30 linear models": {
        "passes": 50,
        "columns": 250,
        "products": 48935,
        "restrictions": 80,
        "gradients": 227,
        "hessians": 140,
        "newton_steps": 0,
        "swap_models": 24,
        "compilations": 0,
    },
}

Shake = Callable[[Array], Array]


def data(n: int, p: int, k: int, correlation: float) -> tuple[Array, Array]:
    """Autoregressive columns, and a signal in every (p/k)-th of them with noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1.0 - correlation**2) * X[:, j]
    w = np.zeros(p)
    w[:: p // k][:k] = rng.choice([-1.0, 1.0], k) * np.linspace(0.5, 1.5, k)
    return X, X @ w + rng.standard_normal(n)


def dense_linear(shake: Shake) -> tuple[Objective, int]:
    X, y = data(300, 400, 20, correlation=0.6)
    return LeastSquares(shake(X), y, fit_intercept=True), 20


def dense_logistic(shake: Shake) -> tuple[Objective, int]:
    X, margins = data(500, 400, 40, correlation=0.9)
    return Logistic(shake(X), margins > 0, alpha=1e-3, fit_intercept=True), 40


def sparse_logistic(shake: Shake) -> tuple[Objective, int]:
    """Enough rows for blocks of columns to stay sparse."""
    X, _ = data(5000, 300, 25, correlation=0.5)
    rng = np.random.default_rng(1)
    X = shake(X) * (rng.random(X.shape) < 0.03)
    y = X[:, ::12].sum(axis=1) + rng.standard_normal(5000) > 0
    return Logistic(sparse.csc_array(X), y, alpha=1e-3, fit_intercept=True), 25


def user_function(shake: Shake) -> tuple[Objective, int]:
    """A smooth function without a Hessian: the sum of log cosh of residuals."""
    X, y = data(100, 30, 5, correlation=0.5)
    X = shake(X)

    def value(w: Array) -> float:
        residuals = np.abs(X @ w - y)
        return float(np.mean(residuals + np.log1p(np.exp(-2.0 * residuals))))

    return Function(value, gradient=lambda w: X.T @ np.tanh(X @ w - y) / 100, shape=30), 5


def path_of_linear_models(shake: Shake) -> Objective:
    X, y = data(300, 200, 20, correlation=0.6)
    return LeastSquares(shake(X), y, fit_intercept=True)


def same(X: Array) -> Array:
    return X


FITS: dict[str, Callable[[Shake], tuple[Objective, int]]] = {
    "dense linear": dense_linear,
    "dense logistic with swaps": dense_logistic,
    "sparse logistic": sparse_logistic,
    "user's function": user_function,
}
PATH = "path of 30 linear models"


def solve_path(objective: Objective, ks: Any) -> None:
    PathSolver(objective, Entries(1), ksparse.SwapGraHTP()).solve(ks)


def cost(name: str, shake: Shake = same) -> dict[str, int]:
    """What a case costs."""
    if name == PATH:
        objective = path_of_linear_models(shake)
        solve_path(objective, range(1, 31))
    else:
        objective, k = FITS[name](shake)
        ksparse.minimize(objective, k)
    return asdict(objective.counters)


@pytest.mark.parametrize("name", [*FITS, PATH])
def test_fits_cost_no_more_than_their_limits(name: str) -> None:
    counts = cost(name)
    risen = {what: count for what, count in counts.items() if count > LIMITS[name].get(what, 0)}
    assert not risen, f"{risen} above the limits {LIMITS[name]}; all counts: {counts}"
    fallen = {what: count for what, count in counts.items() if count < 0.5 * LIMITS[name].get(what, 0)}
    assert not fallen, f"{fallen} below half of the limits {LIMITS[name]}; all counts: {counts}"


#: L-BFGS, which refits a function without a Hessian, ends an iteration earlier or later by rounding.
EXACT_COUNTS = [name for name in (*FITS, PATH) if name != "user's function"]


@pytest.mark.parametrize("name", EXACT_COUNTS)
def test_costs_do_not_depend_on_rounding(name: str) -> None:
    """Errors of one part in 10¹², far more than sums in another order make, change no count."""
    rng = np.random.default_rng(7)
    for _ in range(3):
        assert cost(name, lambda X: X * (1.0 + 1e-12 * rng.standard_normal(X.shape))) == cost(name)


def test_the_dense_logistic_case_has_swaps() -> None:
    objective, k = dense_logistic(same)
    history = ksparse.minimize(objective, k).history
    assert (np.isnan(history["step"]) & (history["support_change"] > 0)).sum() >= 3


def test_the_sparse_case_stays_sparse() -> None:
    objective, k = sparse_logistic(same)
    design: Any = objective._design  # type: ignore[attr-defined]
    for columns in (np.arange(k), np.arange(0, 300, 7)):
        assert isinstance(design.select(columns), SparseBlock)


def test_a_path_costs_less_than_its_models_alone() -> None:
    def passes(ks: Any) -> int:
        objective = path_of_linear_models(same)
        before = objective.counters.passes
        solve_path(objective, ks)
        return objective.counters.passes - before

    assert passes(range(1, 31)) < 0.5 * sum(passes([k]) for k in range(1, 31))
