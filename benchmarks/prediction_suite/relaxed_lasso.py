"""The relaxed lasso with its penalty and its amount of relaxation chosen by cross-validation.

For each λ, γ·(lasso) + (1 − γ)·(least squares on the features of the lasso), as in Hastie, Tibshirani and Tibshirani.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import lasso_path

__all__ = ["GAMMAS", "choose_relaxed_lasso", "compute_relaxed_path"]

GAMMAS = (0.0, 0.25, 0.5, 0.75, 1.0)
PENALTIES, SMALLEST = 100, 1e-3  # those of scikit-learn's LassoCV


def compute_relaxed_path(X: Any, y: Any, alphas: Any) -> Any:
    """Return the coefficients for centred data, of shape (penalties, relaxations, features)."""
    _, lasso, _ = lasso_path(X, y, alphas=alphas, precompute=X.shape[1] <= X.shape[0])
    path = np.zeros((len(alphas), len(GAMMAS), X.shape[1]))
    active, refit = np.zeros(X.shape[1], dtype=bool), np.zeros(X.shape[1])
    for position, coef in enumerate(lasso.T):
        if not np.array_equal(active, coef != 0):
            active = coef != 0
            refit = np.zeros(X.shape[1])
            refit[active] = np.linalg.lstsq(X[:, active], y, rcond=None)[0]
        for place, gamma in enumerate(GAMMAS):
            path[position, place] = gamma * coef + (1.0 - gamma) * refit
    return path


def choose_relaxed_lasso(X: Any, y: Any, splitter: Any) -> tuple[Any, float]:
    """Choose penalty and relaxation by the mean squared error of the folds; return coefficients and intercept."""
    center, mean = X.mean(axis=0), y.mean()
    largest = np.abs((X - center).T @ (y - mean)).max() / len(y)
    alphas = np.geomspace(largest, SMALLEST * largest, PENALTIES)
    errors = np.zeros((PENALTIES, len(GAMMAS)))
    for train, test in splitter.split(X):
        fold_center, fold_mean = X[train].mean(axis=0), y[train].mean()
        path = compute_relaxed_path(np.asfortranarray(X[train] - fold_center), y[train] - fold_mean, alphas)
        residuals = (y[test] - fold_mean) - path @ (X[test] - fold_center).T
        errors += (residuals**2).sum(axis=2)
    best = np.unravel_index(np.argmin(errors), errors.shape)
    coef = compute_relaxed_path(np.asfortranarray(X - center), y - mean, alphas[: best[0] + 1])[best]
    return coef, float(mean - center @ coef)
