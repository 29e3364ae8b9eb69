"""Where a search begins again: with the best units outside a support, and with what is left of all units."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._types import Mask
from .additive import removals
from .base import Iterate, Problem
from .merging import LOOSE, expected_gains

__all__ = ["other_starts"]


def other_starts(problem: Problem, best: Iterate, count: int) -> Iterator[Mask]:
    """Supports to begin again from: units that no start had yet, the most promising first; at last what all leave."""
    units = problem.units
    assert best.support is not None
    used = units.units_in(best.support) & ~units.always
    for _ in range(count - 1):
        start = units.top(np.where(used, -np.inf, expected_gains(problem, best)))
        used |= start & ~units.always
        yield units.mask(start)
    if count:
        yield units.mask(_left_of_all(problem))


def _left_of_all(problem: Problem) -> Mask:
    """The units that are left of all of them when those that cost least have gone."""
    units = problem.units
    left = np.ones(units.count, dtype=bool)
    everything = problem.refit(units.mask(left), problem.objective.start, LOOSE)
    left[removals(problem, everything, units.count - units.k)] = False
    return left
