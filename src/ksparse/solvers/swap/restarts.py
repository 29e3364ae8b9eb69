"""RESTART: other supports to descend from, once a support is final."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..._types import Mask
from ..problem import Iterate, Problem
from .models import choose_removals
from .scores import entering_gains
from .tuning import SwapTuning

__all__ = ["restart_supports"]


def restart_supports(problem: Problem, best: Iterate, count: int, tuning: SwapTuning) -> Iterator[Mask]:
    """Supports of the best units that no earlier start had; the last one is by backward elimination from all units."""
    units = problem.units
    used = problem.selected_units(best) & ~units.always
    for _ in range(count - 1):
        start = units.top(np.where(used, -np.inf, entering_gains(problem, best)))
        used |= start & ~units.always
        yield units.mask(start)
    if count:
        yield units.mask(_eliminate_backwards(problem, tuning))


def _eliminate_backwards(problem: Problem, tuning: SwapTuning) -> Mask:
    """The k units that remain of all units when the cheapest ones leave one after the other."""
    units = problem.units
    remaining = np.ones(units.count, dtype=bool)
    everything = problem.refit(units.mask(remaining), problem.objective.start, tuning.loose_refit)
    remaining[choose_removals(problem, everything, units.count - units.k, tuning).units] = False
    return remaining
