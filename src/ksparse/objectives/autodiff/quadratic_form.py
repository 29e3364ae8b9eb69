"""A user's function that is quadratic: rows of its Hessian, each computed once, give values and derivatives."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ..._types import Array, IntArray, Mask
from ..base import Objective, Outcome, Point, TwiceDifferentiable, describe_objective
from ..protocols import HasGroups, find_labels

__all__ = ["HessianRows", "QuadraticForm", "bound_curvature", "find_steepest"]

#: Curvatures are at least this fraction of the largest.
LEAST_DIAGONAL = 1e-6
#: Where a sum is smaller than this fraction of its terms, rounding has taken too many of its digits.
LEAST_REMAINDER = 1e-6
#: Most coordinates whose curvatures are the diagonal of the Hessian, which takes all of its rows.
MAX_DIAGONAL_SIZE = 1000
#: Rows of the Hessian are kept while they have no more numbers than this (128 MB); then they give way to newer ones.
MAX_KEPT_NUMBERS = 2**24
#: Sizes of the entries of random points at which f is compared with a quadratic, and by how much it may differ.
COMPARED_SIZES, MAX_DEVIATION = (0.01, 1.0, 100.0), 1e-8


def bound_curvature(curvature: Array) -> Array:
    """Curvatures that are bounded away from zero."""
    largest = float(curvature.max(initial=0.0)) or 1.0
    return np.maximum(curvature, LEAST_DIAGONAL * largest)


def find_steepest(slopes: Array, count: int) -> Array:
    """A flat vector with a few nonzero entries: the largest slopes, divided by the size of the largest."""
    slopes = slopes.ravel()
    x = np.zeros(slopes.size)
    steepest = np.argsort(-np.abs(slopes))[:count]
    x[steepest] = slopes[steepest] / (np.abs(slopes).max(initial=0.0) or 1.0)
    return x


class HessianRows:
    """Rows of a constant Hessian, computed when they are needed and kept.

    Parameters
    ----------
    size : int
        Number of coordinates.
    compute : callable
        The rows of some coordinates, shape (number, size).
    """

    def __init__(self, size: int, compute: Callable[[IntArray], Array]) -> None:
        self.size = size
        self._compute = compute
        self._rows = np.empty((0, size))
        self._place = np.full(size, -1)

    def get(self, coordinates: IntArray) -> Array:
        """The rows of some coordinates."""
        missing = coordinates[self._place[coordinates] < 0]
        if (len(self._rows) + missing.size) * self.size > MAX_KEPT_NUMBERS:
            self._rows, missing = np.empty((0, self.size)), coordinates  # make room: only the newest are kept
            self._place[:] = -1
        if missing.size:
            kept = len(self._rows)
            self._rows = np.concatenate([self._rows, self._compute(missing)])
            self._place[missing] = np.arange(kept, len(self._rows))
        return self._rows[self._place[coordinates]]


class QuadraticForm(TwiceDifferentiable, HasGroups):
    """c + bᵀx + ½xᵀHx, which is what a user's function is.

    Where the terms cancel, as those of the gradient at a minimum do, the function itself is evaluated: a sum of squared
    residuals is more accurate than its expansion.

    Parameters
    ----------
    function : Objective
        The function.
    differentiate : callable
        f and its gradient in some coordinates at a flat vector, by the function itself.
    rows : HessianRows
        H, over the flattened coordinates.
    """

    is_quadratic = True

    def __init__(
        self, function: Objective, differentiate: Callable[[Array, IntArray], tuple[float, Array]], rows: HessianRows
    ) -> None:
        super().__init__()
        self.counters, self.shape, self.free = function.counters, function.shape, function.free
        self._function, self._differentiate_whole, self._rows = function, differentiate, rows
        self._support = np.arange(rows.size)
        self._block: Array | None = None
        self._value, self._slopes = differentiate(np.zeros(rows.size), self._support)
        self._value_at_zero, self._name = self._value, describe_objective(function)

    def restrict(self, support: Mask) -> QuadraticForm:
        self.counters.restrictions += 1
        kept = np.flatnonzero(support)
        restricted = copy.copy(self)
        restricted.shape, restricted.free = (kept.size,), None
        restricted._support, restricted._slopes = self._support[kept], self._slopes[kept]
        restricted._block = self._get_hessian(kept)
        return restricted

    @property
    def labels(self) -> IntArray | None:
        return find_labels(self._function)

    @property
    def is_finite(self) -> bool:
        """Whether f and its gradient at zero are finite."""
        return bool(np.isfinite(self._value) and np.isfinite(self._slopes).all())

    def has_values_of_quadratic(self) -> bool:
        """Whether f(x) = f(0) + ½(∇f(0) + ∇f(x))ᵀx at random points: it is not if f has steps."""
        rng = np.random.default_rng(0)
        for size in COMPARED_SIZES:
            x = size * rng.standard_normal(self.size)
            value, slopes = self._differentiate_whole(x, self._support)
            terms = np.array([self._value, 0.5 * (self._slopes @ x), 0.5 * (slopes @ x), -value])
            if not np.isfinite(terms).all() or abs(terms.sum()) > MAX_DEVIATION * np.abs(terms).max():
                return False
        return True

    def _get_hessian(self, kept: IntArray) -> Array:
        """H in some of the coordinates."""
        if self._block is not None:
            return self._block[np.ix_(kept, kept)]
        block = self._rows.get(kept)[:, kept]
        return 0.5 * (block + block.T)

    def evaluate(self, x: Array) -> Point:
        x = self.check_point(x)
        linear, square = float(self._slopes @ x.ravel()), 0.5 * float(x.ravel() @ self._multiply(x))
        value = self._value + linear + square
        if abs(value) < LEAST_REMAINDER * max(abs(self._value), abs(linear), abs(square)):
            value = self._differentiate(x)[0]
        return Point(self, x, value)

    def gradient(self, point: Point) -> Array:
        """b + Hx; on a support, the function's own gradient where that is zero but for rounding."""
        product = self._multiply(point.x)
        gradient = self._slopes + product
        if self._block is None:
            self.counters.passes += 1
        elif (np.abs(gradient) < LEAST_REMAINDER * np.abs(product)).any():
            return self._differentiate(point.x)[1]
        return gradient.reshape(self.shape)

    def _differentiate(self, x: Array) -> tuple[float, Array]:
        """The function itself and its gradient."""
        whole = np.zeros(self._rows.size)
        whole[self._support] = x.ravel()
        value, gradient = self._differentiate_whole(whole, self._support)
        return value, gradient.reshape(self.shape)

    def _multiply(self, x: Array) -> Array:
        """Hx, from the rows where x is nonzero."""
        kept = np.flatnonzero(x)
        return np.asarray(x.ravel()[kept] @ (self._rows.get(kept) if self._block is None else self._block[kept]))

    def hessian(self, point: Point) -> Array:
        return self._get_hessian(np.arange(self.size))

    def hessian_operator(self, point: Point) -> LinearOperator:
        hessian = self.hessian(point)
        return LinearOperator(hessian.shape, matvec=lambda v: hessian @ v, dtype=np.float64)

    def curvature(self, point: Point) -> Array:
        """The diagonal of H; for many coordinates, the mean curvature along the gradient at zero for all of them."""
        if self._block is not None:
            return bound_curvature(np.abs(self._block.diagonal()))
        if self.size <= MAX_DIAGONAL_SIZE:
            return bound_curvature(np.abs(self._get_hessian(self._support).diagonal())).reshape(self.shape)
        return np.full(self.shape, self._mean_curvature)

    @cached_property
    def _mean_curvature(self) -> float:
        product = self._differentiate_whole(self._slopes, self._support)[1] - self._slopes
        squared = float(self._slopes @ self._slopes)
        mean = abs(float(self._slopes @ product)) / squared if squared > 0 else 1.0
        return mean if np.isfinite(mean) and mean > 0 else 1.0

    def advice(self, outcome: Outcome, x: Array) -> str:
        return self._function.advice(outcome, x)
