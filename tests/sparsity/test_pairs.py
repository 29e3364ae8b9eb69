"""Pairs: the S2 of a precision matrix keeps k edges and the diagonal."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import ksparse
from ksparse.objectives import Function, LogDet
from ksparse.sparsity import Entries, Groups, Pairs, Rows
from tests.precision import covariance

FLOATS = st.integers(-4, 4).map(float)  # few values, so that there are ties


@given(st.integers(1, 5).flatmap(lambda p: arrays(np.float64, (p, p), elements=FLOATS)), st.integers(0, 11))
def test_the_diagonal_and_the_largest_pairs_are_kept_with_ties_by_position(z: Any, k: int) -> None:
    p, z = len(z), z + z.T
    units = Pairs(k).bind(z.shape)
    order = sorted(combinations(range(p), 2), key=lambda pair: (-abs(z[pair]), pair))
    expected = np.eye(p, dtype=bool)
    for i, j in order[:k]:
        expected[i, j] = expected[j, i] = True
    np.testing.assert_array_equal(units.select(z), expected)
    np.testing.assert_array_equal(units.truncate(z), np.where(expected, z, 0.0))
    assert units.inactive == (k >= len(order))
    assert [tuple(pair) for pair in units.names.tolist()] == list(combinations(range(p), 2))


@given(st.data())
def test_always_and_never(data: Any) -> None:
    p = data.draw(st.integers(2, 6))
    z = data.draw(arrays(np.float64, (p, p), elements=FLOATS))
    z = z + z.T
    pairs = list(combinations(range(p), 2))
    known = data.draw(st.lists(st.sampled_from(pairs), unique=True, max_size=3))
    forbidden = [pair for pair in data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pair not in known]
    k = data.draw(st.integers(len(known), len(pairs) + 1))
    support = Pairs(k, always=known, never=[pair[::-1] for pair in forbidden]).bind(z.shape).select(z)
    assert support.diagonal().all()
    np.testing.assert_array_equal(support, support.T)
    assert all(support[pair] for pair in known)
    assert not any(support[pair] for pair in forbidden)
    assert int(np.triu(support, 1).sum()) == min(k, len(pairs) - len(forbidden))


def test_masks_name_the_same_pairs() -> None:
    mask = np.zeros((4, 4), dtype=bool)
    mask[2, 0] = True
    z = np.arange(16.0).reshape(4, 4)
    by_mask = Pairs(2, always=mask, never=np.eye(4, k=3, dtype=bool)).bind(z.shape).select(z + z.T)
    by_name = Pairs(2, always=[(0, 2)], never=[(0, 3)]).bind(z.shape).select(z + z.T)
    np.testing.assert_array_equal(by_mask, by_name)
    assert by_mask[0, 2]
    assert not by_mask[0, 3]


def test_operators_agree_with_those_of_groups() -> None:
    """A pair is a group of two entries; only the gathering is faster."""
    p = 5
    rng = np.random.default_rng(0)
    units = Pairs(3).bind((p, p))
    values = rng.standard_normal((p, p))
    total = [values[i, j] + values[j, i] for i, j in combinations(range(p), 2)]
    np.testing.assert_allclose(units.sum_by_unit(values), total)
    assert (units.sizes == 2).all()
    chosen = np.arange(units.count) % 3 == 0
    np.testing.assert_array_equal(units.find_units(units.to_mask(chosen) & ~np.eye(p, dtype=bool)), chosen)
    above_only = np.triu(units.to_mask(chosen), 1)
    np.testing.assert_array_equal(units.find_units(above_only), chosen)
    metric = rng.random((p, p)) + 0.1
    metric = metric + metric.T
    z = values + values.T
    expected = [z[i, j] ** 2 * metric[i, j] for i, j in combinations(range(p), 2)]
    np.testing.assert_allclose(units.score(z, metric), expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"always": [(0, 0)]}, r"always names the pair \(0, 0\); a pair is two different indices below 3"),
        ({"never": [(0, 3)]}, r"never names the pair \(0, 3\)"),
        ({"never": [(-1, 2)]}, r"never names the pair \(-1, 2\)"),
        ({"always": [0, 1]}, r"always must hold pairs of indices such as \[\(0, 1\), \(2, 5\)\]"),
        ({"always": [(0.0, 1.0)]}, "always must hold pairs of indices"),
        ({"always": np.ones((2, 2), dtype=bool)}, r"always is a mask of shape \(2, 2\) for a matrix of shape \(3, 3\)"),
        ({"always": [(0, 1)], "never": [(1, 0)]}, r"the pair \(0, 1\) is both in always and in never"),
        ({"always": [(0, 1), (1, 2)]}, "2 units are always selected, but k = 1"),
        ({"lower": 1.0}, "lower must satisfy lower <= 0 <= upper"),
    ],
)
def test_what_is_refused(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Pairs(1, **options).bind((3, 3))


def test_pairs_are_of_square_matrices() -> None:
    for shape in ((4,), (3, 4)):
        with pytest.raises(ValueError, match="Pairs are entries of a square matrix"):
            Pairs(1).bind(shape)


@pytest.mark.parametrize("sparsity", [Entries(3), Rows(2), Groups(1, [0, 0, 1, 1])])
def test_other_units_of_a_precision_matrix_are_refused(sparsity: Any) -> None:
    with pytest.raises(ValueError, match="the diagonal of a precision matrix; use Pairs"):
        ksparse.minimize(LogDet(covariance(4, 20)), sparsity=sparsity)


def test_pairs_of_another_function_with_bounds() -> None:
    """The nearest symmetric matrix with two nonnegative pairs."""
    target = np.array([[1.0, 3.0, -5.0, 0.5], [3.0, 2.0, 1.0, 2.0], [-5.0, 1.0, 3.0, 0.0], [0.5, 2.0, 0.0, 4.0]])
    nearest = Function(lambda x: float(np.sum((x - target) ** 2)), gradient=lambda x: 2 * (x - target), shape=(4, 4))
    free = ksparse.minimize(nearest, sparsity=Pairs(2))
    assert free.selected.tolist() == [[0, 1], [0, 2]]
    bounded = ksparse.minimize(nearest, sparsity=Pairs(2, lower=0.0, upper=2.5))
    assert bounded.selected.tolist() == [[0, 1], [1, 3]]
    expected = np.diag(target.diagonal())
    expected[0, 1] = expected[1, 0] = 2.5
    expected[1, 3] = expected[3, 1] = 2.0
    np.testing.assert_allclose(bounded.x, expected, atol=1e-6)
