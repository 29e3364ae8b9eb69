"""What fits cost, in work rather than seconds: passes over X, columns gathered, products, Newton steps.

Counts are the same on every machine, so that a change that makes a search do more work shows here, before it shows in
a benchmark. In these cases, what a search does is not a matter of rounding, which is tested too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import ksparse
from ksparse._types import Array, IntArray
from ksparse.debias import newton
from ksparse.objectives import LeastSquares, Logistic, columns, linear
from ksparse.objectives.design import Design
from ksparse.solvers.swap.screened import ScreenedSwapModel as ScreenedModel

#: The most that each case may cost: 1.25 times, rounded up, what `cost` counted when this was written. A count above
#: its limit is a regression; one below half of it is progress, after which the limit would let the work double unseen.
#: In both cases the message shows all counts: if they are as they should be, put 1.25 times of them here, and say in
#: the commit why they have changed.
LIMITS: dict[str, dict[str, int]] = {
    "dense linear": {
        "passes": 9,
        "columns": 93,
        "products": 12925,
        "supports": 14,
        "gradients": 35,
        "hessians": 14,
        "steps": 0,
        "models": 3,
    },
    "dense logistic with exchanges": {
        "passes": 22,
        "columns": 319,
        "products": 119080,
        "supports": 35,
        "gradients": 138,
        "hessians": 59,
        "steps": 95,
        "models": 14,
    },
    "sparse logistic": {
        "passes": 5,
        "columns": 719,
        "products": 21094,
        "supports": 9,
        "gradients": 27,
        "hessians": 14,
        "steps": 14,
        "models": 4,
    },
    "path of 30 linear models": {
        "passes": 49,
        "columns": 250,
        "products": 24452,
        "supports": 173,
        "gradients": 379,
        "hessians": 173,
        "steps": 0,
        "models": 23,
    },
}

#: What is counted. Evaluations of f are not: how often a step at the minimum is halved is a matter of rounding.
MEANING = {
    "passes": "passes over all of X",
    "columns": "columns gathered from X",
    "products": "entries of Gram matrices, and of blocks between a support and candidates: n multiplications each",
    "supports": "restrictions of f to some columns",
    "gradients": "gradients, of f and of its restrictions",
    "hessians": "Hessians of restrictions that were made",
    "steps": "Newton steps; none where f is quadratic",
    "models": "quadratic models of exchanges",
}


def data(n: int, p: int, k: int, correlation: float) -> tuple[Array, Array]:
    """Autoregressive columns, and a signal in every (p/k)-th of them with noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1.0 - correlation**2) * X[:, j]
    w = np.zeros(p)
    w[:: p // k][:k] = rng.choice([-1.0, 1.0], k) * np.linspace(0.5, 1.5, k)
    return X, X @ w + rng.standard_normal(n)


def dense_linear(shake: Callable[[Array], Array]) -> ksparse.Result:
    X, y = data(300, 400, 20, correlation=0.6)
    return ksparse.minimize(LeastSquares(shake(X), y, fit_intercept=True), k=20)


def dense_logistic(shake: Callable[[Array], Array]) -> ksparse.Result:
    X, margins = data(500, 400, 40, correlation=0.9)
    return ksparse.minimize(Logistic(shake(X), margins > 0, alpha=1e-3, fit_intercept=True), k=40)


def sparse_logistic(shake: Callable[[Array], Array]) -> ksparse.Result:
    """Enough rows for blocks of columns to stay sparse."""
    X, _ = data(5000, 300, 25, correlation=0.5)
    rng = np.random.default_rng(1)
    X = shake(X) * (rng.random(X.shape) < 0.03)
    y = X[:, ::12].sum(axis=1) + rng.standard_normal(5000) > 0
    return ksparse.minimize(Logistic(sparse.csc_array(X), y, alpha=1e-3, fit_intercept=True), k=25)


def path(shake: Callable[[Array], Array]) -> ksparse.Path:
    X, y = data(300, 200, 20, correlation=0.6)
    return ksparse.path(shake(X), y, ks=range(1, 31))


CASES: dict[str, Callable[[Callable[[Array], Array]], Any]] = {
    "dense linear": dense_linear,
    "dense logistic with exchanges": dense_logistic,
    "sparse logistic": sparse_logistic,
    "path of 30 linear models": path,
}


def same(X: Array) -> Array:
    return X


def cost(name: str, shake: Callable[[Array], Array] = same) -> dict[str, int]:
    """What a case costs."""
    with counted() as counts:
        counts["passes"] = CASES[name](shake).passes
    return {what: counts[what] for what in MEANING}


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Count the work that is done within."""
    counts: Counter[str] = Counter()
    with pytest.MonkeyPatch.context() as patch:

        def watch(owner: Any, name: str, what: str, amount: Callable[..., int] = lambda *_: 1) -> None:
            original = getattr(owner, name)

            def watched(*arguments: Any, **options: Any) -> Any:
                result = original(*arguments, **options)
                counts[what] += amount(result, *arguments)
                return result

            patch.setattr(owner, name, watched)

        def entries(block: Array, *_: Any) -> int:
            return block.size

        def new_entries(rows: IntArray, block: Array) -> int:
            return rows.size * block.shape[0]

        def gathered(_: Any, design: Design, chosen: IntArray, *__: Any) -> int:
            return 0 if design.gathered else chosen.size

        def taken(_: Any, design: Design, chosen: IntArray) -> int:
            return chosen.size if design.is_sparse and not design.gathered else 0  # dense columns are gathered above

        watch(Design, "gather", "columns", gathered)
        watch(Design, "take", "columns", taken)
        watch(Design, "gram", "products", entries)
        watch(Design, "cross", "products", entries)
        watch(columns, "_rows_with_unknown", "products", new_entries)
        watch(linear.LinearObjective, "restrict", "supports")
        watch(linear.LinearObjective, "gradient", "gradients")
        watch(linear.LinearObjective, "_block", "hessians")
        watch(newton, "search", "steps")
        watch(ScreenedModel, "__init__", "models")
        yield counts


@pytest.mark.parametrize("name", CASES)
def test_fits_cost_no_more_than_their_limits(name: str) -> None:
    counts = cost(name)
    risen = {what: count for what, count in counts.items() if count > LIMITS[name][what]}
    assert not risen, f"{risen} above the limits {LIMITS[name]}; all counts: {counts}"
    fallen = {what: count for what, count in counts.items() if count < 0.5 * LIMITS[name][what]}
    assert not fallen, f"{fallen} below half of the limits {LIMITS[name]}; all counts: {counts}"


@pytest.mark.parametrize("name", CASES)
def test_costs_do_not_hinge_on_rounding(name: str) -> None:
    """Errors of one part in 10¹², far more than sums in another order make, change no count."""
    rng = np.random.default_rng(7)
    for _ in range(3):
        assert cost(name, lambda X: X * (1.0 + 1e-12 * rng.standard_normal(X.shape))) == cost(name)


def test_the_dense_logistic_case_has_exchanges() -> None:
    history = dense_logistic(same).history
    assert (np.isnan(history["step"]) & (history["support_change"] > 0)).sum() >= 3


def test_the_sparse_case_stays_sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    stored: list[bool] = []
    original = Design.cross

    def watched(self: Design, others: Design, weights: Array) -> Array:
        stored.extend([self.is_sparse, others.is_sparse])
        return original(self, others, weights)

    monkeypatch.setattr(Design, "cross", watched)
    sparse_logistic(same)
    assert stored
    assert all(stored)


def test_a_path_costs_less_than_its_models_alone() -> None:
    X, y = data(300, 200, 20, correlation=0.6)
    together = ksparse.path(X, y, ks=range(1, 31)).passes
    alone = sum(ksparse.path(X, y, ks=[k]).passes for k in range(1, 31))
    assert together < 0.5 * alone
