"""Subtracting the means of columns without loss of precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._types import Array, Matrix
from .moments import ColumnSums

__all__ = ["compute_centred_squares", "is_constant", "subtract_shift"]

#: A column whose variance is a smaller fraction of its mean square is centred before it is squared.
CANCELLATION = 1e-3
#: A centred column within this many rounding units of its mean is constant.
CONSTANT_UNITS = 16.0


def subtract_shift(block: Array, shift: Any, dtype: Any = None) -> Array:
    """Columns in float64, centred in place; a column that is constant up to rounding of `dtype` becomes zero."""
    block = np.asarray(block, dtype=np.float64)
    if shift is not None:
        block -= shift
        largest = np.maximum(block.max(axis=0, initial=0.0), -block.min(axis=0, initial=0.0))
        block[..., largest <= _rounding(dtype) * np.abs(shift)] = 0.0
    return block


def compute_centred_squares(sums: ColumnSums, shift: Array | None, matrix: Matrix) -> Array:
    """Σᵢ wᵢ (x_ij − shift_j)² for each column j, computed again where subtraction cancels.

    A ValueError if the squares of a column overflow.
    """
    squares = sums.squares(0.0 if shift is None else shift)
    if not np.isfinite(squares).all():
        column = int(np.flatnonzero(~np.isfinite(squares))[0])
        raise ValueError(f"column {column} of X has values so large that their squares overflow; rescale it")
    if shift is None:
        return squares
    constant = sums.weights.sum() * np.square(_rounding(matrix.dtype) * shift)
    doubtful = (squares < CANCELLATION * sums.second) | (squares <= constant)
    for j in np.flatnonzero(doubtful & (sums.second > 0)):
        column = matrix[:, [j]]
        dense = column.toarray() if sparse.issparse(matrix) else column
        centred = subtract_shift(dense[:, 0].astype(np.float64), shift[j], matrix.dtype)
        squares[j] = sums.weights @ np.square(centred)
    return squares


def is_constant(centred_square: Array, shift_square: Array, dtype: Any) -> Any:
    """Whether a column's square about its mean is nothing but the rounding of the mean's square."""
    return np.abs(centred_square) <= _rounding(dtype) * shift_square


def _rounding(dtype: Any) -> float:
    return 0.0 if dtype is None else CONSTANT_UNITS * float(np.finfo(dtype).eps)
