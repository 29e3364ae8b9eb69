"""Evaluator: refits the selection of a method with code that no method uses, and computes the measures."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.linear_model import LogisticRegression, Ridge

from .families import FAMILIES, Coefficients
from .tasks import Instance

__all__ = ["compute_graph_objective", "evaluate", "refit"]

#: Maximum number of sweeps over the nodes of a graph, and the change of W at which they stop.
MAX_SWEEPS, TOLERANCE = 1000, 1e-9


def evaluate(instance: Instance, output: Any) -> dict[str, float]:
    """Compute the measures of a method's output: selected features, or the precision matrix of standardized variables.

    If the output is `Coefficients`, these are evaluated instead of a refit.

    Returns
    -------
    dict of str to float
        ``features`` and ``objective``; ``recall`` if the truth is known and ``test_error`` if there are test data; for
        graphs ``f_score`` and ``frobenius``, the Frobenius error relative to the norm of the true matrix.
    """
    return _evaluate_graph(instance, output) if instance.task.kind == "graph" else _evaluate_features(instance, output)


def refit(kind: str, X: Any, y: Any, alpha: float) -> Any:
    """Minimize the mean loss + (alpha/2)·‖w‖² to high accuracy with scikit-learn, and return the coefficients."""
    if X.shape[1] == 0:
        return np.zeros(0)
    if kind == "linear" and alpha == 0:
        return np.linalg.lstsq(np.asarray(X), y, rcond=None)[0]
    if kind == "linear":
        return Ridge(alpha * len(y), fit_intercept=False, solver="cholesky").fit(X, y).coef_
    model = LogisticRegression(
        C=1 / (alpha * len(y)), fit_intercept=False, solver="newton-cholesky", tol=1e-9, max_iter=1000
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tol=1e-9 is close to the rounding error, and may not be reached
        return model.fit(X, y).coef_[0]


def compute_graph_objective(covariance: Any, support: Any) -> float:
    """Return min −log det Ω + ⟨Σ, Ω⟩ over Ω that vanish off the support; NaN if no minimum was found.

    Each sweep regresses every variable on its neighbours and updates its covariances accordingly (Hastie, Tibshirani
    and Friedman, *Elements*, Algorithm 17.1). At the solution ⟨Σ, Ω⟩ = p and log det Ω = −log det W.
    """
    p = len(covariance)
    neighbours = [np.flatnonzero(row) for row in (support & ~np.eye(p, dtype=bool))]
    W = covariance.copy()
    for _ in range(MAX_SWEEPS):
        change = 0.0
        for j in range(p):
            adjacent = neighbours[j]
            column = np.zeros(p)
            if adjacent.size:
                try:
                    weights = cho_solve(cho_factor(W[np.ix_(adjacent, adjacent)]), covariance[adjacent, j])
                except np.linalg.LinAlgError:
                    return np.nan
                column = W[:, adjacent] @ weights
            column[j] = covariance[j, j]
            change = max(change, float(np.abs(column - W[:, j]).max()))
            W[:, j] = W[j] = column
        if change < TOLERANCE:
            sign, value = np.linalg.slogdet(W)
            return float(value + p) if sign > 0 else np.nan
    return np.nan


def _evaluate_features(instance: Instance, output: Any) -> dict[str, float]:
    task = instance.task
    given = output.values if isinstance(output, Coefficients) else None
    support = np.unique(np.asarray(output, dtype=np.intp)) if given is None else np.flatnonzero(given)
    columns = task.X[:, support]
    test_columns = None if instance.X_test is None else instance.X_test[:, support]
    if task.kind in FAMILIES:
        family = FAMILIES[task.kind]
        w = family.refit(columns, task.y) if given is None else given[support]
        objective = family.compute_loss(w, columns, task.y)
    else:
        w = refit(task.kind, columns, task.y, task.alpha)
        objective = float(np.mean(_compute_losses(task.kind, task.y, columns @ w)) + 0.5 * task.alpha * w @ w)
    # A model with more than k features is not comparable.
    measures = {"features": float(support.size), "objective": objective if support.size <= task.k else np.nan}
    if instance.truth is not None:
        measures["recall"] = float(np.isin(instance.truth, support).mean())
    if test_columns is not None:
        measures["test_error"] = _compute_test_error(task.kind, instance.y_test, test_columns, w)
    return measures


def _compute_losses(kind: str, y: Any, margins: Any) -> Any:
    return 0.5 * (y - margins) ** 2 if kind == "linear" else np.logaddexp(0.0, -y * margins)


def _compute_test_error(kind: str, y: Any, X: Any, w: Any) -> float:
    """Return the misclassification rate, the fraction of unexplained variance, or the error of the family."""
    if kind in FAMILIES:
        return FAMILIES[kind].compute_test_error(w, X, y)
    margins = X @ w
    if kind == "linear":
        return float(np.mean((y - margins) ** 2) / np.var(y))
    return float(np.mean(np.where(margins > 0, 1.0, -1.0) != y))


def _evaluate_graph(instance: Instance, precision: Any) -> dict[str, float]:
    found, true = (np.triu(matrix, 1) != 0 for matrix in (precision, instance.truth))
    error = np.linalg.norm(precision / instance.scale - instance.truth) / np.linalg.norm(instance.truth)
    return {
        "features": float(found.sum()),
        "objective": compute_graph_objective(instance.task.X, found | found.T),
        "recall": float((found & true).sum() / max(true.sum(), 1)),
        "f_score": float(2 * (found & true).sum() / (found.sum() + true.sum())),
        "frobenius": float(error),
    }
