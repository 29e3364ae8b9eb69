"""Logistic regression with an elastic net, by skglm, with both of its parameters chosen by cross-validation.

The proximal Newton method of skglm follows a path of penalties for each ratio of the L1 part. scikit-learn's saga is
too slow with thousands of features. The path ends when the model explains almost all of the deviance, as in glmnet.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import xlogy

__all__ = ["L1_RATIOS", "choose_elastic_net", "compute_logistic_path"]

L1_RATIOS = (0.1, 0.5, 0.9, 1.0)
PENALTIES, SMALLEST = 30, 1e-3
#: Explained fraction of the deviance that ends a path.
ENOUGH = 0.999
TOLERANCE, OUTER_STEPS = 1e-2, 50  # the tolerance is relative to the penalty


def make_penalties(X: Any, signs: Any, l1_ratio: float) -> Any:
    """Return the penalties of a path: at the first all coefficients are zero."""
    slopes = (signs > 0) - np.mean(signs > 0)
    largest = np.abs(X.T @ slopes).max() / len(signs) / l1_ratio
    return np.geomspace(largest, SMALLEST * largest, PENALTIES)


def compute_logistic_path(X: Any, signs: Any, alphas: Any, l1_ratio: float) -> Any:
    """Return coefficients and intercept (last) for labels −1 and +1, a row for each penalty."""
    from skglm.datafits import Logistic
    from skglm.penalties import L1_plus_L2
    from skglm.solvers import ProxNewton

    positive = float(np.mean(signs > 0))
    null = -(xlogy(positive, positive) + xlogy(1 - positive, 1 - positive))
    path = np.zeros((len(alphas), X.shape[1] + 1))
    point = np.zeros(X.shape[1] + 1)
    point[-1] = np.log(positive / (1 - positive))
    margins = np.full(len(signs), point[-1])
    for position, alpha in enumerate(alphas):
        solver = ProxNewton(max_iter=OUTER_STEPS, tol=TOLERANCE * alpha * l1_ratio)
        point = solver.solve(X, signs, Logistic(), L1_plus_L2(alpha, l1_ratio), point, margins)[0]
        path[position] = point
        if np.logaddexp(0.0, -signs * margins).mean() < (1 - ENOUGH) * null:
            path[position:] = point
            break
    return path


def choose_elastic_net(X: Any, positive: Any, splitter: Any) -> tuple[Any, float]:
    """Choose ratio and penalty by the log loss of the folds; return coefficients and intercept."""
    signs = np.where(positive, 1.0, -1.0)
    design = sparse.csc_matrix(X) if sparse.issparse(X) else np.asfortranarray(X)
    grids = {ratio: make_penalties(design, signs, ratio) for ratio in L1_RATIOS}
    losses = {ratio: np.zeros(PENALTIES) for ratio in L1_RATIOS}
    for train, test in splitter.split(X, signs):
        part = sparse.csc_matrix(X[train]) if sparse.issparse(X) else np.asfortranarray(X[train])
        for ratio, alphas in grids.items():
            path = compute_logistic_path(part, signs[train], alphas, ratio)
            margins = X[test] @ path[:, :-1].T + path[:, -1]
            losses[ratio] += np.logaddexp(0.0, -signs[test, None] * margins).sum(axis=0)
    ratio = min(L1_RATIOS, key=lambda one: losses[one].min())
    best = int(np.argmin(losses[ratio]))
    point = compute_logistic_path(design, signs, grids[ratio][: best + 1], ratio)[best]
    return point[:-1], float(point[-1])
