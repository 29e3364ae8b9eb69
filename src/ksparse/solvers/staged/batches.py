"""Many units at a time: add those that gain most, refit, remove those that cost least, refit.

Costs are computed after the refit, when units that explain the same have divided it among themselves. So a batch swap
needs no model of how units act together, which would be too large for graphs with many edges. GraSP merges and prunes
in the same way, with 2k units and by the size of their coefficients.
"""

from __future__ import annotations

import numpy as np

from ..._types import Array, Mask
from ...debias import Exact
from ...sparsity.base import top_mask
from ..problem import Iterate, Problem
from ..swap.scores import entering_gains, leaving_costs

__all__ = ["batch_swap", "grow_to"]


def grow_to(problem: Problem, current: Iterate, size: int, debias: Exact) -> Iterate:
    """Add the units that gain most, up to `size` units, and refit."""
    inside = problem.selected_units(current)
    support = _add_best(problem, inside, entering_gains(problem, current), size)
    return problem.refit(support, current.point.x, debias)


def batch_swap(problem: Problem, current: Iterate, gains: Array, batch: int, debias: Exact) -> Iterate | None:
    """Swap up to `batch` units and refit; None if the support stays the same. `gains` are those at `current`."""
    units = problem.units
    inside = problem.selected_units(current)
    size = int(inside.sum())
    wide = problem.refit(_add_best(problem, inside, gains, size + batch), current.point.x, debias)
    remaining = problem.selected_units(wide)
    surplus = int(remaining.sum()) - size
    costs = np.where(remaining & ~units.always, leaving_costs(problem, wide), np.inf)
    remaining &= ~top_mask(-costs, surplus)
    if np.array_equal(remaining, inside):
        return None
    return problem.refit(units.mask(remaining), wide.point.x, debias)


def _add_best(problem: Problem, inside: Mask, gains: Array, size: int) -> Mask:
    return problem.units.mask(inside | top_mask(np.where(inside, np.inf, gains), size))
