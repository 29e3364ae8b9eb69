"""What the loop is made of: when f is lower, and when an iterate has come back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ksparse.objectives import Function, LeastSquares, Quadratic
from ksparse.objectives.protocols import working_form
from ksparse.solvers import Iterate, Problem, SolverState, Tolerance
from ksparse.solvers.loop import LONGEST_PERIOD, CycleDetector
from ksparse.sparsity import Entries

F = Quadratic(np.eye(4), np.ones(4))


def iterate(x: Any, step: float = np.nan, state: SolverState | None = None) -> Iterate:
    x = np.array(x, dtype=float)
    return Iterate(F.evaluate(x), x != 0, step=step, state=state)


@dataclass(frozen=True)
class Round(SolverState):
    number: int


def period(*iterates: Iterate) -> int | None:
    """The verdict on the last of some iterates; none of the others may have come back."""
    detector = CycleDetector()
    *earlier, last = iterates
    assert all(detector.find_period(each, number) is None for number, each in enumerate(earlier, 1))
    return detector.find_period(last, len(iterates))


def test_a_fixed_point_has_period_1() -> None:
    assert period(iterate([1, 2, 0, 0]), iterate([1, 2, 0, 0])) == 1


def test_a_cycle_has_the_period_of_its_length() -> None:
    ring = [iterate([1, 0, 0, 0]), iterate([0, 1, 0, 0]), iterate([0, 0, 1, 0])]
    assert period(*ring, ring[0]) == 3


@pytest.mark.parametrize("relative", [1e-12, 1e-6])
def test_iterates_are_the_same_up_to_rounding(relative: float) -> None:
    """The smallest entry changes, which leaves the largest as it is, or all do."""
    first = iterate([1e3, 1, 0, 0])
    expected = 1 if relative < 1e-9 else None
    assert period(first, iterate([1e3, 1 + 1e3 * relative, 0, 0])) == expected
    assert period(first, iterate([1e3 * (1 + relative), 1, 0, 0])) == expected


def test_another_support_step_or_state_is_another_iterate() -> None:
    x = [1.0, 2.0, 0.0, 0.0]
    assert period(iterate(x), iterate([0.0, 0.0, 1.0, 2.0])) is None
    assert period(iterate(x, step=1.0), iterate(x, step=0.5)) is None
    assert period(iterate(x, step=1.0), iterate(x)) is None
    assert period(iterate(x, step=1.0), iterate(x, step=1.0 + 1e-12)) == 1
    assert period(iterate(x, state=Round(1)), iterate(x, state=Round(2))) is None
    assert period(iterate(x, state=Round(1)), iterate(x, state=Round(1))) == 1


def test_only_the_last_iterates_on_a_support_are_remembered() -> None:
    others = [iterate([1 + 0.1 * number, 0, 0, 0]) for number in range(1, LONGEST_PERIOD + 1)]
    assert period(iterate([1, 0, 0, 0]), *others[:-1], iterate([1, 0, 0, 0])) == LONGEST_PERIOD
    assert period(iterate([1, 0, 0, 0]), *others, iterate([1, 0, 0, 0])) is None


def test_without_a_support_there_is_no_cycle() -> None:
    start = Iterate(F.evaluate(np.zeros(4)))
    assert period(start, start) is None


# --- when f is lower --------------------------------------------------------------------------------------------------


def test_f_is_lower_by_more_than_a_fraction_and_rounding() -> None:
    f = LeastSquares(np.eye(2), [1e4, 1e4])
    problem = Problem(working_form(f), Entries(1).bind((2,)))
    start = f.evaluate(f.start).value
    tolerance = Tolerance(1e-3)
    assert tolerance.is_lower(problem, 0.998, than=1.0)
    assert not tolerance.is_lower(problem, 0.9995, than=1.0)
    assert tolerance.is_lower(problem, -1.002, than=-1.0)
    assert not tolerance.is_lower(problem, np.nan, than=1.0)
    # Both are nothing but rounding of what f was at the start: residuals lose 15 digits of y, f twice as many.
    assert not tolerance.is_lower(problem, 0.0, than=0.5e-30 * start)
    assert tolerance.are_equal(problem, 0.0, 0.5e-30 * start)
    assert tolerance.is_lower(problem, 0.0, than=0.5e-15 * start)


def test_f_of_a_user_is_rounded_as_at_the_start() -> None:
    f = Function(lambda x: 1e4 - x.sum(), gradient=lambda x: -np.ones(2), shape=2)
    problem = Problem(working_form(f), Entries(1).bind((2,)))
    assert not Tolerance(1e-3).is_lower(problem, 0.0, than=0.5e-11)
    assert Tolerance(1e-3).is_lower(problem, 0.0, than=2e-11)


def test_values_differ_by_more_than_a_fraction() -> None:
    f = LeastSquares(np.eye(2), [1e4, 1e4])
    problem = Problem(working_form(f), Entries(1).bind((2,)))
    tolerance = Tolerance(1e-3)
    assert tolerance.are_equal(problem, 1.0005, 1.0)
    assert not tolerance.are_equal(problem, 1.002, 1.0)
