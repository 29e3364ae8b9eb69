"""Time a fit, and catch its failures; a method that may crash runs in a process of its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

__all__ = ["Isolated", "Outcome", "time_call"]

#: The result or None, the CPU seconds, and the reason of a failure or an empty string.
Outcome = tuple[Any, float, str]


def time_call(function: Callable[..., Any], *arguments: Any) -> Outcome:
    """Call a function, and return its result, CPU seconds and failure."""
    start = time.process_time()
    try:
        result = function(*arguments)
    except Exception as error:  # a peer may fail in any way, and this is a result
        return None, time.process_time() - start, f"{type(error).__name__}: {error}"[:100]
    return result, time.process_time() - start, ""


class Isolated:
    """Call functions in another process, which stays alive for the next call.

    Parameters
    ----------
    attempts : int, default=2
        How often a call is made if the process dies, each time in a new one; then it has failed.
    """

    def __init__(self, attempts: int = 2) -> None:
        self.attempts = attempts
        self.pool: ProcessPoolExecutor | None = None

    def time_call(self, function: Callable[..., Any], *arguments: Any) -> Outcome:
        """Return the outcome of a call there."""
        for _ in range(self.attempts):
            if self.pool is None:
                self.pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
            try:
                return self.pool.submit(time_call, function, *arguments).result()
            except BrokenProcessPool:
                self.pool = None
        return None, float("nan"), f"the process died {self.attempts} times"
