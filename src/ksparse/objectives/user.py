"""A user's own function, given by callables."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse

from .._types import Array, Mask
from .base import NotFiniteError, Objective, Outcome, Point, TwiceDifferentiable, inherit

__all__ = [
    "Function",
    "UserFunction",
    "as_number",
    "as_shape",
    "check_gradient",
    "check_hessian",
    "describe_point",
    "note_point",
]

#: An error of a user's function shows this many nonzero coordinates of x.
MAX_SHOWN = 20


def as_shape(shape: Any) -> tuple[int, ...]:
    """A shape as a tuple of ints."""
    lengths = shape if isinstance(shape, tuple) else (shape,)
    if not all(isinstance(length, (int, np.integer)) and length >= 0 for length in lengths):
        raise ValueError(f"shape must be an integer at least 0, or a tuple of them; got {shape!r}")
    return tuple(int(length) for length in lengths)


def as_number(value: Any, what: str) -> float:
    """What a user's function returned, as one number."""
    try:
        return float(np.asarray(value).reshape(()))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{what} returned {type(value).__name__} of shape {np.shape(value)}; it must return one number"
        ) from error


def check_hessian(matrix: Array, value: float) -> Array:
    """A Hessian without NaN or infinite entries."""
    if not np.isfinite(matrix).all():
        raise NotFiniteError(f"the Hessian has NaN or infinite entries where f is {value:g}")
    return matrix


def check_gradient(gradient: Array, value: float, x: Array) -> Array:
    """A gradient without NaN or infinite entries; x has the user's shape."""
    bad = gradient.size - int(np.isfinite(gradient).sum())
    if bad:
        raise NotFiniteError(
            f"the gradient has {bad} NaN or infinite entries where f is {value:g}, at {describe_point(x)}"
        )
    return gradient


@contextmanager
def note_point(x: Array) -> Iterator[None]:
    """Errors of a user's function are not changed, but have a note with the x that made them."""
    try:
        yield
    except Exception as error:
        add_note(error, f"This error came from your function at {describe_point(x)}")
        raise


def add_note(error: Exception, note: str) -> None:
    """`BaseException.add_note`, also for Python 3.10, which does not show the notes."""
    notes = getattr(error, "__notes__", [])
    if note not in notes:
        error.__notes__ = [*notes, note]  # type: ignore[attr-defined]


def describe_point(x: Array) -> str:
    """The nonzero coordinates of x, if there are not many."""
    places = np.argwhere(x != 0)
    if not len(places):
        return f"x = 0, of shape {x.shape}"
    shown = (f"x[{', '.join(map(str, place))}] = {float(x[tuple(place)])!r}" for place in places[:MAX_SHOWN])
    more = ", …" if len(places) > MAX_SHOWN else ""
    return f"x with {len(places)} nonzero of {x.size} entries: {', '.join(shown)}{more}"


class UserFunction(Objective):
    """f from code of the user's, which knows x of the full shape only: on a support, the other entries are zero."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.shape = shape
        self._full_shape = shape
        self._support: Mask | None = None

    def _embed(self, x: Array) -> Array:
        full = np.zeros(self._full_shape)
        full[... if self._support is None else self._support] = x
        return full

    def _extract(self, full: Array) -> Array:
        return full if self._support is None else full[self._support]

    def _embed_mask(self, support: Mask) -> Mask:
        if self._support is None:
            return support
        full = np.zeros(self._full_shape, dtype=bool)
        full[self._support] = support
        return full

    def restrict(self, support: Mask) -> UserFunction:
        self.counters.restrictions += 1
        restricted = copy.copy(self)
        restricted.shape, restricted.free = (int(support.sum()),), None
        restricted._support = self._embed_mask(support)
        inherit(restricted, self)
        return restricted

    def advice(self, outcome: Outcome, x: Array) -> str:
        if outcome is Outcome.NO_MINIMUM:
            return "Lower k, or add a term to f that bounds it from below, such as a ridge"
        if outcome is Outcome.NOT_FINITE:
            return (
                "Where f is defined for some x only, keep x there by bounds, as in "
                "sparsity=ksparse.sparsity.Entries(k, lower=0, upper=1), or begin at another x0"
            )
        if outcome is Outcome.SOLVED and not x.any():
            return "if the gradient of f is zero at x = 0 without a minimum there, begin at another x0"
        return ""


class _FullGradient:
    """The gradient over all coordinates at a point, which restrictions and extensions of the point share."""

    array: Array | None = None


class Function(UserFunction):
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
        super().__init__(as_shape(shape))
        for name, function in (("value", value), ("gradient", gradient), ("hessian", hessian)):
            if function is not None and not callable(function):
                raise TypeError(f"{name} must be a function of x, got {function!r} of type {type(function).__name__}")
        self._value = value
        self._gradient = gradient
        self._hessian = hessian

    def __repr__(self) -> str:
        return f"Function(shape={self.shape})"

    def evaluate(self, x: Array) -> Point:
        x = self.check_point(x)
        full = self._embed(x)
        with note_point(full):
            value = self._value(full)
        number = as_number(value, "value(x)")
        if not x.any():
            self._value_at_zero = number
        return Point(self, x, number, _FullGradient())

    def gradient(self, point: Point) -> Array:
        if point.state.array is None:
            point.state.array = self._full_gradient(point.x)
        return check_gradient(self._extract(point.state.array), point.value, self._embed(point.x))

    def _full_gradient(self, x: Array) -> Array:
        self.counters.passes += 1
        full = self._embed(x)
        with note_point(full):
            given = self._gradient(full)
        # A copy: the user's function may fill the same array again.
        gradient = np.array(given, dtype=np.float64)
        if gradient.shape != self._full_shape:
            raise ValueError(
                f"gradient(x) returned shape {gradient.shape} for x of shape {self._full_shape}; "
                "it must return an array of x's shape"
            )
        return gradient

    def _gradient_at(self, x: Array) -> Array:
        return self._extract(self._full_gradient(x))


class _FunctionWithHessian(Function, TwiceDifferentiable):
    """A `Function` whose Hessian the user gives."""

    def hessian(self, point: Point) -> Array:
        """The user's Hessian on the support."""
        assert self._hessian is not None
        size = int(np.prod(self._full_shape, dtype=int))
        full = self._embed(point.x)
        with note_point(full):
            given = self._hessian(full)
        matrix = np.asarray(given.toarray() if sparse.issparse(given) else given, dtype=np.float64)
        if matrix.shape != (size, size):
            raise ValueError(f"hessian(x) returned shape {matrix.shape}; expected {(size, size)}")
        check_hessian(matrix, point.value)
        kept = np.arange(size) if self._support is None else np.flatnonzero(self._support)
        return matrix[np.ix_(kept, kept)]

    # Of the two bases, the one with the Hessian has the curvature.
    curvature = TwiceDifferentiable.curvature
