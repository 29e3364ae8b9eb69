"""What a refit costs: Hessians that serve several steps, trial refits, and wrong Hessians that do no harm."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ksparse._types import Array, Mask
from ksparse.debias import Bounds, Exact, Outcome, exact, newton
from ksparse.debias.exact import TrialRefit
from ksparse.debias.lbfgs import minimize_lbfgs
from ksparse.objectives import Objective, Point, Quadratic, TwiceDifferentiable
from ksparse.objectives.base import value_at_zero
from ksparse.objectives.protocols import working_form
from tests.problems import P, linear

#: Tolerance of the refits of a search while the support moves.
ROUGH = 1e-3
SMOOTH = ["logistic", "poisson", "logistic with intercept"]


def model(name: str) -> Any:
    kind, _, intercept = name.partition(" with ")
    objective = working_form(linear(kind, alpha=0.05, fit_intercept=bool(intercept))).objective
    return objective.restrict(np.ones(objective.shape, dtype=bool))


class Recorded(TwiceDifferentiable):
    """An objective that remembers where it was evaluated and differentiated."""

    def __init__(self, inner: Objective) -> None:
        super().__init__()
        assert isinstance(inner, TwiceDifferentiable)
        self.inner, self.shape = inner, inner.shape
        self.is_quadratic, self.is_strongly_convex = inner.is_quadratic, inner.is_strongly_convex
        self.evaluations: list[Point] = []
        self.gradients: list[Point] = []
        self.hessians: list[Point] = []

    def evaluate(self, x: Array) -> Point:
        point = self.inner.evaluate(x)
        self.evaluations.append(Point(self, point.x, point.value, point.state))
        return self.evaluations[-1]

    def gradient(self, point: Point) -> Array:
        self.gradients.append(point)
        return self.inner.gradient(point)

    def hessian(self, point: Point) -> Array:
        self.hessians.append(point)
        return self.inner.hessian(point)

    def restrict(self, support: Mask) -> Recorded:
        return Recorded(self.inner.restrict(support))

    def relative_change(self, before: Point, after: Point) -> float:
        return self.inner.relative_change(before, after)

    @property
    def steps(self) -> int:
        """Newton steps so far."""
        return self.counters.newton_steps


def recorded(name: str) -> Recorded:
    return Recorded(model(name))


@pytest.fixture
def lbfgs_calls(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Values of f from which L-BFGS had to continue."""
    calls: list[float] = []
    original = minimize_lbfgs

    def watched(objective: Objective, start: Point, *arguments: Any, **options: Any) -> Any:
        calls.append(start.value)
        return original(objective, start, *arguments, **options)

    monkeypatch.setattr(exact, "minimize_lbfgs", watched)
    return calls


# --- Hessians that serve several steps ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", SMOOTH)
def test_a_hessian_serves_several_steps(name: str) -> None:
    objective = recorded(name)
    solution = Exact()(objective, np.zeros(objective.size))
    assert solution.outcome is Outcome.SOLVED
    assert np.abs(solution.point.gradient).max() < 1e-8
    assert len(objective.hessians) == objective.counters.hessians < objective.steps


@pytest.mark.parametrize("name", SMOOTH)
def test_the_last_step_of_an_accurate_refit_has_a_hessian_of_its_own(name: str) -> None:
    objective = recorded(name)
    assert Exact()(objective, np.zeros(objective.size)).outcome is Outcome.SOLVED
    assert len(objective.gradients) == objective.steps  # a step begins with the gradient at its point
    assert objective.hessians[-1] is objective.gradients[-1]


@pytest.mark.parametrize("name", SMOOTH)
def test_rough_refits_may_end_on_an_old_hessian(name: str) -> None:
    objective = recorded(name)
    solution = Exact(tol=1e-5)(objective, np.zeros(objective.size))
    assert solution.outcome is Outcome.SOLVED
    assert len(objective.hessians) < objective.steps
    least = Exact()(objective, solution.point.x).point.value
    assert solution.point.value <= least + 1e-5 * abs(least)


def test_slow_steps_get_a_new_hessian() -> None:
    """A Hessian whose steps shrink too slowly is computed again: here it is a hundred times too large."""
    objective = recorded("logistic")
    wrong = 100.0 * objective.inner.hessian(objective.inner.evaluate(np.zeros(P)))
    solution = TrialRefit(hessian=wrong)(objective, np.zeros(P))
    assert solution.outcome is Outcome.SOLVED
    assert objective.gradients[0] is not objective.hessians[0]  # the given one served the first step
    assert objective.gradients[1] is objective.hessians[0]


# --- Hessians that are given --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SMOOTH)
def test_a_given_hessian_saves_one(name: str) -> None:
    objective = recorded(name)
    minimum = Exact()(objective, np.zeros(objective.size)).point
    hessian = objective.hessian(minimum)
    objective.hessians.clear()
    near = minimum.x + 0.02
    tried = TrialRefit(tol=ROUGH, target=minimum.value + 1.0, hessian=hessian)
    for debias in (tried, replace(tried, tol=1e-7)):
        found = debias(objective, near)
        assert found.outcome is Outcome.SOLVED
        assert found.point.value == pytest.approx(minimum.value, rel=debias.tol)
    assert objective.hessians == []
    # A refit without a target may be kept, and ends with a Hessian of its own.
    assert TrialRefit(tol=ROUGH, hessian=hessian)(objective, near).outcome is Outcome.SOLVED
    assert objective.hessians
    objective.hessians.clear()
    accurate = TrialRefit(hessian=hessian)(objective, near)
    assert_allclose(accurate.point.x, minimum.x, atol=1e-7)
    assert objective.hessians


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
    found = TrialRefit(hessian=given)(objective, start)
    assert found.outcome is Outcome.SOLVED
    assert found.point.value == pytest.approx(minimum.point.value, rel=1e-11)
    assert np.abs(found.point.gradient).max() < 1e-7
    assert lbfgs_calls == []


def test_a_singular_hessian_serves_no_step() -> None:
    objective = recorded("logistic")
    TrialRefit(hessian=np.ones((P, P)))(objective, np.zeros(P))
    assert objective.hessians[0] is objective.gradients[0]


@pytest.mark.parametrize("wrong", wrong_hessians(np.eye(2)))
def test_a_wrong_hessian_costs_few_steps(wrong: str) -> None:
    usual, objective = recorded("logistic"), recorded("logistic")
    given = wrong_hessians(usual.hessian(usual.evaluate(np.zeros(P))))[wrong]
    Exact()(usual, np.zeros(P))
    TrialRefit(hessian=given)(objective, np.zeros(P))
    assert 0 < objective.steps <= usual.steps + 3


def test_with_bounds_a_given_hessian_is_ignored() -> None:
    for name in SMOOTH:
        objective = model(name)
        size = objective.size
        bounds = Bounds(np.full(size, -0.1), np.full(size, 0.2))
        plain = Exact()(objective, np.zeros(size), bounds)
        for given in (np.full((size, size), np.nan), -np.eye(size)):
            found = TrialRefit(hessian=given)(objective, np.zeros(size), bounds)
            assert found.outcome is plain.outcome is Outcome.SOLVED
            assert_array_equal(found.point.x, plain.point.x)


# --- quadratics ---------------------------------------------------------------------------------------------------


def test_a_rough_refit_of_a_quadratic_is_one_step() -> None:
    objective = recorded("least squares")
    start = objective.evaluate(np.full(P, 0.3))
    reference = newton.minimize_quadratic(objective, start)
    objective.evaluations.clear()
    rough = newton.minimize_quadratic(objective, start, refine=False)
    assert len(objective.evaluations) == 1
    assert rough.outcome is reference.outcome is Outcome.SOLVED
    assert_allclose(rough.point.x, reference.point.x, rtol=1e-10)
    assert_allclose(rough.point.x, start.x - np.linalg.solve(objective.hessian(start), start.gradient), rtol=1e-10)


@pytest.mark.parametrize(("tol", "steps"), [(1e-3, 1), (1e-6, 1), (1e-7, 2), (1e-12, 2)])
def test_refits_of_quadratics_are_refined_where_they_are_accurate(tol: float, steps: int) -> None:
    objective = recorded("least squares")
    value_at_zero(objective)
    objective.evaluations.clear()
    Exact(tol=tol)(objective, np.zeros(P))
    assert len(objective.evaluations) == 1 + steps  # the start, and each step


@pytest.mark.parametrize("refine", [True, False])
def test_what_has_no_unique_minimum_is_detected_in_any_case(refine: bool) -> None:
    problems = {
        Outcome.SINGULAR: Quadratic(np.diag([1.0, 0.0]), [1.0, 0.0]),
        Outcome.NO_MINIMUM: Quadratic(np.diag([1.0, 0.0]), [1.0, 1.0]),
        Outcome.SOLVED: Quadratic(np.diag([1.0, 2.0]), [1.0, 1.0]),
    }
    for outcome, objective in problems.items():
        assert newton.minimize_quadratic(objective, objective.evaluate(np.zeros(2)), refine).outcome is outcome
    falling = Quadratic(np.diag([1.0, -1.0]), [1.0, 1.0])
    assert newton.minimize_quadratic(falling, falling.evaluate(np.zeros(2)), refine).outcome is Outcome.NO_MINIMUM


# --- trial refits -------------------------------------------------------------------------------------


def test_with_a_target_an_unfinished_refit_ends(lbfgs_calls: list[float]) -> None:
    objective = model("logistic")
    for target in (np.inf, 0.0, 0.5):
        cut = TrialRefit(tol=1e-12, max_iter=1, target=target)(objective, np.zeros(P))
        assert cut.outcome is Outcome.UNFINISHED
    assert lbfgs_calls == []
    Exact(tol=1e-12, max_iter=1)(objective, np.zeros(P))
    assert len(lbfgs_calls) == 1


def test_an_infinite_target_is_no_reason_to_give_up() -> None:
    objective = model("logistic")
    plain, tried = (TrialRefit(target=target)(objective, np.zeros(P)) for target in (None, np.inf))
    assert tried.outcome is Outcome.SOLVED
    assert_array_equal(tried.point.x, plain.point.x)
    assert_array_equal(Exact()(objective, np.zeros(P)).point.x, plain.point.x)


def test_a_target_out_of_reach_is_given_up_soon() -> None:
    usual, objective = recorded("logistic"), recorded("logistic")
    Exact()(usual, np.zeros(P))
    assert TrialRefit(target=0.0)(objective, np.zeros(P)).outcome is Outcome.UNFINISHED
    assert 0 < objective.steps < usual.steps
