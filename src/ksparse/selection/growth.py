"""Which k to try when nobody says: grow until the score has turned, then look around the best."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Growth", "check_ks", "first_best"]

#: The factor of numbers of features.
FACTOR = 1.25
#: So many k are tried at first, and so many more each time.
FIRST, MORE = 8, 4
#: The score has turned when so many larger k were no better than the best.
TURNED = 4
#: Scores closer than this share of their range are equal.
TIE = 1e-9


class Growth:
    """Rounds of k to try, given the scores so far; larger scores are better.

    Parameters
    ----------
    least, most : int
        The smallest and the largest k that make sense.
    factor : float, default=1.25
        Each k is by this factor larger than the one before, and by at least one.
    resolution : float, default=0
        Around the best k, gaps of no more than this share of it are close enough.

    Examples
    --------
    >>> from ksparse.selection import Growth
    >>> growth, scores = Growth(1, 100), {}
    >>> while ks := growth.following(scores):
    ...     print(ks)
    ...     scores |= {k: -abs(k - 17) for k in ks}
    [1, 2, 3, 4, 5, 7, 9, 12]
    [15, 19, 24, 30]
    [38]
    [13, 17]
    [16, 18]
    """

    def __init__(self, least: int, most: int, factor: float = FACTOR, resolution: float = 0.0) -> None:
        self._least, self._most = least, max(least, most)
        self._factor, self._resolution = factor, resolution

    def following(self, scores: Mapping[int, float]) -> list[int]:
        """What to try next; nothing when the search is over."""
        if not scores:
            return self._ladder(self._least, FIRST, include=True)
        tried = sorted(scores)
        best = tried[first_best([scores[k] for k in tried])]
        beyond = sum(k > best for k in tried)
        if beyond < TURNED and tried[-1] < self._most:
            return self._ladder(tried[-1], MORE if beyond == 0 else TURNED - beyond)
        return self._between(tried, best)

    def _ladder(self, k: int, count: int, include: bool = False) -> list[int]:
        """The next k after this one, growing by a factor."""
        ks = [k] if include else []
        while len(ks) < count and k < self._most:
            k = min(max(k + 1, ceil(self._factor * k)), self._most)
            ks.append(k)
        return ks

    def _between(self, tried: list[int], best: int) -> list[int]:
        """The middles of the gaps on both sides of the best."""
        position = tried.index(best)
        neighbours = tried[max(position - 1, 0) : position + 2]
        middles = [(a + b) // 2 for a, b in pairwise(neighbours) if b - a > self._resolution * best]
        return [k for k in middles if k not in tried]


def first_best(scores: ArrayLike) -> int:
    """Position of the best score; of scores that differ by rounding, as those of exact fits do, the first."""
    values = np.asarray(scores, dtype=np.float64)
    finite = values[np.isfinite(values)]
    spread = float(np.ptp(finite)) if finite.size else 0.0
    return int(np.argmax(values >= values.max() - TIE * spread))


def check_ks(ks: Any, least: int, most: int, what: str = "features") -> list[int]:
    """Numbers of features, or edges, as increasing ints, none beyond the number there are."""
    advice = "pass integers such as range(1, 21)"
    if isinstance(ks, str) or not np.iterable(ks):
        raise TypeError(f"ks must be a sequence of integers, got {ks!r}; {advice}")
    values = list(ks)
    if not values:
        raise ValueError(f"ks is empty; {advice}")
    for k in values:
        if isinstance(k, (bool, np.bool_)) or not isinstance(k, numbers.Integral):
            raise TypeError(f"ks must hold integers, got {k!r} of type {type(k).__name__}; {advice}")
        if k < least:
            reason = f"it is the number of {what}" if least == 0 else f"{least} are always selected, and count in k"
            raise ValueError(f"ks must be at least {least}, got {k}; {reason}")
    return sorted({min(int(k), most) for k in values})
