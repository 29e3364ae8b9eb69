"""Functions compiled by Numba, which is imported only by modules that are themselves imported when first needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

__all__ = ["compiled"]

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile a function when it is first called, and keep the result for other processes where that is possible."""
    try:
        fast: Any = njit(cache=True)(function)
    except RuntimeError:  # neither the package's folder nor the user's may be written to
        fast = njit(function)
    return cast(F, fast)
