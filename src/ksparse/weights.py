"""How many samples there are, where they have weights."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ._types import Array
from .designs.blocked import reduce_values

__all__ = ["count_each_sample", "count_weighted_samples"]

#: Weights that differ from multiples of a common unit by a smaller fraction of the largest are such multiples.
UNIT_TOLERANCE = 1e-9
#: Larger multiples, and more different weights, are not counts.
LARGEST_COUNT, MAX_DISTINCT = 100, 100


def count_weighted_samples(weights: Any) -> float:
    """The number of samples that weights stand for; weights times a constant stand for the same number.

    Weights that are multiples of a common unit are counts: each stands for as many samples as it has units. Others
    stand for (Σs)²/Σs² samples of equal weight (Kish, *Survey Sampling*, 1965).

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.weights import count_weighted_samples
    >>> count_weighted_samples(np.array([1.0, 2.0, 3.0])), count_weighted_samples(np.array([0.1, 0.2, 0.3]))
    (6.0, 6.0)
    >>> round(count_weighted_samples(np.array([1.0, np.pi, 0.0])), 3)
    1.578
    """
    largest = float(reduce_values(np.max, weights, combine=np.maximum))
    sums: ScaledWeights = reduce_values(partial(ScaledWeights.of_rows, largest), weights, combine=ScaledWeights.add)
    unit = None if sums.distinct is None else _find_common_unit(sums.distinct)
    if unit is not None and sums.distinct is not None:
        return float(np.rint(sums.distinct / unit) @ sums.counts)
    return float(sums.total**2 / sums.squares)


def count_each_sample(weights: Array) -> Array:
    """How many samples each of some weights stands for; the sum is `count_weighted_samples`.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.weights import count_each_sample
    >>> count_each_sample(np.array([0.5, 1.0, 0.5]))
    array([1., 2., 1.])
    """
    counts: Array = weights * (count_weighted_samples(weights) / weights.sum())
    return counts


class ScaledWeights(NamedTuple):
    """Sums of weights that are divided by the largest, and the different ones where they are few."""

    total: float
    squares: float
    distinct: Array | None
    counts: Array

    @classmethod
    def of_rows(cls, largest: float, weights: Array) -> ScaledWeights:
        """The sums over some rows."""
        weights = weights / largest
        values, counts = np.unique(weights[weights > 0], return_counts=True)
        few = len(values) <= MAX_DISTINCT
        return cls(float(weights.sum()), float(weights @ weights), values if few else None, counts.astype(np.float64))

    def add(self, other: ScaledWeights) -> ScaledWeights:
        """The sums over the rows of both."""
        total, squares = self.total + other.total, self.squares + other.squares
        if self.distinct is None or other.distinct is None:
            return ScaledWeights(total, squares, None, self.counts)
        values, places = np.unique(np.concatenate([self.distinct, other.distinct]), return_inverse=True)
        counts = np.bincount(places, np.concatenate([self.counts, other.counts])).astype(np.float64, copy=False)
        return ScaledWeights(total, squares, values if len(values) <= MAX_DISTINCT else None, counts)


def _find_common_unit(values: Array) -> float | None:
    """The largest number of which all values, at most 1, are multiples, by Euclid's algorithm; None if it is tiny."""
    unit = float(values[-1])
    if len(values) > MAX_DISTINCT:
        return None
    for value in values.tolist():
        larger, smaller = unit, value
        while smaller > UNIT_TOLERANCE:
            rest = larger % smaller
            larger, smaller = smaller, min(rest, smaller - rest)
        unit = larger
        if unit * LARGEST_COUNT < 1.0:
            return None
    return unit
