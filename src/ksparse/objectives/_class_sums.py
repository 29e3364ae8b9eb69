"""Sums over the samples of ordered classes, compiled: one pass over the margins for each choice of thresholds."""

from __future__ import annotations

import numpy as np

from .._types import Array, IntArray
from ..compiling import jit_compile

__all__ = ["compute_derivatives", "sum_over_classes"]


@jit_compile
def sum_over_classes(
    codes: IntArray, weights: Array, margins: Array, thresholds: Array
) -> tuple[float, Array, Array]:  # pragma: no cover - compiled
    """Σ s·[softplus(m − θ_c) + softplus(θ_{c−1} − m)], its gradient in the thresholds, and its diagonal Hessian."""
    last = thresholds.size
    value, gradient, curvature = 0.0, np.zeros(last), np.zeros(last)
    for i in range(codes.size):
        weight, code = weights[i], codes[i]
        if weight == 0.0:
            continue
        if code < last:
            above = margins[i] - thresholds[code]
            small = np.exp(-abs(above))
            value += weight * (max(above, 0.0) + np.log1p(small))
            gradient[code] -= weight * (1.0 if above > 0.0 else small) / (1.0 + small)
            curvature[code] += weight * small / ((1.0 + small) * (1.0 + small))
        if code > 0:
            below = thresholds[code - 1] - margins[i]
            small = np.exp(-abs(below))
            value += weight * (max(below, 0.0) + np.log1p(small))
            gradient[code - 1] += weight * (1.0 if below > 0.0 else small) / (1.0 + small)
            curvature[code - 1] += weight * small / ((1.0 + small) * (1.0 + small))
    return value, gradient, curvature


@jit_compile
def compute_derivatives(
    codes: IntArray, weights: Array, margins: Array, thresholds: Array
) -> tuple[Array, Array, Array]:  # pragma: no cover - compiled
    """The slope of each sample in its margin, and the parts of its curvature from its upper and its lower threshold."""
    last, n = thresholds.size, codes.size
    slopes, upper, lower = np.zeros(n), np.zeros(n), np.zeros(n)
    for i in range(n):
        weight, code = weights[i], codes[i]
        if weight == 0.0:
            continue
        if code < last:
            above = margins[i] - thresholds[code]
            small = np.exp(-abs(above))
            slopes[i] += weight * (1.0 if above > 0.0 else small) / (1.0 + small)
            upper[i] = weight * small / ((1.0 + small) * (1.0 + small))
        if code > 0:
            below = thresholds[code - 1] - margins[i]
            small = np.exp(-abs(below))
            slopes[i] -= weight * (1.0 if below > 0.0 else small) / (1.0 + small)
            lower[i] = weight * small / ((1.0 + small) * (1.0 + small))
    return slopes, upper, lower
