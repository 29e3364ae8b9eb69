"""Upper bounds of the Hessian of a linear model that hold everywhere: Lipschitz constants, and M_s of the theory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse.linalg import LinearOperator

from .._types import Array, IntArray
from ..designs import ColumnBlock
from .protocols import largest_eigenvalue
from .row_functions import RowFunctions, sum_over_rows
from .terms import Terms

__all__ = ["CurvatureBounds"]

#: Columns are gathered about so many numbers at a time.
NUMBERS_AT_ONCE = 2**22


@dataclass(frozen=True)
class BoundFunctions(RowFunctions):
    """What is computed of the rows of one block."""

    def weigh_bounds(self, y: Array, s: Array) -> Array:
        """Weighted upper bounds of the curvatures; 0 without weight."""
        return self.weigh(self.loss.bound_curvature(y), s)

    def find_largest(self, y: Array, s: Array) -> float:
        """The largest bound of the curvature of a sample that counts."""
        return float(np.max(self.loss.bound_curvature(y[s > 0]), initial=0.0))


@dataclass(frozen=True)
class CurvatureBounds:
    """What bounds the Hessian of a loss of the margins of some columns, without the ridge."""

    block: ColumnBlock
    #: The numbers of the columns in the design.
    columns: IntArray
    terms: Terms

    @cached_property
    def of_samples(self) -> float:
        """The largest bound of the curvature of a sample that counts; infinite if none is known."""
        target, weights, *_ = self.terms.samples
        return float(self.terms.rows.reduce_rows(self._functions.find_largest, target, weights, combine=np.maximum))

    @property
    def _functions(self) -> BoundFunctions:
        return BoundFunctions(self.terms.loss, self.terms.samples.has_zero_weights)

    def find_lipschitz(self, ridge: Array, scale: Array) -> float:
        """A bound of vᵀS(H + R)Sv/‖v‖²; infinite if none is known.

        The diagonals of R and S have an entry for each column, and one more for an intercept, if there is one.
        """
        if np.isfinite(self.of_samples):
            return self._bound_by_samples(ridge, scale)
        return self.bound_by_ranges(scale) + float((np.square(scale) * ridge).max(initial=0.0))

    def _bound_by_samples(self, ridge: Array, scale: Array) -> float:
        """The largest eigenvalue with the bounds in place of the curvatures, by Lanczos: a few passes over X."""
        p, rows, samples = self.block.width, self.terms.rows, self.terms.samples
        bounds = rows.map_rows(self._functions.weigh_bounds, samples.target, samples.weights)

        def product(vector: Array) -> Array:
            v = scale * vector.ravel()
            intercept = v[p:].sum()
            weighted = rows.map_rows(lambda m, b: b * (m + intercept), self.block.matvec(v[:p]), bounds)
            total = [float(rows.reduce_rows(sum_over_rows, weighted))] if scale.size > p else []
            return scale * (np.append(self.block.rmatvec(weighted), total) + ridge * v)

        return largest_eigenvalue(LinearOperator((scale.size, scale.size), matvec=product, dtype=np.float64))

    def bound_by_ranges(self, scale: Array | None = None, s: int | None = None) -> float:
        """A bound of vᵀSHSv/‖v‖² where H is a sum of variances of margins, for s nonzero entries of v; else infinite.

        A variance is at most a quarter of the squared range. That of margins XSv is at most the squared distance of a
        row of XS from any centre, of which the s largest terms count; the middle of each column is taken.
        """
        weight = self.terms.total_variances()
        if weight is None:
            return np.inf
        counted = self.terms.rows.collect_rows(self.terms.samples.weights) > 0
        scale = np.ones(self.columns.size) if scale is None else scale
        size = max(NUMBERS_AT_ONCE // max(counted.size, 1), 1)
        largest: Array = np.zeros((int(counted.sum()), 0))
        for start in range(0, self.columns.size, size):
            chosen = slice(start, min(start + size, self.columns.size))
            block = self.terms.rows.collect_columns(self.columns[chosen])[counted] * scale[chosen]
            squares = np.append(largest, np.square(block - 0.5 * (block.max(axis=0) + block.min(axis=0))), axis=1)
            largest = squares.sum(axis=1, keepdims=True) if s is None else np.sort(squares, axis=1)[:, -s:]
        return weight * float(largest.sum(axis=1).max(initial=0.0))
