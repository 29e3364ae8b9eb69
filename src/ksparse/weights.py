"""How many samples there are, where they have weights."""

from __future__ import annotations

import numpy as np

from ._types import Array

__all__ = ["count_weighted_samples"]

#: Weights that differ from multiples of a common unit by a smaller fraction of the largest are such multiples.
UNIT_TOLERANCE = 1e-9
#: Larger multiples, and more different weights, are not counts.
LARGEST_COUNT, MAX_DISTINCT = 100, 100


def count_weighted_samples(weights: Array) -> float:
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
    weights = weights / weights.max()
    unit = _find_common_unit(np.unique(weights[weights > 0]))
    if unit is not None:
        return float(np.rint(weights / unit).sum())
    return float(weights.sum() ** 2 / (weights @ weights))


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
