"""A sparse X in memory, as CSC, with implicit centring."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._types import Array, IntArray
from ..counters import Counters
from ..threads import parallel_map, thread_count, use_caller_threads
from .base import ColumnBlock, CrossProducts, Design, Moments
from .centering import centred_squares, is_constant, subtract_shift
from .dense import DenseBlock
from .moments import ColumnSums, check_finite, column_blocks, column_sums

__all__ = ["SparseBlock", "SparseDesign"]

#: Gathered columns with a larger fraction of nonzeros than this are faster as a dense block,
DENSE_FRACTION = 0.2
#: and so are those with fewer entries in all.
SMALL_BLOCK = 100_000


class SparseDesign(Design):
    """X − 1·shiftᵀ for a CSC matrix X.

    Parameters
    ----------
    matrix : csc_array of shape (n, p)
        float64 or float32, in canonical format; it is not copied.
    shift : ndarray of shape (p,), optional
        What is subtracted from each column.
    sums : ColumnSums, optional
        Sums of the columns that are known already.
    counters : Counters, optional
        Where work is counted.
    """

    def __init__(
        self, matrix: Any, shift: Array | None = None, sums: ColumnSums | None = None, counters: Counters | None = None
    ) -> None:
        self.matrix = matrix
        self.shape = matrix.shape
        self.shift = shift
        self.counters = Counters() if counters is None else counters
        self._sums = sums
        self._blocks: list[Any] = []

    def center(self, weights: Array) -> SparseDesign:
        sums = self._sums_for(weights)
        return SparseDesign(self.matrix, sums.means(), sums, self.counters)

    def select_rows(self, index: IntArray) -> SparseDesign:
        return SparseDesign(self.matrix[index].tocsc(), self.shift, counters=self.counters)

    def moments(self, weights: Array) -> Moments:
        self._sums = check_finite(self._sums_for(weights), self.matrix)
        means = self._sums.means() - (0.0 if self.shift is None else self.shift)
        return Moments(means, centred_squares(self._sums, self.shift, self.matrix))

    def _sums_for(self, weights: Array) -> ColumnSums:
        if self._sums is not None and self._sums.weights is weights:
            return self._sums
        return column_sums(self.matrix, weights)

    def matvec(self, columns: IntArray | None, w: Array) -> Array:
        if columns is not None:
            return self.select(columns).matvec(w)
        used = np.flatnonzero(w if w.ndim == 1 else w.any(axis=1))
        if 2 * used.size <= self.shape[1]:
            return self.select(used).matvec(w[used])
        self.counters.passes += 1
        with use_caller_threads(self.matrix.nnz):
            product: Array = self.matrix @ w
        return product if self.shift is None else product - self.shift @ w

    def rmatvec(self, rows: Array, columns: IntArray | None = None) -> Array:
        if columns is not None:
            return self.select(columns).rmatvec(rows)
        self.counters.passes += 1
        product = self._multiply_blocks(rows.astype(self.matrix.dtype, copy=False)).astype(np.float64, copy=False)
        return product if self.shift is None else product - np.multiply.outer(self.shift, rows.sum(axis=0))

    def _multiply_blocks(self, rows: Array) -> Array:
        """Xᵀr, with a block of columns for each thread."""
        count = thread_count(self.matrix.nnz)
        if count == 1:
            product: Array = self.matrix.T @ rows
            return product
        blocks = self._blocks  # another thread may replace them
        if len(blocks) != count:
            blocks = self._blocks = column_blocks(self.matrix, count)
        return np.concatenate(parallel_map(lambda part: blocks[part] @ rows, count))

    def gram(self, columns: IntArray, weights: Array) -> Array:
        return self.select(columns).gram(weights)

    def cross(self, columns: IntArray, others: IntArray, weights: Array) -> CrossProducts:
        return self.select(columns).cross(others, weights)

    def collect_columns(self, columns: IntArray) -> Array:
        return self._densify(self._take(columns), columns)

    def select(self, columns: IntArray) -> ColumnBlock:
        """Some columns in float64: a dense block if they are few or full, else sparse and centred implicitly."""
        block = self._take(columns)
        size = block.shape[0] * block.shape[1]
        if size < SMALL_BLOCK or block.nnz > DENSE_FRACTION * size:
            return DenseBlock(self._densify(block, columns), self, columns)
        return SparseBlock(block, None if self.shift is None else self.shift[columns], self)

    def _take(self, columns: IntArray) -> Any:
        self.counters.columns += columns.size
        return self.matrix[:, columns].astype(np.float64, copy=False)

    def _densify(self, block: Any, columns: IntArray) -> Array:
        shift = None if self.shift is None else self.shift[columns]
        return subtract_shift(block.toarray(order="F"), shift, self.matrix.dtype)


@dataclass
class SparseBlock(ColumnBlock):
    """Some columns of a sparse design, centred implicitly.

    Attributes
    ----------
    matrix : csc_array of shape (n, k)
        The columns as stored.
    shift : ndarray of shape (k,) or None
        What is subtracted from each.
    design : SparseDesign
        Where they come from.
    """

    matrix: Any
    shift: Array | None
    design: SparseDesign
    _by_row: Any = field(default=None, repr=False)

    @property
    def width(self) -> int:  # type: ignore[override]
        """Number of columns."""
        return int(self.matrix.shape[1])

    def matvec(self, w: Array) -> Array:
        product: Array = self.matrix @ w
        return product if self.shift is None else product - self.shift @ w

    def rmatvec(self, rows: Array) -> Array:
        product: Array = self.matrix.T @ rows
        return product if self.shift is None else product - np.multiply.outer(self.shift, rows.sum(axis=0))

    def squares(self, weights: Array) -> Array:
        return centred_squares(column_sums(self.matrix, weights), self.shift, self.matrix)

    def collect(self) -> Array:
        return subtract_shift(self.matrix.toarray(order="F"), self.shift, self.design.matrix.dtype)

    def gram(self, weights: Array) -> Array:
        from ._scans import gram_of_rows  # compiled when it is first needed

        self.design.counters.products += self.width**2
        rows = self.by_row
        gram = np.zeros((self.width, self.width))
        gram_of_rows(rows.data, rows.indices, rows.indptr, weights, gram)
        gram += np.tril(gram, -1).T
        if self.shift is not None:
            cross = np.outer(self.shift, self.matrix.T @ weights)
            squared = weights.sum() * np.outer(self.shift, self.shift)
            gram += squared - cross - cross.T
            constant = is_constant(gram.diagonal(), squared.diagonal(), self.design.matrix.dtype)
            gram[constant] = gram[:, constant] = 0.0
        return gram

    def cross(self, others: IntArray, weights: Array) -> CrossProducts:
        self.design.counters.products += self.width * others.size
        block = self.design.select(others)
        if isinstance(block, SparseBlock):
            cross = self._cross_sparse(block, weights)
        else:
            cross = self.rmatvec(block.collect() * weights[:, None])
        return CrossProducts(cross, block.rmatvec(weights), block.squares(weights))

    def _cross_sparse(self, others: SparseBlock, weights: Array) -> Array:
        from ._scans import cross_of_rows  # compiled when it is first needed

        cross = np.zeros((self.width, others.width))
        own, theirs = self.by_row, others.by_row
        cross_of_rows(own.data, own.indices, own.indptr, theirs.data, theirs.indices, theirs.indptr, weights, cross)
        if self.shift is None or others.shift is None:
            return cross
        own_sums, other_sums = self.matrix.T @ weights, others.matrix.T @ weights - weights.sum() * others.shift
        return cross - np.outer(own_sums, others.shift) - np.outer(self.shift, other_sums)

    @property
    def by_row(self) -> Any:
        """The columns as CSR, which products between columns need; converted once."""
        if self._by_row is None:
            self._by_row = self.matrix.tocsr()
        return self._by_row
