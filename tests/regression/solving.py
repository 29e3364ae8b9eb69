"""Data of the table, and ways to solve and to record a problem.

Only names that users may use occur here, so that the table outlives what is inside the package.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

import ksparse
from ksparse._types import Array

from .. import problems
from .records import Record, text_of

Problem = Callable[[], Record]


def data(kind: str, n: int, p: int, correlation: float = 0.3, k: int = 5, seed: int = 0) -> tuple[Array, Any]:
    """Features, and responses of a kind of model that depend on k of them."""
    X = problems.design(seed, n, p, correlation)
    rng = np.random.default_rng([seed, n, p, k])
    w = np.zeros(p)
    w[rng.choice(p, k, replace=False)] = rng.choice([-1.0, 1.0], k) * rng.uniform(0.5, 1.5, k)
    margins = X @ w
    return X, problems.responses(kind, 2 * margins / margins.std(), seed)


def solve(make: Callable[[], Any], k: int | None = None, **options: Any) -> Record:
    """The record of `ksparse.minimize`."""
    return Record.of(ksparse.minimize(make(), k, **options))


def bound(objective: Callable[..., Any], kind: str, n: int, p: int, **options: Any) -> Any:
    """An objective on `data`, which takes the options that it knows."""
    shape = {name: options.pop(name) for name in ("correlation", "k", "seed") if name in options}
    return objective(*data(kind, n, p, **shape), **options)


def fit(model: Any, kind: str, n: int = 80, p: int = 20, weighted: bool = False, convert: Any = None) -> Record:
    """The record of an estimator, with the scores by which it has chosen k."""
    X, y = data(kind, n, p)
    weights = {"sample_weight": np.random.default_rng(n).uniform(0.2, 2.0, n)} if weighted else {}
    return with_choice(clone(model).fit(X if convert is None else convert(X), y, **weights))


def with_choice(model: Any) -> Record:
    """The record of a fitted model; if it has chosen k, with the criterion or the mean scores of each k."""
    record = Record.of(model.result_)
    if not hasattr(model, "ks_"):
        return record
    scores = model.criterion_ if hasattr(model, "criterion_") else model.scores_.mean(axis=1)
    # Iterations and passes of the chosen model alone mean little: they depend on the models it was reached from.
    return replace(record, n_iter=None, passes=None).with_scores(f"k = {model.k_} of {text_of(model.ks_)}", scores)
