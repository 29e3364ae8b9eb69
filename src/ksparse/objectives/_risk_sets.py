"""Sums over risk sets, compiled: one scan back in time and one forward for each evaluation.

The scan back in time adds samples as they come to be at risk, and takes them out again at times before their entry.
Sums of exponentials are kept relative to the largest margin in them, so that nothing overflows or vanishes; where
taking samples out has cancelled most of a sum, it is computed again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._types import Array, IntArray, Mask
from ..compiling import jit_compile

__all__ = [
    "RiskSets",
    "RiskSums",
    "compute_cross",
    "compute_diagonal",
    "evaluate_events",
    "multiply_hessian",
    "sum_risk_sets",
    "weigh_gram",
]

#: A sum that is a smaller fraction of the largest one since it was computed anew has lost digits.
CANCELLED = 1e-3
#: The same for sums over the events between two times, as a difference of sums over all events after them.
CANCELLED_DIFFERENCE = 1e-6


class RiskSets(NamedTuple):
    """The samples in the order in which a scan back in time meets them; sets are numbered in this order.

    There is one risk set for each time with an event, in each stratum.
    """

    #: The sample at each position; in each stratum by decreasing time, at equal times events last.
    order: IntArray
    #: Their weights.
    weights: Array
    #: Whether a sample has an event.
    is_event: Mask
    #: The risk sets of each sample, from the one at its exit or the next before it to the last after its entry: a
    #: range.
    low: IntArray
    high: IntArray
    #: For each risk set, the position of its first event, and where its events end.
    first_event: IntArray
    stop: IntArray
    #: For each risk set, where its stratum begins and ends among the sets, and begins among the positions.
    first_set: IntArray
    end_set: IntArray
    first_position: IntArray
    #: Positions in the order in which samples leave the sums, and how many have left before a risk set is summed.
    leaving: IntArray
    n_left: IntArray
    #: Whether tied events leave the risk set in turn (Efron), or not (Breslow).
    is_efron: bool


class RiskSums(NamedTuple):
    """What derivatives need of the margins: sums for each risk set, relative to exp(scale).

    A risk set has d events of total weight W. S is the sum of s·exp(m) over it, D that over the events, and
    S_l = S − (l/d)·D, where l goes from 0 to d − 1; with Breslow's ties it is 0 for each event.
    """

    #: The logarithms of the units.
    scale: Array
    #: (W/d)·Σ 1/S_l and (W/d)·Σ (l/d)/S_l.
    first: Array
    first_tied: Array
    #: (W/d)·Σ 1/S_l², with l/d and with (l/d)².
    second: Array
    second_tied: Array
    second_twice_tied: Array
    #: Whether the sums were computed anew.
    is_anew: Mask
    #: The margins by position.
    margins: Array
    #: s·exp(m) of each sample, relative to the scale of its first risk set.
    risks: Array


@jit_compile
def sum_risk_sets(sets: RiskSets, margins: Array) -> tuple[float, RiskSums]:  # pragma: no cover - compiled
    """The loss up to a constant, and the sums of each risk set."""
    count = sets.stop.size
    ordered = margins[sets.order]
    scale, first, first_tied = np.zeros(count), np.zeros(count), np.zeros(count)
    second, second_tied, second_twice_tied = np.zeros(count), np.zeros(count), np.zeros(count)
    is_anew, risks = np.zeros(count, dtype=np.bool_), np.zeros(ordered.size)
    value, top, rest, peak = 0.0, -np.inf, 0.0, 0.0
    position, left = 0, 0
    for g in range(count):
        if g == sets.first_set[g]:
            top, rest, peak, position = -np.inf, 0.0, 0.0, sets.first_position[g]
        above = top
        for i in range(position, sets.stop[g]):
            above = max(above, ordered[i])
        if above > top:
            factor = np.exp(top - above)
            rest, peak, top = rest * factor, peak * factor, above
        tied, total, lost = 0.0, 0.0, 0.0
        for i in range(position, sets.stop[g]):
            risks[i] = sets.weights[i] * np.exp(ordered[i] - top)
        for i in range(position, sets.first_event[g]):
            rest += risks[i]
        for i in range(sets.first_event[g], sets.stop[g]):
            tied += risks[i]
        peak = max(peak, rest + tied)
        while left < sets.n_left[g]:
            i = sets.leaving[left]
            rest -= sets.weights[i] * np.exp(ordered[i] - top)
            left += 1
        if rest + tied < CANCELLED * peak:
            is_anew[g] = True
            top = -np.inf
            for i in range(sets.first_position[g], sets.stop[g]):
                if sets.high[i] > g:
                    top = max(top, ordered[i])
            rest, tied = 0.0, 0.0
            for i in range(sets.first_position[g], sets.stop[g]):
                if sets.high[i] > g:
                    risk = sets.weights[i] * np.exp(ordered[i] - top)
                    if i >= sets.first_event[g]:
                        tied += risk
                    else:
                        rest += risk
                    if i >= position:
                        risks[i] = risk
            peak = rest + tied
        scale[g] = top
        for i in range(sets.first_event[g], sets.stop[g]):
            total += sets.weights[i]
            lost += sets.weights[i] * (top - ordered[i])
        n_events = sets.stop[g] - sets.first_event[g]
        rest = max(rest, 0.0)
        if sets.is_efron and n_events > 1:
            mean, logs = total / n_events, 0.0
            for step in range(n_events):
                gone = step / n_events
                at_risk = rest + (1.0 - gone) * tied
                inverse = 1.0 / at_risk
                logs += np.log(at_risk)
                first[g] += mean * inverse
                first_tied[g] += mean * gone * inverse
                second[g] += mean * inverse * inverse
                second_tied[g] += mean * gone * inverse * inverse
                second_twice_tied[g] += mean * gone * gone * inverse * inverse
            value += lost + mean * logs
        else:
            at_risk = rest + tied
            first[g] = total / at_risk
            second[g] = total / (at_risk * at_risk)
            value += lost + total * np.log(at_risk)
        rest += tied
        position = sets.stop[g]
    return value, RiskSums(scale, first, first_tied, second, second_tied, second_twice_tied, is_anew, ordered, risks)


@jit_compile
def add_later(sets: RiskSets, sums: RiskSums, values: Array, power: float) -> tuple[Array, Array]:
    """For each risk set, the sum of values over it and those at later positions of its stratum, and their units.

    A value is relative to exp(−power·scale) of its set.
    """
    count = values.size
    totals, units = np.empty(count), np.empty(count)
    for g in range(count - 1, -1, -1):
        if g == sets.end_set[g] - 1:
            totals[g], units[g] = values[g], sums.scale[g]
        elif sums.scale[g] == units[g + 1]:  # as nearly everywhere: the exponentials below are 1
            totals[g], units[g] = values[g] + totals[g + 1], sums.scale[g]
        else:
            unit = min(sums.scale[g], units[g + 1])
            here, there = np.exp(power * (unit - sums.scale[g])), np.exp(power * (unit - units[g + 1]))
            totals[g], units[g] = values[g] * here + totals[g + 1] * there, unit
    return totals, units


@jit_compile
def measure_risk(sets: RiskSets, sums: RiskSums, i: int, unit: float, power: float) -> float:
    """(s·exp(m))^power of the sample at a position, relative to exp(power·unit), for a power of 1 or 2."""
    is_known = unit == sums.scale[sets.low[i]]
    risk = sums.risks[i] if is_known else sets.weights[i] * np.exp(sums.margins[i] - unit)
    return risk if power == 1.0 else risk * risk


@jit_compile
def add_over_sets(
    sets: RiskSets, sums: RiskSums, values: Array, checks: Array, power: float, out: Array
) -> None:  # pragma: no cover - compiled
    """For each sample, (s·exp(m))^power times the sum of values over its risk sets.

    Values are relative to exp(−power·scale). Where a difference of sums of the `checks`, which are positive, would
    lose digits, the values are added one by one.
    """
    totals, units = add_later(sets, sums, values, power)
    tests = totals
    if sets.leaving.size:
        tests, _ = add_later(sets, sums, checks, power)
    for i in range(out.size):
        low, high = sets.low[i], sets.high[i]
        if high == sets.end_set[low]:
            out[i] = measure_risk(sets, sums, i, units[low], power) * totals[low]
            continue
        shrunken = np.exp(power * (units[low] - units[high]))
        if tests[low] - tests[high] * shrunken > CANCELLED_DIFFERENCE * tests[low]:
            out[i] = measure_risk(sets, sums, i, units[low], power) * (totals[low] - totals[high] * shrunken)
        else:
            total = 0.0
            for g in range(low, high):
                total += values[g] * measure_risk(sets, sums, i, sums.scale[g], power)
            out[i] = total


@jit_compile
def expect_events(sets: RiskSets, sums: RiskSums) -> Array:  # pragma: no cover - compiled
    """By position: each sample's expected weight of events."""
    expected = np.empty(sets.order.size)
    add_over_sets(sets, sums, sums.first, sums.first, 1.0, expected)
    if sets.is_efron:
        for i in range(expected.size):
            if sets.is_event[i]:
                expected[i] -= sums.risks[i] * sums.first_tied[sets.low[i]]
    return expected


@jit_compile
def compute_diagonal(sets: RiskSets, sums: RiskSums, expected: Array) -> Array:  # pragma: no cover - compiled
    """By position: the diagonal of the Hessian in the margins."""
    squared = np.empty(sets.order.size)
    add_over_sets(sets, sums, sums.second, sums.second, 2.0, squared)
    for i in range(squared.size):
        if sets.is_event[i]:
            g, risk = sets.low[i], sums.risks[i]
            squared[i] += risk * risk * (sums.second_twice_tied[g] - 2.0 * sums.second_tied[g])
    return expected - squared


@jit_compile
def sum_slopes(sets: RiskSets, expected: Array, n_samples: int) -> Array:  # pragma: no cover - compiled
    """The gradient in the margins: expected minus observed weight of events."""
    slopes = np.zeros(n_samples)
    for i in range(sets.order.size):
        slopes[sets.order[i]] = expected[i] - (sets.weights[i] if sets.is_event[i] else 0.0)
    return slopes


@jit_compile
def evaluate_events(
    sets: RiskSets, margins: Array
) -> tuple[float, RiskSums, Array, Array]:  # pragma: no cover - compiled
    """The loss up to a constant, its sums, the expected events and the gradient, which are 0 where f is infinite."""
    value, sums = sum_risk_sets(sets, margins)
    if not np.isfinite(value):
        return np.inf, sums, np.zeros(sets.order.size), np.zeros(margins.size)
    expected = expect_events(sets, sums)
    return value, sums, expected, sum_slopes(sets, expected, margins.size)


@jit_compile
def sum_directions(
    sets: RiskSets, sums: RiskSums, moved: Array, at_risk: Array, tied: Array
) -> None:  # pragma: no cover - compiled
    """For each risk set, Σ s·exp(m)·v over its samples and over its events, relative to exp(scale).

    `moved` is v by position.
    """
    total, position, left, risks = 0.0, 0, 0, sums.risks
    for g in range(sets.stop.size):
        if g == sets.first_set[g]:
            total, position = 0.0, sets.first_position[g]
        elif sums.scale[g] != sums.scale[g - 1]:
            total *= np.exp(min(sums.scale[g - 1] - sums.scale[g], 0.0))
        inside = 0.0
        for i in range(position, sets.first_event[g]):
            total += risks[i] * moved[i]
        for i in range(sets.first_event[g], sets.stop[g]):
            inside += risks[i] * moved[i]
        total += inside
        if sums.is_anew[g]:
            left = sets.n_left[g]
            total = 0.0
            for i in range(sets.first_position[g], sets.stop[g]):
                if sets.high[i] > g:
                    total += measure_risk(sets, sums, i, sums.scale[g], 1.0) * moved[i]
        while left < sets.n_left[g]:
            i = sets.leaving[left]
            total -= measure_risk(sets, sums, i, sums.scale[g], 1.0) * moved[i]
            left += 1
        at_risk[g], tied[g] = total, inside
        position = sets.stop[g]


@jit_compile
def sum_moved(sets: RiskSets, sums: RiskSums, rows: Array) -> tuple[Array, Array, Array]:
    """Some directions, which are rows, by position, and their sums over the risk sets and over the events of each."""
    size, count = sets.order.size, sets.stop.size
    moved = np.empty((rows.shape[0], size))
    at_risk, tied = np.empty((rows.shape[0], count)), np.empty((rows.shape[0], count))
    for row in range(rows.shape[0]):
        for i in range(size):
            moved[row, i] = rows[row, sets.order[i]]
        sum_directions(sets, sums, moved[row], at_risk[row], tied[row])
    return moved, at_risk, tied


@jit_compile
def pull_sums(
    sets: RiskSets, sums: RiskSums, at_risk: Array, tied: Array
) -> tuple[Array, Array]:  # pragma: no cover - compiled
    """What the Hessian takes of the sums of other directions over the risk sets, and over their events."""
    if not sets.is_efron:
        return at_risk * sums.second, np.zeros((0, 0))
    return (
        at_risk * sums.second - tied * sums.second_tied,
        tied * sums.second_twice_tied - at_risk * sums.second_tied,
    )


@jit_compile
def weigh_gram(sets: RiskSets, sums: RiskSums, expected: Array, rows: Array) -> Array:
    """VHVᵀ for the Hessian H in the margins and directions, the rows of V."""
    moved, at_risk, tied = sum_moved(sets, sums, rows)
    pulled, tied_pulled = pull_sums(sets, sums, at_risk, tied)
    gram = np.dot(moved * expected, moved.T) - np.dot(pulled, at_risk.T)
    if sets.is_efron:
        gram -= np.dot(tied_pulled, tied.T)
    return gram


@jit_compile
def compute_cross(
    sets: RiskSets, sums: RiskSums, expected: Array, rows: Array, others: Array
) -> tuple[Array, Array]:  # pragma: no cover - compiled
    """VHUᵀ for the Hessian H in the margins and directions, the rows of V and of U; and the diagonal of UHUᵀ."""
    moved, at_risk, tied = sum_moved(sets, sums, rows)
    pulled, tied_pulled = pull_sums(sets, sums, at_risk, tied)
    weighted = moved * expected
    cross, squares = np.empty((rows.shape[0], others.shape[0])), np.empty(others.shape[0])
    size, count = sets.order.size, sets.stop.size
    direction, sums_at_risk, sums_tied = np.empty(size), np.empty(count), np.empty(count)
    for j in range(others.shape[0]):
        for i in range(size):
            direction[i] = others[j, sets.order[i]]
        sum_directions(sets, sums, direction, sums_at_risk, sums_tied)
        products = np.dot(weighted, direction) - np.dot(pulled, sums_at_risk)
        if sets.is_efron:
            products -= np.dot(tied_pulled, sums_tied)
        cross[:, j] = products
        total = 0.0
        for i in range(size):
            total += expected[i] * direction[i] * direction[i]
        for g in range(count):
            total -= sums_at_risk[g] * (sums.second[g] * sums_at_risk[g] - 2.0 * sums.second_tied[g] * sums_tied[g])
            total -= sums.second_twice_tied[g] * sums_tied[g] * sums_tied[g]
        squares[j] = max(total, 0.0)
    return cross, squares


@jit_compile
def multiply_hessian(
    sets: RiskSets, sums: RiskSums, expected: Array, directions: Array
) -> Array:  # pragma: no cover - compiled
    """The Hessian in the margins times some directions, which are the rows."""
    product = np.zeros(directions.shape)
    size, count = sets.order.size, sets.stop.size
    moved, later = np.empty(size), np.empty(size)
    at_risk, tied, pulled = np.empty(count), np.empty(count), np.empty(count)
    for row in range(directions.shape[0]):
        for i in range(size):
            moved[i] = directions[row, sets.order[i]]
        sum_directions(sets, sums, moved, at_risk, tied)
        for g in range(count):
            pulled[g] = sums.second[g] * at_risk[g] - sums.second_tied[g] * tied[g]
        add_over_sets(sets, sums, pulled, sums.first, 1.0, later)
        for i in range(size):
            entry = expected[i] * moved[i] - later[i]
            if sets.is_event[i]:
                g = sets.low[i]
                entry += sums.risks[i] * (sums.second_tied[g] * at_risk[g] - sums.second_twice_tied[g] * tied[g])
            product[row, sets.order[i]] = entry
    return product
