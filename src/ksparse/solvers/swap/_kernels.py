"""Swaps of a tableau, compiled; imported when they are first needed, since Numba takes half a second to import."""

from __future__ import annotations

import numpy as np

from ..._types import Array, IntArray, Mask
from ...compiling import jit_compile
from . import formula

__all__ = [
    "chain_swaps",
    "explore_supports",
    "explore_swaps",
    "find_best_swap",
    "find_block_changes",
    "find_lowest_changes",
    "list_entering_terms",
    "remove_cheapest",
    "sweep_tableau",
]

#: A block with a smaller pivot, relative to its diagonal, is as good as singular.
SMALLEST_PIVOT = 1e-8

change_of_swap = jit_compile(formula.change_of_swap)
entering_terms = jit_compile(formula.entering_terms)
sweep_first = jit_compile(formula.sweep_first)


@jit_compile
def find_best_swap(
    table: Array,
    leaving: IntArray,
    entering: IntArray,
    least: Array,
    leaves_from: IntArray,
    enters_from: IntArray,
    now: int,
    limit: float,
) -> tuple[float, int, int]:
    """The lowest change, and the positions of its coordinates in `leaving` and `entering`; ties by position.

    A coordinate may enter if its Schur complement exceeds its entry of `least`. Positions whose time to leave or to
    enter has not come `now` may do so in a swap that changes f by less than `limit`. The positions are -1 if no swap is
    possible.
    """
    last, count = table.shape[0] - 1, entering.size
    step, inverse_schur, gain = np.empty(count), np.empty(count), np.empty(count)
    for b in range(count):
        j = entering[b]
        step[b], inverse_schur[b], gain[b] = entering_terms(table[last, j], table[j, j], least[j])
    best, row, column = np.inf, -1, -1
    for a in range(leaving.size):
        line = table[leaving[a]]
        coefficient, inverse = line[last], -line[leaving[a]]
        for b in range(count):
            change = change_of_swap(coefficient, inverse, line[entering[b]], step[b], inverse_schur[b], gain[b])
            if change < best and ((leaves_from[a] <= now and enters_from[b] <= now) or change < limit):
                best, row, column = change, a, b
    return best, row, column


@jit_compile
def list_entering_terms(slopes: Array, schur: Array, least: Array) -> tuple[Array, Array, Array]:
    """The `formula.Entering` terms of several coordinates."""
    step, inverse_schur, gain = np.empty(schur.size), np.empty(schur.size), np.empty(schur.size)
    for b in range(schur.size):
        step[b], inverse_schur[b], gain[b] = entering_terms(slopes[b], schur[b], least[b])
    return step, inverse_schur, gain


@jit_compile
def find_lowest_changes(
    coefficients: Array, inverses: Array, cross: Array, step: Array, inverse_schur: Array, gain: Array
) -> Array:
    """The lowest change of the swaps of each entering coordinate, which has a column in `cross`."""
    lowest = np.full(step.size, np.inf)
    for a in range(coefficients.size):
        for b in range(step.size):
            change = change_of_swap(coefficients[a], inverses[a], cross[a, b], step[b], inverse_schur[b], gain[b])
            lowest[b] = min(lowest[b], change)
    return lowest


@jit_compile
def halve_quadratic_form(block: Array, left: Array, size: int) -> float:
    """½·vᵀB⁻¹v by Cholesky's method, in place, from the lower triangle of B; NaN if B is singular or nearly so."""
    total = 0.0
    for i in range(size):
        diagonal = block[i, i]
        for j in range(i + 1):
            for c in range(j):
                block[i, j] -= block[i, c] * block[j, c]
            if j < i:
                block[i, j] /= block[j, j]
                left[i] -= block[i, j] * left[j]
        if not block[i, i] > SMALLEST_PIVOT * diagonal:
            return np.nan
        block[i, i] = np.sqrt(block[i, i])
        left[i] /= block[i, i]
        total += left[i] * left[i]
    return 0.5 * total


@jit_compile
def find_block_changes(
    table: Array,
    leaving: IntArray,
    leaving_starts: IntArray,
    entering: IntArray,
    entering_starts: IntArray,
    steps: Array,
    inverses: Array,
    gains: Array,
) -> Array:
    """The change of each swap of two units, whose coordinates are listed one unit after the other.

    `steps`, `inverses` and `gains` are the terms of the entering units: −∞ for one that the support explains. The
    change is NaN where what is left of P, the block of the leaving unit, is singular or nearly so.
    """
    last, width = table.shape[0] - 1, steps.shape[1]
    height = 0
    for a in range(leaving_starts.size - 1):
        height = max(height, leaving_starts[a + 1] - leaving_starts[a])
    changes = np.empty((leaving_starts.size - 1, gains.size))
    left, block, product = np.empty(height), np.empty((height, height)), np.empty(width)
    for b in range(gains.size):
        columns = entering[entering_starts[b] : entering_starts[b + 1]]
        for a in range(leaving_starts.size - 1):
            if gains[b] == -np.inf:
                changes[a, b] = np.inf
                continue
            rows = leaving[leaving_starts[a] : leaving_starts[a + 1]]
            for i in range(rows.size):
                line = table[rows[i]]
                left[i] = line[last]
                for c in range(columns.size):
                    left[i] -= line[columns[c]] * steps[b, c]
                    product[c] = 0.0
                    for d in range(columns.size):
                        product[c] += line[columns[d]] * inverses[b, d, c]
                for j in range(i + 1):
                    other = table[rows[j]]
                    block[i, j] = -line[rows[j]]
                    for c in range(columns.size):
                        block[i, j] += product[c] * other[columns[c]]
            changes[a, b] = halve_quadratic_form(block, left, rows.size) - gains[b]
    return changes


@jit_compile
def sweep_tableau(table: Array, pivot: int, sign: float) -> None:
    """Move one coordinate into the support (sign +1) or out of it (sign −1), in place."""
    row = table[pivot].copy()
    diagonal = row[pivot]
    for a in range(row.size):
        factor = row[a] / diagonal
        for b in range(row.size):
            table[a, b] -= factor * row[b]
    for b in range(row.size):
        table[pivot, b] = table[b, pivot] = sign * row[b] / diagonal
    table[pivot, pivot] = -1.0 / diagonal


@jit_compile
def exchange(table: Array, leaving: IntArray, entering: IntArray, row: int, column: int) -> tuple[int, int]:
    """Swap the coordinates at two positions, in place; the coordinates that left and entered."""
    out, into = leaving[row], entering[column]
    sweep_tableau(table, into, 1.0)
    sweep_tableau(table, out, -1.0)
    leaving[row], entering[column] = into, out
    return out, into


@jit_compile
def chain_swaps(
    table: Array, leaving: IntArray, entering: IntArray, least: Array, length: int, threshold: float
) -> tuple[IntArray, Array, Array]:
    """Perform up to `length` swaps of coordinates, each the best one, while it lowers f by more than `threshold`.

    `table`, `leaving` and `entering` are updated in place. A coordinate may enter if its Schur complement exceeds its
    entry of `least`. Returned are the coordinates that left and entered, the changes, and the last column of the
    tableau after each swap: the minimizer on the support, and slopes elsewhere.
    """
    pairs = np.empty((length, 2), dtype=np.intp)
    changes = np.empty(length)
    solutions = np.empty((length, table.shape[0] - 1))
    at_once = np.zeros(max(leaving.size, entering.size), dtype=np.intp)
    count = 0
    while count < length:
        change, row, column = find_best_swap(table, leaving, entering, least, at_once, at_once, 0, -np.inf)
        if not change < -threshold:
            break
        pairs[count] = exchange(table, leaving, entering, row, column)
        changes[count] = change
        solutions[count] = table[-1, :-1]
        count += 1
    return pairs[:count], changes[:count], solutions[:count]


@jit_compile
def explore_swaps(
    table: Array,
    leaving: IntArray,
    entering: IntArray,
    least: Array,
    stays: IntArray,
    waits: IntArray,
    threshold: float,
) -> tuple[IntArray, Array, Array]:
    """Perform a swap of coordinates for each entry of `stays`, the best one even if it raises f.

    What enters may not leave in the next `stays` swaps, and what leaves may not enter in the next `waits`, unless f
    falls below its lowest value so far by more than `threshold`. For the rest, see `chain_swaps`.
    """
    pairs = np.empty((stays.size, 2), dtype=np.intp)
    changes = np.empty(stays.size)
    solutions = np.empty((stays.size, table.shape[0] - 1))
    leaves_from, enters_from = np.zeros(leaving.size, dtype=np.intp), np.zeros(entering.size, dtype=np.intp)
    total, lowest = 0.0, 0.0
    for count in range(stays.size):
        limit = lowest - total - threshold
        change, row, column = find_best_swap(table, leaving, entering, least, leaves_from, enters_from, count, limit)
        if row < 0:
            return pairs[:count], changes[:count], solutions[:count]
        pairs[count] = exchange(table, leaving, entering, row, column)
        changes[count] = change
        solutions[count] = table[-1, :-1]
        total += change
        lowest = min(lowest, total)
        leaves_from[row], enters_from[column] = count + 1 + stays[count], count + 1 + waits[count]
    return pairs, changes, solutions


@jit_compile
def explore_supports(
    hessian: Array,
    linear: Array,
    supports: Mask,
    inverses: Array,
    fixed: Mask,
    least: Array,
    stays: IntArray,
    waits: IntArray,
    threshold: float,
) -> tuple[Array, Mask, Array]:
    """`explore_swaps` from each of some supports of the quadratic ½zᵀHz − bᵀz.

    `inverses` begin with those of H on the supports; coordinates that are `fixed` stay. Returned are the minima on the
    supports that the chains meet, their own included, these supports, and the minimizers, with slopes elsewhere.
    """
    most, size = supports.shape[0] * (stays.size + 1), linear.size
    values, met, minimizers = np.empty(most), np.empty((most, size), dtype=np.bool_), np.empty((most, size))
    row = 0
    for number in range(supports.shape[0]):
        order = np.concatenate((np.flatnonzero(supports[number]), np.flatnonzero(~supports[number])))
        n_inside = np.count_nonzero(supports[number])
        table = sweep_first(hessian[order][:, order], linear[order], inverses[number, :n_inside, :n_inside].copy())
        leaving, entering = np.flatnonzero(~fixed[order[:n_inside]]), np.arange(n_inside, size)
        values[row], met[row], minimizers[row][order] = 0.5 * table[-1, -1], supports[number], table[-1, :-1]
        pairs, changes, solutions = explore_swaps(table, leaving, entering, least[order], stays, waits, threshold)
        for count in range(changes.size):
            row += 1
            values[row], met[row] = values[row - 1] + changes[count], met[row - 1]
            met[row, order[pairs[count, 0]]], met[row, order[pairs[count, 1]]] = False, True
            minimizers[row][order] = solutions[count]
        row += 1
    return values[:row], met[:row], minimizers[:row]


@jit_compile
def remove_cheapest(table: Array, coordinates: IntArray, count: int) -> IntArray:
    """Sweep coordinates out of the support, each the cheapest after those before it; their positions."""
    last = table.shape[0] - 1
    is_gone = np.zeros(coordinates.size, dtype=np.bool_)
    removed = np.empty(count, dtype=np.intp)
    for number in range(count):
        lowest, cheapest = np.inf, -1
        for position in range(coordinates.size):
            j = coordinates[position]
            cost = 0.5 * table[j, last] * table[j, last] / -table[j, j]
            if not is_gone[position] and (cheapest < 0 or cost < lowest):
                lowest, cheapest = cost, position
        is_gone[cheapest] = True
        removed[number] = cheapest
        sweep_tableau(table, coordinates[cheapest], -1.0)
    return removed
