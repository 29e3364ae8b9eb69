"""The search for many edges: stages, exchanges of many at a time, and what ends them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import ksparse
from ksparse._types import Array
from ksparse.datasets import make_precision
from ksparse.objectives import LogDet
from ksparse.selection import PathSolver
from ksparse.solvers import Status, SwapGraHTP
from ksparse.solvers.merging import Merging
from ksparse.sparsity import Pairs


def correlations(n: int = 60, p: int = 40, seed: int = 0) -> Array:
    return np.asarray(np.corrcoef(make_precision(n, p, degree=3.0, random_state=seed).X, rowvar=False))


def test_stages_double_up_to_k() -> None:
    stage: Merging | None = Merging.from_nothing(100, 0)
    sizes = []
    while stage is not None:
        sizes.append(stage.size)
        stage = stage.following(100)
    assert sizes == [6, 12, 24, 48, 96, 100]
    assert Merging.from_nothing(100, always=30).size == 30
    assert Merging.from_nothing(1, 0).size == 1


def test_stages_before_the_last_see_one_exchange() -> None:
    stage = Merging.at(48)
    assert stage.q == 6
    assert not stage.over(100)
    assert stage.after(accepted=True).over(100)
    assert stage.after(accepted=False).over(100)


def test_the_last_stage_halves_q_until_nothing_is_left() -> None:
    stage = Merging.at(100)
    seen = []
    while not stage.over(100):
        seen.append(stage.q)
        stage = stage.after(accepted=False)
    assert seen == [12, 6, 3, 1]
    assert Merging.at(100).after(accepted=True).q == 12
    assert Merging.at(100, brief=True).after(accepted=True).over(100)


def test_exchanges_of_fewer_edges_lower_f_further() -> None:
    """The search goes on after the first exchange that fails."""
    S = correlations()
    plain = ksparse.minimize(LogDet(S), 90, solver=SwapGraHTP(exchanges=0))
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
    assert ksparse.minimize(LogDet(S), 90, solver=SwapGraHTP(exchanges=0)).value < at_once.value


@pytest.mark.parametrize("limit", [0.0, 1e-3])
def test_a_time_limit_is_not_convergence(limit: float) -> None:
    f = LogDet(correlations(n=300, p=150))
    start = ksparse.minimize(f, 212, solver=SwapGraHTP(exchanges=0)).x
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ksparse.ConvergenceWarning)
        result = ksparse.minimize(f, 212, x0=start, solver=SwapGraHTP(time_limit=limit))
    assert result.status is Status.TIME_LIMIT


def test_a_path_looks_again_at_a_solution_that_has_changed() -> None:
    """Downwards from a larger k that became better, a smaller one is tried again."""
    f = LogDet(correlations())
    solver = PathSolver(f, Pairs(1), SwapGraHTP())
    solver.solve([30, 60])
    seen = dict(solver._seen_from_above)
    assert seen == {(60, 30): solver.results[60].value}
    solver.solve([30, 60])
    assert solver._seen_from_above == seen
    solver.polish(60)
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
