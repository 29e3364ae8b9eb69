"""The data of the cases: each function gives one instance for a seed."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.model_selection import train_test_split

from ksparse.datasets import load_real, make_logistic, make_precision, term_weights

from .bisection import lasso_penalty
from .tasks import Instance, Task

__all__ = ["glm", "graph", "high_correlation", "on_path", "paper", "text"]

#: Ridge of classifiers, with which separated classes have a minimum; texts, whose rows have unit length, need less.
ALPHA, TEXT_ALPHA = 1e-4, 1e-5
#: Samples to predict, in simulations.
TEST = 1000


def paper(n: int, p: int, k: int, seed: int, correlation: float = 0.5) -> Instance:
    """The paper's logistic simulation (§5.1)."""
    X, y, coef = make_logistic(n + TEST, p, k, correlation=correlation, random_state=seed)
    return _instance("logistic", X, y, coef, n, k)


def glm(kind: str, n: int, p: int, k: int, seed: int) -> Instance:
    """Independent features, and coefficients of random sign and size, as abess's generator of GLM data has them.

    With m = 5·√(2·log p/n), sizes are uniform between m and 100m for a linear model with unit noise, and between 2m
    and 10m for a logistic one.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n + TEST, p))
    unit = 5.0 * np.sqrt(2.0 * np.log(p) / n)
    low, high = (unit, 100 * unit) if kind == "linear" else (2 * unit, 10 * unit)
    coef = np.zeros(p)
    coef[rng.choice(p, k, replace=False)] = rng.uniform(low, high, k) * rng.choice([-1.0, 1.0], k)
    return _instance(kind, X, _responses(kind, X @ coef, rng), coef, n, k)


def high_correlation(kind: str, n: int, p: int, k: int, seed: int, correlation: float = 0.9) -> Instance:
    """fastSparse's setting (Liu et al., AISTATS 2022): correlations ρ^|i−j|, each (p/k)-th coefficient is 1.

    Labels are the signs of the margins, without noise, as in the code of that paper. The linear variant has noise of
    a tenth of the variance of the margins.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n + TEST, p))
    for j in range(1, p):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    coef = np.zeros(p)
    step = p // k
    coef[step - 1 : step * k : step] = 1.0
    margins = X @ coef
    if kind == "linear":
        y = margins + np.sqrt(0.1 * margins.var()) * rng.standard_normal(n + TEST)
    else:
        y = np.where(margins >= 0, 1.0, -1.0)
    return _instance(kind, X, y, coef, n, k)


def text(name: str, k: int, seed: int) -> Instance:
    """Three quarters of real texts; the others are to be predicted."""
    X, y = _texts(name)
    train, test = train_test_split(np.arange(len(y)), train_size=0.75, random_state=seed, stratify=y)
    parts = (X[train], X[test]) if name == "rcv1" else tuple(term_weights(X[train], X[test]))
    labels = np.where(y == np.max(y), 1.0, -1.0)
    return Instance(Task("logistic", parts[0], labels[train], k, TEXT_ALPHA), None, parts[1], labels[test])


def graph(n: int, p: int, seed: int, condition: float | None = None, penalized: bool = True) -> Instance:
    """The paper's precision matrices (§5.2.1) with three neighbours on average; k is the true number of edges.

    A penalty for the graphical lasso, which is the slow part, is searched only if it is `penalized`.
    """
    X, precision = make_precision(n, p, degree=3.0, condition=condition, random_state=seed)
    k = int(np.count_nonzero(np.triu(precision, 1)))
    correlations = np.corrcoef(X, rowvar=False)
    deviations = X.std(axis=0)
    task = Task("graph", correlations, None, k, penalty=lasso_penalty(correlations, k) if penalized else None)
    return Instance(task, precision, scale=np.multiply.outer(deviations, deviations))


def on_path(instance: Instance, ks: tuple[int, ...]) -> Instance:
    """The same data with many k; the last one is judged."""
    task = instance.task
    return Instance(Task(task.kind, task.X, task.y, ks[-1], task.alpha, ks), None, instance.X_test, instance.y_test)


@lru_cache(maxsize=1)
def _texts(name: str) -> Any:
    return load_real(name)


def _responses(kind: str, margins: Any, rng: np.random.Generator) -> Any:
    if kind == "linear":
        return margins + rng.standard_normal(margins.size)
    return np.where(rng.random(margins.size) < expit(margins), 1.0, -1.0)


def _instance(kind: str, X: Any, y: Any, coef: Any, n: int, k: int) -> Instance:
    alpha = ALPHA if kind == "logistic" else 0.0
    task = Task(kind, np.ascontiguousarray(X[:n]), y[:n], k, alpha)
    return Instance(task, np.flatnonzero(coef), X[n:], y[n:])
