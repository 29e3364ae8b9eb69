"""X that is not in this process's memory: in blocks on disk, or on the workers of a cluster.

Estimators take it as a `Design`; y, weights and offsets of Dask stay with its rows, others are sent there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array, column_or_1d

from .._types import Array
from ..designs import Design, as_design
from ..designs.blocked import RowValues, fill_rows, find_column_names, map_values, open_row_values
from ..objectives.linear import normalize_weights

__all__ = [
    "check_stored_data",
    "is_stored_elsewhere",
    "open_design",
    "refuse_stored_data",
    "require_one_column",
    "standardize_design",
    "weigh_alike",
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


def check_stored_data(estimator: Any, X: Any, y: Any) -> tuple[Design, Any]:
    """X as a design, and y with one entry or row for each row of X: on the workers if both are, otherwise in memory."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} needs y; pass the responses")
    design = open_design(estimator, X, reset=True)
    y = open_row_values(y, design)
    if not isinstance(y, RowValues):
        y = check_array(y, ensure_2d=False, dtype=None, input_name="y", estimator=type(estimator).__name__)
    if len(y) != design.shape[0]:
        raise ValueError(f"y has {len(y)} values for {design.shape[0]} rows of X; give one for each row")
    return design, y


def weigh_alike(target: Any, sample_weight: Any) -> Any:
    """The weights of the samples; ones without any."""
    if sample_weight is not None:
        return sample_weight
    return fill_rows(target.design, 1.0) if isinstance(target, RowValues) else np.ones(len(target))


def standardize_design(X: Design, sample_weight: Any) -> tuple[Design, Array]:
    """The features divided by their standard deviations, and these; a constant is divided by its size."""
    _, weights = normalize_weights(sample_weight, X.shape[0])
    rows = X.to_rows(weights)
    means, squares = X.moments(rows).means, X.center(rows).moments(rows).squares
    scale = np.where(squares > 0, np.sqrt(squares), np.abs(means))
    scale[scale == 0] = 1.0
    return X.scale_columns(1.0 / scale), scale


def require_one_column(y: Any) -> Any:
    """y as a vector; a matrix of one column with a warning."""
    if not isinstance(y, RowValues):
        return column_or_1d(y, warn=True)
    if y.ndim == 2 and y.shape[1] != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    return y if y.ndim == 1 else map_values(np.ravel, y, dtype=y.dtype)
