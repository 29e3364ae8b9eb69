"""Weighted sums and squares of the columns of X, and whether X is finite, from one pass."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from .._types import AnyArray, Array, Matrix
from ..threads import count_threads, parallel_map

__all__ = [
    "CHUNK_ROWS",
    "ColumnSums",
    "check_finite",
    "check_small_columns",
    "find_unit",
    "is_finite",
    "split_columns",
    "sum_columns",
]

#: Fewer numbers than this are summed by NumPy, in less time than importing Numba takes.
MIN_COMPILED_SIZE = 200_000
#: Rows that are copied, converted or gathered at a time, so that they stay in the processor's cache.
CHUNK_ROWS = 1024
#: X is used as it is if its largest entry is not larger than this, and not smaller than the inverse: in double
#: precision, and in single precision, where products with y must not overflow either.
LARGEST_ENTRY, LARGEST_SINGLE_ENTRY = 1e70, 1e12
#: Smaller sums of squares have lost digits.
SMALLEST_SQUARE = 1e-290


@dataclass(frozen=True)
class ColumnSums:
    """Σᵢ wᵢ(x_ij − c_j) and Σᵢ wᵢ(x_ij − c_j)² of each column j.

    The centre c_j is one of the column's own values, so that the variance of a column far from zero loses no
    precision; for sparse data it is zero.
    """

    weights: Array
    centre: Array
    first: Array
    second: Array

    @property
    def are_finite(self) -> bool:
        """Whether no sum is NaN or infinite; otherwise X has such values, or values whose squares overflow."""
        return bool(np.isfinite(self.first).all() and np.isfinite(self.second).all())

    def means(self) -> Array:
        """Weighted means of the columns."""
        return self.centre + self.first / self.weights.sum()

    def squares(self, shift: Array | float) -> Array:
        """Σᵢ wᵢ(x_ij − shift_j)²; rounding makes it negative only where a weight is."""
        move = shift - self.centre
        squares = self.second - 2.0 * move * self.first + self.weights.sum() * np.square(move)
        return np.maximum(squares, 0.0) if (self.weights >= 0).all() else squares


def sum_columns(matrix: Matrix, weights: Array) -> ColumnSums:
    """The sums of the columns of a dense array or a sparse matrix (CSC needs no copy): one pass over it."""
    p = matrix.shape[1]
    first, second = np.zeros(p), np.zeros(p)
    with np.errstate(over="ignore", invalid="ignore"):
        if sparse.issparse(matrix):
            centre = np.zeros(p)
            _add_sparse(matrix.tocsc(), weights, first, second)
        else:
            centre = matrix[int(np.argmax(weights > 0))].astype(np.float64)
            _add_dense(matrix, weights, centre, first, second)
    return ColumnSums(weights, centre, first, second)


def check_finite(sums: ColumnSums, matrix: Matrix) -> ColumnSums:
    """The sums, or a ValueError if X has NaN or infinite values."""
    if not sums.are_finite and not is_finite(matrix):
        raise ValueError("X has NaN or infinite values; remove or impute them")
    return sums


def find_unit(sums: ColumnSums, matrix: Matrix) -> float:
    """The power of two that brings the largest entry of X near 1, if squares would overflow or underflow; else 1."""
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.sqrt(float(sums.second.max(initial=0.0)))
        size = max(size, float(np.abs(sums.centre).max(initial=0.0)))
    limit = LARGEST_SINGLE_ENTRY if matrix.dtype == np.float32 else LARGEST_ENTRY
    if 1.0 / limit < size < limit:
        return 1.0
    largest = _find_largest(matrix)
    if largest == 0.0 or 1.0 / limit < largest < limit:
        return 1.0
    return float(np.ldexp(1.0, -int(np.clip(np.frexp(largest)[1], -1000, 1000))))


def check_small_columns(sums: ColumnSums, matrix: Matrix) -> None:
    """Refuse columns whose squares underflow beside others whose squares do not."""
    small = np.flatnonzero((sums.second < SMALLEST_SQUARE) & (sums.second >= 0))
    if sparse.issparse(matrix):  # most may be empty
        stored: Any = matrix
        counts = (
            np.diff(stored.indptr)
            if stored.format == "csc"
            else np.bincount(stored.indices, minlength=len(sums.second))
        )
        small = small[counts[small] > 0]
    for column in small:
        part = matrix[:, [column]]
        values = np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)
        spread = float(np.abs(values - sums.centre[column]).max(initial=0.0))
        if 0.0 < spread < np.sqrt(SMALLEST_SQUARE):
            largest = int(np.argmax(sums.second))
            raise ValueError(
                f"column {largest} of X has values so much larger than those of column {column} that squares of both "
                "overflow or underflow; rescale it, or use standardize=True"
            )


def _find_largest(matrix: Matrix) -> float:
    values = matrix.data[:, None] if sparse.issparse(matrix) else matrix
    sizes = (np.abs(values[i : i + CHUNK_ROWS]).max(initial=0.0) for i in range(0, values.shape[0], CHUNK_ROWS))
    return float(max(sizes, default=0.0))


def is_finite(matrix: Matrix) -> bool:
    """Whether no entry is NaN or infinite."""
    values = matrix.data[:, None] if sparse.issparse(matrix) else matrix
    return all(np.isfinite(values[i : i + CHUNK_ROWS]).all() for i in range(0, values.shape[0], CHUNK_ROWS))


def _add_sparse(matrix: Any, weights: Array, first: Array, second: Array) -> None:
    if matrix.nnz < MIN_COMPILED_SIZE:
        first += matrix.T @ weights
        squared = np.square(matrix.data, dtype=float), matrix.indices, matrix.indptr
        # Without its shape, a matrix whose last rows are empty would be taken for a shorter one.
        second += sparse.csc_array(squared, shape=matrix.shape).T @ weights
        return
    from ._scans import scan_sparse  # compiled when it is first needed

    edges = _find_block_edges(matrix, count_threads(matrix.nnz))
    data, indices, indptr, weights = (
        _make_readonly(part) for part in (matrix.data, matrix.indices, matrix.indptr, weights)
    )

    def scan(part: int) -> None:
        a, b = edges[part], edges[part + 1]
        scan_sparse(data, indices, indptr[a : b + 1], weights, first[a:b], second[a:b])

    parallel_map(scan, len(edges) - 1)


def split_columns(matrix: Any, count: int) -> list[Any]:
    """The transposed columns of a CSC matrix in `count` blocks with about equally many nonzeros, not copied."""
    blocks = []
    for a, b in pairwise(_find_block_edges(matrix, count)):
        start, stop = matrix.indptr[a], matrix.indptr[b]
        block = sparse.csr_array((b - a, matrix.shape[0]), dtype=matrix.dtype)
        # The constructor would copy a part of an array.
        block.data, block.indices = matrix.data[start:stop], matrix.indices[start:stop]
        block.indptr = matrix.indptr[a : b + 1] - start
        blocks.append(block)
    return blocks


def _find_block_edges(matrix: Any, count: int) -> list[int]:
    inner = np.searchsorted(matrix.indptr, np.linspace(0, matrix.nnz, count + 1)[1:-1])
    return [0, *np.minimum(inner, matrix.shape[1]).tolist(), matrix.shape[1]]


def _add_dense(matrix: AnyArray, weights: Array, centre: Array, first: Array, second: Array) -> None:
    if matrix.size < MIN_COMPILED_SIZE:
        moved = matrix - centre
        first += weights @ moved
        second += weights @ np.square(moved)
    elif matrix.flags.c_contiguous:
        _add_rows(matrix, weights, centre, first, second)
    elif matrix.flags.f_contiguous:
        _add_columns(matrix.T, weights, centre, first, second)
    else:
        for i in range(0, matrix.shape[0], CHUNK_ROWS):
            rows = np.ascontiguousarray(matrix[i : i + CHUNK_ROWS])
            _add_rows(rows, weights[i : i + CHUNK_ROWS], centre, first, second)


def _add_rows(matrix: AnyArray, weights: Array, centre: Array, first: Array, second: Array) -> None:
    from ._scans import scan_rows  # compiled when it is first needed

    count = count_threads(matrix.size)
    edges = np.linspace(0, matrix.shape[0], count + 1).astype(int)
    matrix, weights, centre = _make_readonly(matrix), _make_readonly(weights), _make_readonly(centre)

    def scan(part: int) -> tuple[Array, Array]:
        rows = slice(edges[part], edges[part + 1])
        sums = np.zeros(first.size), np.zeros(first.size)
        scan_rows(matrix[rows], weights[rows], centre, *sums)
        return sums

    for sums, squares in parallel_map(scan, count):
        first += sums
        second += squares


def _add_columns(columns: AnyArray, weights: Array, centre: Array, first: Array, second: Array) -> None:
    from ._scans import scan_columns  # compiled when it is first needed

    count = count_threads(columns.size)
    edges = np.linspace(0, columns.shape[0], count + 1).astype(int)
    columns, weights, centre = _make_readonly(columns), _make_readonly(weights), _make_readonly(centre)

    def scan(part: int) -> None:
        some = slice(edges[part], edges[part + 1])
        scan_columns(columns[some], weights, centre[some], first[some], second[some])

    parallel_map(scan, count)


def _make_readonly(array: AnyArray) -> AnyArray:
    """A read-only view, so that functions are compiled for one kind of array only."""
    view = array.view()
    view.flags.writeable = False
    return view
