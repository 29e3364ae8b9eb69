"""Which parts of a search curvature on the level set is tried for: it costs more than the relaxation of a part."""

from __future__ import annotations

import numpy as np

__all__ = ["LevelTrials"]

#: Its time relative to that of a relaxation, with m features that are not left out: this, and one more for so many of
#: them. Logistic and Poisson regression with 100 to 500 features had 1.5 to 5.
FIXED_COST, FEATURES_PER_COST = 0.5, 110.0
#: A part that lacks x times what a division adds to a bound on average would be divided into about a·exp(bx) others.
#: The same problems had 2.4 of them where x was .3, and 8 where it was 1 to 1.15.
DIVISIONS, DIVISIONS_GROWTH = 1.5, 1.6
#: The average is not known before so many divisions; until then it is tried where it costs at most so much.
FIRST_DIVISIONS, FIRST_COST = 10, 3.0
#: It is not tried where the bound lacks at least this fraction of the least lack that was too much before: less than it
#: until a part was closed, and more afterwards, since others of as much may be closed; unless at most `FEWER` of the
#: features are left.
TOO_MUCH, TOO_MUCH_AFTER, FEWER = 0.8, 1.25, 0.7
#: The largest exponent.
MAX_DIVISIONS_LOG = 50.0


class LevelTrials:
    """What a search has learned about the curvature on the level set; it depends on nothing but the parts before."""

    def __init__(self) -> None:
        self._increase, self._divisions = 0.0, 0
        self._failed, self._failed_count, self._is_closed = np.inf, 0, False

    def note_division(self, increase: float) -> None:
        """By how much the bound of a part exceeds that of the one it is a part of."""
        self._increase += increase
        self._divisions += 1

    def note_trial(self, lack: float, count: int, is_closed: bool) -> None:
        """Whether it closed a part with so many features, whose bound had lacked so much."""
        self._is_closed |= is_closed
        if not is_closed and (lack < self._failed or count <= FEWER * self._failed_count):
            self._failed, self._failed_count = lack, count

    def is_promising(self, lack: float, count: int) -> bool:
        """Whether it is likely to save more time than it takes."""
        limit = self._failed * (TOO_MUCH_AFTER if self._is_closed else TOO_MUCH)
        if lack >= limit and count > FEWER * self._failed_count:
            return False
        cost = FIXED_COST + count / FEATURES_PER_COST
        if self._divisions < FIRST_DIVISIONS:
            return cost <= FIRST_COST
        exponent = DIVISIONS_GROWTH * lack * self._divisions / max(self._increase, float(np.finfo(float).tiny))
        return bool(DIVISIONS * np.exp(min(exponent, MAX_DIVISIONS_LOG)) >= cost)
