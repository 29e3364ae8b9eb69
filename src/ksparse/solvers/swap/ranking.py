"""What single units are worth, which model ranks the swaps of a problem, and which units to take out of a support."""

from __future__ import annotations

from itertools import takewhile

import numpy as np

from ..._types import Array, IntArray, Mask
from ...objectives.base import Objective, Point, TwiceDifferentiable, compute_hessian, has_hessian, is_quadratic
from ...objectives.protocols import HasCrossHessian, HasSwapScores, QuadraticModel
from ...sparsity.base import select_top
from ..problem import Iterate, Problem
from .screened import ScreenedSwapModel
from .swap_model import PredictedMinimizer, Swap, SwapModel
from .tableau import QuadraticSwapModel, invert
from .tuning import SwapTuning

__all__ = [
    "AdditiveSwapModel",
    "build_additive_model",
    "build_candidate_model",
    "build_joint_model",
    "build_swap_model",
    "can_explore",
    "choose_removals",
    "entering_gains",
    "get_max_model_size",
    "leaving_costs",
    "start_swaps",
]


def entering_gains(problem: Problem, iterate: Iterate) -> Array:
    """Expected decrease of f for each unit, if it alone enters: ½·Σ g_j²/D_jj over its coordinates.

    g is the gradient, without the entries that bounds block, and D the curvature; an objective with better scores
    (`HasSwapScores`) has its own. Only the gains of units outside the support have a meaning.
    """
    units, point, objective = problem.units, iterate.point, problem.objective
    slopes = units.project_gradient(point.gradient)
    if isinstance(objective, HasSwapScores):
        return units.sum_by_unit(objective.entering_gains(point, slopes))
    return units.sum_by_unit(0.5 * np.square(slopes) / point.curvature)


def leaving_costs(problem: Problem, iterate: Iterate) -> Array:
    """Expected increase of f for each unit, if it alone leaves: ½·Σ D_jj·x_j² over its coordinates."""
    objective, point = problem.objective, iterate.point
    if isinstance(objective, HasSwapScores):
        return problem.units.sum_by_unit(objective.leaving_costs(point))
    return problem.units.sum_by_unit(0.5 * np.square(point.x) * point.curvature)


class AdditiveSwapModel(SwapModel):
    """A model in which a swap changes f by the cost of the leaving unit minus the gain of the entering one.

    It does not see that units explain each other, so it has no minimizer to predict. `inside` are the units of the
    support, and `fixed` those that must stay.
    """

    basis = "gains and costs of single units"
    is_joint = False
    is_singular = False

    def __init__(self, costs: Array, gains: Array, inside: Mask, fixed: Mask) -> None:
        self._costs, self._gains = costs, gains
        self._leaving = _sort_by_cost(costs, inside & ~fixed)
        self._entering = np.flatnonzero(~inside)

    def find_best_swaps(self, count: int) -> list[Swap]:
        entering = self._find_best_entering(count)
        swaps = [self._make_swap(out, into) for out in self._leaving[:count] for into in entering]
        return sorted(swaps, key=lambda swap: swap.change)[:count]

    def find_chain(self, length: int, threshold: float) -> list[Swap]:
        pairs = zip(self._leaving[:length], self._find_best_entering(length), strict=False)
        swaps = (self._make_swap(out, into) for out, into in pairs)
        return list(takewhile(lambda swap: swap.change < -threshold, swaps))

    def _make_swap(self, leaving: int, entering: int) -> Swap:
        return Swap(int(leaving), int(entering), float(self._costs[leaving] - self._gains[entering]))

    def _find_best_entering(self, count: int) -> IntArray:
        gains = self._gains[self._entering]
        near = np.flatnonzero(select_top(gains, count))
        return self._entering[near[np.argsort(-gains[near], kind="stable")]]


def _sort_by_cost(costs: Array, leaving: Mask) -> IntArray:
    units = np.flatnonzero(leaving)
    return units[np.argsort(costs[units], kind="stable")]


def build_swap_model(problem: Problem, current: Iterate, candidates: Mask, tuning: SwapTuning) -> SwapModel:
    """The quadratic model of f on the support and the candidate units; the additive one where it is too large."""
    units, objective, point, support = problem.units, problem.objective, current.point, current.support
    assert support is not None
    objective.counters.swap_models += 1
    coordinates = units.to_mask(units.find_units(support) | candidates)
    if int(coordinates.sum()) > get_max_model_size(objective, tuning):
        return build_additive_model(problem, current)
    if isinstance(objective, HasCrossHessian) and point.x.ndim == 1 and units.singletons:
        solution = current.solution or point.restrict(support)
        others = (coordinates & ~support).nonzero()[0]
        slopes = problem.block_slopes(point.gradient, point.x, np.ones_like(support))
        return ScreenedSwapModel(
            objective, point, solution, slopes, support, others, units.number, units.always, tuning
        )
    at, hessian, linear = _build_quadratic_model(problem, point, coordinates)
    return QuadraticSwapModel(hessian, linear, units.number[at], support[at], units.always, tuning)


def can_explore(problem: Problem, tuning: SwapTuning) -> bool:
    """Whether a model of all units is worth exploring.

    There are few of them; the Hessian is cheap; f has no bounds, which a model does not know; and units have one
    coordinate each, or the model is exact: exploring takes longer for groups, and with an exact model once is enough.
    """
    units, objective = problem.units, problem.objective
    few = units.count <= tuning.few_units
    return few and has_hessian(objective) and not problem.has_bounds and (units.singletons or is_quadratic(objective))


def build_joint_model(problem: Problem, current: Iterate) -> QuadraticModel:
    """The quadratic model of f on all units."""
    problem.objective.counters.swap_models += 1
    return _build_quadratic_model(problem, current.point, np.ones(problem.objective.shape, dtype=bool))


def build_candidate_model(problem: Problem, current: Iterate, tuning: SwapTuning) -> QuadraticModel | None:
    """The quadratic model of f on the support and the candidates with the best swaps, where units are some more.

    None where it would not be cheap, or knows too little: for many units, large supports, bounds, and units of several
    coordinates.
    """
    units, room = problem.units, tuning.few_units - problem.units.k
    if not tuning.few_units < units.count <= tuning.some_units or room < units.k or problem.has_bounds:
        return None
    if not units.singletons or not has_hessian(problem.objective):
        return None
    inside = problem.find_selected_units(current)
    swaps = build_swap_model(problem, current, ~inside, tuning)
    if not isinstance(swaps, (ScreenedSwapModel, QuadraticSwapModel)):
        return None
    inside[swaps.find_best_entering(room)] = True
    return _build_quadratic_model(problem, current.point, units.to_mask(inside))


def start_swaps(problem: Problem, model: QuadraticModel, support: Mask, tuning: SwapTuning) -> QuadraticSwapModel:
    """A model of f with a support to start from, all of whose coordinates it must have."""
    at, units = model.coordinates, problem.units
    return QuadraticSwapModel(model.hessian, model.linear, units.number[at], support[at], units.always, tuning)


def build_additive_model(problem: Problem, current: Iterate) -> AdditiveSwapModel:
    """The model of single gains and costs."""
    costs, gains = leaving_costs(problem, current), entering_gains(problem, current)
    return AdditiveSwapModel(costs, gains, problem.find_selected_units(current), problem.units.always)


def get_max_model_size(objective: Objective, tuning: SwapTuning) -> int:
    """Number of coordinates above which swaps are ranked by single gains and costs rather than by a Hessian."""
    if has_hessian(objective):
        return tuning.max_model_size
    has_scores = isinstance(objective, HasSwapScores)
    return tuning.max_model_size_with_scores if has_scores else tuning.max_model_size_without_hessian


def choose_removals(
    problem: Problem, iterate: Iterate, count: int, tuning: SwapTuning
) -> tuple[list[int], PredictedMinimizer | None]:
    """The units that cost least, each after those before it are gone; and the minimizer without them, if predicted."""
    units, objective, support = problem.units, problem.objective, iterate.support
    assert support is not None
    if int(support.sum()) > get_max_model_size(objective, tuning):
        cheapest = _sort_by_cost(leaving_costs(problem, iterate), units.find_units(support) & ~units.always)
        return cheapest[:count].tolist(), None
    at, hessian, linear = _build_quadratic_model(problem, iterate.point, support, iterate.solution)
    everything = np.ones(linear.size, dtype=bool)
    inverse = invert(hessian, tuning)
    model = QuadraticSwapModel(hessian, linear, units.number[at], everything, units.always, tuning, inverse)
    removed = model.find_removals(count)
    if model.is_singular or problem.has_bounds or not np.array_equal(at, support):
        return removed, None  # a model says nothing about coordinates that it leaves out, nor about bounds
    gone = np.zeros(units.count, dtype=bool)
    gone[removed] = True
    kept = ~np.append(gone, [False, False])[units.number[at]]  # others have the numbers -1 and -2
    x = np.zeros(objective.shape)
    x[at] = np.where(kept, model.coefficients, 0.0)
    return removed, PredictedMinimizer(x, hessian[kept][:, kept])


def _build_quadratic_model(
    problem: Problem, point: Point, coordinates: Mask, known: Point | None = None
) -> QuadraticModel:
    """The quadratic model of f at a point, in some coordinates; `known` may be the point restricted to these.

    A coefficient that a bound holds at zero has no slope: the model would gain by moving it out of its bounds.
    """
    if isinstance(point.objective, HasSwapScores):
        return point.objective.quadratic_model(point, coordinates)
    restricted = point.restrict(coordinates) if known is None else known
    hessian = compute_hessian(restricted.objective, restricted)
    # A full gradient that is not known yet would cost a pass over the data.
    slopes = point.gradient[coordinates] if point.has_gradient else restricted.gradient.reshape(-1)
    slopes = problem.block_slopes(slopes, point.x[coordinates], coordinates)
    linear = hessian @ point.x[coordinates] - slopes
    if (redundant := _find_redundant(problem, coordinates)) is None:
        return QuadraticModel(coordinates, hessian, linear)
    kept = np.flatnonzero(~redundant[coordinates])
    return QuadraticModel(coordinates & ~redundant, hessian[np.ix_(kept, kept)], linear[kept])


def _find_redundant(problem: Problem, coordinates: Mask) -> Mask | None:
    """Coordinates that a model does not need, where f is constant if all outputs of a row move alike (a softmax).

    Moving the last output of a row is the same as moving the others the other way. Without it the Hessian is regular,
    so that no block of it decides by its rounding errors what a swap gains. None if there are none.
    """
    units, objective = problem.units, problem.objective
    count = objective.n_invariances if isinstance(objective, TwiceDifferentiable) else 0
    if not count or coordinates.ndim != 2 or problem.has_bounds:
        return None
    rows: Mask = np.ones(len(coordinates), dtype=bool)
    if count < len(coordinates) and objective.free is not None:  # only those that have no ridge
        rows = np.asarray(objective.free.all(axis=1))
    together = (units.number == units.number[:, -1:]).all(axis=1)
    redundant = np.zeros_like(coordinates)
    redundant[:, -1] = rows & together & coordinates.all(axis=1)
    return redundant if redundant.any() else None
