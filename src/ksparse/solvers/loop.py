"""The loop, written once: iterate, record, test whether to stop, return a `Result`. A solver is an `update`."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._types import Array
from ..clock import read_clock
from ..debias import Outcome
from ..objectives.base import NotFiniteError
from ..validation import check_iterations, check_nonnegative_number
from .domain import describe_value, find_end_of_domain
from .problem import Iterate, Problem, SolverState, Tolerance
from .result import History, Iteration, Result, Solved, Status

__all__ = ["Budget", "Callback", "CycleDetector", "Solver"]

#: An earlier iterate was better if its f was lower by more than this fraction.
EARLIER = Tolerance(1e-9)
#: Iterates closer than this, relative to their size, are the same.
SAME = 1e-9
#: How many iterates on the same support are remembered.
LONGEST_PERIOD = 16

#: Called after each iteration with its record and x; returning True stops the solver.
Callback = Callable[[Iteration, Array], Any]


class Budget(Enum):
    """How much work a search may spend before it calls a support final."""

    QUICK = "only what a model predicts to lower f"
    FULL = "all that the solver can do"


@dataclass(frozen=True)
class Solver(ABC):
    """A method for min f(x) subject to a sparsity set. Subclasses say what one iteration does.

    Parameters
    ----------
    max_iter : int
        Limit of iterations.
    time_limit : float, optional
        Limit in seconds, tested after each iteration.
    """

    max_iter: int = field(default=100, kw_only=True)
    time_limit: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_iterations(self.max_iter, "max_iter")
        if self.time_limit is not None:
            check_nonnegative_number(self.time_limit, "time_limit")

    @abstractmethod
    def update(self, problem: Problem, current: Iterate, previous: Iterate | None) -> Iterate:
        """One iteration."""

    def prepare(self, problem: Problem, x: Array) -> Iterate:
        """The starting iterate x⁽⁰⁾."""
        return Iterate(problem.objective.evaluate(x))

    def finish(self, problem: Problem, iterate: Iterate) -> Iterate:
        """Last work on the iterate that is returned; none by default."""
        return iterate

    def find_reason_to_halt(self, previous: Iterate, current: Iterate) -> str | None:
        """A sentence if the solver's own rule says that it has converged."""
        return None

    def solve(self, problem: Problem, x: Array, callback: Callback | None = None) -> Result:
        """Run the loop from x; `ksparse.minimize` is the friendlier way in."""
        return _Run(self, problem, callback).from_start(x)

    def resume(self, problem: Problem, start: Iterate) -> tuple[Result, Iterate]:
        """Run the loop from an iterate; also return the last iterate, from whose gradient other runs can start."""
        run = _Run(self, problem, None)
        return run.from_iterate(start), run.last

    # --- what paths over k ask for ------------------------------------------------------------------------------

    #: Whether `warm_start` heeds its budget, so that a full run from the same iterate may find more.
    has_budgets: ClassVar[bool] = False
    #: Whether `warm_start` adds units to an iterate that has fewer than k; otherwise the caller does.
    adds_units: ClassVar[bool] = False

    @property
    def descends_paths(self) -> bool:
        """Whether paths should begin at the largest k, and remove units on the way to smaller ones."""
        return False

    def warm_start(self, problem: Problem, iterate: Iterate, budget: Budget = Budget.QUICK) -> Iterate:
        """A starting iterate from one that was found for a neighbouring k; by default from its x."""
        return self.prepare(problem, iterate.point.x)

    def without_effort(self) -> Solver:
        """The same solver without searches beyond its first final support; itself if it has none."""
        return self


class _Run:
    """One run of a solver: its history and what it needs to know to stop."""

    def __init__(self, solver: Solver, problem: Problem, callback: Callback | None) -> None:
        self.solver = solver
        self.callback = callback
        self.history = History()
        self.cycles = CycleDetector()
        self.began = read_clock()
        deadline = np.inf if solver.time_limit is None else self.began + solver.time_limit
        self.problem = replace(problem, deadline=deadline)
        self.passes_before = problem.objective.counters.passes

    def from_start(self, x: Array) -> Result:
        try:
            return self.from_iterate(self.solver.prepare(self.problem, x))
        except NotFiniteError as error:
            return self._make_result(
                Iterate(self.problem.objective.evaluate(x)), *self._describe_not_finite(str(error))
            )

    def from_iterate(self, current: Iterate) -> Result:
        if not np.isfinite(current.value):
            raise ValueError(
                f"f is {current.value} at the starting point; pass an x0 at which it is finite, "
                "or check the objective with ksparse.diagnostics.check_objective"
            )
        best, previous = current, None
        status, message = Status.MAX_ITER, f"not converged after {self.solver.max_iter} iterations; raise max_iter"
        self.last = current
        if current.done is not None:
            return self._make_result(current, Status.CONVERGED, current.done)
        for _ in range(self.solver.max_iter):
            try:
                following = self.solver.update(self.problem, current, previous)
                _ = following.gradient_norm  # a gradient that is not finite is found here
            except NotFiniteError as error:
                status, message = self._describe_not_finite(str(error))
                break
            if following.outcome is Outcome.NOT_FINITE or not np.isfinite(following.value):
                status, message = self._describe_not_finite(describe_value(self.problem, following.point))
                break
            # What was gathered for an earlier support is not needed any more.
            previous, current = replace(current, solution=None), following
            self._record(previous, current)
            best = current if current.value <= best.value else best
            verdict = self._find_reason_to_stop(previous, current)
            if verdict is not None:
                status, message = verdict
                break
        self.last = current if status is Status.CONVERGED else best
        if status is Status.CONVERGED and EARLIER.is_lower(self.problem, best.value, than=current.value):
            message += f". An earlier point had a lower f, {best.value:.8g}: this method does not keep the best one"
        return self._make_result(self.last, status, message)

    def _record(self, previous: Iterate, current: Iterate) -> None:
        entered = self.problem.find_selected_units(current) & ~self.problem.find_selected_units(previous)
        self.history.append(
            Iteration(
                iteration=len(self.history) + 1,
                value=current.value,
                support_change=int(entered.sum()),
                step=float(current.step) * self.problem.form.unit * self.problem.form.unit,
                gradient_norm=current.gradient_norm / self.problem.form.unit,
                seconds=read_clock() - self.began,
                passes=self.problem.objective.counters.passes - self.passes_before,
            )
        )

    def _find_reason_to_stop(self, previous: Iterate, current: Iterate) -> tuple[Status, str] | None:
        """Why to stop after this iteration, if there is a reason; the callback is called in any case."""
        stop = None
        if self.callback is not None:
            stop = self.callback(self.history[-1], self.problem.form.to_user(current.point.x).copy())
        done = current.done or self.solver.find_reason_to_halt(previous, current)
        if done is not None:
            return Status.CONVERGED, done
        period = self.cycles.find_period(current, len(self.history))
        if period == 1:
            return Status.CONVERGED, "converged: the iterate is a fixed point"
        if period is not None:
            return Status.PERIODIC, (
                f"{Status.PERIODIC.opening} with period {period}; the best point of the cycle is returned"
                + (
                    ". Use a smaller step, Backtracking(), or the default solver"
                    if hasattr(self.solver, "step")
                    else ""
                )
            )
        if isinstance(stop, (bool, np.bool_)) and stop:
            return Status.STOPPED, f"stopped by the callback after {len(self.history)} iterations"
        if self.problem.out_of_time:
            limit = self.solver.time_limit
            return Status.TIME_LIMIT, f"not converged: the time limit of {limit:g} s was reached; raise time_limit"
        return None

    def _describe_not_finite(self, what: str) -> tuple[Status, str]:
        shorter = "Use a smaller step or Backtracking(), and check" if hasattr(self.solver, "step") else "Check"
        return Status.NOT_FINITE, (
            f"stopped in iteration {len(self.history) + 1}: {what}; the best point before it is returned. "
            f"{shorter} the objective with ksparse.diagnostics.check_objective"
        )

    def _convert_to_user(self, working: Array) -> Array:
        """The user's coordinates, which must be numbers, and keep the support."""
        form = self.problem.form
        x = np.array(form.to_user(working))
        if not np.isfinite(x).all() or (
            form.unit != 1.0 and ((x == 0) & (working != 0) & self.problem.units.constrained).any()
        ):
            raise ValueError("the coefficients are beyond what floats can hold; multiply X or y by a constant")
        return x

    def _make_result(self, iterate: Iterate, status: Status, message: str) -> Result:
        if status is not Status.NOT_FINITE:
            try:
                iterate = self.solver.finish(self.problem, iterate)
                _ = iterate.gradient_norm
                is_limited = status in (Status.TIME_LIMIT, Status.STOPPED)
                outside = None if is_limited else find_end_of_domain(self.problem, iterate)
                if outside is not None:
                    status, message = self._describe_not_finite(
                        f"{describe_value(self.problem, outside)}, a step downhill from the returned x"
                    )
            except NotFiniteError as error:
                status, message = self._describe_not_finite(str(error))
        units, objective = self.problem.units, self.problem.objective
        if status is Status.CONVERGED:
            status, message = _judge_refit(iterate.outcome, message)
        if status.success and units.inactive:
            message += f"; the constraint is inactive, since there are only {units.count} units"
        x = self._convert_to_user(iterate.point.x)
        if units.lower is None:
            x = self.problem.form.canonical(x)
        advice = objective.advice(Outcome.NOT_FINITE if status is Status.NOT_FINITE else iterate.outcome, x)
        if advice:
            message += f"{'. ' if advice[0].isupper() else '; '}{advice}"
        support = (x != 0) & units.constrained
        return Result(
            x=x,
            support=support,
            selected=units.names[units.find_units(support) | units.always],
            value=iterate.value,
            status=status,
            message=message,
            n_iter=len(self.history),
            history=self.history,
            passes=objective.counters.passes - self.passes_before,
            solved=Solved(self.problem.form, units, iterate.point.x, iterate.value),
            nuisance=self.problem.form.find_nuisance(x),
        )


def _judge_refit(outcome: Outcome, message: str) -> tuple[Status, str]:
    """The status of a converged run, given how minimizing on its support ended."""
    if outcome is Outcome.NO_MINIMUM:
        return Status.NO_MINIMUM, "f has no minimum on the selected support; the returned x is not a minimizer"
    if outcome is Outcome.SINGULAR:
        reason = message.removeprefix(Status.CONVERGED.opening)
        return Status.SINGULAR, (
            f"{Status.SINGULAR.opening} (more coordinates than the data determines), and one of them is returned: "
            f"{reason}"
        )
    if outcome is Outcome.UNFINISHED:
        return Status.UNFINISHED, (
            "the support converged, but minimizing f on it did not; raise the debiasing method's max_iter, or check "
            "the objective with ksparse.diagnostics.check_objective"
        )
    opening = Status.CONVERGED.opening
    return Status.CONVERGED, opening + message.removeprefix(opening)  # a user's halting rule may say it otherwise


class _Visit(NamedTuple):
    """An iterate: its number, step (0 if there is none), state, nonzero values, and the largest of them."""

    number: int
    step: float
    state: SolverState | None
    values: Array
    size: float

    def is_at(self, earlier: _Visit) -> bool:
        """Whether this visit repeats an earlier one. Numbers are compared before arrays: most visits differ in one."""
        return (
            math.isclose(self.step, earlier.step, rel_tol=SAME)
            and math.isclose(self.size, earlier.size, rel_tol=SAME)
            and self.state == earlier.state
            and float(np.abs(self.values - earlier.values).max(initial=0.0)) <= SAME * self.size
        )


class CycleDetector:
    """Remembers the iterates of a run: a solver that comes back to one would repeat itself (paper, §3.1)."""

    def __init__(self) -> None:
        self._visits: dict[bytes, deque[_Visit]] = {}

    def find_period(self, iterate: Iterate, number: int) -> int | None:
        """After how many iterations this iterate, the one of this number, has come back; None if it is new."""
        if iterate.support is None:
            return None
        support = np.flatnonzero(iterate.support)
        values = iterate.point.x.ravel()[support]
        size = float(np.abs(values).max(initial=0.0))
        step = 0.0 if math.isnan(iterate.step) else iterate.step
        visit = _Visit(number, step, iterate.state, values, size)
        earlier = self._visits.setdefault(support.tobytes(), deque(maxlen=LONGEST_PERIOD))
        for old in reversed(earlier):
            if visit.is_at(old):
                return number - old.number
        earlier.append(visit)
        return None
