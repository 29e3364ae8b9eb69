"""Loops over X, compiled: what NumPy and SciPy would do in several passes, or with a copy of X.

All of them release Python's lock, so that parts of X can be scanned side by side. Indices are made unsigned: a signed
one costs a test for negative numbers each time.
"""

from __future__ import annotations

import numpy as np

from .._types import AnyArray, Array
from ..compiling import jit_compile

__all__ = ["compute_cross_by_rows", "compute_gram_by_rows", "scan_columns", "scan_rows", "scan_sparse"]

#: Columns of a tile: their sums stay in the cache while the rows go by.
TILE = 4096


@jit_compile
def scan_rows(X: AnyArray, weights: Array, centre: Array, first: Array, second: Array) -> None:  # pragma: no cover
    """Add Σᵢ wᵢ(x_ij − c_j) and Σᵢ wᵢ(x_ij − c_j)² of each column to `first` and `second`; X by rows."""
    n, p = X.shape
    for start in range(0, p, TILE):
        stop = min(p, start + TILE)
        about, sums, squares = centre[start:stop], first[start:stop], second[start:stop]
        for i in range(0, n - 3, 4):
            # Slices of rows, four at a time: the compiler then uses vectors, and sums are read a fourth as often.
            row0, row1, row2, row3 = X[i, start:stop], X[i + 1, start:stop], X[i + 2, start:stop], X[i + 3, start:stop]
            w0, w1, w2, w3 = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
            for j in range(stop - start):
                c = about[j]
                d0, d1, d2, d3 = row0[j] - c, row1[j] - c, row2[j] - c, row3[j] - c
                u0, u1, u2, u3 = w0 * d0, w1 * d1, w2 * d2, w3 * d3
                sums[j] += (u0 + u1) + (u2 + u3)
                squares[j] += (u0 * d0 + u1 * d1) + (u2 * d2 + u3 * d3)
        for i in range(n - n % 4, n):
            row, w = X[i, start:stop], weights[i]
            for j in range(stop - start):
                d = row[j] - about[j]
                sums[j] += w * d
                squares[j] += w * d * d


@jit_compile(reassociate=True)
def scan_columns(
    columns: AnyArray, weights: Array, centre: Array, first: Array, second: Array
) -> None:  # pragma: no cover
    """The same for X by columns; `columns` is its transpose."""
    for j in range(columns.shape[0]):
        column, c, total, square = columns[j], centre[j], 0.0, 0.0
        for i in range(column.size):
            d = column[i] - c
            u = weights[i] * d
            total += u
            square += u * d
        first[j] += total
        second[j] += square


@jit_compile
def scan_sparse(
    data: AnyArray, indices: AnyArray, indptr: AnyArray, weights: Array, first: Array, second: Array
) -> None:  # pragma: no cover
    """The same about zero for columns of a CSC matrix, whose `indptr` may be a part of that of `data`."""
    for j in range(indptr.size - 1):
        total, square = 0.0, 0.0
        for t in range(np.uint64(indptr[j]), np.uint64(indptr[j + 1])):
            x = np.float64(data[t])
            u = weights[np.uint64(indices[t])] * x
            total += u
            square += u * x
        first[j] += total
        second[j] += square


@jit_compile
def compute_gram_by_rows(
    data: AnyArray, indices: AnyArray, indptr: AnyArray, weights: Array, gram: Array
) -> None:  # pragma: no cover
    """Add the lower triangle of XᵀWX to `gram`, for a CSR matrix with sorted indices: an outer product of each row."""
    one = np.uint64(1)
    for i in range(indptr.size - 1):
        start, stop, w = np.uint64(indptr[i]), np.uint64(indptr[i + 1]), weights[i]
        for t in range(start, stop):
            scaled, row = w * data[t], np.uint64(indices[t])
            for s in range(start, t + one):
                gram[row, np.uint64(indices[s])] += scaled * data[s]


@jit_compile
def compute_cross_by_rows(
    data: AnyArray,
    indices: AnyArray,
    indptr: AnyArray,
    other_data: AnyArray,
    other_indices: AnyArray,
    other_indptr: AnyArray,
    weights: Array,
    cross: Array,
) -> None:  # pragma: no cover
    """Add XᵀWZ to `cross`, for two CSR matrices with the same rows."""
    for i in range(indptr.size - 1):
        start, stop, w = np.uint64(other_indptr[i]), np.uint64(other_indptr[i + 1]), weights[i]
        for t in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            scaled, line = w * data[t], cross[np.uint64(indices[t])]
            for s in range(start, stop):
                line[np.uint64(other_indices[s])] += scaled * other_data[s]
