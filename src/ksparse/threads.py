"""How many threads BLAS uses: one for small systems, all that the caller allows for passes over large data.

Two threads on a small matrix wait for each other longer than they work. So a fit runs under `one_thread`, and a pass
over large data uses the caller's threads again, within `use_caller_threads`.

The number of BLAS threads belongs to the process. While a fit runs, BLAS calls of other Python threads therefore run on
one thread too. A program that must not be affected, such as a server, has two ways out: fits within `keep_threads`
leave BLAS alone, and so do all fits of a process that is started with the environment variable
``KSPARSE_THREADS=keep``. Small fits then take longer on many cores.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import lru_cache
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["count_threads", "keep_threads", "one_thread", "parallel_map", "use_caller_threads"]

#: A product over fewer numbers than this is faster on one thread.
MIN_THREADED_SIZE = 2_000_000
#: The environment variable that leaves BLAS alone if it is "keep".
VARIABLE = "KSPARSE_THREADS"

T = TypeVar("T")

_UNCHANGED: AbstractContextManager[None] = nullcontext()

#: How many BLAS threads the caller has; 0 outside `one_thread`.
_allowed: ContextVar[int] = ContextVar("ksparse_allowed_threads", default=0)
#: Whether this thread of Python is within `keep_threads`.
_keeping: ContextVar[bool] = ContextVar("ksparse_keep_threads", default=False)
#: Held by the fit that has limited BLAS: if two fits saved and restored the number, they could restore a wrong one.
_limiting = Lock()
#: The number of BLAS threads before that fit limited them.
_before = 1


@lru_cache(maxsize=1)
def _find_blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def _count_blas_threads() -> int:
    return max((library.num_threads for library in _find_blas().lib_controllers), default=1)


@contextmanager
def keep_threads() -> Iterator[None]:
    """Leave the number of BLAS threads as it is in fits within this context.

    It applies to the Python thread that enters it. For all threads and worker processes of a program, set the
    environment variable ``KSPARSE_THREADS=keep`` instead.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> from ksparse.objectives import LeastSquares
    >>> with ksparse.threads.keep_threads():
    ...     ksparse.minimize(LeastSquares(np.eye(3), [1.0, 3.0, 2.0]), k=1).x
    array([0., 3., 0.])
    """
    token = _keeping.set(True)
    try:
        yield
    finally:
        _keeping.reset(token)


def _should_keep_threads() -> bool:
    setting = os.environ.get(VARIABLE, "")
    if setting not in ("", "keep"):
        raise ValueError(
            f'the environment variable {VARIABLE} must be "keep" or unset, got {setting!r}; '
            "to limit BLAS to some number of threads, use threadpoolctl.threadpool_limits"
        )
    return setting == "keep" or _keeping.get()


@contextmanager
def one_thread() -> Iterator[None]:
    """Run BLAS on one thread; the caller's number is restored at the end.

    If a fit in another Python thread has limited BLAS already, that fit restores the number. Within `keep_threads`, or
    with ``KSPARSE_THREADS=keep`` in the environment, nothing is limited.
    """
    global _before
    if _should_keep_threads():
        yield
        return
    first = _limiting.acquire(blocking=False)
    try:
        if first:
            _before = _count_blas_threads()
        token = _allowed.set(max(_before, _allowed.get()))
        try:
            with _find_blas().limit(limits=1) if first and _before > 1 else nullcontext():
                yield
        finally:
            _allowed.reset(token)
    finally:
        if first:
            _limiting.release()


def use_caller_threads(numbers: int) -> AbstractContextManager[Any]:
    """Run a product over `numbers` stored numbers on the caller's threads, if it is large enough to gain."""
    if numbers < MIN_THREADED_SIZE or _allowed.get() <= 1:
        return _UNCHANGED
    limited: AbstractContextManager[Any] = _find_blas().limit(limits=_allowed.get())
    return limited


def count_threads(numbers: int) -> int:
    """Number of threads for work on `numbers` stored numbers that BLAS does not do."""
    return 1 if numbers < MIN_THREADED_SIZE else _allowed.get() or _count_blas_threads()


def parallel_map(work: Callable[[int], T], count: int) -> list[T]:
    """work(0), …, work(count − 1), each on a thread of its own."""
    if count == 1:
        return [work(0)]
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count)))
