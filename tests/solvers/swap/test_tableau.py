"""Sweeps, the formula of a swap and chains of swaps against linear systems."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ksparse._types import Array, IntArray
from ksparse.solvers.swap._kernels import (
    chain_swaps,
    find_best_swap,
    find_lowest_changes,
    list_entering_terms,
    remove_cheapest,
    sweep_tableau,
)
from ksparse.solvers.swap.formula import Entering, all_changes

SIZE, INSIDE = 10, 4


def quadratic(seed: int) -> tuple[Array, Array]:
    """H and b of ½zᵀHz − bᵀz."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((3 * SIZE, SIZE)) @ (np.eye(SIZE) + 0.4 * rng.standard_normal((SIZE, SIZE)))
    return X.T @ X / SIZE, rng.standard_normal(SIZE)


def tableau(hessian: Array, linear: Array, inside: IntArray) -> Array:
    """[[H, b], [bᵀ, 0]] swept on `inside`, from inverses."""
    size = linear.size
    outside = np.setdiff1d(np.arange(size), inside)
    inverse = np.linalg.inv(hessian[np.ix_(inside, inside)])
    cross = hessian[np.ix_(inside, outside)]
    table = np.zeros((size + 1, size + 1))
    table[np.ix_(inside, inside)] = -inverse
    table[np.ix_(inside, outside)] = inverse @ cross
    table[np.ix_(outside, inside)] = (inverse @ cross).T
    table[np.ix_(outside, outside)] = hessian[np.ix_(outside, outside)] - cross.T @ inverse @ cross
    table[inside, -1] = table[-1, inside] = inverse @ linear[inside]
    table[outside, -1] = table[-1, outside] = linear[outside] - cross.T @ inverse @ linear[inside]
    table[-1, -1] = -linear[inside] @ inverse @ linear[inside]
    return table


def least_value(hessian: Array, linear: Array, inside: IntArray) -> float:
    """The minimum of the quadratic on some coordinates."""
    return float(-0.5 * linear[inside] @ np.linalg.solve(hessian[np.ix_(inside, inside)], linear[inside]))


def best_swap(table: Array, leaving: IntArray, entering: IntArray, least: Array) -> tuple[float, int, int]:
    """The best of all swaps."""
    at_once = np.zeros(SIZE, dtype=np.intp)
    found: tuple[float, int, int] = find_best_swap(table, leaving, entering, least, at_once, at_once, 0, -np.inf)
    return found


def changes_of_refits(hessian: Array, linear: Array, leaving: IntArray, entering: IntArray, kept: IntArray) -> Array:
    """By how much each swap changes the minimum; `kept` are coordinates of the support that stay."""
    before = least_value(hessian, linear, np.concatenate([kept, leaving]))
    changes = np.empty((leaving.size, entering.size))
    for a, i in enumerate(leaving):
        for b, j in enumerate(entering):
            after = np.concatenate([kept, leaving[leaving != i], [j]])
            changes[a, b] = least_value(hessian, linear, after) - before
    return changes


@pytest.mark.parametrize("seed", range(5))
def test_sweeps_move_coordinates_in_and_out(seed: int) -> None:
    hessian, linear = quadratic(seed)
    table = np.zeros((SIZE + 1, SIZE + 1))
    table[:SIZE, :SIZE], table[:SIZE, SIZE], table[SIZE, :SIZE] = hessian, linear, linear
    inside: list[int] = []
    for coordinate in np.random.default_rng(seed).integers(0, SIZE, 30).tolist():
        if coordinate in inside:
            inside.remove(coordinate)
            sweep_tableau(table, coordinate, -1.0)
        else:
            inside.append(coordinate)
            sweep_tableau(table, coordinate, 1.0)
        expected = tableau(hessian, linear, np.array(inside, dtype=np.intp))
        assert_allclose(table, expected, rtol=1e-8, atol=1e-9)


def test_coordinates_without_a_part_in_the_pivot_are_left_alone() -> None:
    """Zeros of the pivot's row, where there is nothing to subtract."""
    hessian, linear = np.diag([1.0, 2.0, 4.0]), np.array([1.0, 0.0, 3.0])
    hessian[0, 2] = hessian[2, 0] = 0.5
    table = tableau(hessian, linear, np.array([0]))
    sweep_tableau(table, 1, 1.0)
    assert_allclose(table, tableau(hessian, linear, np.array([0, 1])), atol=1e-14)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("free", [0, 2])
def test_the_best_swap_is_that_of_refits(seed: int, free: int) -> None:
    hessian, linear = quadratic(seed)
    order = np.random.default_rng(seed).permutation(SIZE)
    leaving, kept, entering = order[: INSIDE - free], order[INSIDE - free : INSIDE], order[INSIDE:]
    changes = changes_of_refits(hessian, linear, leaving, entering, kept)
    table = tableau(hessian, linear, order[:INSIDE])
    change, row, column = best_swap(table, leaving, entering, np.zeros(SIZE))
    assert (row, column) == divmod(int(np.argmin(changes)), changes.shape[1])
    assert change == pytest.approx(changes.min(), rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_formula_on_arrays_is_that_of_refits(seed: int) -> None:
    hessian, linear = quadratic(seed)
    order = np.random.default_rng(seed).permutation(SIZE)
    leaving, entering = order[:INSIDE], order[INSIDE:]
    table = tableau(hessian, linear, leaving)
    diagonal = table.diagonal()[entering]
    terms = Entering(*list_entering_terms(table[entering, -1], diagonal, np.zeros(SIZE - INSIDE)))
    table_part = table[np.ix_(leaving, entering)]
    changes = all_changes(table[leaving, -1], -table.diagonal()[leaving], table_part, terms)
    lowest = find_lowest_changes(table[leaving, -1], -table.diagonal()[leaving], table_part, *terms)
    assert_allclose(lowest, changes.min(axis=0), rtol=1e-12)
    assert_allclose(changes, changes_of_refits(hessian, linear, leaving, entering, np.arange(0)), rtol=1e-8, atol=1e-10)


def test_swaps_that_are_not_allowed_have_to_change_f_by_less_than_a_limit() -> None:
    hessian, linear = quadratic(0)
    order = np.random.default_rng(0).permutation(SIZE)
    leaving, entering = order[:INSIDE], order[INSIDE:]
    table, nothing = tableau(hessian, linear, leaving), np.zeros(SIZE)
    lowest, row, column = best_swap(table, leaving, entering, nothing)
    rows, columns = np.arange(INSIDE) != row, np.arange(SIZE - INSIDE) != column
    changes = changes_of_refits(hessian, linear, leaving, entering, np.arange(0))
    allowed = np.where(rows[:, None] & columns, changes, np.inf)
    when = (~rows).astype(np.intp), (~columns).astype(np.intp), 0  # the best swap may only be made later
    change, *place = find_best_swap(table, leaving, entering, nothing, *when, lowest)
    assert change == pytest.approx(allowed.min(), rel=1e-9)
    assert place == list(divmod(int(np.argmin(allowed)), SIZE - INSIDE))
    found = find_best_swap(table, leaving, entering, nothing, *when, lowest + 1e-9)
    assert found == (lowest, row, column)


def test_what_the_support_explains_cannot_enter() -> None:
    hessian, linear = quadratic(0)
    leaving, entering = np.arange(INSIDE), np.arange(INSIDE, SIZE)
    table = tableau(hessian, linear, leaving)
    changes = changes_of_refits(hessian, linear, leaving, entering, np.arange(0))
    least = np.zeros(SIZE)
    for _ in entering:
        change, row, column = best_swap(table, leaving, entering, least)
        assert change == pytest.approx(changes.min(), rel=1e-9)
        assert (row, column) == divmod(int(np.argmin(changes)), changes.shape[1])
        changes[:, column] = np.inf
        least[entering[column]] = table[entering[column], entering[column]]  # no larger than this: not allowed
    change, row, column = best_swap(table, leaving, entering, least)
    assert (change, row, column) == (np.inf, -1, -1)


def test_a_zero_curvature_cannot_enter() -> None:
    hessian, linear = quadratic(0)
    hessian[7] = hessian[:, 7] = 0.0
    leaving, entering = np.arange(INSIDE), np.array([7])
    change, *_ = best_swap(tableau(hessian, linear, leaving), leaving, entering, np.zeros(SIZE))
    assert change == np.inf


def test_ties_go_to_the_first_place() -> None:
    hessian, linear = np.eye(6), np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
    table = tableau(hessian, linear, np.arange(3))
    for leaving, entering in (([0, 1, 2], [3, 4, 5]), ([2, 0, 1], [5, 3, 4])):
        _, row, column = best_swap(table, np.array(leaving), np.array(entering), np.zeros(6))
        assert (row, column) == (0, 0)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("length", [1, 3, 50])
def test_chains_are_those_of_numpy(seed: int, length: int) -> None:
    hessian, linear = quadratic(seed)
    order = np.random.default_rng(seed + 100).permutation(SIZE)
    leaving, kept, entering = order[: INSIDE - 1], order[INSIDE - 1 : INSIDE], order[INSIDE:]
    expected = chain_of_numpy(hessian, linear, leaving.copy(), entering.copy(), kept, length, 1e-3)
    table = tableau(hessian, linear, order[:INSIDE])
    chain, changes, solutions = chain_swaps(table, leaving, entering, np.zeros(SIZE), length, 1e-3)
    assert 0 < len(chain) <= length
    assert_array_equal(chain, [step[:2] for step in expected])
    assert_allclose(changes, [step[2] for step in expected], rtol=1e-7)
    for solution, (_, _, _, inside) in zip(solutions, expected, strict=True):
        refit = np.linalg.solve(hessian[np.ix_(inside, inside)], linear[inside])
        assert_allclose(solution[inside], refit, rtol=1e-7, atol=1e-10)
        outside = np.setdiff1d(np.arange(SIZE), inside)
        slopes = linear[outside] - hessian[np.ix_(outside, inside)] @ refit
        assert_allclose(solution[outside], slopes, rtol=1e-7, atol=1e-9)
    # The places of those that left are taken by those that entered, and the tableau is that of the last support.
    last = expected[-1][3]
    assert sorted([*leaving.tolist(), *kept.tolist()]) == sorted(last.tolist())
    assert_array_equal(np.sort(np.concatenate([leaving, kept, entering])), np.arange(SIZE))
    assert_allclose(table, tableau(hessian, linear, last), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_units_are_removed_one_after_the_other(seed: int) -> None:
    """Each is the one without which the minimum is lowest."""
    hessian, linear = quadratic(seed)
    inside = np.random.default_rng(seed).permutation(SIZE)[:8]
    removed = remove_cheapest(tableau(hessian, linear, inside), inside, 5)
    remaining = inside.tolist()
    for position in removed.tolist():
        minima = {j: minimum(hessian, linear, [i for i in remaining if i != j]) for j in remaining}
        assert inside[position] == min(minima, key=lambda j: minima[j])
        remaining.remove(inside[position])


def minimum(hessian: Array, linear: Array, support: list[int]) -> float:
    return -0.5 * float(linear[support] @ np.linalg.solve(hessian[np.ix_(support, support)], linear[support]))


def chain_of_numpy(
    hessian: Array, linear: Array, leaving: IntArray, entering: IntArray, kept: IntArray, length: int, threshold: float
) -> list[tuple[int, int, float, IntArray]]:
    """Who leaves and enters, by how much the minimum changes, and the support afterwards."""
    chain: list[tuple[int, int, float, IntArray]] = []
    while len(chain) < length:
        changes = changes_of_refits(hessian, linear, leaving, entering, kept)
        row, column = divmod(int(np.argmin(changes)), changes.shape[1])
        if not changes[row, column] < -threshold:
            break
        leaving[row], entering[column] = entering[column], leaving[row]
        support = np.concatenate([kept, leaving])
        chain.append((int(entering[column]), int(leaving[row]), float(changes[row, column]), support))
    return chain


def test_a_chain_ends_where_the_next_swap_gains_too_little() -> None:
    hessian, linear = quadratic(0)
    order = np.argsort(np.square(linear) / hessian.diagonal())  # the support begins with what is worth least

    def run_chain(threshold: float) -> tuple[Array, Array]:
        inside, outside = order[:INSIDE].copy(), order[INSIDE:].copy()
        table = tableau(hessian, linear, inside)
        swaps, changes, solutions = chain_swaps(table, inside, outside, np.zeros(SIZE), 50, threshold)
        assert len(swaps) == len(changes) == len(solutions)
        return changes, table

    gains = -run_chain(0.0)[0]
    assert gains.size > 1
    assert run_chain(1.01 * gains[0])[0].size == 0
    assert_array_equal(run_chain(np.inf)[1], tableau(hessian, linear, order[:INSIDE]))
    assert run_chain(0.99 * gains[0])[0].size >= 1
    assert run_chain(1.01 * gains.min())[0].size == int(np.argmin(gains))
