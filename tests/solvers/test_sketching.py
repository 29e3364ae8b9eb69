"""Large supports are sketched before they are modelled: many exchanges at a time, only while f falls fast."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import ksparse
from ksparse.datasets import make_logistic
from ksparse.objectives import LeastSquares, Logistic
from ksparse.solvers import swaps
from ksparse.sparsity import Entries

N, K = 1000, 60
SKETCH = swaps.SwapGraHTP._sketch


def fitted(monkeypatch: pytest.MonkeyPatch, large: int, **options: Any) -> tuple[ksparse.Result, list[int]]:
    """A fit, and by how many units each sketch has changed the support."""
    sketches: list[int] = []

    def counted(solver: Any, problem: Any, current: Any, memory: Any) -> Any:
        following = SKETCH(solver, problem, current, memory)
        assert following.support is not None
        assert current.support is not None
        entered = following.support & ~current.support
        sketches.append(int(entered.sum()))
        assert following.point.value <= current.point.value
        assert int(following.support.sum()) == int(current.support.sum())
        return following

    monkeypatch.setattr(swaps, "LARGE", large)
    monkeypatch.setattr(swaps.SwapGraHTP, "_sketch", counted)
    X, y, _ = make_logistic(n=N, p=400, k=K)
    return ksparse.minimize(Logistic(X, y, alpha=1e-4), K, **options), sketches


def test_sketches_exchange_many_units_and_end_where_the_model_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, none = fitted(monkeypatch, large=1000)
    sketched, sketches = fitted(monkeypatch, large=K - 1)
    assert none == []
    assert sketches
    assert max(sketches) > 1
    assert sketched.status.success
    assert int(sketched.support.sum()) == K
    assert sketched.value <= 1.1 * plain.value


def test_a_sketch_that_gains_little_is_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(swaps, "SKETCH_GAIN", np.inf)
    assert len(fitted(monkeypatch, large=K - 1)[1]) == 1


def test_supports_of_dense_and_sparse_data_are_modelled_alike() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 700))
    y = X[:, :650] @ rng.standard_normal(650)
    dense, thin = (
        ksparse.minimize(LeastSquares(data, y, alpha=1e-2), 620, solver=ksparse.SwapGraHTP(candidates=20))
        for data in (X, sparse.csr_array(X))
    )
    np.testing.assert_array_equal(dense.selected, thin.selected)
    assert dense.message == thin.message
    assert "single units" not in dense.message


def test_what_is_not_proven_is_not_said(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 100))
    objective = LeastSquares(X, X[:, :8].sum(axis=1) + rng.standard_normal(60))
    assert "tell" not in ksparse.minimize(objective, 5).message
    bounded = ksparse.minimize(objective, sparsity=Entries(5, lower=0.0))
    assert bounded.message.endswith("lowers f, as far as its quadratic model tells")
    monkeypatch.setattr(LeastSquares, "largest_model", 10)
    assert ksparse.minimize(objective, 5).message.endswith("as far as gains and costs of single units tell")


def test_a_search_that_goes_on_from_a_solution_does_not_sketch(monkeypatch: pytest.MonkeyPatch) -> None:
    _, once = fitted(monkeypatch, large=K - 1)
    with_effort, sketches = fitted(monkeypatch, large=K - 1, effort=1)
    assert with_effort.status.success
    assert sketches == once
