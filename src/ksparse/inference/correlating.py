"""Correlation of features and of groups of features."""

from __future__ import annotations

import numpy as np

from .._types import Array

__all__ = ["correlate_blocks"]

#: Singular values below this fraction of the largest are zero.
RANK_TOLERANCE = 1e-10


def correlate_blocks(first: Array, second: Array, weights: Array) -> float:
    """The correlation of two columns; of two blocks of columns, their largest canonical correlation (Hotelling 1936).

    Parameters
    ----------
    first, second : ndarray of shape (n, p) and (n, q)
        The columns.
    weights : ndarray of shape (n,)
        Sample weights that sum to 1.

    Returns
    -------
    float
        From −1 to 1 for two columns, otherwise from 0 to 1; NaN if one of them is constant.
    """
    roots = np.sqrt(weights)[:, None]
    bases = [_find_basis(roots * block, roots * (weights @ block)) for block in (first, second)]
    if not all(basis.shape[1] for basis in bases):
        return np.nan
    product = bases[0].T @ bases[1]
    if first.shape[1] == second.shape[1] == 1:
        return float(np.clip(product[0, 0], -1.0, 1.0))
    return min(float(np.linalg.norm(product, 2)), 1.0)


def _find_basis(columns: Array, means: Array) -> Array:
    """An orthonormal basis of what the columns about their means span; a single one is only divided by its length."""
    sizes, columns = np.linalg.norm(columns, axis=0), columns - means
    lengths = np.linalg.norm(columns, axis=0)
    varying = lengths > RANK_TOLERANCE * sizes
    columns = columns[:, varying] / lengths[varying]
    if columns.shape[1] < 2:
        return columns
    left, values, _ = np.linalg.svd(columns, full_matrices=False)
    return left[:, values > RANK_TOLERANCE * values[0]]
