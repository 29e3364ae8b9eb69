"""The tableau of a quadratic model ½zᵀHz − bᵀz: one symmetric matrix with all that the formula of a swap needs.

The tableau [[H, b], [bᵀ, 0]] is swept on the coordinates F of the support. It then holds −P = −H_FF⁻¹ in the block of
F, A = P·H_FC between F and the other coordinates C, the Schur complement S of H in the block of C, and in its last
column the minimizer z on F and the slopes s on C. Sweeping on one more coordinate moves it into F or out of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dger
from scipy.linalg.lapack import dpotrf, dpotri

from ..._types import Array, IntArray
from .swap_model import Swap
from .tuning import SwapTuning

__all__ = ["Inverse", "chain_of_swaps", "invert", "sweep", "sweep_first"]


class Inverse(NamedTuple):
    """The inverse of a block of the Hessian, and whether the block is singular, so that a ridge was added."""

    matrix: Array
    is_singular: bool


def invert(block: Array, tuning: SwapTuning) -> Inverse:
    """Invert a positive semidefinite block, with the smallest sufficient ridge where it is singular."""
    size = block.shape[0]
    if size == 0:
        return Inverse(block, False)
    diagonal = block.diagonal()
    scale = float(np.abs(diagonal).mean()) or 1.0
    ridge = 0.0
    for _ in range(12):
        factor, failed = dpotrf(block + ridge * np.eye(size) if ridge else block, lower=1)
        # A pivot that consists of rounding errors must not decide which units are swapped.
        if not failed and (np.square(factor.diagonal()) > tuning.singular_pivot * diagonal).all():
            lower = dpotri(factor, lower=1)[0]
            inverse = lower + lower.T
            inverse.flat[:: size + 1] *= 0.5
            return Inverse(inverse, ridge > 0)
        ridge = max(10.0 * ridge, tuning.first_ridge * scale)
    return Inverse(np.eye(size) / scale, True)


def sweep_first(hessian: Array, linear: Array, inverse: Array) -> Array:
    """The tableau swept on its first coordinates; `inverse` is that of their block."""
    size, inside = linear.size, inverse.shape[0]
    table = np.empty((size + 1, size + 1))
    table[:size, :size] = hessian
    table[:size, size] = table[size, :size] = linear
    table[size, size] = 0.0
    cross = table[:inside, inside:].copy()
    solved = inverse @ cross
    table[inside:, inside:] -= cross.T @ solved
    table[:inside, inside:] = solved
    table[inside:, :inside] = solved.T
    table[:inside, :inside] = -inverse
    return table


def sweep(table: Array, pivot: int, sign: float) -> None:
    """Move one coordinate into the support (sign +1) or out of it (sign −1), in place."""
    row = table[pivot].copy()
    diagonal = row[pivot]
    # BLAS expects columns to be contiguous: the transpose of a symmetric tableau is the same tableau.
    dger(-1.0 / diagonal, row, row, a=table.T, overwrite_a=1)
    row *= sign / diagonal
    row[pivot] = -1.0 / diagonal
    table[pivot] = table[:, pivot] = row


def chain_of_swaps(
    table: Array, leaving: IntArray, entering: IntArray, least: Array, length: int, threshold: float
) -> tuple[list[Swap], list[Array]]:
    """Perform up to `length` swaps of coordinates, each the best one, while it lowers f by more than `threshold`.

    `table`, `leaving` and `entering` are updated in place. A coordinate may enter if its Schur complement exceeds its
    entry of `least`. Also returns the last column of the tableau after each swap: the minimizer on the support, and
    slopes elsewhere.
    """
    from ._kernels import best_swap

    swaps: list[Swap] = []
    solutions: list[Array] = []
    while len(swaps) < length:
        change, row, column = best_swap(table, leaving, entering, least)
        if not change < -threshold:
            break
        out, into = int(leaving[row]), int(entering[column])
        sweep(table, into, 1.0)
        sweep(table, out, -1.0)
        leaving[row], entering[column] = into, out
        swaps.append(Swap(out, into, change))
        solutions.append(table[-1, :-1].copy())
    return swaps, solutions
