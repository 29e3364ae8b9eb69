"""A user's own function, given by callables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from .._types import Array, Mask
from .base import NotFiniteError, Objective, Outcome, Point, TwiceDifferentiable, inherit

__all__ = ["Function"]


class _FullGradient:
    """The gradient over all coordinates at a point, which restrictions and extensions of the point share."""

    array: Array | None = None


class Function(Objective):
    """Any smooth f, from its value and gradient, and optionally its Hessian.

    Parameters
    ----------
    value : callable
        ``value(x) -> float``. A NaN or infinite value means that x is outside the domain: line searches step back.
    gradient : callable
        ``gradient(x) -> array`` of x's shape.
    hessian : callable, optional
        ``hessian(x) -> array`` of shape (size, size), over the flattened coordinates. Without it, supports are
        refitted by L-BFGS, and curvature is estimated from differences of the gradient.
    shape : int or tuple of int
        Shape of x.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> from ksparse.objectives import Function
    >>> target = np.array([0.1, -2.0, 0.3, 1.0])
    >>> f = Function(lambda x: np.sum((x - target) ** 4 + (x - target) ** 2),
    ...              gradient=lambda x: 4 * (x - target) ** 3 + 2 * (x - target), shape=4)
    >>> ksparse.minimize(f, k=2).x.round(4)
    array([ 0., -2.,  0.,  1.])

    See Also
    --------
    ksparse.diagnostics.check_objective : check a gradient and Hessian against finite differences.
    """

    def __new__(cls, *_: Any, hessian: Callable[[Array], Any] | None = None, **__: Any) -> Function:
        return object.__new__(cls if hessian is None else _FunctionWithHessian)

    def __init__(
        self,
        value: Callable[[Array], Any],
        gradient: Callable[[Array], Any],
        *,
        shape: int | tuple[int, ...],
        hessian: Callable[[Array], Any] | None = None,
    ) -> None:
        super().__init__()
        for name, function in (("value", value), ("gradient", gradient), ("hessian", hessian)):
            if function is not None and not callable(function):
                raise TypeError(f"{name} must be a function of x, got {function!r} of type {type(function).__name__}")
        lengths = shape if isinstance(shape, tuple) else (shape,)
        if not all(isinstance(length, (int, np.integer)) and length >= 0 for length in lengths):
            raise ValueError(f"shape must be an integer at least 0, or a tuple of them; got {shape!r}")
        self.shape = tuple(int(length) for length in lengths)
        self._value = value
        self._gradient = gradient
        self._hessian = hessian
        self._support: Mask | None = None
        self._full_shape = self.shape

    def __repr__(self) -> str:
        return f"Function(shape={self.shape})"

    # A restricted Function keeps the user's callables and embeds its short iterate in the full one.

    def _embed(self, x: Array) -> Array:
        full = np.zeros(self._full_shape)
        full[... if self._support is None else self._support] = x
        return full

    def _extract(self, full: Array) -> Array:
        return full if self._support is None else full[self._support]

    def restrict(self, support: Mask) -> Function:
        self.counters.restrictions += 1
        restricted = Function(self._value, self._gradient, shape=int(support.sum()), hessian=self._hessian)
        restricted._full_shape = self._full_shape
        restricted._support = self._embed_mask(support)
        restricted.counters = self.counters
        inherit(restricted, self)
        return restricted

    def _embed_mask(self, support: Mask) -> Mask:
        if self._support is None:
            return support
        full = np.zeros(self._full_shape, dtype=bool)
        full[self._support] = support
        return full

    def evaluate(self, x: Array) -> Point:
        x = self.check_point(x)
        value = self._value(self._embed(x))
        try:
            number = float(np.asarray(value).reshape(()))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"value(x) returned {type(value).__name__} of shape {np.shape(value)}; it must return one number"
            ) from error
        if not x.any():
            self._value_at_zero = number
        return Point(self, x, number, _FullGradient())

    def gradient(self, point: Point) -> Array:
        if point.state.array is None:
            point.state.array = self._full_gradient(point.x)
        return self._extract(point.state.array)

    def _full_gradient(self, x: Array) -> Array:
        self.counters.passes += 1
        # A copy: the user's function may fill the same array again.
        gradient = np.array(self._gradient(self._embed(x)), dtype=np.float64)
        if gradient.shape != self._full_shape:
            raise ValueError(
                f"gradient(x) returned shape {gradient.shape} for x of shape {self._full_shape}; "
                "it must return an array of x's shape"
            )
        return gradient

    def _gradient_at(self, x: Array) -> Array:
        return self._extract(self._full_gradient(x))

    def advice(self, outcome: Outcome, x: Array) -> str:
        if outcome is Outcome.NO_MINIMUM:
            return "Lower k, or add a term to f that bounds it from below, such as a ridge"
        return ""


class _FunctionWithHessian(Function, TwiceDifferentiable):
    """A `Function` whose Hessian the user gives."""

    def hessian(self, point: Point) -> Array:
        """The user's Hessian on the support."""
        assert self._hessian is not None
        size = int(np.prod(self._full_shape, dtype=int))
        given = self._hessian(self._embed(point.x))
        matrix = np.asarray(given.toarray() if sparse.issparse(given) else given, dtype=np.float64)
        if matrix.shape != (size, size):
            raise ValueError(f"hessian(x) returned shape {matrix.shape}; expected {(size, size)}")
        if not np.isfinite(matrix).all():
            raise NotFiniteError(f"the Hessian has NaN or infinite entries where f is {point.value:g}")
        kept = np.arange(size) if self._support is None else np.flatnonzero(self._support)
        return matrix[np.ix_(kept, kept)]

    # Of the two bases, the one with the Hessian has the curvature.
    curvature = TwiceDifferentiable.curvature
