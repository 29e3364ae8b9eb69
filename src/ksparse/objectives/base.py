"""What a solver needs to know about f: its value, gradient and curvature at a point, and f on a support."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from .._types import Array, IntArray, Mask
from ..sparsity import Entries, Sparsity
from ..validation import real_array
from .design import PassCounter

__all__ = ["NoLipschitzConstantError", "NotFiniteError", "Objective", "Point"]


#: Relative step of differences of the gradient.
DIFFERENCE = 6e-6


class NoLipschitzConstantError(ValueError):
    """The gradient of the objective has no (known) global Lipschitz constant."""


class NotFiniteError(ArithmeticError):
    """The gradient is NaN or infinite where f is finite."""


class Point:
    """An iterate together with what has been evaluated there.

    Parameters
    ----------
    objective : Objective
        The function that was evaluated.
    x : ndarray
        The iterate. It is never changed afterwards.
    value : float
        f(x).
    state : object, optional
        By-products of the evaluation that make derivatives cheap (the margins Xw of a linear model).
    """

    def __init__(self, objective: Objective, x: Array, value: float, state: Any = None) -> None:
        self.objective = objective
        self.x = x
        self.value = value
        self.state = state

    @cached_property
    def gradient(self) -> Array:
        """The gradient of f at x, computed once, on first use."""
        gradient = self.objective.gradient(self)
        if not np.isfinite(gradient).all():
            bad = int(gradient.size - np.isfinite(gradient).sum())
            raise NotFiniteError(f"the gradient has {bad} NaN or infinite entries where f is {self.value:g}")
        return gradient

    def __repr__(self) -> str:
        return f"Point(value={self.value:.6g}, nonzero={np.count_nonzero(self.x)} of {self.x.size})"


class Objective(ABC):
    """A smooth function f bound to its data.

    A subclass says how to evaluate f (`at`), its gradient, and how to restrict it to a support; curvature
    has defaults where it is not known. Everything that depends on the kind of data (dense, sparse, remote)
    stays inside the objective: solvers only see NumPy arrays of shape `shape`.
    """

    #: Shape of the iterate.
    shape: tuple[int, ...]
    #: Coordinates outside the sparsity constraint (an intercept); None where there are none.
    free: Mask | None = None
    #: True where f is quadratic, so that one Newton step is exact.
    quadratic: bool = False
    #: True where `hessian` and `hessian_operator` cost no more than work on the gathered columns.
    has_hessian: bool = False
    #: True where `cross_hessian` costs less than the Hessian among many coordinates.
    has_cross_hessian: bool = False
    #: True where every restriction has a unique minimizer, so that none needs to be checked for it.
    strongly_convex: bool = False
    #: True where many units are exchanged at a time, rather than one by one as a quadratic model of f advises.
    merges: bool = False
    #: With more coordinates than this, exchanges are told by what single units gain and cost, rather than by a Hessian.
    largest_model: int = 600
    #: Largest support for which factorizing the Hessian beats conjugate gradients.
    largest_factor: int = 500
    #: What makes f fall for ever on a support, and what to do about it.
    runaway: str = "separated classes"
    remedy: str = "Set alpha > 0"
    #: Number of directions in which f is constant by construction (a softmax is invariant to shifts).
    invariances: int = 0

    def __init__(self) -> None:
        self._passes = PassCounter()
        self._value_at_zero: float | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={self.shape})"

    @property
    def passes(self) -> int:
        """Passes over the data so far: evaluations of the full gradient, or what costs as much."""
        return self._passes.total

    @property
    def start(self) -> Array:
        """Where solvers begin when nobody says: zero, or the point of f's domain that stands for nothing selected."""
        return np.zeros(self.shape)

    @property
    def value_at_zero(self) -> float:
        """f(0), which is the same for all restrictions; computed once."""
        if self._value_at_zero is None:
            self._value_at_zero = self.at(np.zeros(self.shape)).value
        return self._value_at_zero

    @cached_property
    def value_at_start(self) -> float:
        """The value of f where solvers begin, which says how large its rounding is; computed once."""
        return self.at(self.start).value

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return int(np.prod(self.shape, dtype=int))

    @abstractmethod
    def at(self, x: Array) -> Point:
        """Evaluate f at x."""

    @abstractmethod
    def gradient(self, point: Point) -> Array:
        """Gradient at an evaluated point; use ``point.gradient``, which computes it once."""

    @abstractmethod
    def restrict(self, support: Mask) -> Objective:
        """f as a function of the coordinates in `support` alone, the others being zero."""

    def lift(self, point: Point, support: Mask) -> Point:
        """The point of this objective that a point of ``restrict(support)`` stands for."""
        x = np.zeros(self.shape)
        x[support] = point.x
        return Point(self, x, point.value, point.state)

    def lower(self, point: Point, support: Mask) -> Point:
        """A point that vanishes outside `support`, as a point of ``restrict(support)``: the inverse of `lift`."""
        return Point(self.restrict(support), point.x[support], point.value, point.state)

    def light(self, point: Point) -> Point:
        """The same point without evaluations that take much memory and can be made again; by default as it is."""
        return point

    def hessian(self, point: Point) -> Array:
        """Hessian over the flattened coordinates, for restrictions. By default from differences of the gradient."""
        columns = [self._bend(point, unit) for unit in np.eye(self.size)]
        matrix = np.array(columns).reshape(self.size, self.size)
        return 0.5 * (matrix + matrix.T)

    def hessian_operator(self, point: Point) -> LinearOperator:
        """Products with the Hessian, for Newton-CG on large supports. By default from differences of the gradient."""
        return LinearOperator((self.size, self.size), matvec=lambda v: self._bend(point, v), dtype=np.float64)

    def _bend(self, point: Point, direction: Array) -> Array:
        """∇²f(x)d from a central difference of the gradient."""
        direction = direction.reshape(self.shape)
        length = float(np.abs(direction).max(initial=0.0))
        if length == 0.0:
            return np.zeros(self.size)
        step = DIFFERENCE * max(1.0, float(np.abs(point.x).max(initial=0.0))) / length
        ahead, behind = (self._gradient_at(point.x + sign * step * direction) for sign in (1.0, -1.0))
        return ((ahead - behind) / (2.0 * step)).ravel()

    def _gradient_at(self, x: Array) -> Array:
        return self.at(x).gradient

    def curvature_along(self, point: Point, direction: Array) -> float:
        """dᵀ∇²f(x)d for a (sparse) direction d."""
        support = (direction != 0) | (point.x != 0)
        lowered = self.lower(point, support)
        d = direction[support]
        return float(d @ (lowered.objective.hessian_operator(lowered) @ d))

    def curvature(self, point: Point) -> Array:
        """Positive per-coordinate curvature, of the iterate's shape: the diagonal of the Hessian or an estimate.

        By default the mean curvature along the gradient, for every coordinate.
        """
        gradient = point.gradient.ravel()
        squared = float(gradient @ gradient)
        along = abs(float(gradient @ self._bend(point, gradient))) / squared if squared > 0 else 1.0
        return np.full(self.shape, along if np.isfinite(along) and along > 0 else 1.0)

    def entering_gains(self, point: Point, slopes: Array) -> Array:
        """About how much f falls if a zero coordinate alone may follow its slope; summed over a unit, if the unit may.

        `slopes` is the gradient without what bounds forbid.
        """
        return 0.5 * np.square(slopes) / self.curvature(point)

    def quadratic_model(self, point: Point, look: Mask) -> tuple[Mask, Array, Array]:
        """f ≈ ½zᵀHz − bᵀz in the coordinates that `look` leaves free, each counted once: which they are, H and b."""
        lowered = self.lower(point, look)
        hessian = lowered.objective.hessian(lowered)
        known = "gradient" in vars(point)  # otherwise it is not worth a pass over the data
        slopes = point.gradient[look] if known else lowered.gradient
        return look, hessian, hessian @ point.x[look] - slopes.ravel()

    def cross_hessian(self, point: Point, solution: Point, inside: IntArray, columns: IntArray) -> tuple[Array, Array]:
        """The Hessian between the coordinates of a support and others, and its diagonal at the others.

        `solution` is `point` as one of f on the support. By default cut out of the Hessian of all of them.
        """
        look = np.zeros(self.shape, dtype=bool)
        look[inside] = look[columns] = True
        lowered = self.lower(point, look)
        hessian = lowered.objective.hessian(lowered)
        position = np.cumsum(look) - 1
        rows, others = position[inside], position[columns]
        return hessian[rows[:, None], others], hessian.diagonal()[others]

    def leaving_costs(self, point: Point) -> Array:
        """About how much f rises if a coordinate is set to zero; summed over a unit, if the unit is."""
        return 0.5 * np.square(point.x) * self.curvature(point)

    def lipschitz(self, metric: Array | None = None) -> float:
        """Lipschitz constant of the gradient, in the norm ‖d‖² = Σ metric_j d_j² (default: Euclidean)."""
        raise NoLipschitzConstantError(
            f"the gradient of {type(self).__name__} has no known Lipschitz constant; "
            "give a constant step, or use Backtracking() or BarzilaiBorwein()"
        )

    def change(self, before: Point, after: Point) -> float:
        """How far apart two points are, relative to their size."""
        return float(np.linalg.norm(after.x - before.x) / (1.0 + np.linalg.norm(before.x)))

    def lacks_minimum(self, point: Point) -> bool:
        """Whether this point proves that f falls forever in some direction (separated classes, no ridge)."""
        return False

    def remark(self, x: Array) -> str:
        """What a user should know about a solution; nothing by default."""
        return ""

    def sparsity(self, k: int) -> Sparsity:
        """What an integer k means for this objective: by default, k entries of x."""
        return Entries(k)

    def working(self) -> Objective:
        """The same function in the coordinates in which solvers work best (centred data); by default itself."""
        return self

    def to_working(self, x: Array) -> Array:
        """Coordinates of `working()` for a given x."""
        return x

    def from_working(self, x: Array) -> Array:
        """The x that the coordinates of `working()` stand for."""
        return x

    def canonical(self, x: Array) -> Array:
        """The representative of x among the points with the same support that f cannot tell apart."""
        return x

    def check_point(self, x: Any, name: str = "x") -> Array:
        """x as a float64 array of the right shape, or a ValueError that says what was expected."""
        array = real_array(x, name)
        if array.shape != self.shape:
            intercept = "" if self.free is None else " (the intercept comes last)"
            raise ValueError(
                f"{name} has shape {array.shape}, but {type(self).__name__} is a function on shape {self.shape}"
                f"{intercept}; pass an array of that shape"
            )
        return array
