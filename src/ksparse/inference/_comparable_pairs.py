"""Pairs of samples whose order a risk foretells, counted by compiled binary trees of partial sums."""

from __future__ import annotations

import numpy as np

from .._types import Array, IntArray
from ..compiling import jit_compile
from ..objectives._risk_sets import RiskSets

__all__ = ["count_pairs"]


@jit_compile
def add_at(tree: Array, rank: int, weight: float) -> None:  # pragma: no cover - compiled
    """Add a weight at a rank."""
    position = rank + 1
    while position < tree.size:
        tree[position] += weight
        position += position & -position


@jit_compile
def sum_below(tree: Array, rank: int) -> float:  # pragma: no cover - compiled
    """The sum of the weights at smaller ranks."""
    total, position = 0.0, rank
    while position > 0:
        total += tree[position]
        position -= position & -position
    return total


@jit_compile
def sum_ordered(tree: Array, rank: int, is_above: bool, total: float) -> float:  # pragma: no cover - compiled
    """The weight at smaller ranks, or at larger ones, and half of that at the same rank."""
    below, up_to = sum_below(tree, rank), sum_below(tree, rank + 1)
    same = 0.5 * (up_to - below)
    return (total - up_to if is_above else below) + same


@jit_compile
def count_pairs(sets: RiskSets, rank: IntArray, n_ranks: int) -> tuple[Array, Array]:  # pragma: no cover - compiled
    """For each position, the weight of the comparable samples, and of those that are ordered right.

    An event is compared with the samples at risk at its time that have no event then; ties of `rank` count half.
    """
    size, count = sets.order.size, sets.stop.size
    compared, right = np.zeros(size), np.zeros(size)
    # Back in time: for each event, the samples that are at risk.
    tree, total, position, left = np.zeros(n_ranks + 1), 0.0, 0, 0
    for g in range(count):
        if g == sets.first_set[g]:
            tree[:] = 0.0
            total, position = 0.0, sets.first_position[g]
        for i in range(position, sets.first_event[g]):
            add_at(tree, rank[i], sets.weights[i])
            total += sets.weights[i]
        while left < sets.n_left[g]:
            i = sets.leaving[left]
            add_at(tree, rank[i], -sets.weights[i])
            total -= sets.weights[i]
            left += 1
        for i in range(sets.first_event[g], sets.stop[g]):
            compared[i] += total
            right[i] += sum_ordered(tree, rank[i], False, total)
        for i in range(sets.first_event[g], sets.stop[g]):
            add_at(tree, rank[i], sets.weights[i])
            total += sets.weights[i]
        position = sets.stop[g]
    # Forward in time: for each sample, the events at which it is at risk.
    by_entry = np.argsort(-sets.high)
    tree, total, entered = np.zeros(n_ranks + 1), 0.0, 0
    for g in range(count - 1, -1, -1):
        if g == sets.end_set[g] - 1:
            tree[:] = 0.0
            total = 0.0
        while entered < size and sets.high[by_entry[entered]] > g:
            i = by_entry[entered]  # what comes before its entry does not count
            compared[i] -= total
            right[i] -= sum_ordered(tree, rank[i], True, total)
            entered += 1
        begin = sets.first_position[g] if g == sets.first_set[g] else sets.stop[g - 1]
        for i in range(sets.first_event[g], sets.stop[g]):
            compared[i] += total
            right[i] += sum_ordered(tree, rank[i], True, total)
        for i in range(sets.first_event[g], sets.stop[g]):
            add_at(tree, rank[i], sets.weights[i])
            total += sets.weights[i]
        for i in range(begin, sets.first_event[g]):
            compared[i] += total
            right[i] += sum_ordered(tree, rank[i], True, total)
    return compared, right
