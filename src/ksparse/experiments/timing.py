"""A fit, and the seconds of the processor that it took."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from sklearn.exceptions import ConvergenceWarning

from ..objectives import Objective
from ..optimize import minimize
from ..solvers import Callback, Result, Solver

__all__ = ["Timed", "solved", "timed"]

T = TypeVar("T")


class Timed(NamedTuple):
    """A result, and the seconds of the processor that it took."""

    result: Result
    seconds: float


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What some work gives, and the seconds of the processor that it took, without warnings of convergence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # Of this thread, which does all the work; another one may draw progress bars meanwhile.
        began = time.thread_time()
        found = work()
        return found, time.thread_time() - began


def solved(objective: Objective, k: int, solver: Solver, x0: Any = None, callback: Callback | None = None) -> Timed:
    """Minimize f with k units; how it ended is in the result's status."""
    return Timed(*timed(lambda: minimize(objective, k, solver=solver, x0=x0, callback=callback)))
