"""Small problems and the best of all their subsets, by formulas of NumPy alone."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from ksparse._types import Array
from ksparse.objectives import LeastSquares, Logistic, Objective

ALPHA = 1e-3


def small_data(kind: str, rho: float, seed: int, sparse: bool = False) -> tuple[Array, Array, int]:
    """X, y and k: 8 to 15 features with equal or falling correlations; any number of them matter, or k if sparse."""
    rng = np.random.default_rng([seed, int(10 * rho), kind == "logistic"])
    n, p = int(rng.integers(20, 60)), int(rng.integers(8, 16))
    k = int(rng.integers(2, 6 if sparse else min(p - 1, 8)))
    relevant = k if sparse else int(rng.integers(1, p + 1))
    lag = np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    correlations = rho**lag if seed % 2 else np.where(lag == 0, 1.0, rho)
    X = rng.standard_normal((n, p)) @ np.linalg.cholesky(correlations).T
    w = np.zeros(p)
    w[rng.choice(p, relevant, replace=False)] = rng.standard_normal(relevant)
    if kind == "squares":
        return X, X @ w + rng.choice([0.1, 0.5, 1.0, 2.0]) * rng.standard_normal(n), k
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * X @ w)), 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    return X, y, k


def objective_of(kind: str, X: Array, y: Array) -> Objective:
    return LeastSquares(X, y) if kind == "squares" else Logistic(X, y, alpha=ALPHA)


def lowest(kind: str, X: Array, y: Array, k: int) -> float:
    """The lowest f over all supports of size k, all of which are fitted at once."""
    supports = np.array(list(combinations(range(X.shape[1]), k)))
    return float(values_on(kind, X, y, supports).min())


def values_on(kind: str, X: Array, y: Array, supports: Any) -> Array:
    """The minimum of f on each support: normal equations, or Newton's method with halved steps."""
    if kind == "squares":
        gram, moments = X.T @ X, (X.T @ y)[supports]
        w = np.linalg.solve(gram[supports[:, :, None], supports[:, None, :]], moments[..., None])[..., 0]
        return np.asarray(y @ y - (w * moments).sum(axis=1)) / (2 * len(y))
    Z = (y[:, None] * X).T[supports].transpose(0, 2, 1)

    def value(w: Array) -> Array:
        losses = np.logaddexp(0, -np.matmul(Z, w[..., None])[..., 0]).mean(axis=1)
        return np.asarray(losses + ALPHA / 2 * (w * w).sum(axis=1))

    w = np.zeros(supports.shape)
    for _ in range(100):
        odds = 1 / (1 + np.exp(np.matmul(Z, w[..., None])[..., 0]))
        gradient = ALPHA * w - np.matmul(odds[:, None, :], Z)[:, 0] / len(y)
        if np.abs(gradient).max() < 1e-8:
            return value(w)
        weighted = Z * (odds * (1 - odds))[..., None]
        hessian = np.matmul(Z.transpose(0, 2, 1), weighted) / len(y) + ALPHA * np.eye(w.shape[1])
        step = np.linalg.solve(hessian, -gradient[..., None])[..., 0]
        before, length = value(w), np.ones(len(w))
        while (higher := value(w + length[:, None] * step) > before + 1e-13).any():
            length[higher] /= 2
        w = w + length[:, None] * step
    raise AssertionError("Newton's method has not converged")
