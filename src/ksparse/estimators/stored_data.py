"""X that is not in this process's memory: in blocks on disk, or on the workers of a cluster.

Estimators take it as a `Design`; y, weights and offsets come into memory once, to be checked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

from .._types import AnyArray, Array
from ..designs import Design, as_design
from ..designs.blocked import collect_if_dask, find_column_names

__all__ = [
    "check_stored_data",
    "is_stored_elsewhere",
    "open_design",
    "refuse_stored_data",
    "standardize_design",
]


def is_stored_elsewhere(X: Any) -> bool:
    """Whether X is a design, or a kind of storage that has one of its own."""
    return as_design.dispatch(type(X)) is not as_design.dispatch(object)


def refuse_stored_data(estimator: Any, X: Any) -> None:
    """Refuse X that is not in memory, for an estimator that looks at all samples at once."""
    if is_stored_elsewhere(X):
        raise ValueError(
            f"{type(estimator).__name__} needs all samples in one place, and does not take X of Dask or on disk; pass "
            "an array in memory, such as X.compute() of some of the rows"
        )


def open_design(estimator: Any, X: Any, *, reset: bool) -> Design:
    """X as a design, whose number and names of features are kept with `reset`, and otherwise compared."""
    design, names = as_design(X, type(estimator).__name__), find_column_names(X)
    known = getattr(estimator, "feature_names_in_", None)
    if reset:
        estimator.n_features_in_ = design.shape[1]
        if names is not None:
            estimator.feature_names_in_ = names
        elif known is not None:
            del estimator.feature_names_in_
        return design
    if design.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {design.shape[1]} features, but {type(estimator).__name__} was fitted to {estimator.n_features_in_}"
        )
    if names is not None and known is not None and list(names) != list(known):
        raise ValueError("the columns of X have other names, or another order, than those of the fit; select them")
    return design


def check_stored_data(estimator: Any, X: Any, y: Any) -> tuple[Design, AnyArray]:
    """X as a design, and y in memory, with one entry or row for each row of X."""
    y = collect_if_dask(y)
    if y is None:
        raise ValueError(f"{type(estimator).__name__} needs y; pass the responses")
    y = check_array(y, ensure_2d=False, dtype=None, input_name="y", estimator=type(estimator).__name__)
    design = open_design(estimator, X, reset=True)
    if len(y) != design.shape[0]:
        raise ValueError(f"y has {len(y)} values for {design.shape[0]} rows of X; give one for each row")
    return design, y


def standardize_design(X: Design, sample_weight: Array | None) -> tuple[Design, Array]:
    """The features divided by their standard deviations, and these; a constant is divided by its size."""
    n = X.shape[0]
    weights = np.full(n, 1.0 / n) if sample_weight is None else sample_weight / sample_weight.sum()
    rows = X.to_rows(weights)
    means, squares = X.moments(rows).means, X.center(rows).moments(rows).squares
    scale = np.where(squares > 0, np.sqrt(squares), np.abs(means))
    scale[scale == 0] = 1.0
    return X.scale_columns(1.0 / scale), scale
