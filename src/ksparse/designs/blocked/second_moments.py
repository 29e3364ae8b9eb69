"""Means and products of all columns in blocks of rows, of one set of rows or of several: one pass over X."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from scipy import sparse

from ..._types import AnyArray, Array, IntArray, Matrix
from ...validation import as_real_array

__all__ = ["SecondMoments", "add_second_moments", "sum_second_moments"]

#: Rows are centred in parts of about this many numbers.
PART_SIZE = 2**21


@dataclass(frozen=True)
class SecondMoments:
    """Sum of the weights, weighted means, and weighted products about the means; about any point for no weight."""

    weight: float
    means: Array
    #: Σᵢ wᵢ(x_i − mean)(x_i − mean)ᵀ.
    products: Array

    def add(self, other: SecondMoments) -> SecondMoments:
        """The moments of both sets of rows, which loses no digits where means are large."""
        weight = self.weight + other.weight
        if weight == 0:
            return self
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is found in the sums
            fraction, apart = other.weight / weight, other.means - self.means
            products = self.products + other.products + fraction * self.weight * np.outer(apart, apart)
            return SecondMoments(weight, self.means + fraction * apart, products)

    @classmethod
    def of_rows(cls, variables: Array, weights: Array) -> SecondMoments:
        """Those of some rows."""
        weight = float(weights.sum())
        means = weights @ variables / weight if weight else np.zeros(variables.shape[1])
        centred = variables - means
        return cls(weight, means, (centred * weights[:, None]).T @ centred)


def sum_second_moments(
    matrix: Matrix, others: AnyArray, weights: Array, labels: IntArray, *, count: int
) -> list[SecondMoments]:
    """The moments of the columns of a block and others beside them, for the rows of each of `count` labels."""
    others = as_real_array(others, "y").reshape(matrix.shape[0], -1)
    width = matrix.shape[1] + others.shape[1]
    nothing = SecondMoments(0.0, np.zeros(width), np.zeros((width, width)))
    found, step = [nothing] * count, max(PART_SIZE // max(width, 1), 1)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is found in the sums
        for start in range(0, matrix.shape[0], step):
            rows = slice(start, start + step)
            part = matrix[rows]
            dense = part.toarray() if sparse.issparse(part) else part
            variables = np.hstack([np.asarray(dense, dtype=np.float64), others[rows]])
            own = np.asarray(labels[rows])
            for label in np.unique(own).astype(np.intp):
                chosen = own == label
                moments = SecondMoments.of_rows(variables[chosen], weights[rows][chosen])
                found[label] = found[label].add(moments)
    return found


def add_second_moments(parts: Sequence[SecondMoments], more: Sequence[SecondMoments]) -> list[SecondMoments]:
    """The moments of two blocks, label by label."""
    return [reduce(SecondMoments.add, pair) for pair in zip(parts, more, strict=True)]
