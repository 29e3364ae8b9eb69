"""Whether a solver has come back to an earlier iterate, after which it would repeat itself (paper, §3.1)."""

from __future__ import annotations

import math
from collections import deque
from typing import NamedTuple

import numpy as np

from .._types import Array
from .problem import Iterate, SolverState

__all__ = ["CycleDetector"]

#: Iterates closer than this, relative to their size, are the same.
SAME = 1e-9
#: How many iterates on the same support are remembered.
LONGEST_PERIOD = 16


class _Visit(NamedTuple):
    """An iterate: its number, step, state, nonzero values, and the largest of them."""

    number: int
    step: float
    state: SolverState | None
    values: Array
    size: float

    def is_at(self, earlier: _Visit) -> bool:
        """Whether this visit repeats an earlier one. Numbers are compared before arrays: most visits differ in one."""
        return (
            _same_step(earlier.step, self.step)
            and abs(self.size - earlier.size) <= SAME * self.size
            and self.state == earlier.state
            and float(np.abs(self.values - earlier.values).max(initial=0.0)) <= SAME * self.size
        )


class CycleDetector:
    """Remembers the iterates of a run."""

    def __init__(self) -> None:
        self._visits: dict[bytes, deque[_Visit]] = {}

    def period(self, iterate: Iterate, number: int) -> int | None:
        """After how many iterations this iterate, the one of this number, has come back; None if it is new."""
        if iterate.support is None:
            return None
        support = np.flatnonzero(iterate.support)
        values = iterate.point.x.ravel()[support]
        visit = _Visit(number, iterate.step, iterate.state, values, float(np.abs(values).max(initial=0.0)))
        earlier = self._visits.setdefault(support.tobytes(), deque(maxlen=LONGEST_PERIOD))
        for old in reversed(earlier):
            if visit.is_at(old):
                return number - old.number
        earlier.append(visit)
        return None


def _same_step(old: float, new: float) -> bool:
    return old == new or abs(new - old) <= SAME * abs(new) or (math.isnan(old) and math.isnan(new))
