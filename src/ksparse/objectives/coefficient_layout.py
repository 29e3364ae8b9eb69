"""The coordinates of a linear model: coefficients and intercept, as a vector, a matrix, or some entries of one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._types import Array, Mask

__all__ = ["CoefficientLayout"]


class CoefficientLayout(NamedTuple):
    """Rows of coefficients, the intercept last, with a column for each output; with a pattern, a vector of entries."""

    n_columns: int
    #: The shape of the outputs: () for one.
    outputs: tuple[int, ...]
    fit_intercept: bool
    #: The coefficients that there are; None for all.
    pattern: Mask | None = None

    @property
    def n_rows(self) -> int:
        """Number of columns, and one more for the intercept."""
        return self.n_columns + self.fit_intercept

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of an iterate."""
        return (self.n_rows, *self.outputs) if self.pattern is None else (int(self.pattern.sum()),)

    def split(self, x: Array) -> tuple[Array, Any]:
        """Coefficients and intercept of an iterate."""
        x = self.to_matrix(x)
        return (x[:-1], x[-1]) if self.fit_intercept else (x, 0.0)

    def join(self, weights: Array, intercept: Any) -> Array:
        """The iterate of coefficients and intercept."""
        joined = weights
        if self.fit_intercept:
            joined = np.empty((len(weights) + 1, *weights.shape[1:]))
            joined[:-1], joined[-1] = weights, intercept
        return joined if self.pattern is None else joined[self.pattern]

    def to_matrix(self, x: Array) -> Array:
        """The rows of an iterate that is a vector because of its pattern."""
        if self.pattern is None:
            return x
        matrix = np.zeros(self.pattern.shape)
        matrix[self.pattern] = x
        return matrix

    def embed(self, support: Mask) -> Mask:
        """A support of the iterate's coordinates as one of the coefficient matrix."""
        if self.pattern is None:
            return support
        embedded = np.zeros(self.pattern.shape, dtype=bool)
        embedded[self.pattern] = support
        return embedded

    def find_intercept(self) -> Mask:
        """Coordinates that are an intercept."""
        intercept = np.zeros((self.n_rows, *self.outputs), dtype=bool)
        if self.fit_intercept:
            intercept[-1] = True
        return intercept if self.pattern is None else intercept[self.pattern]
