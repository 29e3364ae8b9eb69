"""The schedule of k for ks="auto": increase k until the score has got worse, then try the k around the best."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["KSchedule", "check_ks", "first_best"]

#: The number of k in the first round, and in each further one.
FIRST_ROUND, NEXT_ROUND = 8, 4
#: The score has got worse when this many larger k were no better than the best.
LARGER_KS = 4
#: Scores that differ by less than this fraction of their range are equal.
SCORE_TIE = 1e-9


@dataclass(frozen=True)
class KSchedule:
    """Rounds of k to try, given the scores so far; larger scores are better.

    Parameters
    ----------
    smallest, largest : int
        The range of k.
    factor : float, default=1.25
        Each k is larger than the one before by this factor, and by at least one.
    resolution : float, default=0
        Gaps around the best k are closed until they are at most this fraction of it.

    Examples
    --------
    >>> from ksparse.selection import KSchedule
    >>> schedule, scores = KSchedule(1, 100), {}
    >>> while ks := schedule.next_ks(scores):
    ...     print(ks)
    ...     scores |= {k: -abs(k - 17) for k in ks}
    [1, 2, 3, 4, 5, 7, 9, 12]
    [15, 19, 24, 30]
    [38]
    [13, 17]
    [16, 18]
    """

    smallest: int
    largest: int
    factor: float = 1.25
    resolution: float = 0.0

    def next_ks(self, scores: Mapping[int, float]) -> list[int]:
        """The next k to try; none when the search is over."""
        if not scores:
            return [self.smallest, *self._increase(self.smallest, FIRST_ROUND - 1)]
        tried = sorted(scores)
        best = tried[first_best([scores[k] for k in tried])]
        larger = sum(k > best for k in tried)
        if larger < LARGER_KS and tried[-1] < self.largest:
            return self._increase(tried[-1], NEXT_ROUND if larger == 0 else LARGER_KS - larger)
        return self._halve_gaps(tried, best)

    def _increase(self, k: int, count: int) -> list[int]:
        """The next k after this one."""
        ks: list[int] = []
        while len(ks) < count and k < self.largest:
            k = min(max(k + 1, ceil(self.factor * k)), self.largest)
            ks.append(k)
        return ks

    def _halve_gaps(self, tried: list[int], best: int) -> list[int]:
        """The middles of the gaps on both sides of the best."""
        position = tried.index(best)
        neighbours = tried[max(position - 1, 0) : position + 2]
        middles = [(a + b) // 2 for a, b in pairwise(neighbours) if b - a > self.resolution * best]
        return [k for k in middles if k not in tried]


def first_best(scores: ArrayLike) -> int:
    """Position of the best score; the first of those that differ by rounding only, as the scores of exact fits do."""
    values = np.asarray(scores, dtype=np.float64)
    finite = values[np.isfinite(values)]
    spread = float(np.ptp(finite)) if finite.size else 0.0
    return int(np.argmax(values >= values.max() - SCORE_TIE * spread))


def check_ks(ks: Any, smallest: int, largest: int, unit_name: str = "features") -> list[int]:
    """`ks` as increasing ints; numbers beyond the largest possible one become that one."""
    advice = "pass integers such as range(1, 21)"
    if isinstance(ks, str) or not np.iterable(ks):
        raise TypeError(f"ks must be a sequence of integers, got {ks!r}; {advice}")
    values = list(ks)
    if not values:
        raise ValueError(f"ks is empty; {advice}")
    for k in values:
        if isinstance(k, (bool, np.bool_)) or not isinstance(k, numbers.Integral):
            raise TypeError(f"ks must hold integers, got {k!r} of type {type(k).__name__}; {advice}")
        if k < smallest:
            always = f"{smallest} are always selected, and count in k"
            reason = always if smallest else f"it is the number of {unit_name}"
            raise ValueError(f"ks must be at least {smallest}, got {k}; {reason}")
    return sorted({min(int(k), largest) for k in values})
