"""Threads: one for small systems, all that the caller allows for passes over large data.

Two threads on a small matrix wait for each other longer than they work, so solvers run under
`one_thread`, and a pass over large data asks for the caller's threads again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import lru_cache
from threading import Lock
from typing import TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["one_thread", "parallel_map", "thread_count", "use_caller_threads"]

#: A product over fewer numbers than this is faster on one thread.
LARGE = 2_000_000

T = TypeVar("T")

#: How many threads the caller had; 0 where nobody has limited them.
_allowed: ContextVar[int] = ContextVar("ksparse_threads", default=0)


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def _threads_of_blas() -> int:
    return max((library["num_threads"] for library in _blas().info()), default=1)


#: Who limits BLAS: the number of threads belongs to the process, and two who save and restore it would mix them up.
_limiting = Lock()
#: How many threads there were before.
_before = 1


@contextmanager
def one_thread() -> Iterator[None]:
    """Run BLAS on one thread, remembering how many the caller had.

    Where another Python thread has limited them already, they are its to give back.
    """
    global _before
    first = _limiting.acquire(blocking=False)
    try:
        if first:
            _before = _threads_of_blas()
        token = _allowed.set(max(_before, _allowed.get()))
        try:
            with _blas().limit(limits=1) if first else nullcontext():
                yield
        finally:
            _allowed.reset(token)
    finally:
        if first:
            _limiting.release()


@contextmanager
def use_caller_threads(numbers: int) -> Iterator[None]:
    """Give a product over `numbers` stored numbers the caller's threads, if it is large enough to gain."""
    if numbers < LARGE or _allowed.get() <= 1:
        yield
        return
    with _blas().limit(limits=_allowed.get()):
        yield


def thread_count(numbers: int) -> int:
    """How many threads may share work on `numbers` stored numbers that BLAS does not do."""
    return 1 if numbers < LARGE else _allowed.get() or _threads_of_blas()


def parallel_map(work: Callable[[int], T], count: int) -> list[T]:
    """work(0), …, work(count − 1), each on a thread of its own."""
    if count == 1:
        return [work(0)]
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count)))
