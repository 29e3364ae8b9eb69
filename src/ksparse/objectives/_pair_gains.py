"""Gains of edges, compiled: a few operations on each of very many pairs of variables."""

from __future__ import annotations

import numpy as np

from .._types import Array
from ..compiling import jit_compile

__all__ = ["compute_pair_gains"]


@jit_compile
def compute_pair_gains(covariance: Array, inverse: Array, least: float) -> Array:  # pragma: no cover - compiled
    """½·(log(det W_B/det Σ_B) + ⟨Σ_B, W_B⁻¹⟩ − 2) for each pair B = {i, j}, in both of its entries.

    `covariance` is Σ and `inverse` is W. `least` bounds det Σ_B relative to Σ_ii·Σ_jj from below: two equal variables
    would have an infinite gain. Gains are 0 on the diagonal and for constant variables.
    """
    size = covariance.shape[0]
    gains = np.zeros((size, size))
    for i in range(size):
        a, u = covariance[i, i], inverse[i, i]
        for j in range(i):
            b, v = covariance[j, j], inverse[j, j]
            if a * b > 0.0:
                s, w = covariance[i, j], inverse[i, j]
                before = u * v - w * w
                after = max(a * b - s * s, least * a * b)
                gains[i, j] = 0.5 * (np.log(before / after) + (a * v + b * u - 2.0 * s * w) / before) - 1.0
    for i in range(size):  # a second loop, so that the first writes contiguous rows
        for j in range(i):
            gains[j, i] = gains[i, j]
    return gains
