"""The proximal operator and the conjugate of the perspective of a ridge, compiled."""

from __future__ import annotations

import numpy as np

from .._types import Array
from ..compiling import jit_compile

__all__ = ["divide_budget", "score_coordinate"]

#: Newton steps and bisections for the multiplier; each halves the bracket at least once in two.
MAX_ROOT_STEPS = 200
#: The sum of z may differ from k by this fraction.
ROOT_TOLERANCE = 1e-13
#: Relative rounding error of a score that is computed from a product without one.
SCORE_ROUNDING = 1e-15


@jit_compile
def score_coordinate(slope: float, error: float, ridge: float, lower: float, upper: float) -> float:
    """An upper bound of h(v) = max (vw − λw²/2) over l ≤ w ≤ u, for all v within an error of a slope.

    h is convex with its minimum at 0, so the bound is the larger of its values at the two ends.
    """
    largest = 0.0
    for v in (slope - error, slope + error):
        end = upper if v > 0.0 else lower
        if v == 0.0 or end == 0.0:
            continue
        if ridge > 0.0 and abs(v) <= ridge * abs(end):
            score = 0.5 * v * (v / ridge)
        elif np.isinf(end):
            score = np.inf
        else:
            score = end * (v - 0.5 * ridge * end)
        largest = max(largest, score)
    return largest * (1.0 + SCORE_ROUNDING)


@jit_compile
def divide_budget(sizes: Array, ridges: Array, caps: Array, budget: float, guess: float) -> tuple[Array, float]:
    """z of the proximal step: min Σ [½(ω − t)² + rω²/(2z)] over 0 ≤ ω ≤ Mz, 0 ≤ z ≤ 1 and Σz ≤ budget.

    For a multiplier μ of Σz, each unit's minimum over ω is convex in z with

        z = clip(c·t·√r − r, 0, 1), c = 1/√(2μ),       where μ ≤ rM²/2,
        z = clip((tM − rM²/2 − μ)/M², 0, 1),           elsewhere (ω is at its cap).

    Σz increases with c, and its root is found by Newton's method within a bracket. Nothing is sorted, and ridges may
    differ, unlike in methods that sort sizes (Argyriou, Foygel and Srebro 2012, for the k-support norm).

    Parameters
    ----------
    sizes, ridges, caps : ndarray
        t ≥ 0, r ≥ 0 and M ≥ 0 of each unit; M may be infinite where r > 0.
    budget : float
        At most the number of units that are not fixed.
    guess : float
        c, where to start; that of the last step, or 1.

    Returns
    -------
    z : ndarray
        The minimizer.
    c : float
        For the next step.
    """
    count = sizes.size
    z = np.zeros(count)
    low, high, c = 0.0, np.inf, guess
    for _ in range(MAX_ROOT_STEPS):
        total, derivative = 0.0, 0.0
        multiplier = 0.5 / (c * c)
        for g in range(count):
            t, r, cap = sizes[g], ridges[g], caps[g]
            if t == 0.0 or cap == 0.0:
                z[g] = 0.0
                continue
            if cap == np.inf or multiplier <= 0.5 * r * cap * cap:
                grown = t * np.sqrt(r)
                value = c * grown - r
            else:
                value = (t * cap - 0.5 * r * cap * cap - multiplier) / (cap * cap)
                grown = 1.0 / (c * c * c * cap * cap)
            if value <= 0.0:
                value = 0.0
            elif value >= 1.0:
                value = 1.0
            else:
                derivative += grown
            z[g] = value
            total += value
        if abs(total - budget) <= ROOT_TOLERANCE * budget:
            break
        if total > budget:
            high = c
        else:
            low = c
            if derivative == 0.0 and high == np.inf and c > 1e100:
                break  # all that may be selected is
        following = c - (total - budget) / derivative if derivative > 0.0 else np.inf
        if not low < following < high:
            following = 4.0 * c if high == np.inf else 0.5 * (low + high)
        if following == c:
            break
        c = following
    return z, c
