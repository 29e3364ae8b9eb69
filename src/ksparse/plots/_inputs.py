"""What displays read from estimators and from users: fitted models, names, matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._types import AnyArray, Array, IntArray
from ..validation import check_vector, real_array

__all__ = [
    "check_labels",
    "check_names",
    "feature_names_of",
    "fitted_model",
    "group_codes",
    "partial_correlations",
    "precision_of",
    "square_matrix",
    "unit_of",
]

#: Largest difference of two entries that counts as rounding, relative to the largest entry.
ROUNDING = 1e-8


def fitted_model(estimator: Any, attributes: Sequence[str], expected: str) -> Any:
    """The fitted model, the last step of a pipeline, after a check that it has one of the attributes."""
    model = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if isinstance(model, type):
        raise TypeError(f"expected {expected}; got the class {model.__name__}: make an instance and fit it")
    if not hasattr(model, "fit"):
        others = {"coef": "; use from_path", "history": "; use from_result"}
        advice = next((advice for attribute, advice in others.items() if hasattr(model, attribute)), "")
        raise TypeError(f"expected {expected}; got an object of type {type(model).__name__}{advice}")
    check_is_fitted(model)
    if not any(hasattr(model, attribute) for attribute in attributes):
        raise TypeError(f"expected {expected}; a {type(model).__name__} has no {' or '.join(attributes)}")
    return model


def precision_of(estimator: Any) -> Any:
    """The precision matrix of an estimator, or of the last step of a pipeline."""
    expected = "an estimator of a precision matrix, such as SparsePrecision"
    return fitted_model(estimator, ["precision_"], expected).precision_


def feature_names_of(estimator: Any) -> AnyArray | None:
    """Names of the features seen by the model, or None if they have no names."""
    model = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if hasattr(model, "feature_names_in_"):
        return np.asarray(model.feature_names_in_, dtype=object)
    if isinstance(estimator, Pipeline) and len(estimator) > 1:
        try:
            return np.asarray(estimator[:-1].get_feature_names_out(), dtype=object)
        except (AttributeError, ValueError):  # a transformer without names of its outputs
            return None
    return None


def unit_of(model: Any) -> str:
    """What k counts: "features", "groups" or "edges"."""
    if hasattr(model, "precision_"):
        return "edges"
    return "features" if getattr(model, "feature_groups", None) is None else "groups"


def check_names(names: Any, count: int, parameter: str, item: str) -> list[str]:
    """One name per item: the given ones, or x0, x1, … as in scikit-learn."""
    if names is None:
        return [f"x{index}" for index in range(count)]
    return [str(name) for name in check_labels(names, count, parameter, item)]


def check_labels(labels: Any, count: int, parameter: str, item: str) -> list[Any]:
    """A list with one label per item."""
    if isinstance(labels, str) or not hasattr(labels, "__len__"):
        raise TypeError(f"{parameter} must be a sequence, one entry for each of the {count} {item}s; got {labels!r}")
    if len(labels) != count:
        raise ValueError(f"there are {len(labels)} {parameter} but {count} {item}s; give one for each {item}")
    return list(labels)


def group_codes(groups: list[Any]) -> tuple[list[str], IntArray]:
    """Names of the groups in order, and the index of the group of each node.

    Examples
    --------
    >>> group_codes([10, 2, 10])
    (['2', '10'], array([1, 0, 1]))
    """
    try:
        labels = sorted(set(groups))
    except TypeError:  # labels that cannot be compared, such as text and numbers
        labels = sorted(set(groups), key=str)
    index = {label: number for number, label in enumerate(labels)}
    return [str(label) for label in labels], np.array([index[label] for label in groups], dtype=np.intp)


def square_matrix(values: Any, name: str) -> Array:
    """A symmetric matrix of finite numbers."""
    matrix = real_array(values, name)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ValueError(f"{name} must be a square matrix, one row and column for each node; got shape {matrix.shape}")
    matrix = check_vector(matrix, name, matrix.shape)
    difference = np.abs(matrix - matrix.T)
    if difference.max() > ROUNDING * np.abs(matrix).max():
        row, column = np.unravel_index(np.argmax(difference), matrix.shape)
        raise ValueError(
            f"{name} must be symmetric, but entry ({row}, {column}) is {matrix[row, column]:.6g} and entry "
            f"({column}, {row}) is {matrix[column, row]:.6g}; pass ({name} + {name}.T) / 2 if both mean the same edge"
        )
    return (matrix + matrix.T) / 2


def partial_correlations(precision: Any) -> Array:
    """Partial correlations −Ωᵢⱼ/√(Ωᵢᵢ Ωⱼⱼ) of a precision matrix Ω, with ones on the diagonal.

    Examples
    --------
    >>> partial_correlations([[4.0, -1.0], [-1.0, 1.0]])
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    matrix = square_matrix(precision, "precision")
    variances = np.diagonal(matrix)
    if (variances <= 0).any():
        node = int(np.argmin(variances))
        raise ValueError(
            f"precision must have a positive diagonal, but entry ({node}, {node}) is {variances[node]:.6g}; "
            "pass the inverse of a covariance matrix"
        )
    scale = 1 / np.sqrt(variances)
    partial = 0.0 - matrix * np.outer(scale, scale)  # not −0 where there is no edge
    np.fill_diagonal(partial, 1.0)
    if np.abs(partial).max() > 1 + ROUNDING:
        row, column = np.unravel_index(np.argmax(np.abs(partial)), partial.shape)
        raise ValueError(
            f"precision must be positive definite, but entry ({row}, {column}) is larger than the root of the product "
            f"of entries ({row}, {row}) and ({column}, {column}); pass the inverse of a covariance matrix"
        )
    return partial
