"""Safe screening: which units no better solution has, and which ones every better solution has."""

from __future__ import annotations

import numpy as np

from .._types import Array, IntArray
from ..compiling import jit_compile
from .relaxation import Fixings, Perspective

__all__ = ["find_fixings", "screen"]

#: Rounding of a sum of two bounds.
DIFFERENCE_ROUNDING = 1e-15


def screen(perspective: Perspective, base: float, scores: Array, upper: float) -> Fixings:
    """The fixings that a tangent proves for all solutions with f ≤ `upper`.

    The lower bound with unit j selected is base − s_j − the k − 1 largest other scores; with j left out it is that
    without it. A unit is left out, or selected, if the bound of the contrary exceeds `upper`.

    References
    ----------
    A. Atamtürk and A. Gómez, *Safe screening rules for ℓ0-regression from perspective relaxations*, ICML 2020.
    """
    fixings, budget = perspective.fixings, perspective.budget
    open_units = np.flatnonzero(fixings.open)
    if not np.isfinite(base) or not open_units.size:
        return fixings
    if budget == 0:
        return fixings.exclude(open_units)
    bound = base - perspective.add_scores(scores)
    if not np.isfinite(bound):
        return fixings
    bound -= DIFFERENCE_ROUNDING * (abs(bound) + abs(base))
    proved = find_fixings(scores[open_units], budget, bound, upper)
    return fixings.exclude(open_units[proved < 0]).include(open_units[proved > 0])


@jit_compile
def find_fixings(scores: Array, budget: int, bound: float, upper: float) -> IntArray:
    """1 for open units that are proved to be selected, −1 for those that are proved not to be, 0 for the others.

    `bound` is the lower bound with the `budget` ≥ 1 largest of these scores.
    """
    count = scores.size
    proved = np.zeros(count, dtype=np.int64)
    last, following = 0.0, 0.0  # the least score that is in the bound, and the largest that is not
    if budget < count:
        ordered = np.partition(scores, count - budget)
        last, following = ordered[count - budget], ordered[: count - budget].max()
    for j in range(count):
        own = scores[j]
        if (budget >= count or own >= last) and own > following and bound + (own - following) > upper:
            proved[j] = 1
        elif budget < count and own < last and bound + (last - own) > upper:
            proved[j] = -1
    return proved
