"""The weighted median of values that stay where their rows are: found by counting, in a few round trips."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._types import Array
from ..designs.blocked import RowValues, reduce_values

__all__ = ["find_middle_values"]

#: The values between two bounds are counted in so many parts.
COUNTED_PARTS = 2048
#: So few different values are looked at themselves.
FEW_DISTINCT = 4096


class Extent(NamedTuple):
    """The least and the largest value that has a weight, and the sum of all weights."""

    least: float
    largest: float
    total: float

    @classmethod
    def of_rows(cls, values: Array, weights: Array) -> Extent:
        """The extent of some rows."""
        counted = values[weights > 0]
        return cls(counted.min(initial=np.inf), counted.max(initial=-np.inf), float(weights.sum()))

    def join(self, other: Extent) -> Extent:
        """The extent of both."""
        return Extent(min(self.least, other.least), max(self.largest, other.largest), self.total + other.total)


def find_middle_values(values: RowValues, weights: Any, fractions: Array) -> Array:
    """For each of these fractions of the weight, the least value up to which it lies."""
    extent: Extent = reduce_values(Extent.of_rows, values, weights, combine=Extent.join)
    return np.array([_find_value(values, weights, fraction * extent.total, extent) for fraction in fractions.tolist()])


def _find_value(values: RowValues, weights: Any, wanted: float, extent: Extent) -> float:
    """The least value up to which there is so much weight: between bounds that come closer in each round trip."""
    low, high, below = float(np.nextafter(extent.least, -np.inf)), extent.largest, 0.0
    while True:
        edges = np.unique(np.linspace(low, high, COUNTED_PARTS + 1))
        counts: Array = reduce_values(partial(_count_between, edges), values, weights)
        reached = below + np.cumsum(counts[0])
        part = min(int(np.searchsorted(reached, wanted)), len(reached) - 1)
        low, high, below = float(edges[part]), float(edges[part + 1]), float(reached[part] - counts[0, part])
        if counts[1, part] <= FEW_DISTINCT or len(edges) <= COUNTED_PARTS:
            table: Array = reduce_values(partial(_list_between, low, high), values, weights, combine=_add_weights)
            place = int(np.searchsorted(below + np.cumsum(table[1]), wanted))
            return float(table[0, min(place, table.shape[1] - 1)])


def _count_between(edges: Array, values: Array, weights: Array) -> Array:
    """Weight and number of the values in each part: above an edge, up to the next."""
    counted = (weights > 0) & (values > edges[0]) & (values <= edges[-1])
    places = np.searchsorted(edges[1:], values[counted])
    found = [np.bincount(places, by, minlength=len(edges) - 1) for by in (weights[counted], None)]
    return np.array(found, dtype=np.float64)


def _list_between(low: float, high: float, values: Array, weights: Array) -> Array:
    """The different values above `low`, up to `high`, and the weight of each."""
    counted = (weights > 0) & (values > low) & (values <= high)
    return _add_weights(np.array([values[counted], weights[counted]]), np.empty((2, 0)))


def _add_weights(table: Array, more: Array) -> Array:
    both = np.hstack([table, more])
    different, places = np.unique(both[0], return_inverse=True)
    return np.array([different, np.bincount(places, both[1], minlength=different.size)])
