"""How minimizing f on a support ended."""

from __future__ import annotations

from enum import Enum

__all__ = ["Outcome"]


class Outcome(Enum):
    """How minimizing f on a support ended."""

    SOLVED = "the minimum on the support was found"
    SINGULAR = "the minimizer on the support is not unique"
    NO_MINIMUM = "f has no minimum on the support"
    NOT_FINITE = "f is not finite on the support"
    UNFINISHED = "the minimum on the support was not reached"
