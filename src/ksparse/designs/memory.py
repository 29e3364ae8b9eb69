"""What dense and sparse X in memory have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import TypeVar

import numpy as np

from .._types import Array, IntArray, Matrix
from ..counters import Counters
from .base import ColumnBlock, CrossProducts, Design, Moments
from .centering import compute_centred_squares
from .moments import ColumnSums, check_finite, check_small_columns, find_unit, sum_columns

__all__ = ["InMemoryDesign"]

D = TypeVar("D", bound="InMemoryDesign")


class InMemoryDesign(Design):
    """X − 1·shiftᵀ for an array or a sparse matrix X, whose products are those of blocks of its columns.

    The matrix is float64 or float32, and is not copied; `sums` of its columns may be known already.
    """

    def __init__(
        self,
        matrix: Matrix,
        shift: Array | None = None,
        sums: ColumnSums | None = None,
        counters: Counters | None = None,
    ) -> None:
        self.matrix = matrix
        self.shape = (matrix.shape[0], matrix.shape[1])
        self.shift = shift
        self.counters = Counters() if counters is None else counters
        self._sums = sums

    @abstractmethod
    def gather_block(self, columns: IntArray) -> ColumnBlock:
        """Some columns, gathered and not kept."""

    @abstractmethod
    def _multiply(self, w: Array) -> Array:
        """(X − 1·shiftᵀ)w with all columns."""

    @abstractmethod
    def _multiply_transposed(self, rows: Array) -> Array:
        """Xᵀr with all columns, without the shift."""

    def with_own_cache(self: D) -> D:
        return type(self)(self.matrix, self.shift, self._sums, self.counters)

    def center(self: D, weights: Array) -> D:
        sums = self._get_sums(weights)
        return type(self)(self.matrix, sums.means(), sums, self.counters)

    @property
    def is_double(self) -> bool:
        return bool(self.matrix.dtype == np.float64)

    def moments(self, weights: Array) -> Moments:
        self._sums = check_finite(self._get_sums(weights), self.matrix)
        means = self._sums.means() - (0.0 if self.shift is None else self.shift)
        return Moments(means, self._squares(weights))

    def check_finite(self, weights: Array) -> None:
        self._sums = check_finite(self._get_sums(weights), self.matrix)

    def normalize(self: D, weights: Array) -> tuple[D, float]:
        sums = self._get_sums(weights)
        unit = 1.0 if self.shift is not None else find_unit(sums, self.matrix)
        if unit == 1.0:
            check_small_columns(sums, self.matrix)
            return self, 1.0
        scaled = type(self)(self.matrix.astype(np.float64) * unit, counters=self.counters)
        scaled.check_finite(weights)
        check_small_columns(scaled._get_sums(weights), scaled.matrix)
        return scaled, unit

    def _get_sums(self, weights: Array) -> ColumnSums:
        """The sums for these weights, which are known for the weights of `moments`."""
        known = self._sums is not None and self._sums.weights is weights
        return self._sums if known and self._sums is not None else sum_columns(self.matrix, weights)

    def _squares(self, weights: Array) -> Array:
        return compute_centred_squares(self._get_sums(weights), self.shift, self.matrix)

    def matvec(self, columns: IntArray | None, w: Array) -> Array:
        if columns is not None:
            return np.asarray(self.select(columns).matvec(w))
        used = (w if w.ndim == 1 else w.any(axis=1)).nonzero()[0]
        if 2 * used.size <= self.shape[1]:
            return np.asarray(self.gather_block(used).matvec(w[used]))
        self.counters.passes += 1
        return self._multiply(w)

    def rmatvec(self, rows: Array, columns: IntArray | None = None) -> Array:
        if columns is not None:
            return self.select(columns).rmatvec(rows)
        self.counters.passes += 1
        product = self._multiply_transposed(rows.astype(self.matrix.dtype, copy=False)).astype(np.float64, copy=False)
        return product if self.shift is None else product - np.multiply.outer(self.shift, rows.sum(axis=0))

    def gram(self, columns: IntArray, weights: Array) -> Array:
        return self.select(columns).gram(weights)

    def cross(self, columns: IntArray, others: IntArray, weights: Array) -> CrossProducts:
        return self.select(columns).cross(others, weights)

    def collect_columns(self, columns: IntArray) -> Array:
        return self.gather_block(columns).collect()
