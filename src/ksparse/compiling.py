"""Functions compiled by Numba, which is imported only by modules that are themselves imported when first needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from numba import njit

__all__ = ["compiled"]

F = TypeVar("F", bound=Callable[..., Any])

#: What the compiler may do to a sum so that it can use vectors; NaN and infinity stay what they are.
REASSOCIATE = {"reassoc", "nsz", "contract"}


@overload
def compiled(function: F) -> F: ...


@overload
def compiled(*, reassociate: bool) -> Callable[[F], F]: ...


def compiled(function: F | None = None, *, reassociate: bool = False) -> Any:
    """Compile a function when it is first called, and keep the result for other processes where that is possible.

    It runs without Python's lock. With `reassociate` it may add up the terms of a sum in another order.
    """
    if function is None:
        return lambda later: _compile(later, reassociate)
    return _compile(function, reassociate)


def _compile(function: F, reassociate: bool) -> Any:
    options: Any = {"nogil": True, "fastmath": REASSOCIATE if reassociate else False}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # neither the package's folder nor the user's may be written to
        return njit(**options)(function)
