"""Exchanges of many units at a time: add the q most promising, refit, take out the q that cost least, refit.

Costs are known after the refit, in which units that explain the same have shared it: so an exchange needs no model of
how they act together, which for graphs with many edges would be too large. GraSP merges and prunes in the same way,
with q = 2k and by the size of coefficients; here q is halved whenever f does not fall.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._types import Array, Mask
from ..debias import Exact
from ..objectives.protocols import HasSwapScores
from ..sparsity.base import top_mask
from .base import Iterate, Problem

__all__ = ["LOOSE", "Merging", "exchanged", "expected_gains", "grown", "leaving_costs"]

#: While the support moves, refits are cut short.
LOOSE = Exact(tol=1e-3)
#: A search from nothing begins with this share of k, and doubles it.
FEWEST = 1 / 16
#: The first exchange of a stage is of this share of the units; before the last stage, it is the only one.
FIRST = 1 / 8


@dataclass(frozen=True)
class Merging:
    """How far the search has come.

    Attributes
    ----------
    size : int
        How many units there are at this stage.
    q : int
        How many to exchange next.
    tried : bool
        Whether this stage has seen an exchange.
    brief : bool
        Whether a stage with all k units ends as early as those before it.
    """

    size: int
    q: int
    tried: bool = False
    brief: bool = False

    @classmethod
    def at(cls, size: int, brief: bool = False) -> Merging:
        """The beginning of a stage."""
        return cls(size, max(int(size * FIRST), 1), brief=brief)

    @classmethod
    def from_nothing(cls, k: int, always: int, brief: bool = False) -> Merging:
        """The first stage of a search for k units."""
        size = k
        while size > max(k * FEWEST, always, 1):
            size = max(size // 2, always, 1)
        return cls.at(size, brief)

    def after(self, accepted: bool) -> Merging:
        """What follows an exchange that was accepted, or not."""
        return replace(self, tried=True, q=self.q if accepted else self.q // 2)

    def over(self, k: int) -> bool:
        """Whether this stage has seen enough."""
        return self.q < 1 if self.size == k and not self.brief else self.tried

    @classmethod
    def grown_to(cls, size: int) -> Merging:
        """The end of a stage, of a brief search that goes on from a solution with fewer units."""
        return cls(size, 0, tried=True, brief=True)

    def following(self, k: int) -> Merging | None:
        """The next stage; None after the last."""
        return None if self.size >= k else Merging.at(min(max(2 * self.size, int(k * FEWEST), 1), k), self.brief)


def expected_gains(problem: Problem, iterate: Iterate) -> Array:
    """How much each unit outside the support could lower f by itself."""
    units, point = problem.units, iterate.point
    objective, slopes = problem.objective, units.descent(point.gradient)
    if isinstance(objective, HasSwapScores):
        return units.total(objective.entering_gains(point, slopes))
    return units.total(0.5 * np.square(slopes) / objective.curvature(point))


def leaving_costs(problem: Problem, iterate: Iterate) -> Array:
    """How much f would rise without each unit of the support, as far as it tells by itself."""
    objective, point = problem.objective, iterate.point
    if isinstance(objective, HasSwapScores):
        return problem.units.total(objective.leaving_costs(point))
    return problem.units.total(0.5 * np.square(point.x) * objective.curvature(point))


def grown(problem: Problem, current: Iterate, size: int) -> Iterate:
    """The support with the most promising others, up to `size` units."""
    assert current.support is not None
    inside = problem.units.units_in(current.support)
    gains = expected_gains(problem, current)
    return problem.refit(_with_best(problem, inside, gains, size), current.point.x, LOOSE)


def exchanged(problem: Problem, current: Iterate, gains: Array, q: int) -> Iterate | None:
    """The support after an exchange of up to q units, refitted; None if it is the same.

    `gains` are the expected ones at `current`.
    """
    units = problem.units
    assert current.support is not None
    inside = units.units_in(current.support)
    size = int(inside.sum())
    wide = problem.refit(_with_best(problem, inside, gains, size + q), current.point.x, LOOSE)
    assert wide.support is not None
    remaining = units.units_in(wide.support)
    surplus = int(remaining.sum()) - size
    removable = remaining & ~units.always
    costs = np.where(removable, leaving_costs(problem, wide), np.inf)
    remaining &= ~top_mask(-costs, surplus)
    if np.array_equal(remaining, inside):
        return None
    return problem.refit(units.mask(remaining), wide.point.x, LOOSE)


def _with_best(problem: Problem, inside: Mask, gains: Array, size: int) -> Mask:
    return problem.units.mask(inside | top_mask(np.where(inside, np.inf, gains), size))
