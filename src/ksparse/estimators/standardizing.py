"""Features with unit variance, also where squares of their numbers overflow or vanish."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from .._types import Array, Matrix

__all__ = ["standardize_columns"]

#: Features with a smaller variance are constant, or their squares underflow.
SMALLEST_VARIANCE, SMALLEST_FLOAT = 1e-120, 5e-324


def standardize_columns(X: Matrix, sample_weight: Array | None) -> tuple[Matrix, Array]:
    """The features divided by their standard deviations, and these."""

    def standardize(matrix: Matrix) -> tuple[StandardScaler, Matrix]:
        # The weighted variance of a constant feature may round below 0, and squares may overflow.
        with np.errstate(invalid="ignore", over="ignore"):
            scaler = StandardScaler(with_mean=False).fit(matrix, sample_weight=sample_weight)
        return scaler, matrix

    if sample_weight is not None and sample_weight.any():
        sample_weight = sample_weight / sample_weight.max()  # the scaler takes variances below 10ε·Σs for rounding
    scaler, scaled = standardize(X)
    units = np.ones(X.shape[1])
    doubtful = ~np.isfinite(scaler.var_) | (scaler.var_ < SMALLEST_VARIANCE)
    if doubtful.any():
        largest = np.abs(X).max(axis=0)
        largest = np.asarray(largest.toarray() if sparse.issparse(largest) else largest, dtype=np.float64).ravel()
        extreme = doubtful & np.isfinite(largest) & (largest > 0) & (np.abs(np.log2(largest + SMALLEST_FLOAT)) > 200)
        if extreme.any():
            exponents = np.clip(-np.frexp(largest)[1], -1000, 1000)
            units = np.where(extreme, np.ldexp(1.0, exponents), 1.0)
            scaler, scaled = standardize(X @ sparse.diags_array(units) if sparse.issparse(X) else X * units)
    constant = (scaler.scale_ == 1.0) & (scaler.var_ != 1.0)
    if constant.any():
        # A constant has no deviation; divided by its size, it is not larger than features that have one.
        sizes = np.abs(scaled[:, np.flatnonzero(constant)]).max(axis=0)
        sizes = np.asarray(sizes.toarray() if sparse.issparse(sizes) else sizes, dtype=np.float64).ravel()
        scaler.scale_[constant] = np.where(sizes > 0, sizes, 1.0)
    return scaler.transform(scaled), scaler.scale_ / units
