"""What lower bounds follow from, beside slopes of the samples: `ksparse.certificates.verify` computes them again."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._types import Array, IntArray, Mask

__all__ = ["LevelSetDual", "QuadraticDual"]


@dataclass(frozen=True, eq=False)
class QuadraticDual:
    """What a lower bound for least squares follows from: a point, and curvature that is at most f's.

    f(w) ≥ the tangent at the point of f minus ½Σ d_j w_j², plus the perspective of ½Σ (alpha + d_j)w_j². For
    ``fraction`` = 1, XᵀSX − diag(d) is positive semidefinite once the selected features are eliminated, and d is
    `curvature`. Otherwise only that fraction of XᵀSX is in the tangent, and d is (1 − fraction) times what a matrix has
    at least on vectors with few nonzeros (`ksparse.certificates.moved_curvature`).
    """

    #: The point, zero outside the features that are open; selected features are minimized over.
    coefficients: Array
    #: d of each feature.
    curvature: Array
    #: The fraction of the quadratic form that the tangent has.
    fraction: float
    #: Features that are eliminated.
    eliminated: Mask
    #: What features are divided by where curvature on vectors with few nonzeros is computed.
    scale: Array

    def rescale(self, unit: float) -> QuadraticDual:
        """The same in coordinates that are the former ones times a unit."""
        return replace(self, coefficients=self.coefficients * unit, curvature=self.curvature / unit / unit)


@dataclass(frozen=True, eq=False)
class LevelSetDual:
    """What a lower bound of all solutions that are not worse follows from (`ksparse.certificates.level_set`).

    With the margins t₀ of `center`, all those with f(w) ≤ U have |tᵢ − t₀ᵢ| ≤ `moves`, since what f is above its
    tangent there is at least ½Σ sᵢcᵢ(tᵢ − t₀ᵢ)² within these moves. Of this quadratic function, `curvature` is moved
    into the ridge, and of the rest the tangent at `point` is taken.
    """

    #: Slopes of the samples, which the tangent of the mean loss has.
    slopes: Array
    #: Where it is: coefficients, and the mean of the margins, less that of y for losses of residuals.
    center: Array
    mean_margin: float
    #: By how much the margin of each sample differs at most, and c.
    moves: Array
    sample_curvature: Array
    #: d of each feature.
    curvature: Array
    #: Where the tangent of the quadratic function is.
    point: Array

    def rescale(self, unit: float) -> LevelSetDual:
        """The same in coordinates that are the former ones times a unit."""
        center, point = self.center * unit, self.point * unit
        return replace(self, center=center, point=point, curvature=self.curvature / unit / unit)

    def expand(self, coordinates: IntArray, count: int) -> LevelSetDual:
        """The same with more features, of which these are the given ones."""

        def grow(values: Array) -> Array:
            grown = np.zeros(count)
            grown[coordinates] = values
            return grown

        return replace(self, center=grow(self.center), curvature=grow(self.curvature), point=grow(self.point))
