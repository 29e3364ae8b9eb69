"""Compiling by JAX, in 64 bits."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import jax

__all__ = ["Compiler", "use_float64"]


def use_float64() -> AbstractContextManager[Any]:
    """64 bits in this thread and block only: the user's setting stays."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    from jax.experimental import enable_x64  # before JAX 0.8

    return enable_x64(True)


class Compiler:
    """Compiles functions, and counts them and the time that it takes."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.count = 0

    def compile(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The function compiled for arguments of these shapes."""
        began = time.perf_counter()
        compiled = jax.jit(function).lower(*arguments).compile()
        self.seconds += time.perf_counter() - began
        self.count += 1
        return compiled
