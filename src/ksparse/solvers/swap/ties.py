"""Ties: of features with equal columns, between which f cannot decide, the first one is selected."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..._types import Mask
from ...debias import Outcome
from ...objectives.protocols import HasPenalty
from ..problem import Iterate, Problem
from .tuning import SwapTuning

__all__ = ["break_ties"]


def break_ties(problem: Problem, searched: Iterate, final: Iterate, tuning: SwapTuning) -> Iterate:
    """The final iterate, with units replaced by earlier duplicates that give the same f.

    `searched` is the iterate before its last refit. Its gradient, if it is known, shows which units are duplicates.
    """
    units = problem.units
    known = searched.point.has_gradient  # ties are not worth a pass over the data
    if not known or not units.singletons or final.support is None or final.outcome is not Outcome.SOLVED:
        return final
    inside = units.find_units(final.support)
    for unit, earlier in _find_duplicates(problem, searched, inside, tuning):
        if inside[unit] and not inside[earlier]:
            swapped = inside.copy()
            swapped[unit], swapped[earlier] = False, True
            start = final.point.x.copy()
            start[units.number == earlier] = start[units.number == unit]
            trial = problem.refit(units.to_mask(swapped), start)
            if tuning.tie.are_equal(problem, trial.value, final.value):
                final, inside = trial, swapped
    return final


def _find_duplicates(
    problem: Problem, searched: Iterate, inside: Mask, tuning: SwapTuning
) -> Iterator[tuple[int, int]]:
    """Pairs of a selected unit and an earlier one outside with the same slope and curvature."""
    units, point, objective = problem.units, searched.point, problem.objective
    # Equal columns have the same slope of the loss; that of a penalty depends on the coefficient.
    penalty = objective.penalty_gradient(point) if isinstance(objective, HasPenalty) else 0.0
    slopes = units.sum_by_unit(point.gradient - penalty)
    selected = (inside & ~units.always).nonzero()[0]
    if not selected.size:
        return
    ordered = selected[np.argsort(slopes[selected], kind="stable")]
    tolerance = tuning.duplicate * float(np.abs(slopes).max(initial=0.0))
    # Few slopes are as small as those of the selected units, where f has its minimum.
    least, most = slopes[ordered[0]] - tolerance, slopes[ordered[-1]] + tolerance
    near = np.flatnonzero((slopes >= least) & (slopes <= most) & ~inside)
    low = np.searchsorted(slopes[ordered], slopes[near] - tolerance, side="left")
    high = np.searchsorted(slopes[ordered], slopes[near] + tolerance, side="right")
    if not (high > low).any():
        return
    curvatures = units.sum_by_unit(point.curvature)
    for position in np.flatnonzero(high > low):
        earlier = near[position]
        for unit in ordered[low[position] : high[position]]:
            close = abs(curvatures[earlier] - curvatures[unit]) <= tuning.duplicate * curvatures[unit]
            if earlier < unit and close:
                yield int(unit), int(earlier)
