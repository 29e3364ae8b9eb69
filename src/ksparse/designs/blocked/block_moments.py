"""Weighted moments of columns in blocks of rows, combined without loss of digits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..._types import Array, Matrix
from ..centering import is_constant
from ..moments import is_finite, sum_columns

__all__ = ["BlockMoments", "measure_memory"]


@dataclass(frozen=True)
class BlockMoments:
    """Sum of the weights, and weighted means and squares about them, of each column.

    Two blocks are combined by the formula of T. F. Chan, G. H. Golub and R. J. LeVeque (*The American Statistician*
    37, 1983), which loses no digits where means are large.
    """

    weight: float
    means: Array
    #: Σᵢ wᵢ(x_ij − mean_j)².
    squares: Array
    #: Number of rows with NaN or infinite values.
    bad_rows: int
    #: Memory that X takes.
    nbytes: int

    @classmethod
    def from_block(cls, matrix: Matrix, weights: Array) -> BlockMoments:
        """The moments of one block that has rows."""
        sums = sum_columns(matrix, weights)
        bad = 0 if sums.are_finite else _count_bad_rows(matrix)
        weight = float(weights.sum())
        with np.errstate(over="ignore", invalid="ignore"):
            means = sums.means() if weight else sums.centre
            squares = sums.squares(means) if weight else sums.second
            squares[is_constant(squares, weight * np.square(means), matrix.dtype)] = 0.0
        return cls(weight, means, squares, bad, measure_memory(matrix))

    def add(self, other: BlockMoments) -> BlockMoments:
        """The moments of both blocks together."""
        weight = self.weight + other.weight
        fraction = other.weight / weight if weight else 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            apart = other.means - self.means
            means = np.where(apart == 0, self.means, self.means + fraction * apart)
            squares = self.squares + other.squares + fraction * self.weight * np.square(apart)
        bad, nbytes = self.bad_rows + other.bad_rows, self.nbytes + other.nbytes
        return BlockMoments(weight, means, squares, bad, nbytes)

    def compute_squares(self, shift: Array | None) -> Array:
        """Σᵢ wᵢ(x_ij − shift_j)²."""
        apart = self.means if shift is None else self.means - shift
        return self.squares + self.weight * np.square(apart)

    def check(self) -> None:
        """Refuse NaN, infinite values, and values whose squares overflow."""
        if self.bad_rows:
            raise ValueError(
                f"X has NaN or infinite values, in {self.bad_rows} rows; remove or impute them before the fit"
            )
        overflow = np.flatnonzero(~np.isfinite(self.squares))
        if overflow.size:
            raise ValueError(f"column {overflow[0]} of X has values so large that their squares overflow; rescale it")


def _count_bad_rows(matrix: Matrix) -> int:
    if is_finite(matrix):
        return 0
    if sparse.issparse(matrix):
        coordinates = matrix.tocoo()
        return int(np.unique(coordinates.row[~np.isfinite(coordinates.data)]).size)
    return int((~np.isfinite(matrix).all(axis=1)).sum())


def measure_memory(matrix: Matrix) -> int:
    """Bytes that a dense or sparse matrix takes."""
    if not sparse.issparse(matrix):
        return int(matrix.nbytes)
    return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)
