"""The columns that supports have used, gathered where the blocks are: a new support gathers only what is new."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._types import Array, IntArray
from ..cache import CACHE_FRACTION, CACHE_MIN_BYTES
from .block_requests import Columns, GatherColumns, GatheredPart
from .block_rows import SlotNumbers
from .runner import Blocks

__all__ = ["ColumnParts", "GatheredColumns"]


@dataclass(frozen=True)
class ColumnBatch:
    """Columns that were gathered together."""

    columns: IntArray
    blocks: Blocks


@dataclass(frozen=True)
class ColumnParts:
    """Columns of X as parts of what was gathered."""

    batches: tuple[ColumnBatch, ...]
    #: Which columns of each batch.
    indices: tuple[IntArray | None, ...]
    #: How to arrange the columns of all parts.
    order: IntArray | None
    shift: Array | None

    def translate(self, slots: SlotNumbers, frame: Blocks) -> Columns:
        """As a task sees them; no columns are those of the `frame`, which has as many rows."""
        if not self.batches:
            return Columns((GatheredPart(slots.find(frame), None),), None, None)
        places = [slots.find(batch.blocks) for batch in self.batches]
        parts = tuple(GatheredPart(place, index) for place, index in zip(places, self.indices, strict=True))
        return Columns(parts, self.order, self.shift)


class GatheredColumns:
    """Columns that one search has gathered from X.

    As for data in memory, they take no more than a tenth of the memory of X or 16 MB, or twice what one support needs;
    and never more than `most_bytes`.
    """

    def __init__(self, X: Blocks, n: int, nbytes: int, shift: Array | None, most_bytes: float = np.inf) -> None:
        self._X, self._shift, self._column_bytes, self._most_bytes = X, shift, 8 * max(n, 1), most_bytes
        self._most = int(min(max(CACHE_FRACTION * nbytes, CACHE_MIN_BYTES), most_bytes) / self._column_bytes)
        self._batches: list[ColumnBatch] = []

    def has_room_for(self, columns: IntArray) -> bool:
        """Whether these columns may be kept at all."""
        return columns.size * self._column_bytes <= self._most_bytes

    def covers(self, columns: IntArray) -> bool:
        """Whether all of these columns are known."""
        return not self._find_new(columns).size

    def take(self, columns: IntArray) -> tuple[ColumnParts, int]:
        """The columns, and how many of them have yet to be gathered."""
        new = self._find_new(columns)
        if new.size:
            most = max(self._most, min(2 * columns.size, self._most_bytes / self._column_bytes))
            if self._count_columns() + new.size > most:
                self._batches = [batch for batch in self._batches if np.isin(batch.columns, columns).any()]
                if self._count_columns() + new.size > most:
                    self._batches, new = [], columns
            shift = None if self._shift is None else self._shift[new]
            self._batches.append(ColumnBatch(new, self._X.apply(GatherColumns(new, shift))))
        return self._find_parts(columns), new.size

    @property
    def room(self) -> int:
        """How many columns may be kept for use by later supports."""
        return self._most

    def _count_columns(self) -> int:
        return sum(batch.columns.size for batch in self._batches)

    def _find_new(self, columns: IntArray) -> IntArray:
        for batch in self._batches:
            columns = columns[~np.isin(columns, batch.columns)]
        return columns

    def _find_parts(self, columns: IntArray) -> ColumnParts:
        """The fewest batches, the widest parts first."""
        shift = None if self._shift is None else self._shift[columns]
        left, batches, indices, order = np.ones(columns.size, dtype=bool), [], [], []
        while left.any():
            there = [left & np.isin(columns, batch.columns) for batch in self._batches]
            best = int(np.argmax([mask.sum() for mask in there]))
            batch, places = self._batches[best], np.flatnonzero(there[best])
            sorter = np.argsort(batch.columns)
            index = sorter[np.searchsorted(batch.columns, columns[places], sorter=sorter)]
            everything = index.size == batch.columns.size and bool((index == np.arange(index.size)).all())
            batches.append(batch)
            indices.append(None if everything else index)
            order.append(places)
            left &= ~there[best]
        arranged = np.argsort(np.concatenate(order)) if len(order) > 1 else None
        return ColumnParts(tuple(batches), tuple(indices), arranged, shift)
