"""Large supports begin with many swaps at once, and only while f falls fast."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

import ksparse
from ksparse.datasets import make_logistic
from ksparse.objectives import LeastSquares, Logistic
from ksparse.solvers import Iterate, Problem, SwapGraHTP
from ksparse.solvers.swap.state import Phase, SwapState
from ksparse.solvers.swap.tuning import SwapTuning
from ksparse.sparsity import Entries

N, K = 1000, 60


def fit(tuning: SwapTuning, **parameters: Any) -> tuple[ksparse.Result, list[int]]:
    """A fit, and by how many units each bulk swap has changed the support."""
    counts: list[int] = []

    class Watched(SwapGraHTP):
        def run_phase(self, problem: Problem, current: Iterate, state: SwapState) -> Iterate:
            following = super().run_phase(problem, current, state)
            assert following.support is not None
            if state.phase is Phase.BULK_SWAP and tuning.bulk_size < K:
                assert current.support is not None
                counts.append(int((following.support & ~current.support).sum()))
                assert following.value <= current.value
                assert int(following.support.sum()) == int(current.support.sum())
            return following

    Watched.tuning = tuning
    X, y, _ = make_logistic(n=N, p=400, k=K)
    return ksparse.minimize(Logistic(X, y, alpha=1e-4), K, solver=Watched(**parameters)), counts


def test_bulk_swaps_change_many_units_and_end_where_the_model_ends() -> None:
    plain, none = fit(SwapTuning())
    result, counts = fit(replace(SwapTuning(), bulk_size=K - 1))
    assert none == []
    assert counts
    assert max(counts) > 1
    assert result.status.success
    assert int(result.support.sum()) == K
    assert result.value <= 1.1 * plain.value


def test_a_bulk_swap_that_lowers_f_by_little_is_the_last() -> None:
    assert len(fit(replace(SwapTuning(), bulk_size=K - 1, bulk_decrease=np.inf))[1]) == 1


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


def test_what_is_not_proven_is_not_said() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 100))
    objective = LeastSquares(X, X[:, :8].sum(axis=1) + rng.standard_normal(60))
    assert "according to" not in ksparse.minimize(objective, 5).message
    bounded = ksparse.minimize(objective, sparsity=Entries(5, lower=0.0))
    assert bounded.message.endswith("lowers f (according to the quadratic model)")
    additive = type("Additive", (SwapGraHTP,), {"tuning": replace(SwapTuning(), max_model_size=10)})()
    assert ksparse.minimize(objective, 5, solver=additive).message.endswith(
        "lowers f (according to gains and costs of single units)"
    )


def test_a_search_that_continues_from_a_solution_has_no_bulk_swaps() -> None:
    tuning = replace(SwapTuning(), bulk_size=K - 1)
    _, once = fit(tuning)
    with_effort, counts = fit(tuning, effort=1)
    assert with_effort.status.success
    assert counts == once
