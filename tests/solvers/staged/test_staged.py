"""The search for many edges: stages, batch swaps, and what ends them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import ksparse
from ksparse._types import Array
from ksparse.datasets import make_precision
from ksparse.objectives import LogDet
from ksparse.selection import PathSolver
from ksparse.solvers import StagedSwap, Status, SwapGraHTP, specialize
from ksparse.solvers.staged.stages import Stage, StageTuning
from ksparse.sparsity import Pairs

TUNING = StageTuning()


def correlations(n: int = 60, p: int = 40, seed: int = 0) -> Array:
    return np.asarray(np.corrcoef(make_precision(n, p, degree=3.0, random_state=seed).X, rowvar=False))


def test_stages_double_up_to_k() -> None:
    stage: Stage | None = Stage.begin_first(100, 0, TUNING)
    sizes = []
    while stage is not None:
        sizes.append(stage.size)
        stage = stage.begin_next(100, TUNING)
    assert sizes == [6, 12, 24, 48, 96, 100]
    assert Stage.begin_first(100, 30, TUNING).size == 30
    assert Stage.begin_first(1, 0, TUNING).size == 1


def test_stages_before_the_last_try_one_batch_swap() -> None:
    stage = Stage.begin(48, TUNING)
    assert stage.batch == 6
    assert not stage.is_over(thorough=False)
    assert stage.record_swap(accepted=True).is_over(thorough=False)
    assert stage.record_swap(accepted=False).is_over(thorough=False)


def test_the_last_stage_halves_the_batch_until_nothing_is_left() -> None:
    stage = Stage.begin(100, TUNING)
    seen = []
    while not stage.is_over(thorough=True):
        seen.append(stage.batch)
        stage = stage.record_swap(accepted=False)
    assert seen == [12, 6, 3, 1]
    assert Stage.begin(100, TUNING).record_swap(accepted=True).batch == 12


def test_the_default_solver_of_graphs() -> None:
    f = LogDet(correlations(p=10))
    assert specialize(SwapGraHTP(max_swaps=3, effort=2), f) == StagedSwap(max_swaps=3, effort=2)
    assert specialize(ksparse.GraSP(), f) == ksparse.GraSP()
    features = ksparse.objectives.LeastSquares(np.eye(3), np.ones(3))
    assert specialize(SwapGraHTP(), features) == SwapGraHTP()
    named, default = ksparse.minimize(f, 8, solver=SwapGraHTP()), ksparse.minimize(f, 8)
    np.testing.assert_array_equal(named.x, default.x)
    assert named.message == default.message


def test_swaps_of_fewer_edges_lower_f_further() -> None:
    """The search continues after the first batch swap that fails."""
    S = correlations()
    plain = ksparse.minimize(LogDet(S), 90, solver=SwapGraHTP(max_swaps=0))
    whole = ksparse.minimize(LogDet(S), 90)
    assert whole.value < plain.value - 0.1
    assert (np.diff(whole.history["value"]) <= 1e-9).all()
    entered = whole.history["support_change"]
    assert entered.max() > 20
    assert 1 in entered


@pytest.mark.parametrize("seed", range(3))
def test_growing_in_stages_is_not_worse_than_at_once(seed: int) -> None:
    """The graph of all at once is the k largest correlations, which explain each other."""
    S = correlations(seed=seed)
    at_once = ksparse.minimize(LogDet(S), 90, solver=ksparse.GraHTP(step=1e-3))
    assert ksparse.minimize(LogDet(S), 90, solver=SwapGraHTP(max_swaps=0)).value < at_once.value


@pytest.mark.parametrize("limit", [0.0, 1e-3])
def test_a_time_limit_is_not_convergence(limit: float) -> None:
    f = LogDet(correlations(n=300, p=150))
    start = ksparse.minimize(f, 212, solver=SwapGraHTP(max_swaps=0)).x
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ksparse.ConvergenceWarning)
        result = ksparse.minimize(f, 212, x0=start, solver=SwapGraHTP(time_limit=limit))
    assert result.status is Status.TIME_LIMIT


def test_a_path_tries_again_a_solution_that_has_changed() -> None:
    """Downwards from a larger k that became better, a smaller one is tried again."""
    f = LogDet(correlations())
    solver = PathSolver(f, Pairs(1), SwapGraHTP())
    solver.solve([30, 60])
    seen = dict(solver._seen_from_above)
    assert seen == {(60, 30): solver.results[60].value}
    solver.solve([30, 60])
    assert solver._seen_from_above == seen
    solver.refine(60)
    solver.solve([])
    assert solver._seen_from_above[60, 30] == solver.results[60].value


def test_a_path_keeps_no_inverse_of_earlier_solutions() -> None:
    f = LogDet(correlations())
    solver = PathSolver(f, Pairs(1), SwapGraHTP())
    solver.solve([10, 20, 30])
    light = [iterate for k, iterate in solver._iterates.items() if k < 30]
    assert all(iterate.point.state is None and iterate.solution is None for iterate in light)
    point = light[0].point
    np.testing.assert_allclose(point.gradient, f.covariance - np.linalg.inv(point.x), atol=1e-9)
