"""The schedule of k for ks="auto": a coarse grid, further while scores rise, then the k around the best."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["KSchedule", "check_ks", "find_first_best"]

#: The first round ends here, or at this fraction of the largest k: larger k are tried only if scores still rise.
FIRST_LARGEST, FIRST_FRACTION = 50, 0.25
#: The first round does not end before this k.
MIN_FIRST_LARGEST = 8
#: The number of k in each further round, and how many of the last ones may be the best for the search to go on.
NEXT_ROUND, LAST_KS = 2, 2
#: Scores that differ by less than this fraction of what the first one lacks to the best are equal.
SCORE_TIE = 1e-9


@dataclass(frozen=True)
class KSchedule:
    """Rounds of k to try, given the scores so far; larger scores are better.

    The first round is a geometric grid up to about 50, or a quarter of `largest`, so that scores which fall at first
    and rise later are seen. As long as the best score belongs to one of the last two k, larger ones follow, up to
    `largest`. The last round fills the gaps on both sides of the best k.

    Parameters
    ----------
    smallest, largest : int
        The range of k.
    factor : float, default=1.5
        Each k is larger than the one before by this factor, and by at least one.
    resolution : float, default=0.1
        What is left of the gaps around the best k is at most this fraction of it, or one.

    Examples
    --------
    >>> from ksparse.selection import KSchedule
    >>> schedule, scores = KSchedule(0, 500), {}
    >>> while ks := schedule.propose_ks(scores):
    ...     print(ks)
    ...     scores |= {k: -abs(k - 60) for k in ks}
    [0, 1, 2, 3, 5, 8, 12, 18, 27, 41, 62]
    [93, 140]
    [46, 52, 57, 68, 74, 81, 87]
    """

    smallest: int
    largest: int
    factor: float = 1.5
    resolution: float = 0.1

    def propose_ks(self, scores: Mapping[int, float]) -> list[int]:
        """The next k to try; none when the search is over."""
        if not scores:
            return self._list_coarse(max(min(FIRST_LARGEST, int(FIRST_FRACTION * self.largest)), MIN_FIRST_LARGEST))
        tried = sorted(scores)
        if not set(tried) <= set(self._list_coarse(tried[-1])):
            return []  # the gaps have been filled
        best = tried[find_first_best([scores[k] for k in tried])]
        larger = sum(k > best for k in tried)
        if larger < LAST_KS and tried[-1] < self.largest:
            return [k for k in self._list_coarse(self.largest) if k > tried[-1]][: NEXT_ROUND - larger]
        return self._fill_gaps(tried, best)

    def _list_coarse(self, end: int) -> list[int]:
        """The geometric grid, up to the first k that is not below `end`."""
        ks = [self.smallest]
        while ks[-1] < min(end, self.largest):
            ks.append(min(max(ks[-1] + 1, ceil(self.factor * ks[-1])), self.largest))
        return ks

    def _fill_gaps(self, tried: list[int], best: int) -> list[int]:
        """Equally spaced k in the gaps on both sides of the best."""
        position, gap = tried.index(best), max(1.0, self.resolution * best)
        ks: set[int] = set()
        for a, b in pairwise(tried[max(position - 1, 0) : position + 2]):
            parts = ceil((b - a) / gap)
            ks |= {round(a + (b - a) * i / parts) for i in range(1, parts)}
        return sorted(ks - set(tried))


def find_first_best(scores: ArrayLike) -> int:
    """Position of the best score; the first of those that differ by rounding only, as the scores of exact fits do."""
    values = np.asarray(scores, dtype=np.float64)
    best = float(values.max())
    # Relative to what the first one lacks: a single score may be so bad that all others would be equal beside it.
    spread = best - float(values[0])
    return int(np.argmax(values >= best - SCORE_TIE * spread)) if np.isfinite(spread) else int(np.argmax(values))


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
