"""What a refit costs: Hessians that serve several steps, briefness, and wrong Hessians that do no harm."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ksparse._types import Array
from ksparse.debias import Bounds, Exact, Outcome, exact, newton
from ksparse.debias.lbfgs import lbfgs
from ksparse.objectives import LeastSquares, Logistic, Objective, Quadratic
from ksparse.objectives.base import Point
from tests.problems import P, linear

#: The refits of a search while the support moves.
BRIEF = Exact(tol=1e-3)
SMOOTH = ["logistic", "poisson", "logistic with intercept"]


def model(name: str) -> Objective:
    kind, _, intercept = name.partition(" with ")
    objective = linear(kind, alpha=0.05, fit_intercept=bool(intercept)).working_form().objective
    return objective.restrict(np.ones(objective.shape, dtype=bool))


class Counts(NamedTuple):
    """Points whose Hessian was made, points from which a step was searched, and evaluations of f."""

    hessians: list[Point]
    steps: list[Point]
    evaluations: list[Point]


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counts:
    seen = Counts([], [], [])
    search = newton.search

    def watched_search(objective: Objective, point: Point, *arguments: Any) -> Point:
        seen.steps.append(point)
        return search(objective, point, *arguments)

    monkeypatch.setattr(newton, "search", watched_search)
    for kind in (Logistic, LeastSquares, Quadratic, type(linear("poisson"))):
        monkeypatch.setattr(kind, "hessian", _watched(kind.hessian, seen.hessians, lambda given, _: given))
        monkeypatch.setattr(kind, "at", _watched(kind.at, seen.evaluations, lambda _, result: result))
    return seen


def _watched(original: Any, seen: list[Point], which: Any) -> Any:
    def watched(self: Objective, argument: Any) -> Any:
        result = original(self, argument)
        seen.append(which(argument, result))
        return result

    return watched


@pytest.fixture
def lbfgs_calls(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Values of f from which L-BFGS was asked to go on."""
    calls: list[float] = []
    original = lbfgs

    def watched(objective: Objective, start: Point, *arguments: Any, **options: Any) -> Any:
        calls.append(start.value)
        return original(objective, start, *arguments, **options)

    monkeypatch.setattr(exact, "lbfgs", watched)
    return calls


# --- Hessians that serve several steps ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", SMOOTH)
def test_a_hessian_serves_several_steps(name: str, counts: Counts) -> None:
    objective = model(name)
    solution = Exact()(objective, np.zeros(objective.size))
    assert solution.outcome is Outcome.SOLVED
    assert np.abs(solution.point.gradient).max() < 1e-8
    assert len(counts.hessians) < len(counts.steps)


@pytest.mark.parametrize("name", SMOOTH)
def test_the_last_step_of_an_accurate_refit_has_a_hessian_of_its_own(name: str, counts: Counts) -> None:
    objective = model(name)
    assert Exact()(objective, np.zeros(objective.size)).outcome is Outcome.SOLVED
    assert counts.hessians[-1] is counts.steps[-1]


@pytest.mark.parametrize("name", SMOOTH)
def test_brief_refits_may_end_on_an_old_hessian(name: str, counts: Counts) -> None:
    objective = model(name)
    solution = replace(BRIEF, tol=1e-5)(objective, np.zeros(objective.size))
    assert solution.outcome is Outcome.SOLVED
    assert len(counts.hessians) < len(counts.steps)
    least = Exact()(objective, solution.point.x).point.value
    assert solution.point.value <= least + 1e-5 * abs(least)


def test_slow_steps_get_a_new_hessian(counts: Counts) -> None:
    """A Hessian whose steps shrink too slowly is made again: here it is a hundred times too large."""
    objective = model("logistic")
    at = objective.evaluate(np.zeros(P))
    wrong = 100.0 * objective.hessian(at)
    counts.hessians.clear()
    solution = Exact(hessian=wrong)(objective, np.zeros(P))
    assert solution.outcome is Outcome.SOLVED
    assert counts.steps[0] is not counts.hessians[0]  # the given one served the first step
    assert counts.steps[1] is counts.hessians[0]


# --- Hessians that are given --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SMOOTH)
def test_a_given_hessian_saves_one(name: str, counts: Counts) -> None:
    objective = model(name)
    minimum = Exact()(objective, np.zeros(objective.size)).point
    hessian = objective.hessian(minimum)
    counts.hessians.clear()
    near = minimum.x + 0.02
    tried = replace(BRIEF, target=minimum.value + 1.0, hessian=hessian)
    for debias in (tried, replace(tried, tol=1e-7)):
        found = debias(objective, near)
        assert found.outcome is Outcome.SOLVED
        assert found.point.value == pytest.approx(minimum.value, rel=debias.tol)
    assert counts.hessians == []
    kept = replace(BRIEF, hessian=hessian)(objective, near)  # a refit that is kept ends with a Hessian of its own
    assert kept.outcome is Outcome.SOLVED
    assert counts.hessians
    counts.hessians.clear()
    accurate = Exact(hessian=hessian)(objective, near)
    assert_allclose(accurate.point.x, minimum.x, atol=1e-7)
    assert len(counts.hessians) >= 1


def wrong_hessians(hessian: Array) -> dict[str, Array]:
    rng = np.random.default_rng(0)
    size = hessian.shape[0]
    root = rng.standard_normal((size, size))
    return {
        "far too small": 1e-15 * hessian,
        "too small": 1e-3 * hessian,
        "too large": 1e3 * hessian,
        "far too large": 1e15 * hessian,
        "of something else": root @ root.T,
        "the identity": np.eye(size),
        "negative": -hessian,
        "indefinite": root + root.T,
        "singular": np.ones((size, size)),
        "zero": np.zeros((size, size)),
    }


@pytest.mark.parametrize("wrong", wrong_hessians(np.eye(2)))
@pytest.mark.parametrize("name", SMOOTH)
def test_a_wrong_hessian_leads_to_the_minimum(name: str, wrong: str, lbfgs_calls: list[float]) -> None:
    objective = model(name)
    start = np.full(objective.size, 0.05)
    minimum = Exact()(objective, start)
    given = wrong_hessians(objective.hessian(objective.evaluate(start)))[wrong]
    found = Exact(hessian=given)(objective, start)
    assert found.outcome is Outcome.SOLVED
    assert found.point.value == pytest.approx(minimum.point.value, rel=1e-11)
    assert np.abs(found.point.gradient).max() < 1e-7
    assert lbfgs_calls == []


def test_a_singular_hessian_serves_no_step(counts: Counts) -> None:
    objective = model("logistic")
    Exact(hessian=np.ones((P, P)))(objective, np.zeros(P))
    assert counts.hessians[0] is counts.steps[0]


@pytest.mark.parametrize("wrong", wrong_hessians(np.eye(2)))
def test_a_wrong_hessian_costs_few_steps(wrong: str, counts: Counts) -> None:
    objective = model("logistic")
    given = wrong_hessians(objective.hessian(objective.evaluate(np.zeros(P))))[wrong]
    counts.steps.clear()
    Exact()(objective, np.zeros(P))
    usual = len(counts.steps)
    counts.steps.clear()
    Exact(hessian=given)(objective, np.zeros(P))
    assert len(counts.steps) <= usual + 3


def test_with_bounds_a_given_hessian_is_ignored() -> None:
    for name in SMOOTH:
        objective = model(name)
        size = objective.size
        bounds = Bounds(np.full(size, -0.1), np.full(size, 0.2))
        plain = Exact()(objective, np.zeros(size), bounds)
        for given in (np.full((size, size), np.nan), -np.eye(size)):
            found = Exact(hessian=given)(objective, np.zeros(size), bounds)
            assert found.outcome is plain.outcome is Outcome.SOLVED
            assert_array_equal(found.point.x, plain.point.x)


# --- quadratics ---------------------------------------------------------------------------------------------------


def test_a_brief_refit_of_a_quadratic_is_one_step(counts: Counts) -> None:
    objective = model("least squares")
    start = objective.evaluate(np.full(P, 0.3))
    reference = newton.minimize_quadratic(objective, start)
    counts.evaluations.clear()
    brief = newton.minimize_quadratic(objective, start, refine=False)
    assert len(counts.evaluations) == 1
    assert brief.outcome is reference.outcome is Outcome.SOLVED
    assert_allclose(brief.point.x, reference.point.x, rtol=1e-10)
    assert_allclose(brief.point.x, start.x - np.linalg.solve(objective.hessian(start), start.gradient), rtol=1e-10)


@pytest.mark.parametrize(("tol", "steps"), [(1e-3, 1), (1e-6, 1), (1e-7, 2), (1e-12, 2)])
def test_refits_of_quadratics_are_refined_where_they_are_accurate(tol: float, steps: int, counts: Counts) -> None:
    objective = model("least squares")
    start = objective.evaluate(np.zeros(P))
    _ = objective._value_at_zero_
    counts.evaluations.clear()
    Exact(tol=tol)(objective, start.x)
    assert len(counts.evaluations) == 1 + steps  # the start, and each step


@pytest.mark.parametrize("refine", [True, False])
def test_what_has_no_unique_minimum_is_told_in_any_case(refine: bool) -> None:
    problems = {
        Outcome.SINGULAR: Quadratic(np.diag([1.0, 0.0]), [1.0, 0.0]),
        Outcome.NO_MINIMUM: Quadratic(np.diag([1.0, 0.0]), [1.0, 1.0]),
        Outcome.SOLVED: Quadratic(np.diag([1.0, 2.0]), [1.0, 1.0]),
    }
    for outcome, objective in problems.items():
        assert newton.minimize_quadratic(objective, objective.evaluate(np.zeros(2)), refine).outcome is outcome
    falling = Quadratic(np.diag([1.0, -1.0]), [1.0, 1.0])
    assert newton.minimize_quadratic(falling, falling.evaluate(np.zeros(2)), refine).outcome is Outcome.NO_MINIMUM


# --- refits that are given up -------------------------------------------------------------------------------------


def test_with_a_target_an_unfinished_refit_ends(lbfgs_calls: list[float]) -> None:
    objective = model("logistic")
    for target in (np.inf, 0.0, 0.5):
        cut = Exact(tol=1e-12, max_iter=1, target=target)(objective, np.zeros(P))
        assert cut.outcome is Outcome.UNFINISHED
    assert lbfgs_calls == []
    Exact(tol=1e-12, max_iter=1)(objective, np.zeros(P))
    assert len(lbfgs_calls) == 1


def test_an_infinite_target_is_no_reason_to_give_up() -> None:
    objective = model("logistic")
    plain, hopeful = (Exact(target=target)(objective, np.zeros(P)) for target in (None, np.inf))
    assert hopeful.outcome is Outcome.SOLVED
    assert_array_equal(hopeful.point.x, plain.point.x)


def test_a_target_out_of_reach_is_given_up_soon(counts: Counts) -> None:
    objective = model("logistic")
    Exact()(objective, np.zeros(P))
    usual = len(counts.steps)
    counts.steps.clear()
    assert Exact(target=0.0)(objective, np.zeros(P)).outcome is Outcome.UNFINISHED
    assert len(counts.steps) < usual
