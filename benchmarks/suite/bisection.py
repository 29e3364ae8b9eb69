"""Search for the penalty that selects k features or k edges."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.covariance import graphical_lasso
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import l1_min_c

__all__ = ["TUNED", "count_edges", "find_lasso_penalty", "select_by_bisection", "select_l1"]

#: Parameters with which scikit-learn's graphical lasso converges in a few iterations.
TUNED = {"enet_tol": 1e-8}
#: Relative tolerance of the number of edges in a rough fit.
EDGE_TOLERANCE = 0.01
#: Largest increase of log(strength) tried in the search for more than k features.
MAX_LOG_INCREASE = 12.0


def select_by_bisection(
    select: Callable[[float], Any], low: float, k: int, max_steps: int = 25, first_step: float = 1.0
) -> Any:
    """Return the k features selected at some strength, or the largest smaller selection that was found.

    Parameters
    ----------
    select : callable
        Maps log(strength) to the indices of the selected features, whose number increases with the strength.
    low : float
        log(strength) at which (almost) no feature is selected.
    k : int
        Number of features to select.
    max_steps : int, default=25
        Maximum number of bisection steps; some numbers of features do not occur at any strength.
    first_step : float, default=1.0
        Step of log(strength) in the search for an upper end of the bracket.

    Returns
    -------
    ndarray of int
        Indices of the features.
    """
    high, best, limit = low, select(low), low + MAX_LOG_INCREASE
    while best.size < k and high < limit:
        low, high = high, high + first_step
        best = select(high)
    found = {best.size: best}
    for _ in range(max_steps):
        if k in found:
            break
        middle = 0.5 * (low + high)
        best = select(middle)
        found[best.size] = best
        low, high = (middle, high) if best.size < k else (low, middle)
    return found.get(max((size for size in found if size <= k), default=-1), np.arange(0))


def select_l1(X: Any, y: Any, k: int, **settings: Any) -> Any:
    """Select k features by scikit-learn's L1 logistic regression (liblinear), by default without an intercept."""
    options = {"fit_intercept": False, "tol": 1e-5, "max_iter": 3000, **settings}

    def select(log_c: float) -> Any:
        model = LogisticRegression(l1_ratio=1.0, solver="liblinear", C=np.exp(log_c), **options)
        return np.flatnonzero(model.fit(X, y).coef_[0])

    low = float(np.log(l1_min_c(X, y, loss="log", fit_intercept=options["fit_intercept"])))
    return select_by_bisection(select, low, k)


def count_edges(precision: Any) -> int:
    """Count the nonzero pairs of a precision matrix."""
    return int(np.count_nonzero(np.triu(precision, 1)))


def find_lasso_penalty(correlations: Any, k: int) -> float:
    """Find a penalty at which the graphical lasso has about k edges: within 1 % in a rough fit, or the best of ten."""
    sizes = np.sort(np.abs(correlations[np.triu_indices(len(correlations), 1)]))[::-1]
    trial, best, smallest_error = float(np.log(sizes[k - 1])), np.nan, np.inf
    low, high = -np.inf, np.inf  # too many edges at low, too few at high
    for _ in range(10):
        error = np.log(max(_count_rough_edges(correlations, float(np.exp(trial))), 1) / k)
        if abs(error) < smallest_error:
            best, smallest_error = trial, abs(error)
        if smallest_error <= EDGE_TOLERANCE:
            break
        low, high = (trial, high) if error > 0 else (low, trial)
        # Locally, the number of edges decreases about as the cube of the penalty.
        trial += float(np.clip(error / 3.0, -0.3, 0.3))
        if not low < trial < high:
            trial = 0.5 * (low + high)
    return float(np.exp(best))


def _count_rough_edges(correlations: Any, penalty: float) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return count_edges(graphical_lasso(correlations, penalty, tol=1e-2, max_iter=20, **TUNED)[1])
