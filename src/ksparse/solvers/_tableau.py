"""Sweeps of a symmetric tableau, and the exchange that changes its model most; compiled, for single coordinates."""

from __future__ import annotations

import numpy as np

from .._types import Array, IntArray
from ..compiling import compiled

__all__ = ["chain_of_exchanges"]


@compiled
def sweep(table: Array, pivot: int, sign: float) -> None:
    """Move one coordinate into the support (sign +1) or out of it (sign −1), in place."""
    size = table.shape[0]
    row = table[pivot].copy()
    diagonal = row[pivot]
    for i in range(size):
        share = row[i] / diagonal
        if share != 0.0:
            target = table[i]
            for j in range(size):
                target[j] -= share * row[j]
    for i in range(size):
        table[pivot, i] = table[i, pivot] = sign * row[i] / diagonal
    table[pivot, pivot] = -1.0 / diagonal


@compiled
def best_exchange(table: Array, leaving: IntArray, entering: IntArray, least: Array) -> tuple[float, int, int]:
    """The change of the model, and the places of the leaving and the entering coordinate; ties by position.

    A coordinate whose Schur complement is no larger than its entry of `least` cannot enter.
    """
    last, count = table.shape[0] - 1, entering.size
    inverse, step, gain = np.empty(count), np.empty(count), np.empty(count)
    for b in range(count):
        j = entering[b]
        possible = table[j, j] > least[j]
        inverse[b] = 1.0 / table[j, j] if possible else 0.0
        step[b] = table[j, last] * inverse[b]
        gain[b] = 0.5 * table[j, last] * step[b] if possible else -np.inf
    best, row, column = np.inf, -1, -1
    for a in range(leaving.size):
        line = table[leaving[a]]
        coefficient, own = line[last], -line[leaving[a]]
        for b in range(count):
            cross = line[entering[b]]
            left = coefficient - cross * step[b]
            change = 0.5 * left * left / (own + cross * cross * inverse[b]) - gain[b]
            if change < best:
                best, row, column = change, a, b
    return best, row, column


@compiled
def chain_of_exchanges(
    table: Array, leaving: IntArray, entering: IntArray, least: Array, length: int, threshold: float
) -> tuple[Array, IntArray, IntArray, Array]:
    """Exchanges, each the best after those before it, while they lower the model by more than `threshold`.

    `table`, `leaving` and `entering` are changed. Returned are the changes, the coordinates that left and that
    entered, and the last column of the tableau after each exchange.
    """
    size = table.shape[0] - 1
    changes, out, into = np.empty(length), np.empty(length, dtype=np.intp), np.empty(length, dtype=np.intp)
    solutions = np.empty((length, size))
    count = 0
    while count < length:
        change, row, column = best_exchange(table, leaving, entering, least)
        if not change < -threshold:
            break
        changes[count], out[count], into[count] = change, leaving[row], entering[column]
        sweep(table, entering[column], 1.0)
        sweep(table, leaving[row], -1.0)
        leaving[row], entering[column] = into[count], out[count]
        solutions[count] = table[:size, size]
        count += 1
    return changes[:count], out[:count], into[:count], solutions[:count]
