"""Conjugates of losses and the best constant, by bisection of the slope; and the rounding of a mean loss."""

from __future__ import annotations

import numpy as np

from .._types import Array, Mask
from ..objectives import Loss
from ..objectives.margin_form import MarginForm
from .claims import require_claim

__all__ = ["bound_rounding", "find_best_constant", "find_conjugates"]

#: Probabilities may differ by so much.
PROBABILITY_TOLERANCE = 1e-9
#: Slopes beyond those that a loss has by this fraction are these, rounded.
SLOPE_ROUNDING = 1e-15
#: Rounding of a margin, as a fraction of the sizes of its terms, for each of them.
MARGIN_ROUNDING = float(np.finfo(np.float64).eps)
#: Halvings when the best constant is looked for.
BISECTIONS = 200
#: The largest margin that is tried; the loss of larger ones may overflow.
LARGEST_MARGIN = 700.0
#: The largest residual that is tried, whatever the unit of y is; its square is still a number.
LARGEST_RESIDUAL = 1e150


def find_best_constant(loss: Loss, offset: Array, target: Array, weights: Array) -> Array:
    """The intercept that is best without any feature; 0 for outputs that are coupled."""
    low, high = np.full(target.shape[1:], -LARGEST_MARGIN), np.full(target.shape[1:], LARGEST_MARGIN)
    if loss.couples_outputs:
        return np.zeros(target.shape[1:])
    if loss.of_residuals:
        low, high = (target - offset).min(axis=0), (target - offset).max(axis=0)
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        with np.errstate(over="ignore", invalid="ignore"):
            is_low = weights @ loss.slope(offset + middle, target) < 0
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    constant: Array = 0.5 * (low + high)
    return constant


def bound_rounding(form: MarginForm, rows: Mask, x: Array) -> float:
    """What the rounding of margins may change the mean loss by, where each loses some units of the sizes of its terms.

    A change of several outputs is the mean of as many changes of one output that are so many times as large, and a
    convex loss falls by no more than it rises on the other side.
    """
    p, inner = form.shape[0], form.shape[1:]
    outputs = int(np.prod(inner, dtype=int))
    X, target, point = form.collect()[rows], form.target[rows], x.reshape(-1, outputs)
    offset = np.zeros((len(X), outputs)) if form.offset is None else form.offset[rows].reshape(len(X), outputs)
    margins = X @ point[:p] + point[p:].sum(axis=0) + offset
    sizes = np.abs(X) @ np.abs(point[:p]) + np.abs(point[p:]).sum(axis=0) + np.abs(offset)
    if form.loss.of_residuals:
        sizes = sizes + np.abs(target.reshape(sizes.shape))
    value = form.loss.value(margins.reshape(len(X), *inner), target)
    largest, errors = np.zeros(len(X)), outputs * MARGIN_ROUNDING * (p + 4.0) * sizes
    for output in range(outputs):
        change = np.where(np.arange(outputs) == output, errors, 0.0)
        for moved in (margins + change, margins - change):
            largest = np.maximum(largest, form.loss.value(moved.reshape(len(X), *inner), target) - value)
    return float(form.weights[rows] @ largest)


def find_conjugates(loss: Loss, slopes: Array, target: Array) -> Array:
    """ℓ*(a) = am − ℓ(m) at the margin m where ℓ has the slope a, or in the limit: by bisection.

    It is infinite where ℓ has nowhere such a slope. Where ℓ has it at many margins, m is the one that is nearest to 0,
    or to y for losses of residuals, so that small numbers are subtracted.
    """
    if loss.couples_outputs:
        probabilities = slopes + target
        is_proper = (probabilities >= -PROBABILITY_TOLERANCE).all() and (
            np.abs(probabilities.sum(axis=1) - 1) <= PROBABILITY_TOLERANCE
        ).all()
        require_claim(is_proper, "the slopes of a sample are not differences of probabilities")
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(probabilities > 0, probabilities * np.log(probabilities), 0.0).sum(axis=1)
    known, largest = (np.zeros(target.shape), LARGEST_RESIDUAL) if loss.of_residuals else (target, LARGEST_MARGIN)
    with np.errstate(over="ignore"):
        start = loss.slope(np.zeros(slopes.shape), known)
        sign = np.where(slopes > start, 1.0, -1.0)
        end = loss.slope(sign * largest, known)
        beyond = np.maximum(sign * (slopes - end), 0.0)
        is_reached = beyond <= SLOPE_ROUNDING * (np.abs(start) + np.abs(end))
        sizes = _find_least_sizes(loss, sign, np.where(beyond > 0, end, slopes), known, largest)
    margins = sign * sizes
    products = slopes * (margins + target - known)
    found = (products if products.ndim == 1 else products.sum(axis=1)) - loss.value(margins, known)
    return np.where(is_reached if is_reached.ndim == 1 else is_reached.all(axis=1), found, np.inf)


def _find_least_sizes(loss: Loss, sign: Array, slopes: Array, target: Array, largest: float) -> Array:
    """The least |m| of margins of these signs where ℓ has a slope, by bisection of all numbers up to the largest.

    Numbers that are not negative have the order of the integers with the same bits.
    """
    low = np.zeros(slopes.shape, dtype=np.int64)
    high = np.full(slopes.shape, np.float64(largest).view(np.int64))
    for _ in range(64):
        middle = low + (high - low) // 2
        is_reached = sign * (loss.slope(sign * middle.view(np.float64), target) - slopes) >= 0
        low, high = np.where(is_reached, low, np.minimum(middle + 1, high)), np.where(is_reached, middle, high)
    sizes: Array = high.view(np.float64)
    return sizes
