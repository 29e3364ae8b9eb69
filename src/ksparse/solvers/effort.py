"""Checks of `effort`, which several ways into the package take."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

__all__ = ["MAX_EFFORT", "check_effort", "check_no_effort"]

#: The highest level of effort.
MAX_EFFORT = 5


def check_effort(effort: Any, max_swaps: int | None) -> None:
    """Refuse what is not a level of effort."""
    whole = isinstance(effort, numbers.Integral) and not isinstance(effort, (bool, np.bool_))
    if not whole or not 0 <= effort <= MAX_EFFORT:
        kind = ValueError if whole else TypeError
        raise kind(f"effort must be an integer from 0 (fastest) to {MAX_EFFORT} (lowest f), got {effort!r}")
    if effort and max_swaps == 0:
        raise ValueError(f"effort={effort} searches by swaps, which max_swaps=0 turns off; leave one of them out")


def check_no_effort(solver: object, effort: int) -> None:
    """Refuse effort together with a given solver."""
    if effort != 0:
        raise ValueError(
            f"effort={effort!r} is for the default solver, but solver={solver!r} is given; leave one of them out, or "
            f"pass solver=ksparse.SwapGraHTP(effort=...) with your options"
        )
