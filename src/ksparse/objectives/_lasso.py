"""Sweeps of the graphical lasso, jit_compile: a few operations on each of many pairs of variables."""

from __future__ import annotations

import numpy as np

from .._types import Array
from ..compiling import jit_compile

__all__ = ["sweep_lasso"]


@jit_compile
def sweep_lasso(
    covariance: Array, amount: float, W: Array, tol: float, max_sweeps: int
) -> float:  # pragma: no cover - jit_compile
    """Update W column by column until no entry moves by more than `tol`, or `max_sweeps` times.

    Column j becomes W_·j = Wβ, where β minimizes ½βᵀWβ − βᵀΣ_·j + λ‖β‖₁ over the other variables, and λ is `amount`
    (Friedman, Hastie and Tibshirani, Biostatistics 2008). W is changed in place, and stays positive definite. Returned
    is the largest change in the last sweep.
    """
    size = covariance.shape[0]
    slopes = np.zeros((size, size))
    column = np.empty(size)
    change = np.inf
    for _ in range(max_sweeps):
        change = 0.0
        for j in range(size):
            beta = slopes[j]
            column[:] = 0.0
            for i in range(size):
                if beta[i] != 0.0:
                    row = W[i]
                    for m in range(size):
                        column[m] += beta[i] * row[m]
            for _ in range(max_sweeps):
                moved = 0.0
                for i in range(size):
                    if i == j:
                        continue
                    free = covariance[i, j] - column[i] + W[i, i] * beta[i]
                    slope = np.sign(free) * max(abs(free) - amount, 0.0) / W[i, i]
                    step = slope - beta[i]
                    if step != 0.0:
                        beta[i] = slope
                        row = W[i]
                        for m in range(size):
                            column[m] += step * row[m]
                        moved = max(moved, abs(step) * W[i, i])
                # Tighter than the sweeps: an inaccurate column would spoil all others.
                if moved <= 0.1 * tol:
                    break
            column[j] = covariance[j, j]
            for i in range(size):
                change = max(change, abs(column[i] - W[j, i]))
                W[j, i] = column[i]
            for i in range(size):  # apart from the row, whose entries lie side by side
                W[i, j] = column[i]
        if change <= tol:
            break
    return change
