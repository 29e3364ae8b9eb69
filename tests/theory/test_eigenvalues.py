"""m_s and M_s of matrices: enumeration against single blocks, and bounds that contain it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from ksparse._types import Array
from ksparse.theory import (
    Bracket,
    bound_restricted_eigenvalues,
    bracket_restricted_eigenvalues,
    restricted_eigenvalues,
    search_restricted_eigenvalues,
)


def gram(seed: int, n: int, p: int, correlation: float) -> Array:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * np.linspace(0.5, 1.5, p)
    for j in range(1, p):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    return X.T @ X / n


def test_enumeration() -> None:
    H = gram(0, 12, 7, 0.0)
    blocks = [np.linalg.eigvalsh(H[np.ix_(F, F)]) for F in map(list, combinations(range(7), 3))]
    smallest, largest = restricted_eigenvalues(H, 3)
    assert smallest == pytest.approx(min(e[0] for e in blocks))
    assert largest == pytest.approx(max(e[-1] for e in blocks))
    assert restricted_eigenvalues(H, 100) == pytest.approx((np.linalg.eigvalsh(H)[0], np.linalg.eigvalsh(H)[-1]))
    assert restricted_eigenvalues(-H, 3) == pytest.approx((-largest, -smallest))
    with pytest.raises(ValueError, match="supports of size 20"):
        restricted_eigenvalues(np.eye(60), 20)


CASES = [(40, 12, 0.0), (20, 12, 0.9), (8, 12, 0.3), (100, 10, -0.5)]


@pytest.mark.parametrize(("n", "p", "correlation"), CASES)
@pytest.mark.parametrize("s", [1, 2, 4, 7])
@pytest.mark.parametrize("shift", [0.0, -1.0])
def test_brackets_contain_the_enumeration(n: int, p: int, correlation: float, s: int, shift: float) -> None:
    for seed in range(3):
        H = gram(seed, n, p, correlation) + shift * np.eye(p)
        smallest, largest = restricted_eigenvalues(H, s)
        found = bracket_restricted_eigenvalues(H, s, max_supports=0)
        assert smallest in found.smallest
        assert largest in found.largest
        assert found.smallest.low <= found.smallest.high
        assert found.largest.low <= found.largest.high
        below, above = bound_restricted_eigenvalues(H, s)
        scale = 1e-12 * np.abs(H).max()
        assert below.low <= smallest + scale
        assert above.high >= largest - scale
        exact = bracket_restricted_eigenvalues(H, s)
        assert exact.is_exact
        assert (exact.smallest.low, exact.largest.high) == (smallest, largest)


def test_the_search_gives_eigenvalues_of_its_supports_and_finds_most_extremes() -> None:
    hits = 0
    for seed in range(20):
        H = gram(seed, 30, 12, 0.5)
        exact = restricted_eigenvalues(H, 4)
        found = search_restricted_eigenvalues(H, 4)
        for (value, support), place in zip(found, (0, -1), strict=True):
            assert value == pytest.approx(np.linalg.eigvalsh(H[np.ix_(support, support)])[place])
        hits += sum(value == pytest.approx(best) for (value, _), best in zip(found, exact, strict=True))
    assert hits >= 36  # of 40


def test_a_planted_block_is_found_among_many() -> None:
    """The supports cannot be enumerated; a block of equally correlated variables has the largest and smallest."""
    p, s, r = 120, 6, 0.5
    H = np.eye(p)
    planted = np.arange(10, 10 + s)
    H[np.ix_(planted, planted)] += r * (1 - np.eye(s))
    found = bracket_restricted_eigenvalues(H, s)
    assert found.largest.is_exact
    assert found.largest.high == pytest.approx(1 + r * (s - 1))
    assert found.smallest.is_exact
    assert found.smallest.low == pytest.approx(1 - r)


def test_bounds_use_the_size_of_supports() -> None:
    """Of equally correlated variables, the whole matrix has an eigenvalue of 1 + (p − 1)r, and blocks 1 + (s − 1)r."""
    p, s, r = 50, 5, 0.1
    H = np.full((p, p), r) + (1 - r) * np.eye(p)
    smallest, largest = bound_restricted_eigenvalues(H, s)
    assert largest.high == pytest.approx(1 + (s - 1) * r)
    assert smallest.low == pytest.approx(1 - r)
    assert (smallest.low_source, largest.high_source) == ("all of the matrix", "Gershgorin's discs of s entries")
    _, largest = bound_restricted_eigenvalues(np.ones((50, 50)), 5)
    assert largest.high == pytest.approx(5.0)


def test_brackets() -> None:
    assert Bracket(1.0, 1.0 + 1e-12, "", "").is_exact
    assert Bracket(np.inf, np.inf, "", "").is_exact
    assert not Bracket(-np.inf, np.inf, "", "").is_exact
    assert 0.5 not in Bracket(0.6, 0.7, "", "")


@pytest.mark.parametrize(
    ("matrix", "s", "message"),
    [
        (np.ones((2, 3)), 1, "shape \\(2, 3\\); pass a square matrix"),
        (np.full((2, 2), np.nan), 1, "NaN or infinite"),
        (np.eye(3), 0, "s must be at least 1"),
    ],
)
def test_bad_input(matrix: Array, s: int, message: str) -> None:
    for function in (restricted_eigenvalues, bracket_restricted_eigenvalues, search_restricted_eigenvalues):
        with pytest.raises(ValueError, match=message):
            function(matrix, s)
