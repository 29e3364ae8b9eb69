"""Paths, histories and fitted estimators of any shape, without fitting anything."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ksparse._types import AnyArray, Array
from ksparse.selection import SparsityPath as Path
from ksparse.solvers import History, Iteration


def long_names(count: int) -> AnyArray:
    return np.array([f"a rather long name of feature number {index}" for index in range(count)], dtype=object)


def coefficients(ks: Iterable[int], n_features: int, n_outputs: int | None = None, seed: int = 0) -> Array:
    """Coefficients that shrink with k, those of smaller features entering later."""
    rng = np.random.default_rng(seed)
    ks = list(ks)
    size = (1 if n_outputs is None else n_outputs, n_features)
    full = rng.standard_normal(size) * np.exp(-np.arange(n_features) / 8)
    rank = np.argsort(np.argsort(-np.abs(full), axis=1), axis=1)
    coef = np.array([np.where(rank < k, full * (1 + 0.5 / max(k, 1)), 0.0) for k in ks])
    return coef[:, 0] if n_outputs is None else coef


def path(ks: Iterable[int], n_features: int, n_outputs: int | None = None, names: AnyArray | None = None) -> Path:
    coef = coefficients(ks, n_features, n_outputs)
    return Path(np.array(list(ks)), coef, np.zeros(coef.shape[:-1]), results=(), passes=0, feature_names=names)


def history(count: int, *, rate: float = 0.3, floor: float = 1e-5) -> History:
    """f falls to a floor, and ever fewer units enter."""
    return History(
        [
            Iteration(
                iteration=index + 1,
                value=floor + float(np.exp(-rate * index)),
                support_change=int(20 * np.exp(-rate * index)),
                step=1.0,
                gradient_norm=0.0,
                seconds=0.01 * (index + 1) ** 1.5,
                passes=2 * index + 3,
            )
            for index in range(count)
        ]
    )


class Fitted(BaseEstimator):  # type: ignore[misc]
    """An estimator that has the given attributes once it is fitted."""

    def fit(self, X: Any = None, y: Any = None, **attributes: Any) -> Fitted:
        for name, value in attributes.items():
            setattr(self, name, value)
        self.fitted_ = True
        return self


def cross_validated(
    ks: Iterable[int], n_features: int = 10, *, k: int, rule: str = "best", scoring: Any = None, **more: Any
) -> Fitted:
    ks = np.array(list(ks))
    folds = np.random.default_rng(1).standard_normal((len(ks), 5))
    scores = (-0.3 - np.exp(-ks / 4) - 0.003 * ks)[:, None] + 0.08 * folds
    coef = coefficients(ks, n_features, 1)
    return Fitted().fit(ks_=ks, k_=k, scores_=scores, coef_path_=coef, rule=rule, scoring=scoring, **more)


def by_criterion(ks: Iterable[int], n_features: int = 10, *, k: int) -> Fitted:
    ks = np.array(list(ks))
    values = 1000 * (np.exp(-ks / 4) + 0.003 * ks)
    return Fitted().fit(ks_=ks, k_=k, criterion_=values, criterion="ebic", coef_path_=coefficients(ks, n_features))


def stability(frequencies: Iterable[float], threshold: float = 0.6, **more: Any) -> Fitted:
    shares = np.array(list(frequencies))
    return Fitted().fit(frequencies_=shares, threshold_=threshold, support_=shares >= threshold, **more)


def precision(n_nodes: int, n_edges: int, seed: int = 0) -> Array:
    """A positive definite matrix with edges of both signs at random places."""
    rng = np.random.default_rng(seed)
    pairs = np.transpose(np.triu_indices(n_nodes, 1))
    rows, columns = pairs[rng.choice(len(pairs), n_edges, replace=False)].T
    matrix = np.zeros((n_nodes, n_nodes))
    matrix[rows, columns] = rng.uniform(0.1, 0.5, n_edges) * rng.choice([-1, 1], n_edges)
    matrix += matrix.T
    variances = np.diag(rng.uniform(0.5, 2.0, n_nodes))
    return variances @ (matrix + np.eye(n_nodes) * (1 + np.abs(matrix).sum(axis=0).max())) @ variances


def clusters(sizes: Iterable[int]) -> tuple[Array, list[str]]:
    """Complete graphs that are chained to each other, and the names of the clusters."""
    labels = np.repeat(np.arange(len(list(sizes))), list(sizes))
    matrix = 0.1 * (labels[:, None] == labels)
    ends = np.flatnonzero(np.diff(labels))
    matrix[ends, ends + 1] = matrix[ends + 1, ends] = -0.2
    np.fill_diagonal(matrix, 1 + np.abs(matrix).sum(axis=0))
    return matrix, [f"cluster {label}" for label in labels]
