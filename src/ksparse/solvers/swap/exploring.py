"""Exploring: supports that chains meet in a quadratic model of f on all units, or on a few of many.

A chain goes on where no swap lowers f (`QuadraticSwapModel.explore`). Compiled, two hundred of its swaps take as long
as a refit or two; and on a quadratic f the model is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..._types import Array, Mask
from ...objectives.protocols import QuadraticModel
from ..problem import Iterate, Problem
from .descent import Trial, is_exact, try_supports
from .ranking import start_swaps
from .swap_model import PredictedMinimizer
from .tableau import invert, plan_waits
from .tuning import SwapTuning

__all__ = ["explore_model"]


class Met(NamedTuple):
    """The supports that chains of swaps meet, their starts included, one chain after the other."""

    #: The lowest value of the model on each.
    values: Array
    #: Which units they have: a row for each.
    inside: Mask
    #: The minimizers, slopes being elsewhere, if units have one coordinate each: a row for each.
    minimizers: Array | None


def explore_model(
    problem: Problem,
    start: Iterate,
    best: Iterate,
    model: QuadraticModel,
    tuning: SwapTuning,
    others: Sequence[Mask] = (),
) -> Iterate | None:
    """The first of the supports met on which f is lower than at the best iterate; None without one.

    The `model` is that of f at the start. Chains begin there, and at other supports.
    """
    if problem.out_of_time:
        return None
    supports = [problem.units.to_mask(problem.find_selected_units(start)), *others]
    least = tuning.lower.compute_least_decrease(problem, best.value)
    follow = _follow_chains if problem.units.singletons else _follow_chains_of_groups
    met = follow(problem, model, supports, least, tuning)
    highest = np.inf if start is best and not is_exact(problem) else best.value - least
    trials = _list_trials(problem, start, best, model, met, highest, tuning)
    return try_supports(problem, best, trials, tuning.swap_refit_steps, tuning).found


def _follow_chains(
    problem: Problem, model: QuadraticModel, supports: list[Mask], least: float, tuning: SwapTuning
) -> Met:
    """The supports met from some of them, where units have one coordinate; f is lower if it falls by `least`."""
    from ._kernels import explore_supports

    units, unit = problem.units, problem.units.number[model.coordinates]
    starts = np.array([support[model.coordinates] for support in supports])
    places = [start.nonzero()[0] for start in starts]
    most = max(kept.size for kept in places)  # supports to restart from may have fewer units
    inverses = np.zeros((len(places), most, most))
    for inverse, kept in zip(inverses, places, strict=True):
        inverse[: kept.size, : kept.size] = invert(model.hessian[kept[:, None], kept], tuning).matrix
    fixed = (unit < 0) | units.always[unit]
    is_cheap = is_exact(problem) and units.count <= tuning.few_units
    length = tuning.explored_swaps if is_cheap else tuning.fewer_explored_swaps
    plan = plan_waits(int((starts[0] & ~fixed).sum()), int((~starts[0]).sum()), length)
    diagonal = tuning.collinear * model.hessian.diagonal()
    values, met, minimizers = explore_supports(
        model.hessian, model.linear, starts, inverses, fixed, diagonal, *plan, least
    )
    inside = np.zeros((len(values), units.count), dtype=bool)
    inside[:, unit[unit >= 0]] = met[:, unit >= 0]
    return Met(values, inside, minimizers)


def _follow_chains_of_groups(
    problem: Problem, model: QuadraticModel, supports: list[Mask], least: float, tuning: SwapTuning
) -> Met:
    """The same where units have several coordinates."""
    values, inside = list[float](), list[Mask]()
    for support in supports:
        swap_model = start_swaps(problem, model, support, tuning)
        values.append(swap_model.minimum)
        inside.append(problem.units.find_units(support))
        for swap in swap_model.explore(tuning.fewer_explored_swaps, least):
            values.append(values[-1] + swap.change)
            inside.append(inside[-1].copy())
            inside[-1][[swap.leaving, swap.entering]] = False, True
    return Met(np.array(values), np.array(inside), None)


def _list_trials(
    problem: Problem,
    start: Iterate,
    best: Iterate,
    model: QuadraticModel,
    met: Met,
    highest: float,
    tuning: SwapTuning,
) -> list[Trial]:
    """A few of the supports met whose predicted f is below `highest`, the one with the lowest first.

    The first chain begins at `start`.
    """
    units, inside = problem.units, met.inside
    values = met.values + (start.value - met.values[0])
    free = units.to_mask(np.zeros(units.count, dtype=bool))
    # A model says nothing about coordinates that it leaves out.
    minimizers = met.minimizers if model.coordinates[free].all() else None
    tried = {inside[0].tobytes(), problem.find_selected_units(best).tobytes()}
    trials = list[Trial]()
    for position in values.argsort(kind="stable").tolist():
        if len(trials) == tuning.explored_trials or not values[position] < highest:
            break
        key = inside[position].tobytes()
        if key not in tried:
            tried.add(key)
            support = units.to_mask(inside[position])
            at = None if minimizers is None else _restrict_minimizer(model, support, minimizers[position])
            trials.append(Trial(support, at))
    return trials


def _restrict_minimizer(model: QuadraticModel, support: Mask, minimizer: Array) -> PredictedMinimizer:
    """The minimizer of the model on a support, and its Hessian there."""
    kept = support[model.coordinates].nonzero()[0]
    x = np.zeros(support.shape)
    x[support] = minimizer[kept]
    return PredictedMinimizer(x, model.hessian[kept[:, None], kept])
