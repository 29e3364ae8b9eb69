"""Margins of samples: Xw + b + offset, for one output or several."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._types import Array, Matrix
from ..designs import Design
from ..designs.blocked import RowValues
from ..objectives.row_checks import check_row_values
from ..validation import as_real_array, check_vector

__all__ = ["add_offset", "check_offset", "multiply_selected"]


def check_offset(offset: Any, n_samples: int) -> Any:
    """An offset for each sample, or a row of them; those that stay with the rows of X do so."""
    if isinstance(offset, RowValues):
        return check_row_values(offset, "offset", (n_samples, *offset.shape[1:]))
    array = as_real_array(offset, "offset")
    return check_vector(array, "offset", (n_samples, *array.shape[1:]) if array.ndim == 2 else (n_samples,))


def add_offset(margins: Array, offset: Array | None) -> Array:
    """Margins of one output or several, with the offset of each sample or of each output."""
    if offset is None:
        return margins
    return margins + (offset if offset.ndim == margins.ndim else offset.reshape(len(offset), -1))


def multiply_selected(X: Matrix, coefficients: Array) -> Array:
    """X wᵀ, which reads only the columns of dense X that have a nonzero coefficient."""
    if isinstance(X, Design):
        return _multiply_design(X, coefficients)
    if sparse.issparse(X):
        return X @ coefficients.T
    used = np.flatnonzero(np.atleast_2d(coefficients).any(axis=0))
    return X[:, used] @ coefficients[..., used].T


def _multiply_design(X: Design, coefficients: Array) -> Array:
    used = np.flatnonzero(np.atleast_2d(coefficients).any(axis=0))
    return X.collect_rows(X.matvec(used, coefficients[..., used].T))
