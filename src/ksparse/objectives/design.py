"""The data matrix X of a linear model, dense or sparse, with implicit centring.

A `Design` stands for X − 1·shiftᵀ without forming it, and is the only place that knows how X is stored.
Dense X is never copied; only the columns of a support are gathered.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from .._types import Array, IntArray, Matrix
from ..counters import Counters
from ..threads import caller_threads, side_by_side, thread_count
from .sums import ColumnSums, column_sums, is_finite, runs_of_columns

__all__ = ["Design"]

#: Gathered sparse columns with a larger share of nonzeros than this are faster as a dense block,
DENSE_SHARE = 0.2
#: and so are those with fewer entries in all.
SMALL_BLOCK = 100_000
#: A column whose variance is a smaller share of its mean square is centred before squaring.
CANCELLATION = 1e-3
#: A centred column within so many rounding units of its mean is constant.
ROUNDING = 16.0
#: To gather a number takes about as long as so many multiplications.
GATHERING = 64
#: Rows of float32 data that are multiplied in float64 at a time.
CHUNK = 1024


class Design:
    """X − 1·shiftᵀ for a dense array or a CSC matrix X.

    Parameters
    ----------
    matrix : ndarray or csc_array of shape (n, p), or csr_array of gathered columns
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
        self._sums: ColumnSums | None = None
        self._runs: list[Any] = []

    @classmethod
    def from_user(cls, X: Any, name: str) -> Design:
        """Check X as given by a user, but for NaN and infinity, which `look` does.

        Dense float32 and float64 arrays are taken as they are.
        """
        shape = np.shape(X)
        if len(shape) != 2:
            raise ValueError(f"X has shape {shape}; expected (n, p). One feature is X.reshape(-1, 1)")
        checked = check_array(
            X,
            accept_sparse="csc",
            dtype=[np.float64, np.float32],
            order=None,
            copy=False,
            ensure_all_finite=False,
            input_name="X",
            estimator=name,
            ensure_min_features=0,
        )
        if sparse.issparse(checked) and not checked.has_canonical_format:
            # What was converted to CSC is ours already.
            checked = checked.copy() if sparse.issparse(X) and X.format == "csc" else checked
            checked.sum_duplicates()
        return cls(checked)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.matrix.shape

    def look(self, weights: Array) -> None:
        """Refuse NaN and infinity, and keep weighted sums and squares of the columns: one pass over X for all of it."""
        self._sums = column_sums(self.matrix, weights)
        if not self._sums.finite and not is_finite(self.matrix):
            raise ValueError("X has NaN or infinite values; remove or impute them")

    def _sums_for(self, weights: Array) -> ColumnSums:
        """The sums that `look` has kept, or those for other weights."""
        if self._sums is not None and self._sums.weights is weights:
            return self._sums
        return column_sums(self.matrix, weights)

    @property
    def stored(self) -> int:
        """How many numbers are stored."""
        return int(self.matrix.nnz if self.is_sparse else self.matrix.size)

    def dot(self, w: Array, counters: Counters | None = None) -> Array:
        """(X − 1·shiftᵀ)w, touching only the columns where w is nonzero; a pass is counted if those are most."""
        if not self.gathered:
            rows = np.flatnonzero(w if w.ndim == 1 else w.any(axis=1))
            if 2 * rows.size <= self.shape[1]:
                return self.take(rows)._product(w[rows])
            if counters is not None:
                counters.passes += 1
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
        rounded = residuals.astype(self.matrix.dtype, copy=False)
        if self.is_sparse:
            product = self._sparse_product(rounded)
        else:
            with caller_threads(self.stored):
                product = self.matrix.T @ rounded
        product = product.astype(np.float64, copy=False)
        if self.shift is None:
            return product
        return product - np.multiply.outer(self.shift, residuals.sum(axis=0))

    def _sparse_product(self, residuals: Array) -> Array:
        """Xᵀr for sparse X, with a run of columns for each thread."""
        count = thread_count(self.stored)
        if count == 1 or self.gathered:
            return self.matrix.T @ residuals
        runs = self._runs  # another thread may put others in their place
        if len(runs) != count:
            runs = self._runs = runs_of_columns(self.matrix, count)
        return np.concatenate(side_by_side(lambda part: runs[part] @ residuals, count))

    def take(self, columns: IntArray) -> Design:
        """The given columns, in float64. Dense columns are centred explicitly, sparse ones stay implicit."""
        if not self.is_sparse:
            return Design(self.gather(columns).T, gathered=True)
        shift = None if self.shift is None else self.shift[columns]
        block = self.matrix[:, columns].astype(np.float64, copy=False)
        size = block.shape[0] * block.shape[1]
        if size < SMALL_BLOCK or block.nnz > DENSE_SHARE * size:
            return Design(_centred(block.toarray(order="F"), shift, self._unit), gathered=True)
        return Design(block, shift, gathered=True)

    def gather(self, columns: IntArray, out: Array | None = None) -> Array:
        """Dense columns, centred, in float64, a row for each."""
        values = np.empty((columns.size, self.shape[0])) if out is None else out
        for i in range(0, self.shape[0], CHUNK):  # what is gathered from rows is still in the cache when it is turned
            rows = self.matrix[i : i + CHUNK]
            values[:, i : i + CHUNK] = (rows.take(columns, axis=1) if rows.flags.c_contiguous else rows[:, columns]).T
        _centred(values.T, None if self.shift is None else self.shift[columns], self._unit)
        return values

    def cheaper_whole(self, multiplied: int, wanted: int) -> bool:
        """Whether products of so many columns with all others take less time than to gather those that are wanted."""
        if self.is_sparse or self.matrix.dtype != np.float64:
            return False
        return (self.shape[1] - wanted) * multiplied < GATHERING * wanted

    def gram(self, weights: Array) -> Array:
        """(X − 1·shiftᵀ)ᵀ diag(weights) (X − 1·shiftᵀ), dense; for gathered columns."""
        if not self.is_sparse:
            block = self.matrix if self.shift is None else self.matrix - self.shift
            if (weights == weights[:1]).all():
                return float(weights[0]) * (block.T @ block)
            if (weights >= 0).all():
                scaled = block * np.sqrt(weights)[:, None]
                return scaled.T @ scaled
            return block.T @ (block * weights[:, None])
        gram = self._sparse_gram(weights)
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
        product = self._sparse_cross(others, weights)
        if self.shift is None or others.shift is None:
            return product
        own, theirs = self.matrix.T @ weights, others.matrix.T @ weights - weights.sum() * others.shift
        return product - np.outer(own, others.shift) - np.outer(self.shift, theirs)

    @property
    def _by_row(self) -> Any:
        """Gathered sparse columns in the order that Gram matrices need, kept that way; many are tried without one."""
        if self.matrix.format != "csr":
            self.matrix = self.matrix.tocsr()
        return self.matrix

    def _sparse_gram(self, weights: Array) -> Array:
        from ._scans import gram_of_rows  # compiled when it is first needed

        rows, size = self._by_row, self.shape[1]
        gram = np.zeros((size, size))
        gram_of_rows(rows.data, rows.indices, rows.indptr, weights, gram)
        gram += np.tril(gram, -1).T
        return gram

    def _sparse_cross(self, others: Design, weights: Array) -> Array:
        from ._scans import cross_of_rows  # compiled when it is first needed

        cross = np.zeros((self.shape[1], others.shape[1]))
        own, theirs = self._by_row, others._by_row
        cross_of_rows(own.data, own.indices, own.indptr, theirs.data, theirs.indices, theirs.indptr, weights, cross)
        return cross

    def squares(self, weights: Array) -> Array:
        """Σᵢ weightsᵢ (x_ij − shift_j)² for each column j: a pass over X, unless `look` has made it."""
        if self.gathered and not self.is_sparse:
            return weights @ np.square(self.matrix)
        sums = self._sums_for(weights)
        squares = sums.squares(0.0 if self.shift is None else self.shift)
        if not np.isfinite(squares).all():
            column = int(np.flatnonzero(~np.isfinite(squares))[0])
            raise ValueError(f"column {column} of X has values so large that their squares overflow; rescale it")
        return squares if self.shift is None else self._without_rounding(squares, sums)

    def _without_rounding(self, squares: Array, sums: ColumnSums) -> Array:
        """Squares of centred columns, made anew where subtraction cancels, or where they may be those of a constant."""
        assert self.shift is not None
        constant = sums.weights.sum() * np.square(ROUNDING * self._unit * self.shift)
        doubtful = (squares < CANCELLATION * sums.second) | (squares <= constant)
        for j in np.flatnonzero(doubtful & (sums.second > 0)):
            column = self.matrix[:, [j]]
            dense = column.toarray() if self.is_sparse else column
            centred = _centred(dense[:, 0].astype(np.float64), self.shift[j], self._unit)
            squares[j] = sums.weights @ np.square(centred)
        return squares

    @property
    def _unit(self) -> float:
        """Rounding unit of the data."""
        return float(np.finfo(self.matrix.dtype).eps)

    def centred(self, weights: Array) -> Design:
        """The same data with its weighted column means as the shift: a pass over X, unless `look` has made it."""
        sums = self._sums_for(weights)
        design = Design(self.matrix, sums.means())
        design._sums = sums
        return design


def _centred(block: Any, shift: Any, unit: float = 0.0) -> Array:
    """Some columns in float64, centred in place where asked; what is left of a constant one is zero."""
    block = np.asarray(block, dtype=np.float64)
    if shift is not None:
        block -= shift
        largest = np.maximum(block.max(axis=0, initial=0.0), -block.min(axis=0, initial=0.0))
        block[..., largest <= ROUNDING * unit * np.abs(shift)] = 0.0
    return block
