"""The judge: refits what a method selected with code that no method shares, and measures the result."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.linear_model import LogisticRegression, Ridge

from .tasks import Instance

__all__ = ["evaluate", "graph_objective", "refit"]

#: Sweeps over the nodes of a graph, and the largest change of a covariance in the last one.
SWEEPS, TOLERANCE = 1000, 1e-9


def evaluate(instance: Instance, answer: Any) -> dict[str, float]:
    """Measures of an answer: the features of a regression, or a precision matrix of standardized variables.

    Returns
    -------
    dict of str to float
        ``features`` and ``objective``; ``recall`` and ``test_error`` where there is a truth or data to predict; for
        graphs ``f_score`` and ``frobenius``, the error relative to the true matrix.
    """
    return _of_graph(instance, answer) if instance.task.kind == "graph" else _of_features(instance, answer)


def refit(kind: str, X: Any, y: Any, alpha: float) -> Any:
    """Coefficients that minimize the mean loss + (alpha/2)·‖w‖², by scikit-learn to high accuracy."""
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
        warnings.simplefilter("ignore")  # a gradient of 1e-9 is at the limit of rounding, which it may say
        return model.fit(X, y).coef_[0]


def graph_objective(covariance: Any, support: Any) -> float:
    """min −log det Ω + ⟨Σ, Ω⟩ over Ω that vanish off the support; NaN where no minimum was found.

    Each sweep regresses every variable on its neighbours, and sets its covariances to what follows from that (Hastie,
    Tibshirani and Friedman, *Elements*, Algorithm 17.1). At the end ⟨Σ, Ω⟩ = p, and log det Ω = −log det W.
    """
    p = len(covariance)
    neighbours = [np.flatnonzero(row) for row in (support & ~np.eye(p, dtype=bool))]
    W = covariance.copy()
    for _ in range(SWEEPS):
        change = 0.0
        for j in range(p):
            near = neighbours[j]
            column = np.zeros(p)
            if near.size:
                try:
                    weights = cho_solve(cho_factor(W[np.ix_(near, near)]), covariance[near, j])
                except np.linalg.LinAlgError:
                    return np.nan
                column = W[:, near] @ weights
            column[j] = covariance[j, j]
            change = max(change, float(np.abs(column - W[:, j]).max()))
            W[:, j] = W[j] = column
        if change < TOLERANCE:
            sign, value = np.linalg.slogdet(W)
            return float(value + p) if sign > 0 else np.nan
    return np.nan


def _of_features(instance: Instance, answer: Any) -> dict[str, float]:
    task = instance.task
    support = np.unique(np.asarray(answer, dtype=np.intp))
    columns = task.X[:, support]
    w = refit(task.kind, columns, task.y, task.alpha)
    objective = float(np.mean(_losses(task.kind, task.y, columns @ w)) + 0.5 * task.alpha * w @ w)
    # More features than were asked for are an answer to another question.
    measures = {"features": float(support.size), "objective": objective if support.size <= task.k else np.nan}
    if instance.truth is not None:
        measures["recall"] = float(np.isin(instance.truth, support).mean())
    if instance.X_test is not None:
        measures["test_error"] = _test_error(task.kind, instance.y_test, instance.X_test[:, support] @ w)
    return measures


def _losses(kind: str, y: Any, margins: Any) -> Any:
    return 0.5 * (y - margins) ** 2 if kind == "linear" else np.logaddexp(0.0, -y * margins)


def _test_error(kind: str, y: Any, margins: Any) -> float:
    """Share of wrong signs, or of the variance that is not explained."""
    if kind == "linear":
        return float(np.mean((y - margins) ** 2) / np.var(y))
    return float(np.mean(np.where(margins > 0, 1.0, -1.0) != y))


def _of_graph(instance: Instance, precision: Any) -> dict[str, float]:
    found, true = (np.triu(matrix, 1) != 0 for matrix in (precision, instance.truth))
    error = np.linalg.norm(precision / instance.scale - instance.truth) / np.linalg.norm(instance.truth)
    return {
        "features": float(found.sum()),
        "objective": graph_objective(instance.task.X, found | found.T),
        "recall": float((found & true).sum() / max(true.sum(), 1)),
        "f_score": float(2 * (found & true).sum() / (found.sum() + true.sum())),
        "frobenius": float(error),
    }
