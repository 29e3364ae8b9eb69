"""The paper's fast variants of S3: one restricted Newton step, one restricted gradient step, or truncation alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._types import Array
from ..objectives.base import Objective, Point, compute_hessian_operator
from .base import Bounds, Outcome, Solution
from .newton import line_search, solve_by_cholesky

__all__ = ["GradientStep", "NewtonStep", "Truncate"]


@dataclass(frozen=True)
class Truncate:
    """No debiasing: keep the truncated gradient step, as FGraHTP does (paper, Algorithm 1, bottom).

    Examples
    --------
    >>> import ksparse
    >>> solver = ksparse.GraHTP(debias=ksparse.debias.Truncate())
    """

    def __call__(self, objective: Objective, start: Array, bounds: Bounds | None = None) -> Solution:
        """Evaluate at `start`."""
        return _judge_point(objective.evaluate(start))


@dataclass(frozen=True)
class NewtonStep:
    """One Newton step on the support (paper, §2), halved until f does not rise.

    Examples
    --------
    >>> import ksparse
    >>> solver = ksparse.GraHTP(debias=ksparse.debias.NewtonStep())
    """

    def __call__(self, objective: Objective, start: Array, bounds: Bounds | None = None) -> Solution:
        """Take the step from `start`."""
        point = objective.evaluate(start)
        if start.size == 0 or not np.isfinite(point.value):
            return _judge_point(point)
        gradient = point.gradient
        movable = None if bounds is None else bounds.find_movable(point.x, gradient)
        step = solve_by_cholesky(objective, point, gradient, movable).step
        return _judge_point(line_search(objective, point, gradient, step, bounds))


@dataclass(frozen=True)
class GradientStep:
    """One gradient step on the support (paper, §2), of the length that minimizes the quadratic model along it.

    Examples
    --------
    >>> import ksparse
    >>> solver = ksparse.GraHTP(debias=ksparse.debias.GradientStep())
    """

    def __call__(self, objective: Objective, start: Array, bounds: Bounds | None = None) -> Solution:
        """Take the step from `start`."""
        point = objective.evaluate(start)
        if start.size == 0 or not np.isfinite(point.value):
            return _judge_point(point)
        gradient = point.gradient
        squared = float(gradient @ gradient)
        curvature = float(gradient @ (compute_hessian_operator(objective, point) @ gradient))
        length = squared / curvature if curvature > 0 else 1.0
        return _judge_point(line_search(objective, point, gradient, -length * gradient, bounds))


def _judge_point(point: Point) -> Solution:
    return Solution(point, Outcome.SOLVED if np.isfinite(point.value) else Outcome.NOT_FINITE)
