"""The compared methods for models of k features, each with its step-size rule in words, and how they are timed."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ksparse import minimize
from ksparse.objectives import LinearObjective, Objective
from ksparse.solvers import FBS, Callback, FGraHTP, GraHTP, GraSP, RelativeChange, Result, Solver, SwapGraHTP

from .base import Array

__all__ = [
    "DEFAULT",
    "FEATURE_METHODS",
    "METHOD_NAMES",
    "PUBLISHED",
    "Method",
    "TimedResult",
    "describe_steps",
    "gradient_at",
    "solve",
    "time_call",
    "value_at",
    "warm_up",
]

#: The name of our solver in the report.
DEFAULT = "ksparse default"
#: The methods of the paper.
PUBLISHED = ("GraHTP", "FGraHTP", "GraSP", "FBS")
METHOD_NAMES = (*PUBLISHED, DEFAULT)

T = TypeVar("T")


class TimedResult(NamedTuple):
    """A result and the CPU seconds it took."""

    result: Result
    seconds: float


def time_call(function: Callable[[], T]) -> tuple[T, float]:
    """The value of a function and the CPU seconds of its call, without convergence warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # CPU time of this thread, which does all the work; another thread may draw progress bars.
        start = time.thread_time()
        value = function()
        return value, time.thread_time() - start


def solve(
    objective: Objective, k: int, solver: Solver, x0: Any = None, callback: Callback | None = None
) -> TimedResult:
    """Minimize f with k nonzero units; the status of the result says how the run ended."""
    return TimedResult(*time_call(lambda: minimize(objective, k, solver=solver, x0=x0, callback=callback)))


def value_at(objective: Objective, x: Array) -> float:
    """f(x)."""
    return float(objective.evaluate(x).value)


def gradient_at(objective: Objective, x: Array) -> Array:
    """∇f(x)."""
    return np.asarray(objective.evaluate(x).gradient)


@dataclass(frozen=True)
class Method:
    """A method for models of k features.

    Attributes
    ----------
    name : str
        Its name in tables and figures.
    step : str
        Its step-size rule for captions; "{multiple}" is the multiple of 1/L in the settings.
    make : callable
        Makes the solver from a constant step, the tolerance of the paper's stopping rule and an iteration limit.
    """

    name: str
    step: str
    make: Callable[[float, float, int], Solver]


FEATURE_METHODS: tuple[Method, ...] = (
    Method(
        "GraHTP",
        "constant, η = {multiple:g}/L",
        lambda step, tolerance, limit: GraHTP(step=step, halting=RelativeChange(tolerance), max_iter=limit),
    ),
    Method(
        "FGraHTP",
        "constant, η = {multiple:g}/L",
        lambda step, tolerance, limit: FGraHTP(step=step, halting=RelativeChange(tolerance), max_iter=limit),
    ),
    Method("GraSP", "none", lambda _, tolerance, limit: GraSP(halting=RelativeChange(tolerance), max_iter=limit)),
    Method("FBS", "none", lambda *_: FBS()),
    Method(
        DEFAULT,
        "per coordinate, 16 times the inverse curvature, halved until f decreases; then swaps",
        lambda *_: SwapGraHTP(),
    ),
)


def warm_up(objective: LinearObjective) -> None:
    """Untimed fits: the first fits of a process also load and compile code."""
    step = 1.0 / objective.lipschitz()
    for method in FEATURE_METHODS:
        solve(objective, 2, method.make(step, 1e-4, 2))


def describe_steps(multiple: float, methods: Sequence[Method] = FEATURE_METHODS) -> str:
    """The step-size rules of the methods in a sentence."""
    rules = "; ".join(f"{method.name}: {method.step.format(multiple=multiple)}" for method in methods)
    return f"Steps, which the paper does not specify (L: Lipschitz constant of the gradient): {rules}."
