"""Compiled refits against Newton's method in general, and against finite differences of what they minimize."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ksparse import make_survival_target
from ksparse._types import Array
from ksparse.debias import Outcome
from ksparse.debias._samples import Limits
from ksparse.debias.compiled import minimize_compiled
from ksparse.debias.newton import minimize_newton
from ksparse.objectives import Cox, Logistic, Poisson
from tests.problems import N, P, design, draw_survival, linear, responses, signal

KINDS = ["logistic", "poisson", "huber", "hinge", "gamma", "tweedie", "negative binomial", "quantile"]
WEIGHTS: Array = np.random.default_rng(0).uniform(0.1, 3.0, N)
OFFSET: Array = np.random.default_rng(1).standard_normal(N)


def limits(tol: float = 1e-12, goal: float = np.inf, max_iter: int = 100) -> Limits:
    return Limits(tol, 1e-6 * tol, max(1e-8, tol), goal, max_iter)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("options", [{}, {"sample_weight": WEIGHTS}, {"offset": OFFSET}], ids=["", "weights", "offset"])
def test_each_loss_has_the_minimum_and_costs_of_the_general_method(
    kind: str, intercept: bool, options: dict[str, Any]
) -> None:
    check_minimum_and_costs(linear(kind, alpha=0.1, fit_intercept=intercept, **options))


@pytest.mark.parametrize("alpha", [0.0, 0.1])
@pytest.mark.parametrize("options", [{}, {"sample_weight": WEIGHTS}, {"offset": OFFSET}], ids=["", "weights", "offset"])
@pytest.mark.parametrize("late", [False, True], ids=["", "entry and strata"])
@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_partial_likelihoods_have_them_too(ties: str, late: bool, options: dict[str, Any], alpha: float) -> None:
    y = draw_survival(signal(design()), entry=late, strata=late)
    check_minimum_and_costs(Cox(design(), y, ties=ties, alpha=alpha, **options))


def check_minimum_and_costs(objective: Any) -> None:
    best = minimize_newton(objective, objective.evaluate(np.zeros(objective.size))).point.x
    for fraction in (0.0, 0.3, 0.6):  # f is lower than at zero on the way to its minimum
        counters = [objective.counters.newton_steps, objective.counters.hessians, objective.counters.products]
        general = minimize_newton(objective, objective.evaluate(fraction * best))
        after = [objective.counters.newton_steps, objective.counters.hessians, objective.counters.products]
        found = minimize_compiled(objective, fraction * best, limits(), None)
        last = [objective.counters.newton_steps, objective.counters.hessians, objective.counters.products]
        assert np.subtract(last, after).tolist() == np.subtract(after, counters).tolist()
        assert found is not None
        assert found.outcome is general.outcome is Outcome.SOLVED
        assert_allclose(found.point.x, general.point.x, rtol=1e-7, atol=1e-9)
        assert_allclose(found.point.gradient, 0.0, atol=1e-7)
        # The point is one of the objective: its value and margins are those of an evaluation.
        again = objective.evaluate(found.point.x)
        assert found.point.value == pytest.approx(again.value, rel=1e-14)
        assert_allclose(found.point.state, again.state, rtol=1e-12, atol=1e-12)


def test_a_start_above_zero_is_replaced_by_zero() -> None:
    objective = linear("logistic", alpha=0.1)
    far = minimize_compiled(objective, np.full(P, 1e3), limits(), None)
    near = minimize_compiled(objective, np.zeros(P), limits(), None)
    assert far is not None
    assert near is not None
    assert_allclose(far.point.x, near.point.x, rtol=0, atol=0)


def test_a_known_hessian_serves_the_first_steps() -> None:
    objective = linear("logistic", alpha=0.1)
    start = np.zeros(P)
    hessian = objective.hessian(objective.evaluate(start))
    found = minimize_compiled(objective, start, limits(1e-3), hessian)
    general = minimize_newton(objective, objective.evaluate(start), tol=1e-3, hessian=hessian)
    assert found is not None
    assert_allclose(found.point.x, general.point.x, rtol=1e-10)


def test_a_goal_that_cannot_be_reached_ends_the_method() -> None:
    objective = linear("logistic", alpha=0.1)
    best = minimize_newton(objective, objective.evaluate(np.zeros(P))).point.value
    assert minimize_compiled(objective, np.zeros(P), limits(goal=best + 1e-6), None).outcome is Outcome.SOLVED  # type: ignore[union-attr]
    given_up = minimize_compiled(objective, np.zeros(P), limits(goal=0.5 * best), None)
    assert given_up is not None
    assert given_up.outcome is Outcome.UNFINISHED
    assert given_up.point.value > best + 1e-6


def test_few_steps_leave_it_unfinished() -> None:
    objective = linear("logistic", alpha=1e-3)
    found = minimize_compiled(objective, np.zeros(P), limits(max_iter=1), None)
    assert found is not None
    assert found.outcome is Outcome.UNFINISHED


def test_what_is_left_to_the_general_method() -> None:
    """No minimum; many of them; samples without weight; many numbers; several outputs; a quadratic."""
    X, y = design(), responses("logistic", signal(design()))
    ordered = make_survival_target(np.exp(-X[:, 0]), np.ones(N, dtype=bool))
    for objective in (
        Logistic(X[:, :1], X[:, 0] > 0),
        Cox(X[:, :1], ordered),
        Logistic(X[:, [0, 0]], y),
        Logistic(X, y, alpha=1.0, sample_weight=np.where(np.arange(N) < 3, 0.0, 1.0)),
        Logistic(np.ones((1000, 60)), np.arange(1000) % 2, alpha=1.0),
        linear("multinomial", alpha=1.0),
        linear("least squares", alpha=1.0),
    ):
        assert minimize_compiled(objective, np.zeros(objective.shape), limits(), None) is None
    never = Poisson(X, np.zeros(N), alpha=1.0, fit_intercept=True)
    assert minimize_compiled(never, np.zeros(P + 1), limits(), None) is None
