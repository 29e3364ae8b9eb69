"""Dense columns that supports have used, contiguous in memory: a new support gathers only what is new."""

from __future__ import annotations

import numpy as np

from .._types import AnyArray, Array, IntArray
from ..counters import Counters
from .centering import subtract_shift
from .moments import CHUNK_ROWS

__all__ = ["MAX_CACHED_BATCH", "ColumnCache", "gather_columns"]

#: Memory for columns, as a fraction of what X takes, and the bytes that are always granted.
CACHE_FRACTION, CACHE_MIN_BYTES = 0.1, 2**24
#: More columns than this at once are candidates that are seen once, not a support: they are not kept.
MAX_CACHED_BATCH = 250
#: The columns of an X with no more numbers than this, and no more columns than a batch, are gathered at once: most are
#: candidates at some time, and several calls take longer.
MAX_GATHERED_AT_ONCE = 200_000
#: Products are remembered for no more columns than this.
MAX_CACHED_PRODUCTS = 2048


def gather_columns(matrix: AnyArray, shift: Array | None, columns: IntArray, out: Array | None = None) -> Array:
    """Some columns of a dense array, centred, in float64, one in each row of the result."""
    n = matrix.shape[0]
    values = np.empty((columns.size, n)) if out is None else out
    for i in range(0, n, CHUNK_ROWS):
        rows = matrix[i : i + CHUNK_ROWS]
        picked = rows.take(columns, axis=1) if rows.flags.c_contiguous else rows[:, columns]
        values[:, i : i + CHUNK_ROWS] = picked.T
    subtract_shift(values.T, None if shift is None else shift[columns], matrix.dtype)
    return values


class ColumnCache:
    """Columns that were gathered from a dense design, and their products.

    Gathering k columns of a row-major X touches as many cache lines as reading much of X, and successive supports have
    most columns in common; a known column is copied from here. The cache takes no more than a tenth of the memory of X
    or 16 MB, or twice what one support needs.
    Products are kept for the row weights `weights`; for None, none are.
    """

    def __init__(self, matrix: AnyArray, shift: Array | None, weights: Array | None, counters: Counters) -> None:
        n, p = matrix.shape
        self._matrix, self._shift, self._weights, self._counters = matrix, shift, weights, counters
        self._most = int(max(CACHE_FRACTION * matrix.nbytes, CACHE_MIN_BYTES) / (8 * max(n, 1)))
        #: Whether all columns are gathered when the first ones are needed.
        self.takes_all = p <= min(MAX_CACHED_BATCH, self._most) and matrix.size <= MAX_GATHERED_AT_ONCE
        self._place = np.full(p, -1, dtype=np.intp)
        self._rows = np.empty((0, n))  # a row for each column, so that it lies together
        self._used = 0
        self._products = np.empty((0, 0))

    def take(self, columns: IntArray) -> Array:
        """The given columns, centred, in float64, one in each row of the result."""
        places = self._find_places(columns)  # may replace the rows
        return self._rows[places]

    def keeps_products(self, weights: Array) -> bool:
        """Whether products with these row weights are kept."""
        return weights is self._weights

    def gram(self, columns: IntArray) -> Array:
        """Weighted products of the given columns with each other; only unknown ones are computed."""
        places = self._find_places(columns)
        if self._rows.shape[0] > MAX_CACHED_PRODUCTS:
            rows = self._rows[places]
            return self._multiply(rows, rows)
        self._make_room_for_products()
        block = self._products[places[:, None], places]
        unknown = _find_rows_with_unknown(block)
        if unknown.size:
            rows = self._rows[places]
            products = self._multiply(rows if unknown.size == places.size else rows[unknown], rows)
            block[unknown] = products
            block[:, unknown] = products.T
            self._products[places[:, None], places] = block
        return block

    def _multiply(self, some: Array, rows: Array) -> Array:
        assert self._weights is not None
        self._counters.products += len(some) * len(rows)
        return (some * self._weights) @ rows.T

    def _find_places(self, columns: IntArray) -> IntArray:
        """Positions of the columns, after the missing ones have been gathered."""
        places = self._place[columns]
        missing = columns[places < 0]
        if missing.size:
            if self.takes_all:
                missing = np.arange(self._place.size)  # none is there yet
            if self._used + missing.size > max(self._most, 2 * columns.size):
                self._keep_only(columns[places >= 0])
            self._add(missing)
            places = self._place[columns]
        return places

    def _keep_only(self, columns: IntArray) -> None:
        """Forget all other columns."""
        places = self._place[columns]
        if self._rows.shape[0] > MAX_CACHED_PRODUCTS:
            self._products = np.empty((0, 0))
        elif self._products.size:
            self._make_room_for_products()
            self._products = self._products[places[:, None], places]
        self._rows, self._used = self._rows[places], columns.size
        self._place.fill(-1)
        self._place[columns] = np.arange(columns.size)

    def _add(self, columns: IntArray) -> None:
        used = self._used + columns.size
        if used > self._rows.shape[0]:
            larger = np.empty((max(used, min(2 * self._rows.shape[0], self._most)), self._rows.shape[1]))
            larger[: self._used] = self._rows[: self._used]
            self._rows = larger
        self._counters.columns += columns.size
        gather_columns(self._matrix, self._shift, columns, self._rows[self._used : used])
        self._place[columns] = np.arange(self._used, used)
        self._used = used

    def _make_room_for_products(self) -> None:
        """Make room for the products of all columns; those that are not known are NaN."""
        size = self._rows.shape[0]
        known = self._products.shape[0]
        if known < size:
            larger = np.full((size, size), np.nan)
            larger[:known, :known] = self._products
            self._products = larger


def _find_rows_with_unknown(block: Array) -> IntArray:
    """Rows that, together with the columns of the same indices, contain all NaN of a symmetric block."""
    unknown = np.isnan(block)
    new = unknown.diagonal()
    # Of two known columns whose product is unknown, one row is enough.
    apart = np.tril(unknown & ~new & ~new[:, None]).any(axis=1)
    return np.flatnonzero(new | apart)
