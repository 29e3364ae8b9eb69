"""Minimization on a support without a Hessian: SciPy's L-BFGS-B."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from .._types import Array
from ..objectives.base import Objective, Point
from ..objectives.protocols import is_unbounded_below
from .base import Bounds, Outcome, Solution
from .newton import check_uniqueness

__all__ = ["minimize_lbfgs"]

#: f below minus this multiple of its value at the start is taken to be unbounded below.
UNBOUNDED_BELOW = 1e10
#: How often the search is started again where it stopped.
MAX_ROUNDS = 5


def minimize_lbfgs(
    objective: Objective, start: Point, bounds: Bounds | None = None, *, tol: float = 1e-12, max_iter: int = 1000
) -> Solution:
    """Minimize a restricted objective by L-BFGS-B.

    A point outside f's domain (a NaN or infinite value) has a large finite value for the line search, so that it
    steps back; the best point seen is returned.
    """
    best, outside = start, 0
    # SciPy's tolerances suppose gradients of about 1. A start near the minimum has a small one; zero does not.
    zero = objective.evaluate(np.zeros_like(start.x))
    scale = max(_largest(start.gradient), _largest(zero.gradient) if np.isfinite(zero.value) else 0.0) or 1.0
    lowest = -UNBOUNDED_BELOW * (1.0 + abs(start.value))

    def evaluate(x: Array) -> tuple[float, Array]:
        nonlocal best, outside
        point = objective.evaluate(x)
        if not np.isfinite(point.value):
            outside += 1
            return (abs(start.value) * 1e3 + 1e3) / scale, np.zeros_like(x)
        if point.value < best.value:
            best = point
        return point.value / scale, point.gradient / scale

    def stop_if_unbounded(_: Array) -> None:
        if best.value < lowest:
            raise StopIteration

    for _ in range(MAX_ROUNDS):
        before = best.value
        found = minimize(
            evaluate,
            best.x,
            jac=True,
            method="L-BFGS-B",
            bounds=None if bounds is None else np.column_stack(bounds),
            callback=stop_if_unbounded,
            options={"maxiter": max_iter, "maxfun": 4 * max_iter, "ftol": tol, "gtol": 1e-10, "maxcor": 20},
        )
        if best.value < lowest or is_unbounded_below(objective, best):
            return Solution(best, Outcome.NO_MINIMUM)
        # The search may stop far from the minimum where f is large or its curvature changes: it must stop twice.
        if before - best.value <= 1e-10 * abs(best.value):
            break
        if found.nit >= max_iter:
            return Solution(best, Outcome.UNFINISHED)
    solved = (found.success and not outside) or _is_flat(best, scale, bounds)
    return Solution(best, check_uniqueness(objective, best) if solved else Outcome.UNFINISHED)


def _is_flat(point: Point, scale: float, bounds: Bounds | None) -> bool:
    """Whether rounding, not distance, ended the search."""
    gradient = point.gradient
    if bounds is not None:
        gradient = np.where(bounds.find_movable(point.x, gradient), gradient, 0.0)
    return _largest(gradient) <= 1e-6 * scale


def _largest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))
