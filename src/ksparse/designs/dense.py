"""A dense X in memory, in any order, float64 or float32: never copied, except for the columns of supports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._types import Array, IntArray
from ..threads import use_caller_threads
from .base import ColumnBlock, CrossProducts, Design
from .cache import MAX_CACHED_BATCH, ColumnCache, gather_columns
from .centering import subtract_shift
from .known_products import KnownBlock, KnownProducts
from .memory import InMemoryDesign
from .moments import CHUNK_ROWS

__all__ = ["DenseBlock", "DenseDesign", "compute_gram"]

#: Gathering one number takes about as long as this many multiplications.
GATHER_COST = 64


class DenseDesign(InMemoryDesign):
    """X − 1·shiftᵀ for a dense array X, in any memory order; columns that supports have used are kept."""

    _cache: ColumnCache | None = None
    _products: KnownProducts | None = None

    def select_rows(self, index: IntArray) -> DenseDesign:
        return DenseDesign(self.matrix[index], self.shift, counters=self.counters)

    def _multiply(self, w: Array) -> Array:
        if self.matrix.dtype == np.float64:
            with use_caller_threads(self.matrix.size):
                product: Array = self.matrix @ w
            return product if self.shift is None else product - self.shift @ w
        # Margins of float32 data are summed in float64, where large means cancel.
        chunks = (self.matrix[i : i + CHUNK_ROWS] for i in range(0, self.shape[0], CHUNK_ROWS))
        return np.concatenate([subtract_shift(chunk.astype(np.float64), self.shift) @ w for chunk in chunks])

    def _multiply_transposed(self, rows: Array) -> Array:
        with use_caller_threads(self.matrix.size):
            return np.asarray(self.matrix.T @ rows)

    def select(self, columns: IntArray) -> ColumnBlock:
        """Some columns, which are gathered only when they are needed if all products are known."""
        return self.gather(columns) if self._products is None else KnownBlock(self, columns, self._products)

    def gather(self, columns: IntArray) -> DenseBlock:
        """Some columns, gathered from X or taken from the cache; very many are not for keeping."""
        if columns.size > MAX_CACHED_BATCH:
            return self.gather_block(columns)
        return DenseBlock(self.cache.take(columns).T, self, columns)

    def collect_columns(self, columns: IntArray) -> Array:
        """Some columns; those of a small X are all in the cache."""
        return (self.select(columns) if self.cache.takes_all else self.gather_block(columns)).collect()

    @property
    def cache(self) -> ColumnCache:
        """Columns that supports have used, made on first use."""
        if self._cache is None:
            weights = None if self._sums is None else self._sums.weights
            self._cache = ColumnCache(self.matrix, self.shift, weights, self.counters)
        return self._cache

    def gather_block(self, columns: IntArray) -> DenseBlock:
        """Some columns, gathered and not kept."""
        self.counters.columns += columns.size
        return DenseBlock(gather_columns(self.matrix, self.shift, columns).T, self, columns)

    def know_products(self, weights: Array) -> None:
        gram, sums = self.gram_of_all(weights), self._get_sums(weights)
        totals = sums.first + weights.sum() * (sums.centre - (0.0 if self.shift is None else self.shift))
        self.counters.products += gram.size
        self._products = KnownProducts(weights, gram, np.where(gram.diagonal() > 0, totals, 0.0))

    def gram_of_all(self, weights: Array) -> Array:
        """Xᵀ diag(weights) X; X is copied only to be centred or converted, and stays in its order."""
        if self._products is not None and self._products.weights is weights:
            return self._products.gram.copy()
        if self.shift is None and self.is_double:
            return compute_gram(self.matrix, weights)
        return compute_gram(subtract_shift(self.matrix.astype(np.float64), self.shift, self.matrix.dtype), weights)

    def multiply_all(self, block: DenseBlock, weights: Array) -> CrossProducts:
        """Products of a block with all columns: passes over X, which saves gathering many of them."""
        known = self._sums is not None and self._sums.weights is weights
        self.counters.passes += not known
        weighted = np.column_stack([block.values * weights[:, None], weights])
        products = self.rmatvec(weighted)
        return CrossProducts(products[:, :-1].T, products[:, -1], self._squares(weights))

    def prefers_passes(self, multiplied: int, wanted: int) -> bool:
        """Whether products with all columns take less time than gathering the wanted ones."""
        if self.matrix.dtype != np.float64 or wanted <= MAX_CACHED_BATCH:
            return False
        return (self.shape[1] - wanted) * multiplied < GATHER_COST * wanted


def compute_gram(values: Array, weights: Array) -> Array:
    """Vᵀ diag(weights) V, by the fastest product that the weights allow."""
    # Comparing two weights decides most cases.
    if (weights[-1:] == weights[:1]).all() and (weights == weights[:1]).all():
        return float(weights[0]) * (values.T @ values)
    if weights.min(initial=0.0) >= 0:
        scaled = values * np.sqrt(weights)[:, None]
        return scaled.T @ scaled
    return values.T @ (values * weights[:, None])


@dataclass(frozen=True)
class DenseBlock(ColumnBlock):
    """Gathered columns, centred, in float64."""

    #: The columns.
    values: Array
    #: Where they come from.
    design: Design
    #: Their indices there.
    columns: IntArray

    @property
    def width(self) -> int:  # type: ignore[override]
        """Number of columns."""
        return self.values.shape[1]

    def matvec(self, w: Array) -> Array:
        with use_caller_threads(self.values.size):
            return self.values @ w

    def rmatvec(self, rows: Array) -> Array:
        with use_caller_threads(self.values.size):
            return self.values.T @ rows

    def gram(self, weights: Array) -> Array:
        if isinstance(self.design, DenseDesign) and self.design.cache.keeps_products(weights):
            return self.design.cache.gram(self.columns)
        self.design.counters.products += self.width**2
        return compute_gram(self.values, weights)

    def cross(self, others: IntArray, weights: Array) -> CrossProducts:
        self.design.counters.products += self.width * others.size
        design = self.design
        if isinstance(design, DenseDesign) and design.prefers_passes(self.width, others.size):
            cross, sums, squares = design.multiply_all(self, weights)
            return CrossProducts(cross[:, others], sums[others], squares[others])
        block = design.select(others)
        cross = block.rmatvec(self.values * weights[:, None]).T
        return CrossProducts(cross, block.rmatvec(weights), block.squares(weights))

    def squares(self, weights: Array) -> Array:
        return weights @ np.square(self.values)

    def collect(self) -> Array:
        return self.values
