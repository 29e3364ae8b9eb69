"""Threads for BLAS: one for small systems, all that the caller allows for passes over large data.

Two threads on a small matrix wait for each other longer than they work, so solvers run under
`one_thread`, and a pass over large data asks for the caller's threads again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

from threadpoolctl import ThreadpoolController

__all__ = ["caller_threads", "one_thread"]

#: A product over fewer numbers than this is faster on one thread.
LARGE = 2_000_000

_allowed: ContextVar[int] = ContextVar("ksparse_threads", default=1)


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_thread() -> Iterator[None]:
    """Run BLAS on one thread, remembering how many the caller had."""
    allowed = max((library["num_threads"] for library in _blas().info()), default=1)
    token = _allowed.set(max(allowed, _allowed.get()))
    try:
        with _blas().limit(limits=1):
            yield
    finally:
        _allowed.reset(token)


@contextmanager
def caller_threads(numbers: int) -> Iterator[None]:
    """Give a product over `numbers` stored numbers the caller's threads, if it is large enough to gain."""
    if numbers < LARGE or _allowed.get() == 1:
        yield
        return
    with _blas().limit(limits=_allowed.get()):
        yield
