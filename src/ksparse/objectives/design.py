"""The data matrix X of a linear model, dense or sparse, with implicit centring.

A `Design` stands for X − 1·shiftᵀ without forming it, and is the only place that knows how X is stored.
Dense X is never copied; only the columns of a support are gathered.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from ..threads import caller_threads
from ..typing import Array, IntArray, Matrix

__all__ = ["Design", "PassCounter"]

#: Gathered sparse columns with a larger share of nonzeros than this are faster as a dense block.
DENSE_SHARE = 0.2
#: A column whose variance is a smaller share of its mean square is centred before squaring.
CANCELLATION = 1e-3
#: A centred column within so many rounding units of its mean is constant.
ROUNDING = 16.0
#: Rows of float32 data that are multiplied in float64 at a time.
CHUNK = 1024


class PassCounter:
    """A count of passes over the data that an objective and its change of variables share."""

    def __init__(self) -> None:
        self.total = 0


class Design:
    """X − 1·shiftᵀ for a dense array or a CSC matrix X.

    Parameters
    ----------
    matrix : ndarray or csc_array of shape (n, p)
        float64 or float32.
    shift : ndarray of shape (p,), optional
        What is subtracted from each column; None for nothing.
    gathered : bool, default=False
        Whether these are a few columns gathered from a larger matrix.
    """

    def __init__(self, matrix: Matrix, shift: Array | None = None, *, gathered: bool = False) -> None:
        self.matrix = matrix
        self.shift = shift
        self.gathered = gathered
        self.is_sparse = sparse.issparse(matrix)

    @classmethod
    def from_user(cls, X: Any, name: str) -> Design:
        """Check X as given by a user. Dense float32 and float64 arrays are taken as they are."""
        shape = np.shape(X)
        if len(shape) != 2:
            raise ValueError(f"X has shape {shape}; expected (n, p). One feature is X.reshape(-1, 1)")
        try:
            checked = check_array(
                X,
                accept_sparse="csc",
                dtype=[np.float64, np.float32],
                order=None,
                copy=False,
                input_name="X",
                estimator=name,
                ensure_min_features=0,
            )
        except ValueError as error:
            if "contains NaN" in str(error) or "contains infinity" in str(error):
                raise ValueError("X has NaN or infinite values; remove or impute them") from None
            raise
        if sparse.issparse(checked) and not checked.has_canonical_format:
            checked = checked.copy()
            checked.sum_duplicates()
        return cls(checked)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.matrix.shape

    @property
    def stored(self) -> int:
        """How many numbers are stored."""
        return int(self.matrix.nnz if self.is_sparse else self.matrix.size)

    def dot(self, w: Array, passes: PassCounter | None = None) -> Array:
        """(X − 1·shiftᵀ)w, touching only the columns where w is nonzero; a pass is counted if those are most."""
        if not self.gathered:
            rows = np.flatnonzero(w if w.ndim == 1 else w.any(axis=1))
            if 2 * rows.size <= self.shape[1]:
                return self.take(rows)._product(w[rows])
            if passes is not None:
                passes.total += 1
        if self.is_sparse or self.matrix.dtype == np.float64:
            with caller_threads(self.stored):
                return self._product(w)
        # Margins of float32 data are summed in float64, where large means cancel.
        chunks = range(0, self.shape[0], CHUNK)
        blocks = (Design(_centred(self.matrix[i : i + CHUNK].astype(np.float64), self.shift)) for i in chunks)
        return np.concatenate([block.matrix @ w for block in blocks])

    def _product(self, w: Array) -> Array:
        product = self.matrix @ w
        return product if self.shift is None else product - self.shift @ w

    def transposed_dot(self, residuals: Array) -> Array:
        """(X − 1·shiftᵀ)ᵀ r for one residual vector or several: a pass over X."""
        with caller_threads(self.stored):
            product = self.matrix.T @ residuals.astype(self.matrix.dtype, copy=False)
        product = product.astype(np.float64, copy=False)
        if self.shift is None:
            return product
        return product - np.multiply.outer(self.shift, residuals.sum(axis=0))

    def take(self, columns: IntArray) -> Design:
        """The given columns, in float64. Dense columns are centred explicitly, sparse ones stay implicit."""
        shift = None if self.shift is None else self.shift[columns]
        if not self.is_sparse:
            return Design(_centred(self.matrix[:, columns], shift, self._unit), gathered=True)
        block = self.matrix[:, columns].astype(np.float64)
        if block.nnz > DENSE_SHARE * block.shape[0] * block.shape[1]:
            return Design(_centred(block.toarray(order="F"), shift, self._unit), gathered=True)
        return Design(block, shift, gathered=True)

    def gram(self, weights: Array) -> Array:
        """(X − 1·shiftᵀ)ᵀ diag(weights) (X − 1·shiftᵀ), dense; for gathered columns."""
        if not self.is_sparse:
            block = self.matrix if self.shift is None else self.matrix - self.shift
            if (weights >= 0).all():
                scaled = block * np.sqrt(weights)[:, None]
                return scaled.T @ scaled
            return block.T @ (block * weights[:, None])
        by_row = self._by_row
        gram = (by_row.T @ by_row.multiply(weights[:, None]).tocsr()).toarray()
        if self.shift is not None:
            sums = self.matrix.T @ weights
            cross = np.outer(self.shift, sums)
            squared = weights.sum() * np.outer(self.shift, self.shift)
            gram += squared - cross - cross.T
            constant = np.abs(gram.diagonal()) <= ROUNDING * self._unit * squared.diagonal()
            gram[constant] = gram[:, constant] = 0.0
        return gram

    def cross(self, others: Design, weights: Array) -> Array:
        """(X − 1·shiftᵀ)ᵀ diag(weights) (Z − 1·shiftᵀ) with other columns Z, dense; for gathered columns."""
        if not self.is_sparse:
            return others.transposed_dot(self.matrix * weights[:, None]).T
        if not others.is_sparse:
            return self.transposed_dot(others.matrix * weights[:, None])
        product = (self.matrix.T @ others.matrix.multiply(weights[:, None]).tocsc()).toarray()
        if self.shift is None or others.shift is None:
            return product
        own, theirs = self.matrix.T @ weights, others.matrix.T @ weights - weights.sum() * others.shift
        return product - np.outer(own, others.shift) - np.outer(self.shift, theirs)

    @cached_property
    def _by_row(self) -> Any:
        return self.matrix.tocsr()

    def squares(self, weights: Array) -> Array:
        """Σᵢ weightsᵢ (x_ij − shift_j)² for each column j: a pass over X."""
        if self.is_sparse:
            squared = sparse.csc_array(
                (np.square(self.matrix.data, dtype=np.float64), self.matrix.indices, self.matrix.indptr),
                shape=self.shape,
            )
            raw = squared.T @ weights
        elif (weights == weights[:1]).all():
            raw = float(weights[0]) * np.einsum("ij,ij->j", self.matrix, self.matrix).astype(np.float64)
        else:
            raw = np.einsum("i,ij,ij->j", weights.astype(self.matrix.dtype), self.matrix, self.matrix)
            raw = raw.astype(np.float64)
        if not np.isfinite(raw).all():
            column = int(np.flatnonzero(~np.isfinite(raw))[0])
            raise ValueError(f"column {column} of X has values so large that their squares overflow; rescale it")
        return raw if self.shift is None else self._centred_squares(raw, weights)

    def _centred_squares(self, raw: Array, weights: Array) -> Array:
        """Centre mean squares by subtraction, and anew where subtraction would cancel."""
        with caller_threads(self.stored):
            sums = (self.matrix.T @ weights.astype(self.matrix.dtype, copy=False)).astype(np.float64)
        shift = self.shift
        assert shift is not None
        centred = raw - 2 * shift * sums + weights.sum() * shift**2
        for j in np.flatnonzero(centred < CANCELLATION * raw):
            column = self.matrix[:, [j]]
            dense = column.toarray() if self.is_sparse else column
            centred[j] = weights @ np.square(_centred(dense[:, 0].astype(np.float64), shift[j], self._unit))
        return np.maximum(centred, 0.0)

    @property
    def _unit(self) -> float:
        """Rounding unit of the data."""
        return float(np.finfo(self.matrix.dtype).eps)

    def means(self, weights: Array) -> Array:
        """Weighted column means: a pass over X."""
        with caller_threads(self.stored):
            sums = self.matrix.T @ weights.astype(self.matrix.dtype, copy=False)
        return sums.astype(np.float64) / weights.sum()

    def centred(self, weights: Array) -> Design:
        """The same data with its weighted column means as the shift: a pass over X."""
        return Design(self.matrix, self.means(weights))


def _centred(block: Any, shift: Any, unit: float = 0.0) -> Array:
    """A fresh copy of some columns in float64, centred in place where asked; what is left of a constant one is zero."""
    block = np.asarray(block, dtype=np.float64)
    if shift is not None:
        block -= shift
        rounding = np.abs(block).max(axis=0, initial=0.0) <= ROUNDING * unit * np.abs(shift)
        block[..., rounding] = 0.0
    return block
