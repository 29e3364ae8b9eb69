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

#: SciPy's line search ends where the slope is at most 0.9 of what it was, or after a step of about 1e10 times the first
#: one tried: if a larger fraction of the slope is left after a step, f is unbounded below along it.
UNBOUNDED_SLOPE = 0.95
#: One such step that makes up most of the decrease of f shows it, or this many in a row with a fraction of it each:
#: others are rounding, or the end of a line search that has lost its way.
MAX_STEEP_STEPS, LEAST_STEEP_FRACTION = 3, 0.1
#: How often the search is started again where it stopped.
MAX_ROUNDS = 5
#: A round that lowers f by a smaller fraction of the whole decrease was the last one.
LAST_DECREASE = 1e-10


def minimize_lbfgs(
    objective: Objective, start: Point, bounds: Bounds | None = None, *, tol: float = 1e-12, max_iter: int = 1000
) -> Solution:
    """Minimize a restricted objective by L-BFGS-B.

    A point outside f's domain (a NaN or infinite value) has a large finite value for the line search, so that it
    steps back; the best point seen is returned. Neither the units of f nor a constant that is added to it matter.
    """
    zero = objective.evaluate(np.zeros_like(start.x))
    search = _Search(objective, start, zero, bounds)
    for _ in range(MAX_ROUNDS):
        before = search.best.value
        found = minimize(
            search.evaluate,
            search.best.x,
            jac=True,
            method="L-BFGS-B",
            bounds=None if bounds is None else np.column_stack(bounds),
            callback=search.stop_if_unbounded,
            options={"maxiter": max_iter, "maxfun": 4 * max_iter, "ftol": tol, "gtol": 1e-10, "maxcor": 20},
        )
        best = search.best
        if search.is_unbounded or is_unbounded_below(objective, best):
            return Solution(best, Outcome.NO_MINIMUM)
        # The search may stop far from the minimum where f is large or its curvature changes: it must stop twice.
        if before - best.value <= LAST_DECREASE * search.decrease:
            break
        if found.nit >= max_iter:
            return Solution(best, Outcome.UNFINISHED)
        search.adapt_scale()
    solved = (found.success and not search.has_left_domain) or search.is_flat()
    return Solution(best, check_uniqueness(objective, best) if solved else Outcome.UNFINISHED)


class _Search:
    """f as SciPy sees it, and what was seen on the way.

    SciPy's tolerances suppose that f and its gradient are of about 1: it sees f minus its value at zero, divided by the
    largest slope. A start near the minimum has small slopes; zero does not.
    """

    def __init__(self, objective: Objective, start: Point, zero: Point, bounds: Bounds | None) -> None:
        self.best = start
        self.has_left_domain = self.is_unbounded = False
        self._objective, self._bounds, self._previous, self._steep_steps = objective, bounds, start, 0
        reference = zero if np.isfinite(zero.value) else start
        self._origin = reference.value
        self._highest = max(start.value, self._origin)
        self._slope = self._scale = max(_largest(start.gradient), _largest(reference.gradient)) or 1.0

    @property
    def decrease(self) -> float:
        """By how much f has fallen, from the higher of the start and zero; what is lost to rounding aside."""
        lost = self._highest - self.best.value
        return lost + float(np.finfo(float).eps) / LAST_DECREASE * abs(self.best.value)

    def adapt_scale(self) -> None:
        """Where f can fall by little only, because x is small in its units, divide it by that from now on."""
        lost = self._highest - self.best.value
        self._scale = min(self._scale, lost) if lost > 0 else self._scale

    def evaluate(self, x: Array) -> tuple[float, Array]:
        point = self._objective.evaluate(x)
        if not np.isfinite(point.value):
            self.has_left_domain = True
            return 1e3 * (1.0 + (self._highest - self.best.value) / self._scale), np.zeros_like(x)
        if point.value < self.best.value:
            self.best = point
        return (point.value - self._origin) / self._scale, point.gradient / self._scale

    def stop_if_unbounded(self, x: Array) -> None:
        """Called after each line search."""
        previous, self._previous = self._previous, self.best
        step = self.best.x - previous.x
        if not step.any() or not np.array_equal(x, self.best.x) or self._is_at_bound(step):
            return
        slope, lost = float(previous.gradient @ step), self._highest - self.best.value
        fraction = (previous.value - self.best.value) / lost if lost > 0 else 0.0
        is_steep = slope < 0 and float(self.best.gradient @ step) <= UNBOUNDED_SLOPE * slope
        self._steep_steps = self._steep_steps + 1 if is_steep and fraction > LEAST_STEEP_FRACTION else 0
        if self._steep_steps == MAX_STEEP_STEPS or (self._steep_steps and fraction > 0.5):
            self.is_unbounded = True
            raise StopIteration

    def _is_at_bound(self, step: Array) -> bool:
        """Whether a bound has ended the step."""
        if self._bounds is None:
            return False
        x = self.best.x
        return bool((((x <= self._bounds.lower) | (x >= self._bounds.upper)) & (step != 0)).any())

    def is_flat(self) -> bool:
        """Whether rounding, not distance, ended the search."""
        gradient = self.best.gradient
        if self._bounds is not None:
            gradient = np.where(self._bounds.find_movable(self.best.x, gradient), gradient, 0.0)
        return _largest(gradient) <= 1e-6 * self._slope


def _largest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))
