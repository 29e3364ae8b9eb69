"""A clock that stands still while Numba compiles functions, which takes up to a minute after an install."""

from __future__ import annotations

import threading
import time

__all__ = ["CompilingTime", "compiling_time", "read_clock"]


class CompilingTime(threading.local):
    """What a thread has spent on compiling, or on loading what another process has compiled."""

    #: Seconds that are over.
    seconds = 0.0
    #: Functions that are being compiled: one may need others.
    depth = 0
    #: When the first of them was begun.
    began = 0.0

    def start(self) -> None:
        """A function begins to be compiled."""
        if self.depth == 0:
            self.began = time.perf_counter()
        self.depth += 1

    def end(self) -> None:
        """A function is compiled."""
        self.depth -= 1
        if self.depth == 0:
            self.seconds += time.perf_counter() - self.began


compiling_time = CompilingTime()


def read_clock() -> float:
    """Seconds of this thread without those of compiling; time limits are compared with them."""
    return time.perf_counter() - compiling_time.seconds
