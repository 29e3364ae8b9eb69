"""Small refits by compiled functions: with tens of features and hundreds of samples, calls cost more than arithmetic."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from .._types import Array
from ..objectives.base import Objective, Point, value_at_zero
from ..objectives.columns import LinearModel, PointwiseData
from ..objectives.losses import LogisticLoss
from .base import Outcome, Solution

__all__ = ["MAX_NUMBERS", "SmallProblem", "minimize_compiled"]

#: Largest number of entries of X on the support. With more, arithmetic costs more than calls, and sparse columns should
#: stay sparse.
MAX_NUMBERS = 50_000
#: No Hessian at the start.
NOTHING: Array = np.empty((0, 0))


class Settings(NamedTuple):
    """When the method ends; see `_newton.minimize_samples`."""

    tol: float
    reused_tol: float
    min_decrease: float
    goal: float
    size: float
    max_iter: int


class SmallProblem:
    """The samples of a model whose loss is compiled, in memory, as a matrix with a row for each coordinate."""

    def __init__(self, data: PointwiseData, intercept: bool) -> None:
        n, k = data.columns.shape
        design = np.empty((k + intercept, n))
        design[:k] = data.columns.T
        design[k:] = 1.0
        self._design, self._target, self._weights = design, data.target, data.weights
        self._offset = np.zeros(n) if data.offset is None else data.offset

    @cached_property
    def is_coefficient(self) -> Array:
        return np.arange(len(self._design))

    def minimize(self, ridge: Array, start: Array, settings: Settings, hessian: Array = NOTHING):
        from ._newton import minimize_samples  # Numba takes half a second to import

        return minimize_samples(
            self._design, self._target, self._weights, self._offset, ridge, start, hessian, *settings
        )


def find_data(objective: Objective) -> PointwiseData | None:
    if not isinstance(objective, LinearModel) or type(objective.loss) is not LogisticLoss:
        return None
    if objective.n_samples * objective.size > MAX_NUMBERS:
        return None
    return objective.collect_samples()


def minimize_compiled(objective, start: Point, tol, max_iter, goal, hessian, min_decrease, reused_factor) -> Solution | None:
    if objective.alpha <= 0: return None
    data = find_data(objective)
    if data is None: return None
    problem = SmallProblem(data, objective.fit_intercept)
    at_zero = abs(value_at_zero(objective))
    settings = Settings(tol, tol*reused_factor, min_decrease, np.inf if goal is None else goal, at_zero if np.isfinite(at_zero) else 0.0, max_iter)
    status, x, value, margins, steps, hessians = problem.minimize(objective._ridge, start.x, settings, NOTHING if hessian is None else np.ascontiguousarray(hessian))
    if status == 2: return None
    c = objective.counters
    c.newton_steps += steps; c.hessians += hessians; c.gradients += steps; c.products += hessians * len(data.columns[0])**2
    return Solution(Point(objective, x, value, margins), Outcome.SOLVED if status == 0 else Outcome.UNFINISHED)
