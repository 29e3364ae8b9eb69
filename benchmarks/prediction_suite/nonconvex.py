"""MCP and SCAD by skglm, with the penalty chosen by cross-validation on warm-started paths."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["choose_nonconvex"]

#: Usual concavities: 3 for MCP (Zhang 2010), 3.7 for SCAD (Fan and Li 2001).
GAMMAS = {"MCP": 3.0, "SCAD": 3.7}
PENALTIES = 50
#: Smallest penalty relative to the largest, with more samples than features and with fewer, as in R's ncvreg.
SMALLEST = (1e-3, 5e-2)
#: Tolerance relative to the largest penalty, and limits of the work for one penalty.
TOLERANCE, OUTER_STEPS, EPOCHS = 1e-4, 20, 1000


def compute_path(name: str, X: Any, y: Any, alphas: Any) -> Any:
    """Return the coefficients for centred data, a row for each penalty, each starting from the one before."""
    from skglm.datafits import Quadratic
    from skglm.penalties import SCAD, MCPenalty
    from skglm.solvers import AndersonCD

    kind = {"MCP": MCPenalty, "SCAD": SCAD}[name]
    solver = AndersonCD(OUTER_STEPS, EPOCHS, tol=TOLERANCE * alphas[0], fit_intercept=False)
    coefs = np.zeros((len(alphas), X.shape[1]))
    coef, margins = np.zeros(X.shape[1]), np.zeros(len(y))
    for position, alpha in enumerate(alphas):
        coef = solver.solve(X, y, Quadratic(), kind(alpha, GAMMAS[name]), coef, margins)[0]
        coefs[position] = coef
    return coefs


def choose_nonconvex(name: str, X: Any, y: Any, splitter: Any) -> tuple[Any, float]:
    """Choose the penalty by the mean squared error of the folds; return coefficients and intercept."""
    n, p = X.shape
    center, mean = X.mean(axis=0), y.mean()
    largest = np.abs((X - center).T @ (y - mean)).max() / n
    alphas = np.geomspace(largest, SMALLEST[int(p > n)] * largest, PENALTIES)
    errors = np.zeros(PENALTIES)
    for train, test in splitter.split(X):
        fold_center, fold_mean = X[train].mean(axis=0), y[train].mean()
        coefs = compute_path(name, np.asfortranarray(X[train] - fold_center), y[train] - fold_mean, alphas)
        errors += ((y[test] - fold_mean - coefs @ (X[test] - fold_center).T) ** 2).sum(axis=1)
    best = int(np.argmin(errors))
    coef = compute_path(name, np.asfortranarray(X - center), y - mean, alphas[: best + 1])[best]
    return coef, float(mean - center @ coef)
