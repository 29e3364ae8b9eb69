"""Conjugates of losses and the best constant, by bisection of the slope."""

from __future__ import annotations

import numpy as np

from .._types import Array
from ..objectives import Loss
from .claims import require_claim

__all__ = ["find_best_constant", "find_conjugates"]

#: Slopes may differ by this fraction.
SLOPE_TOLERANCE = 1e-9
#: Doublings and halvings when a margin is looked for.
BISECTIONS = 200
#: The largest margin that is tried; the loss of larger ones may overflow.
LARGEST_MARGIN = 700.0


def find_best_constant(loss: Loss, offset: Array, target: Array, weights: Array) -> Array:
    """The margins with the intercept that is best without any feature; with none, for outputs that are coupled."""
    if loss.couples_outputs:
        return offset
    low, high = np.full(target.shape[1:], -LARGEST_MARGIN), np.full(target.shape[1:], LARGEST_MARGIN)
    if loss.of_residuals:
        low, high = (target - offset).min(axis=0), (target - offset).max(axis=0)
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        with np.errstate(over="ignore", invalid="ignore"):
            is_low = weights @ loss.slope(offset + middle, target) < 0
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    return offset + 0.5 * (low + high)


def find_conjugates(loss: Loss, slopes: Array, target: Array) -> Array:
    """ℓ*(a) = am − ℓ(m) at the margin m where ℓ has the slope a, or in the limit: by bisection.

    It is infinite where ℓ has nowhere such a slope.
    """
    if loss.couples_outputs:
        probabilities = slopes + target
        is_proper = (probabilities >= -SLOPE_TOLERANCE).all() and (
            np.abs(probabilities.sum(axis=1) - 1) <= SLOPE_TOLERANCE
        ).all()
        require_claim(is_proper, "the slopes of a sample are not differences of probabilities")
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(probabilities > 0, probabilities * np.log(probabilities), 0.0).sum(axis=1)
    low, high = np.full(slopes.shape, -LARGEST_MARGIN), np.full(slopes.shape, LARGEST_MARGIN)
    unit = 1.0
    if loss.of_residuals:
        unit = float(max(np.abs(slopes).max(initial=0.0), np.abs(target).max(initial=0.0))) or 1.0
        low, high = target + 1e3 * unit * low, target + 1e3 * unit * high
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        is_low = loss.slope(middle, target) < slopes
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    margins = 0.5 * (low + high)
    with np.errstate(over="ignore", invalid="ignore"):
        missed = np.abs(loss.slope(margins, target) - slopes)
    is_reached = missed <= SLOPE_TOLERANCE * (unit + np.abs(slopes).max(initial=0.0))
    products = slopes * margins
    found = (products if products.ndim == 1 else products.sum(axis=1)) - loss.value(margins, target)
    return np.where(is_reached if is_reached.ndim == 1 else is_reached.all(axis=1), found, np.inf)
