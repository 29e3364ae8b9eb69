"""The loop, written once: iterate, record, test whether to stop, return a `Result`. A solver is an `update`."""

from __future__ import annotations

import hashlib
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from .._types import Array, Mask
from ..debias import Bounds, Debias, Exact, Outcome
from ..objectives.base import NotFiniteError, Objective, Point
from ..objectives.protocols import WorkingForm
from ..sparsity import Units
from ..validation import check_iterations, check_nonnegative_number
from .result import History, Iteration, Result, Status

__all__ = ["Callback", "Iterate", "Problem", "Solver"]

#: Called after each iteration with its record and x; returning True stops the solver.
Callback = Callable[[Iteration, Array], Any]
T = TypeVar("T")

#: Iterates closer than this, relative to their size, are the same one met again.
SAME = 1e-9
#: How many iterates on the same support are remembered.
LONGEST_PERIOD = 16


@dataclass(frozen=True)
class Iterate:
    """Where an iteration ended.

    Attributes
    ----------
    point : Point
        The iterate with its evaluations.
    support : mask or None
        F⁽ᵗ⁾, the selected coordinates with the free ones; None before the first iteration.
    step : float
        Step size of S1.
    outcome : Outcome
        How minimizing on the support ended.
    solution : Point, optional
        The same point as one of the objective on the support.
    bounds : Bounds, optional
        The bounds of its coordinates.
    proposal : ndarray, optional
        The truncated gradient step that S3 started from.
    done : str, optional
        Why the solver has finished, if it has.
    memory : object
        What a solver wants to remember for its next update.
    exact : bool
        Whether f was minimized on the support as accurately as a result is.
    turn : int
        Round of a search that goes on from the best point, from 1; the same point in another round is no cycle.
    """

    point: Point
    support: Mask | None = None
    step: float = np.nan
    outcome: Outcome = Outcome.SOLVED
    solution: Point | None = None
    bounds: Bounds | None = None
    proposal: Array | None = None
    done: str | None = None
    memory: Any = None
    exact: bool = False
    turn: int = 0

    @cached_property
    def gradient_norm(self) -> float:
        """Norm of the gradient on the support, without what bounds hold; made only for iterates that are kept."""
        if self.solution is None or self.outcome is Outcome.NOT_FINITE:
            return 0.0 if self.support is not None and not self.support.any() else np.nan
        gradient = self.solution.gradient
        if self.bounds is not None:
            gradient = np.where(self.bounds.movable(self.solution.x, gradient), gradient, 0.0)
        return float(np.linalg.norm(gradient))

    def same_support(self, other: Iterate) -> bool:
        """Whether both have selected the same coordinates."""
        if self.support is None or other.support is None:
            return False
        return bool(np.array_equal(self.support, other.support))


@dataclass(frozen=True)
class Problem:
    """An objective with the sparsity set bound to its shape: all that a solver works on.

    Attributes
    ----------
    form : WorkingForm
        The objective in its working coordinates.
    units : Units
        The sparsity set.
    deadline : float
        When the time limit is reached, by ``time.perf_counter()``.
    """

    form: WorkingForm
    units: Units
    deadline: float = np.inf
    _cache: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def objective(self) -> Objective:
        """f, in its working coordinates."""
        return self.form.objective

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit has passed; long updates stop then."""
        return time.perf_counter() >= self.deadline

    def refit(self, support: Mask, start: Array, debias: Debias | None = None) -> Iterate:
        """S3: minimize on `support` from `start` (whose other coordinates are ignored)."""
        debias = Exact() if debias is None else debias
        units, objective = self.units, self.objective
        if not support.any():
            nothing = np.zeros(objective.shape)
            return Iterate(objective.evaluate(nothing), support, proposal=nothing)
        bounds = None
        if units.lower is not None and units.upper is not None:
            bounds = Bounds(units.lower[support], units.upper[support])
        restricted = objective.restrict(support)
        values = start[support] if bounds is None else bounds.clip(start[support])
        solution = debias(restricted, values, bounds)
        return Iterate(
            solution.point.extend(objective, support),
            support,
            outcome=solution.outcome,
            solution=solution.point,
            bounds=bounds,
            proposal=np.where(support, start, 0.0),
            exact=solution.outcome is Outcome.SOLVED and isinstance(debias, Exact) and debias.is_accurate,
        )

    def cached(self, key: str, compute: Callable[[], T]) -> T:
        """A quantity that is computed once in a run."""
        if key not in self._cache:
            self._cache[key] = compute()
        return self._cache[key]


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

    def halted(self, previous: Iterate, current: Iterate) -> str | None:
        """A sentence if the solver's own rule says that it has converged."""
        return None

    def solve(self, problem: Problem, x: Array, callback: Callback | None = None) -> Result:
        """Run the loop from x; `ksparse.minimize` is the friendlier way in."""
        return _Run(self, problem, callback).from_start(x)

    def resume(self, problem: Problem, start: Iterate) -> tuple[Result, Iterate]:
        """Run the loop from an iterate, and give the last one beside the result.

        It still has the gradient that the loop ended on, so that a run for another k can go on from it for free.
        """
        run = _Run(self, problem, None)
        return run.from_iterate(replace(start, turn=0)), run.last


class _Run:
    """One run of a solver: its history and what it needs to know to stop."""

    def __init__(self, solver: Solver, problem: Problem, callback: Callback | None) -> None:
        self.solver = solver
        self.callback = callback
        self.history = History()
        self.visited: dict[bytes, deque[tuple[int, float, Array]]] = {}
        self.began = time.perf_counter()
        deadline = np.inf if solver.time_limit is None else self.began + solver.time_limit
        self.problem = replace(problem, deadline=deadline)
        self.passes_before = problem.objective.counters.passes

    def from_start(self, x: Array) -> Result:
        try:
            return self.from_iterate(self.solver.prepare(self.problem, x))
        except NotFiniteError as error:
            return self._result(Iterate(self.problem.objective.evaluate(x)), *self._not_finite(str(error)))

    def from_iterate(self, current: Iterate) -> Result:
        if not np.isfinite(current.point.value):
            raise ValueError(
                f"f is {current.point.value} at the starting point; pass an x0 at which it is finite, "
                "or check the objective with ksparse.diagnostics.check_objective"
            )
        best, previous = current, None
        status, message = Status.MAX_ITER, f"not converged after {self.solver.max_iter} iterations; raise max_iter"
        self.last = current
        if current.done is not None:
            return self._result(current, Status.CONVERGED, current.done)
        for _ in range(self.solver.max_iter):
            try:
                following = self.solver.update(self.problem, current, previous)
                _ = following.gradient_norm  # a gradient that is not finite is found here
            except NotFiniteError as error:
                status, message = self._not_finite(str(error))
                break
            if following.outcome is Outcome.NOT_FINITE or not np.isfinite(following.point.value):
                status, message = self._not_finite(f"f is {following.point.value}")
                break
            # What was gathered for an earlier support is not needed any more.
            previous, current = replace(current, solution=None), following
            self._record(previous, current)
            stop = self._called_back(current)
            best = current if current.point.value <= best.point.value else best
            verdict = self._verdict(previous, current, stop)
            if verdict is not None:
                status, message = verdict
                break
        self.last = current if status is Status.CONVERGED else best
        return self._result(self.last, status, message)

    def _record(self, previous: Iterate, current: Iterate) -> None:
        units = self.problem.units
        entered = units.units_in(_chosen(current)) & ~units.units_in(_chosen(previous))
        self.history.append(
            Iteration(
                iteration=len(self.history) + 1,
                value=current.point.value,
                support_change=int(entered.sum()),
                step=float(current.step),
                gradient_norm=current.gradient_norm,
                seconds=time.perf_counter() - self.began,
                passes=self.problem.objective.counters.passes - self.passes_before,
            )
        )

    def _called_back(self, current: Iterate) -> bool:
        """Whether the callback asks to stop."""
        if self.callback is None:
            return False
        answer = self.callback(self.history[-1], self._user_x(current).copy())
        return isinstance(answer, (bool, np.bool_)) and bool(answer)

    def _verdict(self, previous: Iterate, current: Iterate, stop: bool) -> tuple[Status, str] | None:
        """Why to stop after this iteration, if there is a reason."""
        done = current.done or self.solver.halted(previous, current)
        if done is not None:
            return Status.CONVERGED, done
        period = self._period(current)
        if period == 1:
            return Status.CONVERGED, "converged: the iterate is a fixed point"
        if period is not None:
            return Status.PERIODIC, (
                f"not converged: the supports repeat with period {period}; the best point of the cycle is returned. "
                "Use a smaller step, Backtracking(), or the default solver"
            )
        if stop:
            return Status.STOPPED, f"stopped by the callback after {len(self.history)} iterations"
        if self.problem.out_of_time:
            limit = self.solver.time_limit
            return Status.TIME_LIMIT, f"not converged: the time limit of {limit:g} s was reached; raise time_limit"
        return None

    def _period(self, current: Iterate) -> int | None:
        """After how many iterations this iterate has come back, if it has (paper, §3.1)."""
        if current.support is None or current.turn:
            return None
        key = hashlib.blake2b(np.packbits(current.support).tobytes(), digest_size=16).digest()
        now, values = len(self.history), current.point.x[current.support]
        size = float(np.abs(values).max(initial=0.0))
        earlier = self.visited.setdefault(key, deque(maxlen=LONGEST_PERIOD))
        for then, step, old in reversed(earlier):
            same_step = np.isclose(step, current.step, rtol=SAME, atol=0.0, equal_nan=True)
            if same_step and float(np.abs(values - old).max(initial=0.0)) <= SAME * size:
                return now - then
        earlier.append((now, current.step, values))
        return None

    def _not_finite(self, what: str) -> tuple[Status, str]:
        return Status.NOT_FINITE, (
            f"stopped in iteration {len(self.history) + 1}: {what}; the best point before it is returned. "
            "Use a smaller step or Backtracking(), and check the objective with ksparse.diagnostics.check_objective"
        )

    def _user_x(self, iterate: Iterate) -> Array:
        return self.problem.form.to_user(iterate.point.x)

    def _result(self, iterate: Iterate, status: Status, message: str) -> Result:
        if status is not Status.NOT_FINITE:
            try:
                iterate = self.solver.finish(self.problem, iterate)
                _ = iterate.gradient_norm
            except NotFiniteError as error:
                status, message = self._not_finite(str(error))
        units, objective = self.problem.units, self.problem.objective
        if status is Status.CONVERGED:
            status, message = _after_refit(iterate.outcome, message)
        if status.success and units.inactive:
            message += f"; the constraint is inactive, since there are only {units.count} units"
        x = np.array(self._user_x(iterate))
        if units.lower is None:
            x = self.problem.form.canonical(x)
        advice = objective.advice(iterate.outcome, x)
        if advice:
            message += f"{'. ' if advice[0].isupper() else '; '}{advice}"
        support = (x != 0) & units.constrained
        return Result(
            x=x,
            support=support,
            selected=units.names[units.units_in(support) | units.always],
            value=iterate.point.value,
            status=status,
            message=message,
            n_iter=len(self.history),
            history=self.history,
            passes=objective.counters.passes - self.passes_before,
        )


def _chosen(iterate: Iterate) -> Mask:
    return iterate.point.x != 0 if iterate.support is None else iterate.support


def _after_refit(outcome: Outcome, message: str) -> tuple[Status, str]:
    """The status of a converged run, given how minimizing on its support ended."""
    if outcome is Outcome.NO_MINIMUM:
        return Status.NO_MINIMUM, "f has no minimum on the selected support; the returned x is not a minimizer"
    if outcome is Outcome.SINGULAR:
        return Status.SINGULAR, (
            message + ", but the minimizer on the support is not unique (more coordinates than the data determines); "
            "one of them is returned"
        )
    if outcome is Outcome.UNFINISHED:
        return Status.UNFINISHED, (
            "the support converged, but minimizing f on it did not; raise the debiasing method's max_iter, or check "
            "the objective with ksparse.diagnostics.check_objective"
        )
    return Status.CONVERGED, message
