"""Which phase follows which, and what a warm start continues with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ksparse
from ksparse.datasets import make_logistic
from ksparse.objectives import LeastSquares, LogDet, Logistic
from ksparse.objectives.protocols import working_form
from ksparse.solvers import Budget, FGraHTP, GraHTP, Iterate, Problem, Result, StagedSwap, SwapGraHTP, grow, shrink
from ksparse.solvers.swap.state import Phase, SwapState
from ksparse.sparsity import Entries, Pairs

#: Phases that may follow each phase, as the tables of the solvers say.
FEATURES = {
    Phase.PURSUE: {Phase.PURSUE, Phase.BULK_SWAP},
    Phase.BULK_SWAP: {Phase.BULK_SWAP, Phase.SWAP},
    Phase.SWAP: {Phase.SWAP, Phase.RESTART},
    Phase.RESTART: {Phase.RESTART, Phase.SWAP, Phase.PERTURB},
    Phase.PERTURB: {Phase.PERTURB, Phase.VERIFY},
    Phase.VERIFY: {Phase.VERIFY},
}
GRAPHS = FEATURES | {
    Phase.GROW: {Phase.BULK_SWAP, Phase.SWAP},
    Phase.BULK_SWAP: {Phase.BULK_SWAP, Phase.GROW},
    Phase.SWAP: {Phase.BULK_SWAP, Phase.SWAP, Phase.RESTART},
    Phase.RESTART: {Phase.RESTART, Phase.BULK_SWAP, Phase.PERTURB},
}
del GRAPHS[Phase.PURSUE]


def watch(
    kind: type[SwapGraHTP], objective: Any, k: int, **parameters: Any
) -> tuple[Result, list[tuple[Phase, Phase]]]:
    """A run, and each phase with the one that it handed over to; f must not rise in any."""
    seen: list[tuple[Phase, Phase]] = []

    class Watched(kind):  # type: ignore[misc, valid-type]
        def run_phase(self, problem: Problem, current: Iterate, state: SwapState) -> Iterate:
            following: Iterate = super().run_phase(problem, current, state)
            assert isinstance(following.state, SwapState)
            if current.support is not None:
                assert following.value <= current.value + 1e-12 * abs(current.value)
            seen.append((state.phase, following.state.phase))
            return following

    return ksparse.minimize(objective, k, solver=Watched(**parameters)), seen


def correlated(p: int) -> Any:
    lag = np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    return np.random.default_rng(0).standard_normal((50, p)) @ np.linalg.cholesky(0.7**lag).T


@pytest.mark.parametrize("effort", [0, 1, 5])
def test_phases_of_features_follow_the_table(effort: int) -> None:
    X, y, _ = make_logistic(60, 40, 6, random_state=0)
    result, seen = watch(SwapGraHTP, Logistic(X, y, alpha=1e-3), 6, effort=effort)
    assert result.success
    assert all(after in FEATURES[before] for before, after in seen)
    phases = {before for before, _ in seen}
    expected = {Phase.PURSUE, Phase.BULK_SWAP, Phase.SWAP, Phase.RESTART}
    expected |= {Phase.PERTURB} if effort else set()
    expected |= {Phase.VERIFY} if effort == 5 else set()
    assert phases == expected


@pytest.mark.parametrize("effort", [0, 1, 5])
def test_phases_of_graphs_follow_the_table(effort: int) -> None:
    covariance = np.cov(correlated(10), rowvar=False)
    result, seen = watch(StagedSwap, LogDet(covariance), 8, effort=effort)
    assert result.success
    assert all(after in GRAPHS[before] for before, after in seen)
    phases = {before for before, _ in seen}
    assert {Phase.GROW, Phase.BULK_SWAP, Phase.SWAP, Phase.RESTART} <= phases
    assert (Phase.PERTURB in phases) == (effort > 0)
    assert (Phase.VERIFY in phases) == (effort == 5)


def test_without_swaps_only_pursuit_is_left() -> None:
    X, y, _ = make_logistic(60, 100, 6, random_state=0)
    result, seen = watch(SwapGraHTP, Logistic(X, y, alpha=1e-3), 6, max_swaps=0)
    assert result.message == "converged: no step lowers f"
    assert Phase.SWAP not in {before for before, _ in seen}


# --- warm starts ------------------------------------------------------------------------------------------------------


def problem_of(objective: Any, sparsity: Any) -> Problem:
    return Problem(working_form(objective), sparsity.bind(objective.shape, objective.free))


def state_of(iterate: Iterate) -> SwapState:
    assert isinstance(iterate.state, SwapState)
    return iterate.state


def test_a_quick_warm_start_continues_with_swaps_and_a_full_one_anew() -> None:
    X = correlated(30)
    problem = problem_of(LeastSquares(X, X[:, ::5].sum(axis=1)), Entries(4))
    iterate = problem.refit(np.arange(30) < 4, np.zeros(30))
    solver = SwapGraHTP()
    quick, full = (state_of(solver.warm_start(problem, iterate, budget)) for budget in (Budget.QUICK, Budget.FULL))
    assert (quick.phase, quick.budget) == (Phase.SWAP, Budget.QUICK)
    assert (full.phase, full.budget) == (Phase.PURSUE, Budget.FULL)
    nothing = Iterate(problem.objective.evaluate(np.zeros(30)))
    cold = solver.warm_start(problem, nothing)
    assert (state_of(cold).phase, state_of(cold).budget, cold.support) == (Phase.PURSUE, Budget.QUICK, None)


def test_a_quick_run_neither_restarts_nor_perturbs() -> None:
    X = correlated(30)
    problem = problem_of(LeastSquares(X, X[:, ::5].sum(axis=1)), Entries(4))
    start = SwapGraHTP().warm_start(problem, problem.refit(np.arange(30) < 4, np.zeros(30)))
    _, last = SwapGraHTP(effort=5).resume(problem, start)
    assert state_of(last).phase is Phase.SWAP


def test_a_graph_with_fewer_edges_grows_and_one_with_k_swaps() -> None:
    objective = LogDet(np.cov(correlated(10), rowvar=False))
    smaller, problem = (problem_of(objective, Pairs(k)) for k in (3, 8))
    few = smaller.refit(smaller.units.to_mask(np.arange(45) < 3), objective.start)
    assert state_of(StagedSwap().warm_start(problem, few)).phase is Phase.GROW
    assert state_of(StagedSwap().warm_start(smaller, few)).phase is Phase.BULK_SWAP
    result, _ = StagedSwap().resume(problem, StagedSwap().warm_start(problem, few))
    assert len(result.selected) == 8
    assert result.value < few.value


@pytest.mark.parametrize("solver", [GraHTP(), FGraHTP()])
def test_published_solvers_start_from_x(solver: ksparse.solvers.Solver) -> None:
    X = correlated(30)
    problem = problem_of(LeastSquares(X, X[:, ::5].sum(axis=1)), Entries(4))
    iterate = problem.refit(np.arange(30) < 4, np.zeros(30))
    start = solver.warm_start(problem, iterate)
    np.testing.assert_array_equal(start.point.x, iterate.point.x)
    assert solver.without_effort() is solver
    assert not solver.descends_paths


def test_growing_and_shrinking_change_the_number_of_units() -> None:
    X = correlated(30)
    y = X[:, ::5].sum(axis=1)
    four, six = (problem_of(LeastSquares(X, y), Entries(k)) for k in (4, 6))
    iterate = four.refit(np.arange(30) < 4, np.zeros(30))
    larger = grow(six, iterate)
    assert larger.support is not None
    assert larger.support.sum() == 6
    assert larger.support[:4].all()
    assert larger.value < iterate.value
    again = shrink(four, larger)
    assert again.support is not None
    assert again.support.sum() == 4
    assert not (again.support & ~larger.support).any()
    costs = {j: np.linalg.lstsq(X[:, others], y, rcond=None)[1] for j, others in _without_one(larger.support).items()}
    assert not again.support[min(costs, key=lambda j: float(costs[j][0]))]


def _without_one(support: Any) -> dict[int, list[int]]:
    inside = np.flatnonzero(support).tolist()
    return {j: [i for i in inside if i != j] for j in inside}
