"""What an objective asks of a package for automatic differentiation, and what it remembers of the answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from ..._types import Array, IntArray
from .leaves import Window
from .quadratic_form import HessianRows
from .separable_form import Margins

__all__ = ["Derivatives", "KnownGradient", "SharedParts"]


class Derivatives(Protocol):
    """A function of a flat vector and its derivatives.

    With columns, the vector has the entries of these columns and the free ones; None are all columns.
    """

    @property
    def compile_seconds(self) -> float:
        """Seconds spent on compiling, if it compiles."""

    @property
    def compilations(self) -> int:
        """How many functions have been compiled."""

    #: Whether the user's function is called once only, so that it is the same function each time.
    is_traced: bool

    def round_up(self, count: int) -> int:
        """The next number of columns or directions for which few functions need to be compiled."""

    def trace(self, x: Array, columns: IntArray | None) -> None:
        """Find errors of the function without evaluating it, if that is possible."""

    def compute_value(self, x: Array, columns: IntArray | None) -> float:
        """The value alone."""

    def evaluate(self, x: Array, columns: IntArray | None) -> tuple[float, Array]:
        """The value and the gradient."""

    def multiply_hessian(self, x: Array, columns: IntArray | None, directions: Array) -> Array:
        """The product of the Hessian with each row."""

    def is_quadratic(self, x: Array) -> bool:
        """Whether it is certain that the function of all columns is quadratic; x is any flat vector."""

    def find_margins(self, x: Array) -> Margins | None:
        """The margins of which the function of all columns is known to be a sum of functions; x is any flat vector."""

    def unflatten(self, x: Array) -> Any:
        """The user's parameters."""


@dataclass
class KnownGradient:
    """The gradient on a part of the flat vector; restrictions and extensions of a point share it."""

    window: Window
    gradient: Array


class SharedParts:
    """What an objective and its restrictions compute once."""

    curvature: Array | None = None
    is_quadratic = False
    #: Whether values of f have confirmed that it is quadratic; None before.
    is_confirmed: bool | None = None
    #: The Hessian of a quadratic.
    rows: HessianRows | None = None
    #: The margins of which f is a sum of functions; None if it is not known to be one.
    margins: Margins | None = None
    #: Their columns and offset.
    margin_map: tuple[Array, Array] | None = None
    is_examined = False
    is_repeated = False
    #: Whether f of a few columns has been compared with f of all of them.
    is_compared = False
