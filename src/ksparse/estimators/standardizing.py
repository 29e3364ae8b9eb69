"""Features divided by their standard deviations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler
from sklearn.utils.sparsefuncs import inplace_column_scale

from .._types import AnyArray, Array, Matrix
from ..designs.moments import CHUNK_ROWS

__all__ = ["standardize_columns"]

#: Features with a smaller variance are constant, or their squares underflow.
SMALLEST_VARIANCE, SMALLEST_FLOAT = 1e-120, 5e-324
#: The relative rounding error of a float.
EPSILON = float(np.finfo(np.float64).eps)


class ColumnMoments(NamedTuple):
    """Weighted means and variances of columns, and the sum of the weights."""

    means: Array
    variances: Array
    weight: float

    def find_scales(self) -> Array:
        """Standard deviations; 1 for a constant column, whose variance is the rounding error of two passes.

        The bound is that of Chan, Golub and LeVeque (The American Statistician 37, 1983).
        """
        bound = self.weight * EPSILON * self.variances + np.square(self.weight * EPSILON * self.means)
        return np.where(self.variances > bound, np.sqrt(self.variances), 1.0)


def standardize_columns(X: Matrix, sample_weight: Array | None) -> tuple[Matrix, Array]:
    """The features divided by their standard deviations, and these.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.estimators.standardizing import standardize_columns
    >>> scaled, scale = standardize_columns(np.array([[1.0, 20.0], [3.0, 20.0]]), None)
    >>> scaled, scale                                  # a constant feature is divided by its size
    (array([[1., 1.],
           [3., 1.]]), array([ 1., 20.]))
    """
    if sample_weight is not None and sample_weight.any():
        sample_weight = sample_weight / sample_weight.max()  # variances below 10ε·Σs are taken for rounding
    # The weighted variance of a constant feature may round below 0, and squares may overflow.
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        moments, scaled = _find_moments(X, sample_weight), X
        units = np.ones(X.shape[1])
        doubtful = ~np.isfinite(moments.variances) | (moments.variances < SMALLEST_VARIANCE)
        if doubtful.any():
            largest = _find_largest(X)
            is_far = np.abs(np.log2(largest + SMALLEST_FLOAT)) > 200
            extreme = doubtful & np.isfinite(largest) & (largest > 0) & is_far
            if extreme.any():
                exponents = np.clip(-np.frexp(largest)[1], -1000, 1000)
                units = np.where(extreme, np.ldexp(1.0, exponents), 1.0)
                scaled = X @ sparse.diags_array(units) if sparse.issparse(X) else X * units
                moments = _find_moments(scaled, sample_weight)
        scale = moments.find_scales()
    constant = (scale == 1.0) & (moments.variances != 1.0)
    if constant.any():
        # A constant has no deviation; divided by its size, it is not larger than features that have one.
        sizes = _find_largest(scaled[:, np.flatnonzero(constant)])
        scale[constant] = np.where(np.isfinite(sizes) & (sizes > 0), sizes, 1.0)  # the objective refuses the others
    return _divide_columns(scaled, scale), scale / units


def _find_moments(X: Matrix, sample_weight: Array | None) -> ColumnMoments:
    if sparse.issparse(X):
        scaler = StandardScaler(with_mean=False).fit(X, sample_weight=sample_weight)
        return ColumnMoments(scaler.mean_, scaler.var_, float(np.max(scaler.n_samples_seen_)))
    weights = np.ones(len(X)) if sample_weight is None else sample_weight
    total, starts = float(weights.sum()), range(0, len(X), CHUNK_ROWS)

    def read(start: int) -> tuple[Array, Array]:
        rows = slice(start, start + CHUNK_ROWS)
        return weights[rows], np.asarray(X[rows], dtype=np.float64)

    means = np.sum([part @ values for part, values in map(read, starts)], axis=0) / total
    first, second = np.zeros_like(means), np.zeros_like(means)
    for part, values in map(read, starts):
        deviations = values - means
        first += part @ deviations
        second += part @ np.square(deviations, out=deviations)
    # The sum of deviations is the rounding error of the means.
    return ColumnMoments(means, (second - np.square(first) / total) / total, total)


def _find_largest(X: Matrix) -> Array:
    """The largest absolute value of each column."""
    largest = np.abs(X).max(axis=0)
    return np.asarray(largest.toarray() if sparse.issparse(largest) else largest, dtype=np.float64).ravel()


def _divide_columns(X: Matrix, scale: Array) -> Matrix:
    """A copy of the same type, order and precision."""
    if sparse.issparse(X):
        divided = X.copy()
        inplace_column_scale(divided, 1.0 / scale)
        return divided
    result: AnyArray = np.empty_like(X)
    return np.divide(X, scale, out=result, casting="same_kind")
