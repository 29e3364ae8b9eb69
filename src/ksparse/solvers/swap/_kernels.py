"""The best swap of a tableau, compiled; imported when it is first needed, since Numba takes half a second to import."""

from __future__ import annotations

import numpy as np

from ..._types import Array, IntArray
from ...compiling import compiled
from . import formula

__all__ = ["best_swap"]

change_of_swap = compiled(formula.change_of_swap)


@compiled
def best_swap(
    table: Array, leaving: IntArray, entering: IntArray, step: Array, inverse_schur: Array, gain: Array
) -> tuple[float, int, int]:
    """The lowest change, and the positions of its coordinates in `leaving` and `entering`; ties by position.

    The positions are -1 if no swap is possible.
    """
    last = table.shape[0] - 1
    best, row, column = np.inf, -1, -1
    for a in range(leaving.size):
        line = table[leaving[a]]
        for b in range(entering.size):
            change = change_of_swap(
                line[last], -line[leaving[a]], line[entering[b]], step[b], inverse_schur[b], gain[b]
            )
            if change < best:
                best, row, column = change, a, b
    return best, row, column
