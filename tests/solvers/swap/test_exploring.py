"""Exploring: the rule of its chain, by refits; proved optima; supports that no descent from one start finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ksparse
from ksparse._types import Array
from ksparse.objectives import LeastSquares, Logistic
from ksparse.objectives.protocols import working_form
from ksparse.solvers import Iterate, Problem, SwapGraHTP
from ksparse.solvers.swap._kernels import explore_supports
from ksparse.solvers.swap.descent import Trial, Tried
from ksparse.solvers.swap.exploring import explore_model
from ksparse.solvers.swap.ranking import build_candidate_model, build_joint_model
from ksparse.solvers.swap.tableau import QuadraticSwapModel, plan_waits
from ksparse.solvers.swap.tuning import SwapTuning
from ksparse.sparsity import Entries

from .test_quadratic_model import UNITS, random_model, value

TUNING = SwapTuning()
LENGTH = 25


def explore_by_refits(hessian: Any, linear: Any, numbers: Any, inside: Any) -> list[tuple[int, int, float]]:
    """The best swap, again and again; a unit stays and waits unless f falls below its lowest value."""
    leaving, entering = np.unique(numbers[inside & (numbers >= 0)]), np.unique(numbers[~inside])
    stay = min(int(np.sqrt(leaving.size)), leaving.size - 1)
    bound = dict.fromkeys([*leaving.tolist(), *entering.tolist()], 0)
    lowest, swaps = value(hessian, linear, inside), list[tuple[int, int, float]]()
    for count in range(LENGTH):
        before = value(hessian, linear, inside)
        found = []
        for out in np.unique(numbers[inside & (numbers >= 0)]).tolist():
            for into in np.unique(numbers[~inside]).tolist():
                after = value(hessian, linear, (inside & (numbers != out)) | (numbers == into))
                if max(bound[out], bound[into]) <= count or after < lowest - 1e-9:
                    found.append((after - before, out, into))
        change, out, into = min(found)
        inside = (inside & (numbers != out)) | (numbers == into)
        lowest = min(lowest, before + change)
        wait = int(min(2 * (0.5 + 0.1 * (7 * count % 10)) * np.sqrt(entering.size), entering.size - 1))
        bound[into], bound[out] = count + 1 + stay, count + 1 + wait
        swaps.append((out, into, change))
    return swaps


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS.keys())
def test_a_chain_goes_on_and_does_not_turn_back(unit: list[int], seed: int) -> None:
    hessian, linear, numbers = random_model(seed, unit)
    names = [u for u in dict.fromkeys(unit) if u >= 0]
    inside = np.isin(numbers, [*names[: len(names) // 2], -1])
    expected = explore_by_refits(hessian, linear, numbers, inside)
    fixed = np.zeros(max(names) + 1, dtype=bool)
    swaps = QuadraticSwapModel(hessian, linear, numbers, inside, fixed, TUNING).explore(LENGTH, 1e-9)
    assert [(swap.leaving, swap.entering) for swap in swaps] == [swap[:2] for swap in expected]
    assert [swap.change for swap in swaps] == pytest.approx([swap[2] for swap in expected], abs=1e-9)
    assert max(swap.change for swap in swaps) > 0


def test_nothing_is_explored_where_no_unit_may_move() -> None:
    hessian, linear, numbers = random_model(0, list(range(8)))
    for inside, fixed in ((np.arange(8) < 3, np.arange(8) < 3), (np.ones(8, dtype=bool), np.zeros(8, dtype=bool))):
        assert QuadraticSwapModel(hessian, linear, numbers, inside, fixed, TUNING).explore(LENGTH, 0.0) == []


def correlated(seed: int) -> tuple[Array, Array]:
    """30 features with strong correlations, of which six matter, and as much noise as signal."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 30))
    for j in range(1, 30):
        X[:, j] = 0.95 * X[:, j - 1] + np.sqrt(1 - 0.95**2) * X[:, j]
    signal = X[:, np.linspace(0, 29, 6).astype(int)].sum(axis=1)
    return X, signal + signal.std() * rng.standard_normal(60)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 9, 13])
def test_proved_optima_that_swaps_and_restarts_miss(seed: int) -> None:
    objective = LeastSquares(*correlated(seed), alpha=1e-3)
    best = ksparse.solve_exact(objective, 6, gap=1e-9).value
    assert ksparse.minimize(objective, 6).value == pytest.approx(best, rel=1e-9)
    # A given number of candidates leaves the others out, so that nothing is explored.
    few = ksparse.minimize(objective, 6, solver=SwapGraHTP(candidates=24))
    assert few.value > best * (1 + 1e-6)


def solved(objective: Any, k: int) -> tuple[Problem, Iterate]:
    problem = Problem(working_form(objective), Entries(k).bind(objective.shape, objective.free))
    result = ksparse.minimize(objective, k)
    return problem, problem.refit(result.x != 0, result.x)


def test_only_supports_with_a_lower_f_are_returned() -> None:
    objective = LeastSquares(*correlated(0), alpha=1e-3)
    problem, best = solved(objective, 6)
    other = problem.refit(np.arange(30) < 6, np.zeros(30))
    at_other, at_best = (build_joint_model(problem, iterate) for iterate in (other, best))
    found = explore_model(problem, other, other, at_other, TUNING)
    assert found is not None
    assert found.value < other.value
    assert explore_model(problem, best, best, at_best, TUNING) is None
    assert explore_model(problem, other, best, at_other, TUNING) is None


@pytest.mark.parametrize("unit", [UNITS["coordinates"], UNITS["with a free coordinate"]])
def test_compiled_chains_meet_the_same_supports(unit: list[int]) -> None:
    hessian, linear, numbers = random_model(1, unit)
    starts = np.array([np.isin(numbers, [*units, -1]) for units in ([2, 5, 6], [0, 1, 3])])
    kept = [start.nonzero()[0] for start in starts]
    inverses = np.array([np.linalg.inv(hessian[np.ix_(at, at)]) for at in kept])
    fixed, least = numbers < 0, np.zeros(numbers.size)
    plan = plan_waits(3, int((~starts[0]).sum()), LENGTH)
    values, met, minimizers = explore_supports(hessian, linear, starts, inverses, fixed, least, *plan, 1e-9)
    assert len(values) == 2 * (LENGTH + 1)
    for number, start in enumerate(starts):
        model = QuadraticSwapModel(hessian, linear, numbers, start, np.zeros(max(unit) + 1, bool), TUNING)
        supports = [start]
        for swap in model.explore(LENGTH, 1e-9):
            supports.append((supports[-1] & (numbers != swap.leaving)) | (numbers == swap.entering))
        np.testing.assert_array_equal(met[number * (LENGTH + 1) :][: LENGTH + 1], supports)
    for support, lowest, minimizer in zip(met, values, minimizers, strict=True):
        at = support.nonzero()[0]
        np.testing.assert_allclose(minimizer[at], np.linalg.solve(hessian[np.ix_(at, at)], linear[at]), rtol=1e-7)
        assert lowest == pytest.approx(value(hessian, linear, support))


def test_a_refit_of_an_explored_support_starts_where_the_model_has_its_minimum(monkeypatch: pytest.MonkeyPatch) -> None:
    X, signal = correlated(3)
    objective = Logistic(X, signal > 0, alpha=1e-3, fit_intercept=True)
    problem, best = solved(objective, 6)
    best = problem.refit(np.append(np.arange(30) < 6, True), np.zeros(31))
    model, starts = build_joint_model(problem, best), list[Any]()

    def note(problem: Problem, current: Iterate, trials: list[Trial], steps: int, tuning: SwapTuning) -> Tried:
        starts.extend(trials)
        return Tried(None, len(trials))

    monkeypatch.setattr("ksparse.solvers.swap.exploring.try_supports", note)
    assert explore_model(problem, best, best, model, TUNING) is None
    assert len(starts) == TUNING.explored_trials
    assert len({support.tobytes() for support, _ in starts}) == len(starts)
    for support, at in starts:
        np.testing.assert_array_equal(at.hessian, model.hessian[np.ix_(support, support)])
        minimizer = np.linalg.solve(at.hessian, model.linear[support])
        np.testing.assert_allclose(at.x[support], minimizer, rtol=1e-6)
        assert not at.x[~support].any()


def with_many_features(seed: int) -> tuple[Array, Array]:
    """100 features with strong correlations, of which eight matter, and as much noise as signal."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, 100))
    for j in range(1, 100):
        X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(1 - 0.9**2) * X[:, j]
    signal = X[:, np.linspace(0, 99, 8).astype(int)].sum(axis=1)
    return X, signal + signal.std() * rng.standard_normal(200)


@pytest.mark.parametrize("seed", [6, 10, 14])
def test_candidates_are_explored_where_units_are_some_more(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    objective = LeastSquares(*with_many_features(seed), alpha=1e-3, fit_intercept=True)
    explored = ksparse.minimize(objective, 8).value
    monkeypatch.setattr(SwapGraHTP, "tuning", SwapTuning(some_units=0))
    assert explored < ksparse.minimize(objective, 8).value * (1 - 1e-3)


def test_a_model_of_candidates_has_those_with_the_best_swaps() -> None:
    objective = LeastSquares(*with_many_features(0), alpha=1e-3)
    problem = Problem(working_form(objective), Entries(8).bind(objective.shape, objective.free))
    current = problem.refit(np.arange(100) < 8, np.zeros(100))
    model = build_candidate_model(problem, current, TUNING)
    assert model is not None
    assert model.coordinates.sum() == TUNING.few_units
    everything = build_joint_model(problem, current)
    best = np.full(100, np.inf)
    for into in range(8, 100):
        for out in range(8):
            after = (np.arange(100) < 8) & (np.arange(100) != out) | (np.arange(100) == into)
            best[into] = min(best[into], value(everything.hessian, everything.linear, after))
    expected = np.sort(np.argsort(best, kind="stable")[: TUNING.few_units - 8])
    np.testing.assert_array_equal(np.flatnonzero(model.coordinates)[8:], expected)
    large = Problem(working_form(objective), Entries(40).bind(objective.shape, objective.free))
    assert build_candidate_model(large, large.refit(np.arange(100) < 40, np.zeros(100)), TUNING) is None
