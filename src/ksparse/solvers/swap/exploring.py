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
from .tuning import SwapTuning

__all__ = ["explore_model"]


class Chain(NamedTuple):
    """The supports that a chain of swaps meets, its start included."""

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
    chains = [_follow_chain(problem, model, support, least, tuning) for support in supports]
    highest = np.inf if start is best and not is_exact(problem) else best.value - least
    trials = _list_trials(problem, start, best, model, chains, highest, tuning)
    found = try_supports(problem, best, trials, tuning.swap_refit_steps, tuning)
    return None if found is None else found[0]


def _follow_chain(problem: Problem, model: QuadraticModel, support: Mask, least: float, tuning: SwapTuning) -> Chain:
    """The supports met from one of them; f is lower where it falls by more than `least`."""
    units = problem.units
    swap_model = start_swaps(problem, model, support, tuning)
    first, lowest = swap_model.coefficients.copy(), swap_model.minimum
    is_cheap = is_exact(problem) and units.singletons and units.count <= tuning.few_units
    swaps = swap_model.explore(tuning.explored_swaps if is_cheap else tuning.fewer_explored_swaps, least)
    moves = np.zeros((swaps.changes.size + 1, units.count), dtype=np.int8)
    moves[0] = units.find_units(support)
    rows = np.arange(1, len(moves))
    moves[rows, swaps.leaving] = -1
    moves[rows, swaps.entering] = 1
    values = lowest + np.append(0.0, swaps.changes).cumsum()
    is_known = len(swap_model.solutions) == swaps.changes.size
    minimizers = np.append(first[None], swap_model.solutions, axis=0) if is_known else None
    return Chain(values, moves.cumsum(axis=0, dtype=np.int8) > 0, minimizers)


def _list_trials(
    problem: Problem,
    start: Iterate,
    best: Iterate,
    model: QuadraticModel,
    chains: list[Chain],
    highest: float,
    tuning: SwapTuning,
) -> list[Trial]:
    """A few of the supports met whose predicted f is below `highest`, the one with the lowest first.

    The first chain begins at `start`.
    """
    units = problem.units
    values = np.concatenate([chain.values for chain in chains])
    values += start.value - values[0]
    inside = np.concatenate([chain.inside for chain in chains])
    known = [chain.minimizers for chain in chains if chain.minimizers is not None]
    free = units.to_mask(np.zeros(units.count, dtype=bool))
    # A model says nothing about coordinates that it leaves out.
    predicts = len(known) == len(chains) and model.coordinates[free].all()
    minimizers = np.concatenate(known) if predicts else None
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
