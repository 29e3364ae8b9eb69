"""What displays of graphs read: symmetric matrices, partial correlations, and labels of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import Array, IntArray
from ..validation import check_vector, real_array
from ._inputs import feature_names_of, fitted_model, names_or_default

__all__ = ["group_codes", "groups_of_nodes", "names_of_nodes", "partial_correlations", "precision_of", "square_matrix"]

#: Differences of Ωᵢⱼ and Ωⱼᵢ up to this share of the largest entry are rounding.
ROUNDING = 1e-8


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


def precision_of(estimator: Any) -> Any:
    """The precision matrix that an estimator, or the last step of a pipeline, has estimated."""
    expected = "an estimator of a precision matrix, such as SparsePrecision"
    return fitted_model(estimator, ["precision_"], expected).precision_


def names_of_nodes(names: Any, count: int, estimator: Any = None) -> list[str]:
    """One name for each node: the given ones, those that the estimator has seen, or x0, x1 and so on."""
    if names is not None:
        _check_count(names, count, "names", "one name")
    return names_or_default(feature_names_of(estimator) if names is None else names, count)


def groups_of_nodes(groups: Any, count: int) -> list[Any] | None:
    """One label for each node, or None if there are no groups."""
    if groups is None:
        return None
    _check_count(groups, count, "groups", "one label")
    return list(groups)


def _check_count(labels: Any, count: int, name: str, wanted: str) -> None:
    if isinstance(labels, str) or not hasattr(labels, "__len__"):
        raise TypeError(f"{name} must be a sequence with {wanted} for each of the {count} nodes; got {labels!r}")
    if len(labels) != count:
        raise ValueError(f"there are {len(labels)} {name} but {count} nodes; give {wanted} for each")


def group_codes(groups: list[Any]) -> tuple[list[str], IntArray]:
    """Names of the groups in order, and the number of the group of each node.

    Examples
    --------
    >>> group_codes([10, 2, 10])
    (['2', '10'], array([1, 0, 1]))
    """
    try:
        labels = sorted(set(groups))
    except TypeError:  # labels that cannot be compared, such as text and numbers
        labels = sorted(set(groups), key=str)
    place = {label: number for number, label in enumerate(labels)}
    return [str(label) for label in labels], np.array([place[label] for label in groups], dtype=np.intp)
