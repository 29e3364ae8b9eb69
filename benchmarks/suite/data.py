"""The data of the cases: each function returns the instance for a seed."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.model_selection import train_test_split

from ksparse.datasets import load_real, make_logistic, make_precision, weight_terms

from .bisection import count_edges, find_lasso_penalty
from .tasks import Instance, Task

__all__ = ["set_path", "simulate_correlated", "simulate_glm", "simulate_graph", "simulate_paper", "split_texts"]

#: Ridge of classifiers, with which f has a minimum even if the classes are separable; texts have rows of unit length
#: and need a smaller one.
ALPHA, TEXT_ALPHA = 1e-4, 1e-5
#: Number of test samples in simulations.
N_TEST = 1000


def simulate_paper(n: int, p: int, k: int, seed: int, correlation: float = 0.5) -> Instance:
    """Draw the paper's logistic simulation (§5.1)."""
    X, y, coef = make_logistic(n + N_TEST, p, k, correlation=correlation, random_state=seed)
    return _make_instance("logistic", X, y, coef, n, k)


def simulate_glm(kind: str, n: int, p: int, k: int, seed: int) -> Instance:
    """Draw independent features, and coefficients of random sign and size as abess's generator of GLM data.

    With m = 5·√(2·log p/n), absolute values are uniform on [m, 100m] for a linear model with noise of unit variance,
    and on [2m, 10m] for a logistic model.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n + N_TEST, p))
    unit = 5.0 * np.sqrt(2.0 * np.log(p) / n)
    low, high = (unit, 100 * unit) if kind == "linear" else (2 * unit, 10 * unit)
    coef = np.zeros(p)
    coef[rng.choice(p, k, replace=False)] = rng.uniform(low, high, k) * rng.choice([-1.0, 1.0], k)
    return _make_instance(kind, X, _draw_responses(kind, X @ coef, rng), coef, n, k)


def simulate_correlated(kind: str, n: int, p: int, k: int, seed: int, correlation: float = 0.9) -> Instance:
    """Draw fastSparse's simulation (Liu et al., AISTATS 2022): correlations ρ^|i−j|, every (p/k)-th coefficient is 1.

    Labels are the signs of the margins, without noise, as in the code of that paper. The variance of the noise of the
    linear variant is a tenth of the variance of the margins.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n + N_TEST, p))
    for j in range(1, p):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    coef = np.zeros(p)
    step = p // k
    coef[step - 1 : step * k : step] = 1.0
    margins = X @ coef
    if kind == "linear":
        y = margins + np.sqrt(0.1 * margins.var()) * rng.standard_normal(n + N_TEST)
    else:
        y = np.where(margins >= 0, 1.0, -1.0)
    return _make_instance(kind, X, y, coef, n, k)


def split_texts(name: str, k: int, seed: int) -> Instance:
    """Split real texts: three quarters for training, the others for testing."""
    X, y = _load_texts(name)
    train, test = train_test_split(np.arange(len(y)), train_size=0.75, random_state=seed, stratify=y)
    parts = (X[train], X[test]) if name == "rcv1" else tuple(weight_terms(X[train], X[test]))
    labels = np.where(y == np.max(y), 1.0, -1.0)
    return Instance(Task("logistic", parts[0], labels[train], k, TEXT_ALPHA), None, parts[1], labels[test])


def simulate_graph(
    n: int, p: int, seed: int, condition: float | None = None, with_lasso_penalty: bool = True
) -> Instance:
    """Draw the paper's precision matrices (§5.2.1) with three neighbours on average; k is the true number of edges.

    The search for the penalty of the graphical lasso is the slow part; `with_lasso_penalty=False` omits it.
    """
    X, precision = make_precision(n, p, degree=3.0, condition=condition, random_state=seed)
    k = count_edges(precision)
    correlations = np.corrcoef(X, rowvar=False)
    deviations = X.std(axis=0)
    penalty = find_lasso_penalty(correlations, k) if with_lasso_penalty else None
    task = Task("graph", correlations, None, k, penalty=penalty)
    return Instance(task, precision, scale=np.multiply.outer(deviations, deviations))


def set_path(instance: Instance, ks: tuple[int, ...]) -> Instance:
    """Return the same data with several k; the model with the last one is evaluated."""
    task = instance.task
    return Instance(Task(task.kind, task.X, task.y, ks[-1], task.alpha, ks), None, instance.X_test, instance.y_test)


@lru_cache(maxsize=1)
def _load_texts(name: str) -> Any:
    return load_real(name)


def _draw_responses(kind: str, margins: Any, rng: np.random.Generator) -> Any:
    if kind == "linear":
        return margins + rng.standard_normal(margins.size)
    return np.where(rng.random(margins.size) < expit(margins), 1.0, -1.0)


def _make_instance(kind: str, X: Any, y: Any, coef: Any, n: int, k: int) -> Instance:
    alpha = ALPHA if kind == "logistic" else 0.0
    task = Task(kind, np.ascontiguousarray(X[:n]), y[:n], k, alpha)
    return Instance(task, np.flatnonzero(coef), X[n:], y[n:])
