"""Penalties that leave k features or k edges: an L1 penalty can only be searched for the one that does."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.covariance import graphical_lasso
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import l1_min_c

__all__ = ["TUNED", "bisected", "edges_of", "lasso_penalty", "liblinear_l1"]

#: Parameters with which scikit-learn's graphical lasso converges in a few iterations.
TUNED = {"enet_tol": 1e-8}
#: Share by which the number of edges of a rough fit may miss k.
NEAR = 0.01
#: How far upwards the logarithm of a strength is searched for more than k features.
FARTHEST = 12.0


def bisected(features: Callable[[float], Any], low: float, k: int, tries: int = 25, first: float = 1.0) -> Any:
    """Features at the strength that leaves k of them, or the next fewer that were met.

    Parameters
    ----------
    features : callable
        Indices of the features that are left at the logarithm of a strength; more as it grows.
    low : float
        Logarithm of a strength at which (nearly) nothing is left.
    k : int
        Features wanted.
    tries : int, default=25
        Bisections; some numbers of features do not occur at any strength.
    first : float, default=1.0
        The first step upwards, to a strength at which more than k are left.

    Returns
    -------
    ndarray of int
        The features.
    """
    high, best, limit = low, features(low), low + FARTHEST
    while best.size < k and high < limit:
        low, high = high, high + first
        best = features(high)
    found = {best.size: best}
    for _ in range(tries):
        if k in found:
            break
        middle = 0.5 * (low + high)
        best = features(middle)
        found[best.size] = best
        low, high = (middle, high) if best.size < k else (low, middle)
    return found.get(max((size for size in found if size <= k), default=-1), np.arange(0))


def liblinear_l1(X: Any, y: Any, k: int, **settings: Any) -> Any:
    """Features of scikit-learn's L1 logistic regression (liblinear) bisected to k; without intercept unless asked."""
    options = {"fit_intercept": False, "tol": 1e-5, "max_iter": 3000, **settings}

    def features(log_c: float) -> Any:
        model = LogisticRegression(l1_ratio=1.0, solver="liblinear", C=np.exp(log_c), **options)
        return np.flatnonzero(model.fit(X, y).coef_[0])

    low = float(np.log(l1_min_c(X, y, loss="log", fit_intercept=options["fit_intercept"])))
    return bisected(features, low, k)


def edges_of(precision: Any) -> int:
    """Number of pairs that are not zero."""
    return int(np.count_nonzero(np.triu(precision, 1)))


def lasso_penalty(correlations: Any, k: int) -> float:
    """A penalty with which the graphical lasso has about k edges: within 1 % in a rough fit, or the nearest of ten."""
    sizes = np.sort(np.abs(correlations[np.triu_indices(len(correlations), 1)]))[::-1]
    trial, best, miss = float(np.log(sizes[k - 1])), np.nan, np.inf
    low, high = -np.inf, np.inf  # too many edges below, too few above
    for _ in range(10):
        off = np.log(max(_rough_edges(correlations, float(np.exp(trial))), 1) / k)
        if abs(off) < miss:
            best, miss = trial, abs(off)
        if miss <= NEAR:
            break
        low, high = (trial, high) if off > 0 else (low, trial)
        # Nearby, the number of edges falls about as the cube of the penalty.
        trial += float(np.clip(off / 3.0, -0.3, 0.3))
        if not low < trial < high:
            trial = 0.5 * (low + high)
    return float(np.exp(best))


def _rough_edges(correlations: Any, penalty: float) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return edges_of(graphical_lasso(correlations, penalty, tol=1e-2, max_iter=20, **TUNED)[1])
