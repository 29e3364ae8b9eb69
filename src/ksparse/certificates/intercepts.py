"""The intercept that minimizes the loss, the rest of the margins being known."""

from __future__ import annotations

import numpy as np

from .._types import Array
from ..objectives import Loss

__all__ = ["find_intercept"]

#: The slopes' sum is zero up to this fraction of the sum of their sizes; the rest is taken out exactly afterwards.
BALANCE = 1e-12
#: Newton steps, bisections or doublings.
MAX_STEPS = 100


def find_intercept(loss: Loss, margins: Array, target: Array, weights: Array, start: Array) -> Array:
    """The minimizer of Σᵢ sᵢ ℓ(mᵢ + b, yᵢ) over b, one for each output; all weights are positive."""
    return (_search_jointly if loss.couples_outputs else _search_each)(loss, margins, target, weights, start)


def _search_each(loss: Loss, margins: Array, target: Array, weights: Array, start: Array) -> Array:
    """Newton's method within brackets, for each output on its own."""
    b = np.array(start, dtype=np.float64)
    low, high = np.full(b.shape, -np.inf), np.full(b.shape, np.inf)
    reach = np.ones(b.shape)
    if loss.of_residuals:  # whose intercept has the unit of y
        largest = np.abs(target - margins).max(axis=0, initial=0.0)
        reach = np.where(largest > 0, largest, reach)
    for _ in range(MAX_STEPS):
        moved = margins + b
        slopes = loss.slope(moved, target)
        sums, sizes = weights @ slopes, weights @ np.abs(slopes)
        if (np.abs(sums) <= BALANCE * sizes).all():
            break
        high, low = np.where(sums > 0, b, high), np.where(sums < 0, b, low)
        curvature = weights @ loss.hessian_diagonal(loss.curvature(moved, target))
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = b - sums / curvature
        middle = np.where(np.isinf(high), b + reach, np.where(np.isinf(low), b - reach, 0.5 * (low + high)))
        reach = 2.0 * reach
        is_good = np.isfinite(newton) & (newton > low) & (newton < high) & (np.abs(newton - b) <= reach)
        following = np.where(np.abs(sums) <= BALANCE * sizes, b, np.where(is_good, newton, middle))
        if np.array_equal(following, b):
            break
        b = following
    return b


def _search_jointly(loss: Loss, margins: Array, target: Array, weights: Array, start: Array) -> Array:
    """Newton's method with halved steps, for outputs that are coupled."""
    b = np.array(start, dtype=np.float64)
    outputs = b.size
    value = weights @ loss.value(margins + b, target)
    for _ in range(MAX_STEPS):
        moved = margins + b
        slopes = loss.slope(moved, target)
        sums = weights @ slopes
        if (np.abs(sums) <= BALANCE * (weights @ np.abs(slopes))).all():
            break
        curvature = loss.curvature(moved, target)
        hessian = np.array(
            [[weights @ loss.hessian_entry(curvature, i, j) for j in range(outputs)] for i in range(outputs)]
        )
        direction = -np.linalg.lstsq(hessian, sums, rcond=1e-12)[0]
        length = 1.0
        while length > 1e-10:
            trial = weights @ loss.value(margins + b + length * direction, target)
            if trial <= value:
                break
            length *= 0.5
        else:
            break
        b, value = b + length * direction, trial
    return b
