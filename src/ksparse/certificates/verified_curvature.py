"""How much of the curvature that a certificate moves is there, whatever dual point it has."""

from __future__ import annotations

import numpy as np

from .._types import Array

__all__ = ["EIGENVALUE_ERROR", "LONG_EPS", "bound_sparse_curvature", "lower_curvature"]

#: Rounding of an eigenvalue, in units of the number of features and of the largest one.
EIGENVALUE_ERROR = 4 * 2.3e-16
#: Rounding of an operation with long doubles, which may be no longer than doubles.
LONG_EPS = float(np.finfo(np.longdouble).eps)


def lower_curvature(matrix: Array, curvature: Array, size: Array) -> tuple[Array, float]:
    """d − t·size² with the least t ≥ 0 for which the matrix minus its diagonal is positive semidefinite; and t.

    A dual point may be as large as it likes: what is missing is taken off the curvature, so that nothing is left that
    it could be multiplied with.
    """
    if not (curvature > 0).any():  # the matrix is a product XᵀX
        return curvature, 0.0
    scaled = (matrix - np.diag(curvature)) / np.multiply.outer(size, size)
    eigenvalues = np.linalg.eigvalsh(scaled)
    largest = max(abs(eigenvalues[0]), abs(eigenvalues[-1])) + float((np.abs(curvature) / np.square(size)).max())
    missing = max(EIGENVALUE_ERROR * len(size) * largest - float(eigenvalues[0]), 0.0)
    return curvature - missing * np.square(size), missing


def bound_sparse_curvature(matrix: Array, scale: Array, nonzero: int) -> Array:
    """What a matrix has on vectors with so many nonzeros: its diagonal less the largest other entries of each row.

    It is that of features divided by a scale, whatever the scale.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        scaled = np.abs(matrix) * (scale[:, None] / scale)
    np.fill_diagonal(scaled, 0.0)
    others = np.sort(scaled, axis=1)[:, ::-1][:, : max(nonzero - 1, 0)]
    curvature: Array = matrix.diagonal() - others.sum(axis=1)
    return curvature
