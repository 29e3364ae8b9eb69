"""Weights of samples, and curvatures that a step can be divided by."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import Array
from ..validation import check_vector

__all__ = ["normalize_weights", "replace_zeros"]


def normalize_weights(sample_weight: Any, n: int) -> tuple[float, Array]:
    """The sum of the sample weights, and weights that sum to 1."""
    if sample_weight is None:
        return float(n), np.full(n, 1.0 / n)
    weights = check_vector(sample_weight, "sample_weight", (n,))
    if (weights < 0).any():
        first = int(np.flatnonzero(weights < 0)[0])
        raise ValueError(f"sample_weight must not be negative; entry {first} is {weights[first]:g}")
    if not weights.any():
        raise ValueError("sample_weight is zero for every sample; give at least one sample a positive weight")
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if not np.isfinite(total):
        raise ValueError("the sum of sample_weight overflows; divide the weights by a constant, which changes nothing")
    return total, weights / total


def replace_zeros(diagonal: Array) -> Array:
    """Curvatures, with the largest one in place of zeros: a constant column must not get an infinite step."""
    largest = float(diagonal.max(initial=0.0)) or 1.0
    return np.where(diagonal > 0, diagonal, largest)
