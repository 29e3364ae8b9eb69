"""Ties between units: of equal columns, which f cannot tell apart, the first one is selected."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._types import Array, IntArray, Mask
from ..debias import Outcome
from .base import Iterate, Problem

__all__ = ["first_of_twins"]

#: Slopes and curvatures of equal columns differ by no more than this share.
ALIKE = 1e-9
#: Values of f that differ by a smaller share are equal.
EQUAL = 1e-12


def first_of_twins(problem: Problem, searched: Iterate, final: Iterate) -> Iterate:
    """The final iterate, with units exchanged for earlier ones that give the same f.

    Parameters
    ----------
    problem : Problem
        The problem.
    searched : Iterate
        The iterate that the search ended on; its gradient, if it has one, tells which units are alike.
    final : Iterate
        The same after its last refit.
    """
    units = problem.units
    known = searched.point.has_gradient  # it is not worth a pass over the data
    if not known or not units.singletons or final.support is None or final.outcome is not Outcome.SOLVED:
        return final
    inside = units.units_in(final.support)
    for unit, twin in _alike(problem, searched, inside):
        if inside[unit] and not inside[twin]:
            support = units.mask(inside ^ _both(inside.size, unit, twin))
            trial = problem.refit(support, _moved(final.point.x, units.number, unit, twin))
            if abs(trial.point.value - final.point.value) <= EQUAL * abs(final.point.value):
                final, inside = trial, units.units_in(support)
    return final


def _alike(problem: Problem, searched: Iterate, inside: Mask) -> Iterator[tuple[int, int]]:
    """Pairs of a selected unit and an earlier one outside with the same slope and curvature."""
    units, point = problem.units, searched.point
    # A ridge has a slope on the support only; what equal columns share is that of the loss.
    ridge = getattr(problem.objective, "alpha", 0.0) * point.x
    slopes, curvatures = units.total(point.gradient - ridge), units.total(problem.objective.curvature(point))
    chosen = np.flatnonzero(inside & ~units.always)
    if not chosen.size:
        return
    ordered = chosen[np.argsort(slopes[chosen], kind="stable")]
    tolerance = ALIKE * float(np.abs(slopes).max(initial=0.0))
    low = np.searchsorted(slopes[ordered], slopes - tolerance, side="left")
    high = np.searchsorted(slopes[ordered], slopes + tolerance, side="right")
    for twin in np.flatnonzero((high > low) & ~inside):
        for unit in ordered[low[twin] : high[twin]]:
            if twin < unit and abs(curvatures[twin] - curvatures[unit]) <= ALIKE * curvatures[unit]:
                yield int(unit), int(twin)


def _both(size: int, unit: int, twin: int) -> Mask:
    both = np.zeros(size, dtype=bool)
    both[[unit, twin]] = True
    return both


def _moved(x: Array, number: IntArray, unit: int, twin: int) -> Array:
    """x with the coefficient of one unit given to another."""
    moved = x.copy()
    moved[number == twin] = x[number == unit]
    moved[number == unit] = 0.0
    return moved
