"""m_s and M_s of a matrix, the extreme eigenvalues of its s × s principal blocks: exactly, or between two bounds."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, islice
from math import comb
from typing import Any

import numpy as np

from .._types import Array, IntArray
from ..validation import check_number_of_units

__all__ = [
    "Bracket",
    "RestrictedEigenvalues",
    "bound_restricted_eigenvalues",
    "bracket_restricted_eigenvalues",
    "restricted_eigenvalues",
    "search_restricted_eigenvalues",
]

#: Largest number of supports that are enumerated when nothing else is asked for.
MAX_SUPPORTS = 2_000_000
#: Blocks whose eigenvalues are computed together.
BATCH = 4096
#: Supports that the search starts from, and rounds that each is improved for.
N_STARTS, MAX_IMPROVEMENTS = 256, 50
#: Columns that are tried in the place of one of the support.
N_CANDIDATES = 32
#: Where inner bounds come from.
FOUND = "the worst support found"
#: Bounds from both sides that differ by a smaller fraction of the largest number are equal.
EQUAL = 1e-9


@dataclass(frozen=True)
class Bracket:
    """A number between two others, each with how it was found: exact if they are equal.

    Examples
    --------
    >>> from ksparse.theory import Bracket
    >>> bracket = Bracket(0.5, 0.7, "smallest eigenvalue of the whole matrix", "worst support found")
    >>> bracket.is_exact, 0.6 in bracket
    (False, True)
    """

    #: A proven lower bound; −∞ if none is known.
    low: float
    #: A proven upper bound; ∞ if none is known.
    high: float
    #: How the lower bound was found.
    low_source: str
    #: How the upper bound was found.
    high_source: str

    @property
    def is_exact(self) -> bool:
        """Whether both bounds are the same, up to rounding."""
        finite = bool(np.isfinite([self.low, self.high]).all())
        return self.low == self.high or (finite and self.high - self.low <= EQUAL * max(abs(self.low), abs(self.high)))

    def __contains__(self, value: float) -> bool:
        slack = EQUAL * abs(value)
        return self.low - slack <= value <= self.high + slack


@dataclass(frozen=True)
class RestrictedEigenvalues:
    """m_s, the constant of strong convexity on s units, and M_s, that of smoothness (Definition 2).

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.theory import bracket_restricted_eigenvalues
    >>> found = bracket_restricted_eigenvalues(np.diag([1.0, 2.0, 3.0]), s=2)
    >>> found.smallest.low, found.largest.high, found.is_exact
    (1.0, 3.0, True)
    """

    #: Size of the supports, in units.
    s: int
    #: m_s.
    smallest: Bracket
    #: M_s.
    largest: Bracket

    @property
    def is_exact(self) -> bool:
        """Whether both are known exactly."""
        return self.smallest.is_exact and self.largest.is_exact


def restricted_eigenvalues(hessian: Any, s: int) -> tuple[float, float]:
    """Smallest and largest eigenvalue m_s, M_s of all s × s principal blocks, by enumeration.

    Parameters
    ----------
    hessian : array-like of shape (p, p)
        The Hessian of a quadratic.
    s : int
        Size of the supports.

    Examples
    --------
    >>> import numpy as np
    >>> restricted_eigenvalues(np.diag([1.0, 2.0, 3.0]), 2)
    (1.0, 3.0)
    """
    matrix, s = _check(hessian, s)
    n_supports = comb(len(matrix), s)
    if n_supports > MAX_SUPPORTS:
        raise ValueError(
            f"there are {n_supports} supports of size {s}; at most {MAX_SUPPORTS} are enumerated; choose a smaller s, "
            "or bracket_restricted_eigenvalues"
        )
    smallest, largest = np.inf, -np.inf
    supports = combinations(range(len(matrix)), s)
    while chunk := list(islice(supports, BATCH)):
        eigenvalues = np.linalg.eigvalsh(_take_blocks(matrix, np.array(chunk)))
        smallest = min(smallest, float(eigenvalues[:, 0].min()))
        largest = max(largest, float(eigenvalues[:, -1].max()))
    return smallest, largest


def bound_restricted_eigenvalues(hessian: Any, s: int) -> tuple[Bracket, Bracket]:
    """Bounds of m_s from below and of M_s from above, without looking at supports.

    The best of: eigenvalues of the whole matrix (blocks interlace with it); Gershgorin's discs with the s − 1 largest
    entries of each row; and for M_s of a positive semidefinite matrix the sum of its s largest diagonal entries.

    Parameters
    ----------
    hessian : array-like of shape (p, p)
        A symmetric matrix.
    s : int
        Size of the supports.

    Returns
    -------
    smallest, largest : Bracket
        With infinite ends where there are no bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.theory import bound_restricted_eigenvalues
    >>> smallest, largest = bound_restricted_eigenvalues(np.eye(4) + 0.1, s=2)
    >>> round(smallest.low, 3), smallest.low_source
    (1.0, "Gershgorin's discs of s entries")
    """
    matrix, s = _check(hessian, s)
    diagonal = matrix.diagonal()
    others = np.abs(matrix)
    np.fill_diagonal(others, 0.0)
    nearest = others if s > len(matrix) else np.partition(others, len(matrix) - s, axis=1)[:, len(matrix) - s + 1 :]
    radius = nearest.sum(axis=1)
    eigenvalues = np.linalg.eigvalsh(matrix)
    discs, whole = "Gershgorin's discs of s entries", "all of the matrix"
    low = max((float((diagonal - radius).min()), discs), (float(eigenvalues[0]), whole))
    upper = [(float((diagonal + radius).max()), discs), (float(eigenvalues[-1]), whole)]
    if eigenvalues[0] >= -EQUAL * abs(eigenvalues[-1]):
        upper.append((float(np.sort(diagonal)[-s:].sum()), "the s largest diagonal entries"))
    high = min(upper)
    return Bracket(low[0], np.inf, low[1], ""), Bracket(-np.inf, high[0], "", high[1])


def search_restricted_eigenvalues(hessian: Any, s: int) -> tuple[tuple[float, IntArray], tuple[float, IntArray]]:
    """The smallest and the largest eigenvalue of blocks that a search finds, each with its support.

    m_s is at most the one, and M_s at least the other. From many starts, the extreme eigenvector of a block is
    multiplied by the matrix, and the s largest entries are the next block, until it stops improving (Yuan and Zhang,
    Truncated power method for sparse eigenvalue problems, JMLR 14, 2013). Then single columns are exchanged.

    Parameters
    ----------
    hessian : array-like of shape (p, p)
        A symmetric matrix.
    s : int
        Size of the supports.

    Returns
    -------
    (smallest, support), (largest, support)

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.theory import search_restricted_eigenvalues
    >>> (smallest, support), _ = search_restricted_eigenvalues([[1, 0.5, 0], [0.5, 1, 0.1], [0, 0.1, 1]], s=2)
    >>> smallest, support
    (0.5, array([0, 1]))
    """
    matrix, s = _check(hessian, s)
    identity = np.eye(len(matrix))
    eigenvalues, vectors = np.linalg.eigh(matrix)
    starts = _choose_starts(matrix, s, vectors[:, [0, -1]].T)
    lowest, highest = float(eigenvalues[0]), float(eigenvalues[-1])
    # The search climbs for positive semidefinite matrices.
    gap, flattest = _improve_supports(highest * identity - matrix, starts)
    rise, steepest = _improve_supports(matrix - lowest * identity, starts)
    return (highest - gap, flattest), (lowest + rise, steepest)


def bracket_restricted_eigenvalues(hessian: Any, s: int, *, max_supports: int = 200_000) -> RestrictedEigenvalues:
    """m_s and M_s of a matrix: by enumeration if there are few supports, else between bounds.

    The outer bounds are those of `bound_restricted_eigenvalues`, the inner ones belong to supports that
    `search_restricted_eigenvalues` finds.

    Parameters
    ----------
    hessian : array-like of shape (p, p)
        A symmetric matrix.
    s : int
        Size of the supports.
    max_supports : int, default=200_000
        Up to so many supports are enumerated.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.theory import bracket_restricted_eigenvalues
    >>> A = np.random.default_rng(0).standard_normal((200, 30))
    >>> found = bracket_restricted_eigenvalues(A.T @ A / 200, s=6, max_supports=0)
    >>> print(f"{found.smallest.low:.2f} to {found.smallest.high:.2f}")
    0.38 to 0.56
    """
    matrix, s = _check(hessian, s)
    if comb(len(matrix), s) <= max_supports:
        low, high = restricted_eigenvalues(matrix, s)
        source = "all supports"
        return RestrictedEigenvalues(s, Bracket(low, low, source, source), Bracket(high, high, source, source))
    below, above = bound_restricted_eigenvalues(matrix, s)
    (smallest, _), (largest, _) = search_restricted_eigenvalues(matrix, s)
    # Rounding could put a found eigenvalue beyond a bound.
    return RestrictedEigenvalues(
        s,
        Bracket(below.low, max(smallest, below.low), below.low_source, FOUND),
        Bracket(min(largest, above.high), above.high, FOUND, above.high_source),
    )


def _check(hessian: Any, s: int) -> tuple[Array, int]:
    matrix = np.asarray(hessian, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ValueError(f"the Hessian has shape {matrix.shape}; pass a square matrix")
    if not np.isfinite(matrix).all():
        raise ValueError("the Hessian has NaN or infinite entries")
    s = check_number_of_units(s)
    if s == 0:
        raise ValueError("s must be at least 1: it is the size of the supports")
    return matrix, min(s, len(matrix))


def _take_blocks(matrix: Array, supports: IntArray) -> Array:
    return matrix[supports[:, :, None], supports[:, None, :]]


def _take_largest(scores: Array, s: int) -> IntArray:
    """The indices of the s largest entries of each row, in order."""
    return np.sort(np.argsort(-scores, axis=1, kind="stable")[:, :s], axis=1)


def _choose_starts(matrix: Array, s: int, extremes: Array) -> IntArray:
    """Each of many columns with those it is closest to, and the large entries of the extreme eigenvectors."""
    size = len(matrix)
    scores = np.abs(matrix)
    np.fill_diagonal(scores, np.inf)
    kept = np.unique(np.linspace(0, size - 1, min(size, N_STARTS)).astype(np.intp))
    diagonal = np.array([matrix.diagonal(), -matrix.diagonal()])
    return np.unique(_take_largest(np.concatenate([scores[kept], np.abs(extremes), diagonal]), s), axis=0)


def _improve_supports(matrix: Array, supports: IntArray) -> tuple[float, IntArray]:
    """The largest eigenvalue of a block of a positive semidefinite matrix that the starts lead to, and its support."""
    best, chosen = -np.inf, supports[0]
    s = supports.shape[1]
    for _ in range(MAX_IMPROVEMENTS):
        values, vectors = np.linalg.eigh(_take_blocks(matrix, supports))
        top = int(np.argmax(values[:, -1]))
        if values[top, -1] > best:
            best, chosen = float(values[top, -1]), supports[top]
        products = np.einsum("ij,ijp->ip", vectors[:, :, -1], matrix[supports])
        following = np.unique(_take_largest(np.abs(products), s), axis=0)
        if np.array_equal(following, supports):
            break
        supports = following
    return _swap_columns(matrix, best, chosen)


def _swap_columns(matrix: Array, best: float, chosen: IntArray) -> tuple[float, IntArray]:
    """Exchange single columns of a support, while that raises the largest eigenvalue of its block."""
    s = chosen.size
    for _ in range(MAX_IMPROVEMENTS if s < len(matrix) else 0):
        vector = np.linalg.eigh(matrix[np.ix_(chosen, chosen)])[1][:, -1]
        scores = np.abs(vector @ matrix[chosen])
        scores[chosen] = -np.inf
        entering = _take_largest(scores[None], min(N_CANDIDATES, len(matrix) - s))[0]
        trials = np.tile(chosen, (s * entering.size, 1))
        trials[np.arange(len(trials)), np.arange(len(trials)) % s] = np.repeat(entering, s)
        values = np.linalg.eigvalsh(_take_blocks(matrix, trials))[:, -1]
        top = int(np.argmax(values))
        if values[top] <= best * (1 + EQUAL):
            break
        best, chosen = float(values[top]), np.sort(trials[top])
    return best, chosen
