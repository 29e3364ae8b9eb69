"""Sweeps of neighbourhood coordinate descent, compiled: a few operations on each of many small systems."""

from __future__ import annotations

import numpy as np

from .._types import Array, IntArray
from ..compiling import jit_compile

__all__ = ["sweep_columns"]


@jit_compile
def sweep_columns(
    target: Array,
    starts: IntArray,
    neighbours: IntArray,
    W: Array,
    slopes: Array,
    variances: Array,
    tol: float,
    max_sweeps: int,
) -> float:  # pragma: no cover - compiled
    """Update W column by column until no entry moves by more than `tol`, or `max_sweeps` times.

    Column j of W becomes that of a Gaussian in which j depends on its neighbours N alone, with the covariances
    `target` among them: β = W_NN⁻¹ target_Nj, W_·j = W_·N β. This raises log det W as far as its column can.

    `target` has the covariances to match on the diagonal and the edges, W those of the model, changed in place. Node
    j's neighbours are ``neighbours[starts[j]:starts[j + 1]]``. `slopes` is set to β, in the order of `neighbours`, and
    `variances` to the variance of each node given its neighbours. Returned is the largest change in the last sweep; -1
    if a node is a linear function of its neighbours.
    """
    size = target.shape[0]
    most = 0
    for j in range(size):
        most = max(most, starts[j + 1] - starts[j])
    factor = np.empty((most, most))
    beta = np.empty(most)
    column = np.empty(size)
    change = np.inf
    for _ in range(max_sweeps):
        change = 0.0
        for j in range(size):
            first = starts[j]
            degree = starts[j + 1] - first
            # Cholesky's factor of W_NN, and forward substitution on the way.
            for a in range(degree):
                node = neighbours[first + a]
                for b in range(a):
                    value = W[node, neighbours[first + b]]
                    for c in range(b):
                        value -= factor[a, c] * factor[b, c]
                    factor[a, b] = value / factor[b, b]
                pivot = W[node, node]
                right = target[node, j]
                for c in range(a):
                    pivot -= factor[a, c] * factor[a, c]
                    right -= factor[a, c] * beta[c]
                if pivot <= 1e-14 * W[node, node]:
                    return -1.0
                factor[a, a] = np.sqrt(pivot)
                beta[a] = right / factor[a, a]
            variance = target[j, j]
            for a in range(degree):
                variance -= beta[a] * beta[a]
            if variance <= 1e-14 * target[j, j]:
                return -1.0
            variances[j] = variance
            for a in range(degree - 1, -1, -1):
                value = beta[a]
                for b in range(a + 1, degree):
                    value -= factor[b, a] * beta[b]
                beta[a] = value / factor[a, a]
            column[:] = 0.0
            for a in range(degree):
                slope = beta[a]
                slopes[first + a] = slope
                row = W[neighbours[first + a]]
                for i in range(size):
                    column[i] += slope * row[i]
            column[j] = target[j, j]
            for i in range(size):
                change = max(change, abs(column[i] - W[j, i]))
                W[j, i] = column[i]
            for i in range(size):  # apart from the row, whose entries lie side by side
                W[i, j] = column[i]
        if change <= tol:
            break
    return change
