"""Safe screening: which units no better solution has, and which ones every better solution has."""

from __future__ import annotations

import numpy as np

from .._types import Array
from .relaxation import Fixings, Perspective

__all__ = ["screen"]

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
    own = scores[open_units]
    bound = base - perspective.add_scores(scores)
    bound -= DIFFERENCE_ROUNDING * (abs(bound) + abs(base))
    if not np.isfinite(bound):
        return fixings
    ordered = np.sort(own)[::-1]
    last = ordered[budget - 1] if budget <= own.size else 0.0  # the least score that is selected
    following = ordered[budget] if budget < own.size else 0.0  # the largest one that is not
    is_top = own >= last if budget <= own.size else np.ones(own.size, dtype=bool)
    excluded = ~is_top & (bound + (last - own) > upper) if budget < own.size else np.zeros(own.size, dtype=bool)
    included = is_top & (own > following) & (bound + (own - following) > upper)
    return fixings.exclude(open_units[excluded]).include(open_units[included])
