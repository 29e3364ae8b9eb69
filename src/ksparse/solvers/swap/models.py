"""Which model ranks the swaps of a problem, and which units to take out of a support."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._types import Mask
from ...objectives import protocols
from ...objectives.base import Objective, Point, compute_hessian, has_hessian
from ...objectives.protocols import HasCrossHessian, HasSwapScores
from ..problem import Iterate, Problem
from .additive import AdditiveSwapModel
from .quadratic import QuadraticSwapModel
from .scores import entering_gains, leaving_costs
from .screened import ScreenedSwapModel
from .swap_model import PredictedMinimizer, SwapModel
from .tuning import SwapTuning

__all__ = ["Removal", "build_additive_model", "build_swap_model", "choose_removals", "max_model_size"]


def build_swap_model(problem: Problem, current: Iterate, candidates: Mask, tuning: SwapTuning) -> SwapModel:
    """The quadratic model of f on the support and the candidate units; the additive one where it is too large."""
    units, objective, point, support = problem.units, problem.objective, current.point, current.support
    assert support is not None
    objective.counters.swap_models += 1
    coordinates = units.mask(units.units_in(support) | candidates)
    if int(coordinates.sum()) > max_model_size(objective, tuning):
        return build_additive_model(problem, current)
    if isinstance(objective, HasCrossHessian) and point.x.ndim == 1 and units.singletons:
        solution = current.solution or point.restrict(support)
        others = np.flatnonzero(coordinates & ~support)
        return ScreenedSwapModel(objective, point, solution, support, others, units.number, units.always, tuning)
    at, hessian, linear = _quadratic_model(point, coordinates)
    return QuadraticSwapModel(hessian, linear, units.number[at], support[at], units.always, tuning)


def build_additive_model(problem: Problem, current: Iterate) -> AdditiveSwapModel:
    """The model of single gains and costs."""
    inside = problem.selected_units(current)
    costs, gains = leaving_costs(problem, current), entering_gains(problem, current)
    return AdditiveSwapModel(costs, gains, inside, problem.units.always)


def max_model_size(objective: Objective, tuning: SwapTuning) -> int:
    """Number of coordinates above which swaps are ranked by single gains and costs rather than by a Hessian."""
    if has_hessian(objective):
        return tuning.max_model_size
    has_scores = isinstance(objective, HasSwapScores)
    return tuning.max_model_size_with_scores if has_scores else tuning.max_model_size_without_hessian


class Removal(NamedTuple):
    """Units to take out of a support, and the predicted minimizer without them, if there is a prediction."""

    units: list[int]
    prediction: PredictedMinimizer | None


def choose_removals(problem: Problem, iterate: Iterate, count: int, tuning: SwapTuning) -> Removal:
    """The units that cost least, each after those before it are gone; no pass over the data."""
    units, objective, support = problem.units, problem.objective, iterate.support
    assert support is not None
    if int(support.sum()) > max_model_size(objective, tuning):
        costs = leaving_costs(problem, iterate)
        additive = AdditiveSwapModel(costs, np.zeros_like(costs), units.units_in(support), units.always)
        return Removal(additive.removals(count), None)
    at, hessian, linear = _quadratic_model(iterate.point, support)
    everything = np.ones(linear.size, dtype=bool)
    model = QuadraticSwapModel(hessian, linear, units.number[at], everything, units.always, tuning)
    removed = model.removals(count)
    if model.is_singular or not np.array_equal(at, support):
        return Removal(removed, None)  # a model that leaves coordinates out says nothing about them
    kept = ~np.isin(units.number[at], removed)
    x = np.zeros(objective.shape)
    x[at] = np.where(kept, model.coefficients, 0.0)
    return Removal(removed, PredictedMinimizer(x, hessian[kept][:, kept]))


def _quadratic_model(point: Point, coordinates: Mask) -> protocols.QuadraticModel:
    """The quadratic model of f at a point, in some coordinates."""
    if isinstance(point.objective, HasSwapScores):
        return point.objective.quadratic_model(point, coordinates)
    restricted = point.restrict(coordinates)
    hessian = compute_hessian(restricted.objective, restricted)
    # A full gradient that is not known yet would cost a pass over the data.
    slopes = point.gradient[coordinates] if point.has_gradient else restricted.gradient
    return protocols.QuadraticModel(coordinates, hessian, hessian @ point.x[coordinates] - slopes.ravel())
