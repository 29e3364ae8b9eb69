"""Covariances, supports and oracles that the tests of precision matrices share."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from ksparse._types import Array, Mask
from ksparse.debias import Exact, Solution
from ksparse.objectives import LogDet


def covariance(p: int, n: int, seed: int = 0, scaled: bool = False) -> Array:
    """Σ of n samples of a chain with a few more edges."""
    rng = np.random.default_rng([seed, p, n])
    omega = np.eye(p) + np.diag(np.full(p - 1, 0.4), 1) + np.diag(np.full(p - 1, 0.4), -1)
    X = rng.standard_normal((n, p)) @ np.linalg.cholesky(np.linalg.inv(omega)).T
    X = X * np.linspace(0.5, 3.0, p) if scaled else X
    return np.asarray(X.T @ X / n)


def random_support(p: int, share: float, seed: int = 0) -> Mask:
    """A symmetric support with the diagonal."""
    above = np.triu(np.random.default_rng([seed, p, 7]).random((p, p)) < share, 1)
    return np.asarray(above | above.T | np.eye(p, dtype=bool))


def support_of(p: int, pairs: Any) -> Mask:
    """The support of some edges."""
    support = np.eye(p, dtype=bool)
    for i, j in pairs:
        support[i, j] = support[j, i] = True
    return support


def refitted(objective: LogDet, support: Mask, method: Any = "neighbourhood", **options: Any) -> tuple[Solution, Array]:
    """The minimum on a support, and its matrix."""
    restricted = objective.restrict(support)
    solution = Exact(method, **options)(restricted, objective.start[support])
    return solution, restricted.matrix(solution.point.x)


def value_at(sigma: Array, omega: Array) -> float:
    """−log det Ω + ⟨Σ, Ω⟩, from eigenvalues."""
    return float(np.sum(sigma * omega) - np.log(np.linalg.eigvalsh(omega)).sum())


def brute_force(objective: LogDet, k: int) -> float:
    """The lowest value over all sets of k edges."""
    p = len(objective.covariance)
    edges = list(combinations(range(p), 2))
    return min(refitted(objective, support_of(p, chosen))[0].point.value for chosen in combinations(edges, k))
