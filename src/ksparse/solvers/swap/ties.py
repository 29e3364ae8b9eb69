"""Ties: of features with equal columns, between which f cannot decide, the first one is selected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

import numpy as np

from ..._types import Array, IntArray, Mask
from ...debias import Outcome
from ..problem import Iterate, Problem
from .tuning import SwapTuning

__all__ = ["HasRidge", "break_ties"]


@runtime_checkable
class HasRidge(Protocol):
    """An objective with the term (alpha/2)·‖x‖², whose slope is alpha·x."""

    alpha: float


def break_ties(problem: Problem, searched: Iterate, final: Iterate, tuning: SwapTuning) -> Iterate:
    """The final iterate, with units replaced by earlier duplicates that give the same f.

    Parameters
    ----------
    problem : Problem
        The problem.
    searched : Iterate
        The iterate that the search ended on. Its gradient, if it is known, shows which units are duplicates.
    final : Iterate
        The same after its last refit.
    tuning : SwapTuning
        Constants.
    """
    units = problem.units
    known = searched.point.has_gradient  # ties are not worth a pass over the data
    if not known or not units.singletons or final.support is None or final.outcome is not Outcome.SOLVED:
        return final
    inside = units.units_in(final.support)
    for unit, earlier in _duplicates(problem, searched, inside, tuning):
        if inside[unit] and not inside[earlier]:
            swapped = inside.copy()
            swapped[unit], swapped[earlier] = False, True
            trial = problem.refit(units.mask(swapped), _move(final.point.x, units.number, unit, earlier))
            if tuning.tie.are_equal(problem, trial.value, final.value):
                final, inside = trial, swapped
    return final


def _duplicates(problem: Problem, searched: Iterate, inside: Mask, tuning: SwapTuning) -> Iterator[tuple[int, int]]:
    """Pairs of a selected unit and an earlier one outside with the same slope and curvature."""
    units, point, objective = problem.units, searched.point, problem.objective
    # Equal columns have the same slope of the loss; that of a ridge depends on the coefficient.
    ridge = objective.alpha * point.x if isinstance(objective, HasRidge) else 0.0
    slopes, curvatures = units.total(point.gradient - ridge), units.total(objective.curvature(point))
    selected = np.flatnonzero(inside & ~units.always)
    if not selected.size:
        return
    ordered = selected[np.argsort(slopes[selected], kind="stable")]
    tolerance = tuning.duplicate * float(np.abs(slopes).max(initial=0.0))
    low = np.searchsorted(slopes[ordered], slopes - tolerance, side="left")
    high = np.searchsorted(slopes[ordered], slopes + tolerance, side="right")
    for earlier in np.flatnonzero((high > low) & ~inside):
        for unit in ordered[low[earlier] : high[earlier]]:
            close = abs(curvatures[earlier] - curvatures[unit]) <= tuning.duplicate * curvatures[unit]
            if earlier < unit and close:
                yield int(unit), int(earlier)


def _move(x: Array, number: IntArray, source: int, target: int) -> Array:
    """x with the coefficient of one unit moved to another."""
    moved = x.copy()
    moved[number == target] = x[number == source]
    moved[number == source] = 0.0
    return moved
