"""The best swap of a tableau, compiled; imported when it is first needed, since Numba takes half a second to import."""

from __future__ import annotations

import numpy as np

from ..._types import Array, IntArray
from ...compiling import jit_compile
from . import formula

__all__ = ["find_best_swap"]

change_of_swap = jit_compile(formula.change_of_swap)
entering_terms = jit_compile(formula.entering_terms)


@jit_compile
def find_best_swap(table: Array, leaving: IntArray, entering: IntArray, least: Array) -> tuple[float, int, int]:
    """The lowest change, and the positions of its coordinates in `leaving` and `entering`; ties by position.

    A coordinate may enter if its Schur complement exceeds its entry of `least`. The positions are -1 if none may.
    """
    last, count = table.shape[0] - 1, entering.size
    schur = np.empty(count)
    for b in range(count):
        schur[b] = table[entering[b], entering[b]]
    step, inverse_schur, gain = entering_terms(table[last][entering], schur, least[entering])
    best, row, column = np.inf, -1, -1
    for a in range(leaving.size):
        line = table[leaving[a]]
        coefficient, inverse = line[last], -line[leaving[a]]
        for b in range(count):
            change = change_of_swap(coefficient, inverse, line[entering[b]], step[b], inverse_schur[b], gain[b])
            if change < best:
                best, row, column = change, a, b
    return best, row, column
