"""A sparse X in memory, as CSC, with implicit centring."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._types import Array, IntArray
from ..threads import count_threads, parallel_map, use_caller_threads
from .base import ColumnBlock, CrossProducts
from .centering import compute_centred_squares, is_constant, subtract_shift
from .dense import DenseBlock
from .memory import InMemoryDesign
from .moments import split_columns, sum_columns

__all__ = ["SparseBlock", "SparseDesign"]

#: Gathered columns with a larger fraction of nonzeros than this are faster as a dense block,
DENSE_FRACTION = 0.2
#: and so are those with fewer entries in all.
SMALL_BLOCK = 100_000


class SparseDesign(InMemoryDesign):
    """X − 1·shiftᵀ for a CSC matrix X in canonical format."""

    _blocks: list[Any] | None = None

    def select_rows(self, index: IntArray) -> SparseDesign:
        return SparseDesign(self.matrix[index].tocsc(), self.shift, counters=self.counters)

    def _multiply(self, w: Array) -> Array:
        with use_caller_threads(self.matrix.nnz):
            product: Array = self.matrix @ w
        return product if self.shift is None else product - self.shift @ w

    def _multiply_transposed(self, rows: Array) -> Array:
        """Xᵀr, with a block of columns for each thread."""
        count = count_threads(self.matrix.nnz)
        if count == 1:
            return np.asarray(self.matrix.T @ rows)
        blocks = self._blocks  # another thread may replace them
        if blocks is None or len(blocks) != count:
            blocks = self._blocks = split_columns(self.matrix, count)
        return np.concatenate(parallel_map(lambda part: blocks[part] @ rows, count))

    def select(self, columns: IntArray) -> ColumnBlock:
        """Some columns in float64: a dense block if they are few or full, else sparse and centred implicitly."""
        self.counters.columns += columns.size
        block = self.matrix[:, columns].astype(np.float64, copy=False)
        shift = None if self.shift is None else self.shift[columns]
        size = block.shape[0] * block.shape[1]
        if size < SMALL_BLOCK or block.nnz > DENSE_FRACTION * size:
            return DenseBlock(subtract_shift(block.toarray(order="F"), shift, self.matrix.dtype), self, columns)
        return SparseBlock(block, shift, self)

    def gather_block(self, columns: IntArray) -> ColumnBlock:
        return self.select(columns)


@dataclass
class SparseBlock(ColumnBlock):
    """Some columns of a sparse design, centred implicitly."""

    #: The columns as stored.
    matrix: Any
    #: What is subtracted from each.
    shift: Array | None
    #: Where they come from.
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
        return compute_centred_squares(sum_columns(self.matrix, weights), self.shift, self.matrix)

    def collect(self) -> Array:
        return subtract_shift(self.matrix.toarray(order="F"), self.shift, self.design.matrix.dtype)

    def gram(self, weights: Array) -> Array:
        from ._scans import compute_gram_by_rows  # compiled when it is first needed

        self.design.counters.products += self.width**2
        rows = self.by_row
        gram = np.zeros((self.width, self.width))
        compute_gram_by_rows(rows.data, rows.indices, rows.indptr, weights, gram)
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
            cross = self.cross_sparse(block, weights)
        else:
            cross = self.rmatvec(block.collect() * weights[:, None])
        return CrossProducts(cross, block.rmatvec(weights), block.squares(weights))

    def cross_sparse(self, others: SparseBlock, weights: Array) -> Array:
        """The cross products with another sparse block of the same rows."""
        from ._scans import compute_cross_by_rows  # compiled when it is first needed

        cross = np.zeros((self.width, others.width))
        own, theirs = self.by_row, others.by_row
        compute_cross_by_rows(
            own.data, own.indices, own.indptr, theirs.data, theirs.indices, theirs.indptr, weights, cross
        )
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
