"""What displays read from estimators: the fitted model itself, and the names of its features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._types import AnyArray
from ..estimators import GraphModel
from ..selection import SparsityPath
from ..solvers import Result

__all__ = ["feature_names_of", "fitted_model", "names_or_default", "unit_of"]


def fitted_model(estimator: Any, attributes: Sequence[str], expected: str) -> Any:
    """The fitted model, the last step of a pipeline, after a check that it has one of the attributes."""
    model = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if isinstance(model, type):
        raise TypeError(f"expected {expected}; got the class {model.__name__}: make an instance and fit it")
    if not hasattr(model, "fit"):
        others = {SparsityPath: "; use from_path", Result: "; use from_result"}
        raise TypeError(
            f"expected {expected}; got an object of type {type(model).__name__}{others.get(type(model), '')}"
        )
    check_is_fitted(model)
    if not any(hasattr(model, attribute) for attribute in attributes):
        raise TypeError(f"expected {expected}; a {type(model).__name__} has no {' or '.join(attributes)}")
    return model


def feature_names_of(estimator: Any) -> AnyArray | None:
    """Names of the features that the model has seen, or None if they have no names."""
    model = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if hasattr(model, "feature_names_in_"):
        return np.asarray(model.feature_names_in_, dtype=object)
    if isinstance(estimator, Pipeline) and len(estimator) > 1:
        try:
            return np.asarray(estimator[:-1].get_feature_names_out(), dtype=object)
        except (AttributeError, ValueError):  # a transformer that cannot say what it makes
            return None
    return None


def names_or_default(names: Any, n_features: int) -> list[str]:
    """One name for each feature: the given ones, or x0, x1, … as in scikit-learn."""
    if names is None:
        return [f"x{index}" for index in range(n_features)]
    if len(names) != n_features:
        raise ValueError(f"there are {len(names)} feature_names but {n_features} features; give one name for each")
    return [str(name) for name in names]


def unit_of(model: Any) -> str:
    """What k counts: "features", "groups" or "edges"."""
    if isinstance(model, GraphModel):
        return "edges"
    return "features" if getattr(model, "groups", None) is None else "groups"
