"""A staged search: how many edges a stage has, how many it swaps at once, and how.

A batch swap adds the units that gain most, refits, removes those that cost least, and refits. Costs are computed after
the refit, when units that explain the same have divided it among themselves. So it needs no model of how units act
together, which would be too large for graphs with many edges. GraSP merges and prunes in the same way, with 2k units
and by the size of their coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..._types import Array
from ...debias import Exact
from ...sparsity.base import select_top
from ..problem import Iterate, Problem
from ..swap.ranking import leaving_costs

__all__ = ["Stage", "StageTuning", "batch_swap"]


@dataclass(frozen=True)
class StageTuning:
    """The constants of the schedule; half of each and twice as much were measured by `benchmarks/tuning.py`."""

    #: Fraction of k that the first stage has: edges chosen at once explain each other. ½: f as before, passes +1 %.
    #: 2: f rises on 4 graphs of 18, by up to 0.5 %, and falls on 4; passes −2 %.
    first_size: float = 1 / 16
    #: Fraction of the units in the first batch swap of a stage. ½: f rises on 5 graphs, falls on 4, by up to 0.2 %.
    #: 2: rises on 6, by up to 0.5 %, falls on 4.
    batch: float = 1 / 8


@dataclass(frozen=True)
class Stage:
    """A stage: how many units it has, how many to swap next, and whether it has tried a batch swap."""

    size: int
    batch: int
    tried: bool = False

    @classmethod
    def begin(cls, size: int, tuning: StageTuning) -> Stage:
        """A stage that has not tried anything yet."""
        return cls(size, max(int(size * tuning.batch), 1))

    @classmethod
    def begin_first(cls, k: int, always: int, tuning: StageTuning) -> Stage:
        """The first stage of a search for k units, of which some are always selected."""
        size = k
        while size > max(k * tuning.first_size, always, 1):
            size = max(size // 2, always, 1)
        return cls.begin(size, tuning)

    def record_swap(self, accepted: bool) -> Stage:
        """The stage after a batch swap: the next one is half as large unless this one was accepted."""
        return replace(self, tried=True, batch=self.batch if accepted else self.batch // 2)

    def is_over(self, thorough: bool) -> bool:
        """Whether enough was tried: one batch swap, or in a thorough stage one of each size down to a single unit."""
        return self.batch < 1 if thorough else self.tried

    def begin_next(self, k: int, tuning: StageTuning) -> Stage | None:
        """The next stage, twice as large; None after the last."""
        if self.size >= k:
            return None
        return Stage.begin(min(max(2 * self.size, int(k * tuning.first_size), 1), k), tuning)


def batch_swap(problem: Problem, current: Iterate, gains: Array, batch: int, debias: Exact) -> Iterate | None:
    """Swap up to `batch` units and refit; None if the support stays the same. `gains` are those at `current`."""
    units, inside = problem.units, problem.find_selected_units(current)
    size = int(inside.sum())
    wider = inside | select_top(np.where(inside, np.inf, gains), size + batch)
    wide = problem.refit(units.to_mask(wider), current.point.x, debias)
    remaining = problem.find_selected_units(wide)
    costs = np.where(remaining & ~units.always, leaving_costs(problem, wide), np.inf)
    remaining &= ~select_top(-costs, int(remaining.sum()) - size)
    if np.array_equal(remaining, inside):
        return None
    return problem.refit(units.to_mask(remaining), wide.point.x, debias)
