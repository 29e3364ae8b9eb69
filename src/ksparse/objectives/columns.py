"""Columns of X that supports have used, side by side in memory: a support that moves gathers only what is new."""

from __future__ import annotations

import numpy as np

from .._types import Array, IntArray
from .design import Design

__all__ = ["MOST_AT_ONCE", "ColumnPool"]

#: Columns kept, as a share of what X takes, and the bytes that are always granted.
SHARE, GRANTED = 0.1, 2**24
#: More columns than this at once are those of a last look around, not of a support.
MOST_AT_ONCE = 250
#: Products are remembered for no more columns than this.
MOST_PRODUCTS = 2048


class ColumnPool:
    """Dense columns that were gathered from a design, and their products.

    Gathering k columns of a row-major X touches as many cache lines as reading much of X, and supports that follow
    each other share most of theirs; a column that was met is copied from here. What is kept takes no more than a tenth
    of the memory of X or 16 MB, or twice what one support needs.

    Parameters
    ----------
    design : Design
        Dense data.
    weights : ndarray of shape (n,)
        Weights of the samples in `gram`.
    """

    def __init__(self, design: Design, weights: Array) -> None:
        n, p = design.shape
        self._design = design
        self._weights = weights
        self._most = int(max(SHARE * design.matrix.nbytes, GRANTED) / (8 * max(n, 1)))
        self._place = np.full(p, -1, dtype=np.intp)
        self._rows = np.empty((0, n))  # a row for each column, so that it lies together
        self._used = 0
        self._products = np.empty((0, 0))

    def take(self, columns: IntArray) -> Design:
        """The given columns, centred, in float64. Very many are not for keeping."""
        if columns.size > MOST_AT_ONCE:
            return self._design.take(columns)
        places = self._places(columns)
        return Design(self._rows[places].T, gathered=True)

    def gram(self, columns: IntArray) -> Array:
        """Weighted products of the given columns with each other; those that were met before are known."""
        places = self._places(columns)
        if self._rows.shape[0] > MOST_PRODUCTS:
            return self.take(columns).gram(self._weights)
        self._make_room_for_products()
        block = self._products[places[:, None], places]
        unknown = _rows_with_unknown(block)
        if unknown.size:
            rows = self._rows[places]
            fresh = rows if unknown.size == places.size else rows[unknown]
            products = (fresh * self._weights) @ rows.T
            block[unknown] = products
            block[:, unknown] = products.T
            self._products[places[:, None], places] = block
        return block

    def _places(self, columns: IntArray) -> IntArray:
        """Where the columns are, after those that are not here have been gathered."""
        places = self._place[columns]
        missing = columns[places < 0]
        if missing.size:
            if self._used + missing.size > max(self._most, 2 * columns.size):
                self._keep_only(columns[places >= 0])
            self._add(missing)
            places = self._place[columns]
        return places

    def _keep_only(self, columns: IntArray) -> None:
        """Forget all other columns."""
        places = self._place[columns]
        if self._rows.shape[0] > MOST_PRODUCTS:
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
        self._design.gather(columns, self._rows[self._used : used])
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


def _rows_with_unknown(block: Array) -> IntArray:
    """Rows that hold all NaN of a symmetric block, if the columns of the same numbers are counted with them."""
    unknown = np.isnan(block)
    new = unknown.diagonal()
    # Of two columns that were met, but never together, one is enough.
    apart = np.tril(unknown & ~new & ~new[:, None]).any(axis=1)
    return np.flatnonzero(new | apart)
