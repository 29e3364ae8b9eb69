"""A linear model as its data: the loss of each sample, the margins, and products with X, for lower bounds of f."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .._types import Array, IntArray
from ..designs import ColumnBlock, Design
from ..designs.dense import DenseDesign, compute_gram
from .loss import Loss
from .terms import RowData

__all__ = ["MarginForm"]

#: Columns that are collected at a time where products in single precision are not accurate enough.
COLLECTED_COLUMNS = 256


class MarginForm:
    """f(w, b) = Σᵢ sᵢ ℓ(mᵢ, yᵢ) + (alpha/2)·‖w‖² with margins m = Xw + b + offset, for samples in memory.

    Parameters
    ----------
    loss : Loss
        ℓ.
    design : Design
        What the rows belong to.
    block : ColumnBlock
        X.
    samples : RowData
        What belongs to the rows.
    alpha : float
        The ridge.
    fit_intercept : bool
        Whether there is b, one for each output.
    """

    def __init__(
        self, loss: Loss, design: Design, block: ColumnBlock, samples: RowData, alpha: float, fit_intercept: bool
    ) -> None:
        self.loss, self.alpha, self.fit_intercept = loss, alpha, fit_intercept
        self._design, self._block = design, block
        self._samples = samples
        #: y as the loss wants it.
        self.target: Array = design.collect_rows(samples.target)
        #: Sample weights that sum to 1.
        self.weights: Array = design.collect_rows(samples.weights)
        #: Known part of the margins.
        self.offset: Array | None = None if samples.offset is None else design.collect_rows(samples.offset)
        #: Shape of the coefficients.
        self.shape = (block.width, *samples.output_shape)

    def restrict(self, columns: IntArray) -> MarginForm:
        """The model of some columns, which are gathered once."""
        own = getattr(self._block, "columns", None)
        block = self._design.select(columns if own is None else own[columns])
        return MarginForm(self.loss, self._design, block, self._samples, self.alpha, self.fit_intercept)

    @property
    def n_samples(self) -> int:
        """Number of rows of X."""
        return len(self.weights)

    def multiply(self, coefficients: Array) -> Array:
        """Xw, without intercept and offset."""
        return self._design.collect_rows(self._block.matvec(coefficients))

    def multiply_transposed(self, rows: Array) -> Array:
        """Xᵀr, in double precision also where X is stored in single precision."""
        if self._design.is_double:
            return self._block.rmatvec(self._design.to_rows(rows))
        width = self._block.width
        starts = range(0, width, COLLECTED_COLUMNS)
        indices = (np.arange(start, min(start + COLLECTED_COLUMNS, width)) for start in starts)
        parts = [self._collect(batch).T @ rows for batch in indices]
        return np.concatenate(parts) if parts else np.zeros(self.shape)

    def collect(self) -> Array:
        """X as one dense array."""
        return self._block.collect()

    def _collect(self, columns: IntArray) -> Array:
        own = getattr(self._block, "columns", None)
        return self._design.collect_columns(columns if own is None else own[columns])

    @cached_property
    def squares(self) -> Array:
        """Σᵢ sᵢ x_ij² of each column j, of X − 1·x̄ᵀ if that is what the columns are."""
        return self._block.squares(self._samples.weights)

    @cached_property
    def sizes(self) -> Array:
        """What rounding errors of products with each column are relative to: its root mean square as it is stored."""
        shift = self._design.shift
        own = getattr(self._block, "columns", None)
        if shift is None:
            return np.sqrt(self.squares)
        return np.sqrt(self.squares) + 2.0 * np.abs(shift if own is None else shift[own])

    def find_contiguous(self) -> tuple[Array, Array | None] | None:
        """X as it is stored and its shift, if it is one contiguous dense array of double precision; else None."""
        design = self._design
        if not isinstance(design, DenseDesign) or getattr(self._block, "columns", None) is not None:
            return None
        matrix = design.matrix
        is_contiguous = matrix.flags.c_contiguous or matrix.flags.f_contiguous
        return (matrix, design.shift) if design.is_double and is_contiguous else None

    def gather(self, columns: IntArray) -> Array:
        """Some columns of X, one in each row."""
        return self._collect(columns).T

    def gram(self) -> Array:
        """Xᵀ diag(s) X; dense columns are not kept as those of supports are."""
        if not isinstance(self._design, DenseDesign):
            return self._block.gram(self._samples.weights)
        if getattr(self._block, "columns", None) is None:
            return self._design.gram_of_all(self.weights)
        return compute_gram(self.collect(), self.weights)

    def cross(self, columns: IntArray) -> Array:
        """Rows of Xᵀ diag(s) X."""
        return self.multiply_transposed(self.weights[:, None] * self._collect(columns)).T
