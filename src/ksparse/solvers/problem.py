"""What solvers work on: a problem (f with a sparsity set), iterates of it, and when f is lower."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from .._types import Array, Mask
from ..clock import read_clock
from ..debias import Bounds, Debias, Exact, Outcome
from ..objectives.base import Objective, Point
from ..objectives.protocols import EvaluatesTogether, WorkingForm
from ..sparsity import Units

__all__ = ["Iterate", "Problem", "SolverState", "Tolerance"]

T = TypeVar("T")


@dataclass(frozen=True)
class SolverState:
    """What a solver remembers from one iteration to the next; a solver that does has a subclass of its own.

    States are compared: an iterate is met again only if its state is the same too.
    """


@dataclass(frozen=True)
class Iterate:
    """Where an iteration ended."""

    #: The iterate with its evaluations.
    point: Point
    #: F⁽ᵗ⁾, the selected coordinates with the free ones; None before the first iteration.
    support: Mask | None = None
    #: Step size of S1.
    step: float = np.nan
    #: How minimizing on the support ended.
    outcome: Outcome = Outcome.SOLVED
    #: The same point as one of the objective on the support.
    solution: Point | None = None
    #: The bounds of its coordinates.
    bounds: Bounds | None = None
    #: Whether f was minimized on the support as accurately as a result is.
    is_accurate: bool = False
    #: Why the solver has finished, if it has.
    done: str | None = None
    #: What the solver remembers for its next update.
    state: SolverState | None = None

    @property
    def value(self) -> float:
        """f at the iterate."""
        return self.point.value

    @cached_property
    def gradient_norm(self) -> float:
        """Norm of the gradient on the support, without entries that bounds block; computed when it is needed."""
        if self.solution is None or self.outcome is Outcome.NOT_FINITE:
            return 0.0 if self.support is not None and not self.support.any() else np.nan
        gradient = self.solution.gradient
        if self.bounds is not None:
            gradient = np.where(self.bounds.find_movable(self.solution.x, gradient), gradient, 0.0)
        return float(np.linalg.norm(gradient))

    def has_same_support(self, other: Iterate) -> bool:
        """Whether both have selected the same coordinates."""
        return self.support is not None and other.support is not None and np.array_equal(self.support, other.support)


@dataclass(frozen=True)
class Problem:
    """An objective with the sparsity set bound to its shape: all that a solver works on."""

    #: The objective in its working coordinates.
    form: WorkingForm
    #: The sparsity set.
    units: Units
    #: When the time limit is reached, by `ksparse.clock.read_clock`.
    deadline: float = np.inf
    _cache: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def objective(self) -> Objective:
        """f, in its working coordinates."""
        return self.form.objective

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit has passed; long updates stop then."""
        return read_clock() >= self.deadline

    def find_selected_units(self, iterate: Iterate) -> Mask:
        """Units in the support of an iterate; before there is one, those with a nonzero coefficient."""
        return self.units.find_units(iterate.point.x != 0 if iterate.support is None else iterate.support)

    @property
    def has_bounds(self) -> bool:
        """Whether coefficients have bounds."""
        return self.units.lower is not None

    def restrict_bounds(self, support: Mask) -> Bounds | None:
        """Bounds of the coordinates of a support, if there are any."""
        lower, upper = self.units.lower, self.units.upper
        return None if lower is None or upper is None else Bounds(lower[support], upper[support])

    def block_slopes(self, slopes: Array, x: Array, support: Mask) -> Array:
        """Slopes of f in the coordinates of a support, zero where a bound holds a coefficient at zero.

        Elsewhere at a bound the slope tells what it costs to go back to zero.
        """
        bounds = self.restrict_bounds(support)
        return slopes if bounds is None else np.where((x != 0) | bounds.find_movable(x, slopes), slopes, 0.0)

    def refit(self, support: Mask, start: Array, debias: Debias | None = None) -> Iterate:
        """S3: minimize on `support` from `start` (whose other coordinates are ignored)."""
        debias = Exact() if debias is None else debias
        objective = self.objective
        if not support.any():
            return Iterate(objective.evaluate(np.zeros(objective.shape)), support)
        bounds = self.restrict_bounds(support)
        restricted = objective.restrict(support)
        solution = debias(restricted, self._find_start(support, start), bounds)
        return Iterate(
            solution.point.extend(objective, support),
            support,
            outcome=solution.outcome,
            solution=solution.point,
            bounds=bounds,
            is_accurate=solution.outcome is Outcome.SOLVED and isinstance(debias, Exact) and debias.is_accurate,
        )

    def anticipate_refits(self, starts: Iterable[tuple[Mask, Array]]) -> None:
        """A hint that refits on these supports will start from these points."""
        if isinstance(self.objective, EvaluatesTogether):
            self.objective.anticipate_refits((support, self._find_start(support, x)) for support, x in starts)

    def _find_start(self, support: Mask, x: Array) -> Array:
        bounds = self.restrict_bounds(support)
        return x[support] if bounds is None else bounds.clip(x[support])

    def compute_once(self, key: str, compute: Callable[[], T]) -> T:
        """A quantity that is computed once in a run."""
        if key not in self._cache:
            self._cache[key] = compute()
        return self._cache[key]


@dataclass(frozen=True)
class Tolerance:
    """Values of f differ if they do so by more than a fraction of f and by more than rounding.

    The objective knows its rounding: where f falls to a tiny fraction of its value at the start of the search, its last
    digits may be noise.

    Parameters
    ----------
    fraction : float
        The fraction of f.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> from ksparse.objectives.protocols import WorkingForm
    >>> f = ksparse.objectives.LeastSquares(np.eye(3), [1.0, 2.0, 3.0])
    >>> problem = ksparse.solvers.Problem(WorkingForm(f), ksparse.sparsity.Entries(1).bind((3,)))
    >>> ksparse.solvers.Tolerance(1e-6).is_lower(problem, 1.0 - 1e-8, than=1.0)
    False
    """

    fraction: float

    def compute_least_decrease(self, problem: Problem, value: float) -> float:
        """By how much f must fall below `value` to be lower."""
        return self.fraction * abs(value) + problem.objective.value_rounding(value, problem.form.value_at_start)

    def is_lower(self, problem: Problem, value: float, *, than: float) -> bool:
        """Whether f is lower by more than the tolerance."""
        return value < than - self.compute_least_decrease(problem, than)

    def are_equal(self, problem: Problem, value: float, other: float) -> bool:
        """Whether two values differ by no more than the tolerance."""
        return abs(value - other) <= self.compute_least_decrease(problem, other)
