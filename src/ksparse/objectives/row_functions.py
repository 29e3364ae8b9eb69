"""What is computed of the rows of one block, as functions that are sent to where the rows are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._types import Array

__all__ = ["HessianEntries", "RowFunctions", "average_target", "sum_over_rows"]


@dataclass(frozen=True)
class RowFunctions:
    """The functions of the rows of one block, to be sent to where the rows are: they know the loss and nothing else."""

    loss: Any
    #: Whether some samples do not count.
    has_zero_weights: bool

    def separates(self, m: Array, y: Array, s: Array) -> Any:
        """Whether scaling these margins up lowers the loss without end."""
        return self.loss.separates(m[s > 0], y[s > 0])

    def find_extremes(self, before: Array, after: Array, y: Array, s: Array) -> Array:
        """The largest change of a margin, the largest margin, and the unit that small ones are compared with."""
        if self.has_zero_weights:
            before, after, y = before[s > 0], after[s > 0], y[s > 0]
        moved = after - before
        if self.loss.shift_invariant:
            moved = moved - moved.mean(axis=1, keepdims=True)
        unit = np.abs(y).max(initial=0.0) if self.loss.of_residuals else 1.0
        return np.array([np.abs(moved).max(initial=0.0), np.abs(before).max(initial=0.0), unit])

    def weigh(self, values: Array, weights: Array) -> Array:
        """Values of each sample times its weight; 0 without weight, even where a value is infinite."""
        weighted = values * weights if values.ndim == 1 else values * weights[:, None]
        if self.has_zero_weights:
            weighted[weights == 0] = 0.0
        return weighted

    def total(self, m: Array, y: Array, s: Array) -> Any:
        """Σᵢ sᵢ ℓ(mᵢ, yᵢ)."""
        values = self.loss.value(m, y)
        if self.has_zero_weights:
            values[s == 0] = 0.0
        return s @ values

    def slopes(self, m: Array, y: Array, s: Array) -> Array:
        """Weighted slopes."""
        return self.weigh(self.loss.slope(m, y), s)

    def curvatures(self, m: Array, y: Array, s: Array) -> Array:
        """Weighted curvatures of losses with one output."""
        return self.weigh(self.loss.curvature(m, y), s)

    def total_curvatures(self, m: Array, y: Array, s: Array) -> Array:
        """The weighted diagonal of the Hessian in the margins, summed over the samples."""
        total: Array = self.weigh(self.loss.hessian_diagonal(self.loss.curvature(m, y)), s).sum(axis=0)
        return total

    def majorize(self, m: Array, y: Array, s: Array) -> Array:
        """Weighted curvatures of parabolas above the loss."""
        curvatures = self.loss.majorize(m, y)
        assert curvatures is not None
        return self.weigh(curvatures, s)

    def multiply_hessian(self, curvature: Array, directions: Array, s: Array) -> Array:
        """The weighted Hessian in the margins times directions."""
        return self.weigh(self.loss.multiply_hessian(curvature, directions), s)

    def total_lowest(self, y: Array, s: Array) -> Any:
        """The weighted sum of the least loss of each sample."""
        return s @ np.broadcast_to(self.loss.find_lowest(y), s.shape)


@dataclass(frozen=True)
class HessianEntries:
    """The weighted entries between two outputs of the Hessians of samples, as a function of their curvature."""

    functions: RowFunctions
    a: int
    b: int

    def __call__(self, curvature: Array, s: Array) -> Array:
        return self.functions.weigh(self.functions.loss.hessian_entry(curvature, self.a, self.b), s)


def sum_over_rows(rows: Array) -> Any:
    """The sum over rows."""
    return rows.sum(axis=0)


def average_target(y: Array, s: Array) -> Any:
    """The weighted mean of the target, for weights that sum to 1."""
    return s @ y
