"""Hard thresholding: which units are kept, with ties, groups, rows, bounds and always-selected units."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from ksparse.sparsity import Entries, Groups, Rows, Sparsity

FLOATS = st.floats(-100, 100, allow_nan=False).map(lambda value: round(value, 2))


@given(arrays(np.float64, st.integers(1, 12), elements=FLOATS), st.integers(0, 14))
def test_top_k_entries_with_ties_by_index(z: Any, k: int) -> None:
    kept = Entries(k).bind(z.shape).select(z)
    order = sorted(range(z.size), key=lambda j: (-abs(z[j]), j))
    assert set(np.flatnonzero(kept)) == set(order[:k])


@given(arrays(np.float64, 6, elements=FLOATS), st.integers(0, 6), st.floats(0, 50), st.floats(0, 50))
def test_truncation_is_the_projection(z: Any, k: int, lower: float, upper: float) -> None:
    """No feasible vector is nearer to z, with bounds or without."""
    units = Entries(k, lower=-lower, upper=upper).bind(z.shape)
    projected = units.truncate(z)
    assert np.count_nonzero(projected) <= k
    assert projected.min() >= -lower
    assert projected.max() <= upper
    clipped = np.clip(z, -lower, upper)
    best = min(
        np.sum((z - np.where(np.isin(np.arange(6), chosen), clipped, 0.0)) ** 2) for chosen in combinations(range(6), k)
    )
    assert np.sum((z - projected) ** 2) <= best + 1e-9


@given(arrays(np.float64, 6, elements=FLOATS), arrays(np.float64, 6, elements=st.floats(0.1, 10)), st.integers(0, 6))
def test_a_metric_is_a_change_of_variables(z: Any, metric: Any, k: int) -> None:
    units = Entries(k).bind(z.shape)
    scores = np.square(z) * metric
    kept = units.select(z, metric)
    assert scores[kept].sum() >= np.sort(scores)[6 - k :].sum() - 1e-6 * (1 + scores.sum())


@pytest.mark.parametrize("size", [1e-300, 1e-165, 1.0, 1e165, 1e300])
def test_the_largest_units_are_kept_whatever_their_size(size: float) -> None:
    z = size * np.array([1.0, 3.0, 0.0, -4.0, -2.0])
    assert_array_equal(Entries(2).bind((5,)).truncate(z), size * np.array([0.0, 3.0, 0.0, -4.0, 0.0]))
    bounded = Entries(2, lower=0.0, upper=2.5 * size).bind((5,))
    assert_array_equal(bounded.truncate(z), size * np.array([1.0, 2.5, 0.0, 0.0, 0.0]))


def test_a_tiny_unit_is_not_zero() -> None:
    z = np.array([0.0, 1.0, 0.0, 1e-200])
    assert_array_equal(Entries(2).bind((4,)).truncate(z), z)
    assert_array_equal(Groups(2, labels=[0, 1, 0, 2]).bind((4,)).truncate(z), z)


def test_groups_in_any_order() -> None:
    labels = np.array([3, 1, 2, 1, 3, 2])
    z = np.array([0.0, 5.0, 1.0, 0.0, 4.0, 4.5])
    for order in (np.arange(6), np.array([5, 3, 1, 0, 2, 4])):
        units = Groups(1, labels[order]).bind((6,))
        assert set(np.flatnonzero(units.select(z[order]))) == {i for i in range(6) if labels[order][i] == 1}
    assert units.names.tolist() == [1, 2, 3]


def test_group_scores_do_not_favour_large_groups() -> None:
    labels = ["large"] * 4 + ["small"]
    z = np.array([1.0, 1.0, 1.0, 1.0, 1.5])
    assert Groups(1, labels).bind((5,)).select(z).tolist() == [False] * 4 + [True]


def test_groups_of_one_are_entries_whatever_their_labels() -> None:
    z = np.random.default_rng(0).standard_normal(8)
    labels = np.random.default_rng(1).permutation(8)
    np.testing.assert_array_equal(Groups(3, labels).bind((8,)).select(z), Entries(3).bind((8,)).select(z))


def test_rows_are_selected_as_a_whole() -> None:
    Z = np.array([[1.0, 1.0], [0.0, 1.6], [1.2, -1.2]])
    np.testing.assert_array_equal(Rows(1).bind((3, 2)).select(Z), [[False] * 2, [False] * 2, [True] * 2])
    np.testing.assert_array_equal(Rows(2).bind((3, 2)).select(Z), [[False] * 2, [True] * 2, [True] * 2])


def test_always_selected_units_count_in_k() -> None:
    z = np.array([0.0, 5.0, 4.0, 3.0])
    assert np.flatnonzero(Entries(2, always=[0]).bind((4,)).select(z)).tolist() == [0, 1]
    groups = Groups(2, ["a", "b", "b", "c"], always=["c"]).bind((4,))
    assert np.flatnonzero(groups.select(z)).tolist() == [1, 2, 3]


def test_names_of_always_selected_units_are_compared_by_value_and_type() -> None:
    assert Entries(3, always=[2.0, 2]).bind((4,)).always.tolist() == [False, False, True, False]
    mixed = np.array(["b", "a", "c"], dtype=object)
    assert Groups(2, mixed, always=["c", "a"]).bind((3,)).always.tolist() == [True, False, True]
    with pytest.raises(ValueError, match=r"always names \['2'\], but the 4 units are named 0, 1, 2, …"):
        Entries(3, always=["2"]).bind((4,))


@pytest.mark.parametrize("always", [(), [3, 5]])
def test_binding_takes_little_more_memory_than_its_arrays(always: Any) -> None:
    size = 200_000
    tracemalloc.start()
    units = Entries(10, always=always).bind((size,))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.flatnonzero(units.always).tolist() == list(always)
    assert peak < 64 * size  # a Python object for each unit would take more


def test_free_coordinates_are_always_in() -> None:
    free = np.array([False, False, False, True])
    units = Entries(1, lower=0.0).bind((4,), free)
    z = np.array([1.0, 2.0, -9.0, -3.0])
    np.testing.assert_array_equal(units.truncate(z), [0.0, 2.0, 0.0, -3.0])
    assert units.count == 3


def test_k_beyond_the_units_is_inactive() -> None:
    units = Entries(9).bind((4,))
    assert units.inactive
    assert units.select(np.arange(4.0)).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Entries(-1), "k must be at least 0"),
        (lambda: Entries(1, always=[0, 1]).bind((3,)), "2 units are always selected, but k = 1"),
        (lambda: Entries(2, always=[7]).bind((3,)), r"always names \[7\]"),
        (lambda: Entries(1, lower=0.5).bind((3,)), "lower <= 0 <= upper"),
        (lambda: Entries(1, upper=np.nan).bind((3,)), "lower <= 0 <= upper"),
        (lambda: Entries(1, lower=[-1.0, -1.0]).bind((3,)), "lower has 2 values for 3 coefficients"),
        (lambda: Groups(1, ["a", "b"]).bind((3,)), "labels has 2 values for 3 coefficients"),
        (lambda: Groups(1, [1.0, np.nan, 2.0]).bind((3,)), "labels has NaN"),
        (lambda: Rows(1).bind((3,)), "Rows selects rows of a matrix"),
    ],
)
def test_bad_sets(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("k", [1.0, "3", None, True, np.array([1])])
def test_k_must_be_an_integer(k: Any) -> None:
    with pytest.raises(TypeError, match="k must be an integer"):
        Entries(k)


def test_numpy_integers_are_integers() -> None:
    for number in (np.int32(2), np.int64(2), np.uint8(2)):
        sparsity: Sparsity = Entries(number)
        assert sparsity.k == 2


@pytest.mark.parametrize("free", [0, 2])
def test_operators_of_units_that_come_first_are_those_of_any_units(free: int) -> None:
    """Units in the order of their coordinates are sliced; the same units in another order are gathered."""
    order = np.array([3, 0, 4, 1, 2])
    first = replace(Entries(2).bind((5 + free,), np.arange(5 + free) >= 5), always=np.arange(5) == 1)
    other = replace(first, number=np.append(order, np.full(free, -1)), always=first.always)
    units = np.array([True, False, True, False, False])
    values = np.arange(5.0 + free) ** 2
    assert_array_equal(first.to_mask(units)[:5], units)
    assert_array_equal(other.to_mask(units)[:5], units[order])
    assert first.to_mask(units)[5:].all()
    assert other.to_mask(units)[5:].all()
    assert_array_equal(first.sum_by_unit(values), values[:5])
    assert_array_equal(other.sum_by_unit(values)[order], values[:5])
    for each in (first, other):
        assert_array_equal(each.find_units(each.to_mask(units)), units)
    sums = first.sum_by_unit(values)
    sums += 1.0
    assert_array_equal(values, np.arange(5.0 + free) ** 2)


def test_another_k_shares_what_is_known() -> None:
    units = Groups(1, ["a", "b", "a", "c"]).bind((4,))
    assert_array_equal(units.sizes, [2, 1, 1])
    two = units.with_k(2)
    assert (units.k, two.k, two.count) == (1, 2, 3)
    assert two.sizes is units.sizes
    assert_array_equal(two.select(np.array([1.0, 5.0, 1.0, 3.0])), [False, True, False, True])
    assert_array_equal(units.select(np.array([1.0, 5.0, 1.0, 3.0])), [False, True, False, False])
