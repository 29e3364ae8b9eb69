"""The interface of an objective: f, its gradient, and f on a support.

`Objective` is all that a solver needs. What an objective may know beyond it is in interfaces of its own, which a
solver tests for: `TwiceDifferentiable` here, and those in `ksparse.objectives.protocols`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from enum import Enum
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from .._types import Array, Mask
from ..counters import Counters
from ..validation import as_real_array

__all__ = ["NotFiniteError", "Objective", "Outcome", "Point", "TwiceDifferentiable", "UnitKind"]

#: What an integer k counts: entries of a vector, rows of a matrix, or pairs (i, j), (j, i) of a symmetric matrix.
UnitKind = Literal["entries", "rows", "pairs"]

#: Rounding error of f, as a fraction of the numbers that it is computed from.
VALUE_ROUNDING = 1e-15
#: Relative step of central differences of the gradient.
DIFFERENCE_STEP = 6e-6


class Outcome(Enum):
    """How minimizing f on a support ended."""

    SOLVED = "the minimum on the support was found"
    SINGULAR = "the minimizer on the support is not unique"
    NO_MINIMUM = "f has no minimum on the support"
    NOT_FINITE = "f is not finite on the support"
    UNFINISHED = "the minimum on the support was not reached"


class NotFiniteError(ArithmeticError):
    """The gradient is NaN or infinite where f is finite."""


class Point:
    """An iterate with what has been evaluated there.

    Parameters
    ----------
    objective : Objective
        The function that was evaluated.
    x : ndarray
        The iterate. It is never changed afterwards.
    value : float
        f(x).
    state : object, optional
        By-products of the evaluation that make derivatives cheap, such as the margins Xw of a linear model.
    """

    def __init__(self, objective: Objective, x: Array, value: float, state: Any = None) -> None:
        self.objective = objective
        self.x = x
        self.value = value
        self.state = state

    @cached_property
    def gradient(self) -> Array:
        """The gradient of f at x, computed on first use and kept."""
        self.objective.counters.gradients += 1
        gradient = self.objective.gradient(self)
        if not np.isfinite(gradient).all():
            bad = int(gradient.size - np.isfinite(gradient).sum())
            raise NotFiniteError(f"the gradient has {bad} NaN or infinite entries where f is {self.value:g}")
        return gradient

    @cached_property
    def curvature(self) -> Array:
        """The curvature of f in each coordinate (`Objective.curvature`), computed on first use and kept."""
        return self.objective.curvature(self)

    @property
    def has_gradient(self) -> bool:
        """Whether the gradient has been computed."""
        return "gradient" in vars(self)

    def restrict(self, support: Mask) -> Point:
        """The same point, zero outside `support`, as a point of ``objective.restrict(support)``."""
        return Point(self.objective.restrict(support), self.x[support], self.value, self.state)

    def extend(self, objective: Objective, support: Mask) -> Point:
        """The point of `objective` that this point of ``objective.restrict(support)`` represents."""
        x = np.zeros(objective.shape)
        x[support] = self.x
        return Point(objective, x, self.value, self.state)

    def __repr__(self) -> str:
        return f"Point(value={self.value:.6g}, nonzero={np.count_nonzero(self.x)} of {self.x.size})"


class Objective(ABC):
    """A smooth function f bound to its data.

    A subclass evaluates f and its gradient, and restricts f to a support. How the data are stored is its own
    business: solvers only see NumPy arrays of shape `shape`.
    """

    #: Shape of the iterate.
    shape: tuple[int, ...]
    #: Coordinates outside the sparsity constraint, such as an intercept; None if there are none.
    free: Mask | None = None
    #: What an integer k counts.
    unit_kind: UnitKind = "entries"

    def __init__(self, counters: Counters | None = None) -> None:
        self.counters = Counters() if counters is None else counters
        self._value_at_zero: float | None = None
        self._name = ""

    def __repr__(self) -> str:
        return f"{describe_objective(self)}(shape={self.shape})"

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return math.prod(self.shape)

    @property
    def start(self) -> Array:
        """Default starting point: zero, or the point of f's domain at which nothing is selected."""
        return np.zeros(self.shape)

    @abstractmethod
    def evaluate(self, x: Array) -> Point:
        """Evaluate f at x."""

    @abstractmethod
    def gradient(self, point: Point) -> Array:
        """Gradient at an evaluated point. Call ``point.gradient`` instead, which computes it once."""

    @abstractmethod
    def restrict(self, support: Mask) -> Objective:
        """f as a function of the coordinates in `support`, the others being zero."""

    def curvature(self, point: Point) -> Array:  # call ``point.curvature`` instead, which computes it once
        """Positive per-coordinate curvature, of the iterate's shape: the Hessian's diagonal or an estimate.

        By default the mean curvature along the gradient, the same for every coordinate.
        """
        gradient = point.gradient.ravel()
        squared = float(gradient @ gradient)
        along = abs(float(gradient @ self._multiply_hessian(point, gradient))) / squared if squared > 0 else 1.0
        return np.full(self.shape, along if np.isfinite(along) and along > 0 else 1.0)

    def relative_change(self, before: Point, after: Point) -> float:
        """Distance between two points, relative to their size."""
        return float(np.linalg.norm(after.x - before.x) / (1.0 + np.linalg.norm(before.x)))

    def value_rounding(self, value: float, at_start: float) -> float:
        """The rounding error of f where it has this value, given its value at the start of a search.

        By default f is supposed to be a difference of numbers as large as f at the start.
        """
        return VALUE_ROUNDING * abs(at_start) if np.isfinite(at_start) else 0.0

    def advice(self, outcome: Outcome, x: Array) -> str:
        """What a user should know or do after minimizing on a support ended like this at x; "" for nothing."""
        return "Lower k, and check f with ksparse.diagnostics.check_objective" if outcome is Outcome.NO_MINIMUM else ""

    def check_point(self, x: Any, name: str = "x") -> Array:
        """x as a float64 array of the right shape, or a ValueError that says what was expected."""
        array = as_real_array(x, name)
        if array.shape != self.shape:
            intercept = "" if self.free is None else " (the intercept comes last)"
            raise ValueError(
                f"{name} has shape {array.shape}, but {describe_objective(self)} is a function on shape {self.shape}"
                f"{intercept}; pass an array of that shape"
            )
        return array

    def _gradient_at(self, x: Array) -> Array:
        return self.evaluate(x).gradient

    def _multiply_hessian(self, point: Point, direction: Array) -> Array:
        """∇²f(x)d from a central difference of the gradient."""
        direction = direction.reshape(self.shape)
        length = float(np.abs(direction).max(initial=0.0))
        if length == 0.0:
            return np.zeros(self.size)
        step = DIFFERENCE_STEP * max(1.0, float(np.abs(point.x).max(initial=0.0))) / length
        ahead, behind = (self._gradient_at(point.x + sign * step * direction) for sign in (1.0, -1.0))
        return ((ahead - behind) / (2.0 * step)).ravel()


class TwiceDifferentiable(Objective):
    """An objective whose Hessian is cheap on a restriction: refits then use Newton's method.

    A subclass has `hessian`; products and curvatures follow from it, unless there is a cheaper way.
    """

    #: Whether f is quadratic, so that one Newton step is exact.
    is_quadratic: bool = False
    #: Whether every restriction has a unique minimizer, so that uniqueness need not be checked.
    is_strongly_convex: bool = False
    #: Number of directions in which f is constant by construction (a softmax is invariant to shifts).
    n_invariances: int = 0

    @abstractmethod
    def hessian(self, point: Point) -> Array:
        """Hessian over the flattened coordinates; for restrictions."""

    def hessian_operator(self, point: Point) -> LinearOperator:
        """Products with the Hessian, for Newton-CG on large supports."""
        return aslinearoperator(self.hessian(point))

    def curvature(self, point: Point) -> Array:
        """Absolute diagonal of the Hessian, bounded away from zero."""
        diagonal = np.abs(np.diag(self.hessian(point)).reshape(self.shape))
        largest = float(diagonal.max(initial=0.0)) or 1.0
        return np.maximum(diagonal, 1e-6 * largest)


def require_objective(objective: Any) -> None:
    """Refuse what is no objective by an error that says how to make one."""
    if isinstance(objective, Objective):
        return
    advice = "bind a model to your data, such as ksparse.objectives.LeastSquares(X, y)"
    if callable(objective) and not isinstance(objective, type):
        advice = "wrap your own function in ksparse.objectives.from_jax, from_torch or Function"
    kind = f"the class {objective.__name__}" if isinstance(objective, type) else f"a {type(objective).__name__}"
    raise TypeError(f"objective must be a ksparse Objective, got {kind}; {advice}")


def describe_objective(objective: Objective) -> str:
    """The name of an objective in messages: that of the class which the user has made."""
    return objective._name or type(objective).__name__


def value_at_zero(objective: Objective) -> float:
    """f(0), which is the same for all restrictions; computed once."""
    if objective._value_at_zero is None:
        objective._value_at_zero = objective.evaluate(np.zeros(objective.shape)).value
    return objective._value_at_zero


def inherit(restricted: Objective, whole: Objective) -> None:
    """Give a restriction what it has in common with the whole objective: its name and f(0)."""
    restricted._name = describe_objective(whole)
    restricted._value_at_zero = value_at_zero(whole)


def compute_hessian(objective: Objective, point: Point) -> Array:
    """The Hessian over the flattened coordinates: the objective's own, or from differences of the gradient."""
    objective.counters.hessians += 1
    if isinstance(objective, TwiceDifferentiable):
        return objective.hessian(point)
    columns = [objective._multiply_hessian(point, unit) for unit in np.eye(objective.size)]
    matrix = np.array(columns).reshape(objective.size, objective.size)
    return 0.5 * (matrix + matrix.T)


def compute_hessian_operator(objective: Objective, point: Point) -> LinearOperator:
    """Products with the Hessian: the objective's own, or from differences of the gradient."""
    if isinstance(objective, TwiceDifferentiable):
        return objective.hessian_operator(point)
    shape = (objective.size, objective.size)
    return LinearOperator(shape, matvec=lambda v: objective._multiply_hessian(point, v), dtype=np.float64)


def curvature_along(point: Point, direction: Array) -> float:
    """dᵀ∇²f(x)d for a sparse direction d, on the coordinates where x or d is nonzero."""
    support = (direction != 0) | (point.x != 0)
    restricted = point.restrict(support)
    d = direction[support]
    return float(d @ (compute_hessian_operator(restricted.objective, restricted) @ d))


def has_hessian(objective: Objective) -> bool:
    """Whether the Hessian is cheap on a restriction."""
    return isinstance(objective, TwiceDifferentiable)


def is_quadratic(objective: Objective) -> bool:
    """Whether f is known to be quadratic."""
    return isinstance(objective, TwiceDifferentiable) and objective.is_quadratic
