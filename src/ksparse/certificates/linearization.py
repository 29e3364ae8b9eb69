"""Lower bounds of the smooth part of f: what every relaxation is made from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from .._types import Array

__all__ = ["EPS", "Linearization", "SmoothPart"]

#: Twice the unit rounding error of double precision.
EPS = 2.3e-16


@dataclass(frozen=True)
class Linearization:
    """F(w) ≥ base − vᵀw for all w: the tangent of the smooth part F of f at a point.

    That is Fenchel's inequality: for a loss of margins, any slopes a of the samples that sum to zero where there is an
    intercept give v = −Xᵀ(s∘a) and base = −Σᵢ sᵢℓ*(aᵢ).
    """

    #: F(0) of the tangent, lowered by a bound of its rounding error.
    base: float
    #: v, of the flattened coordinates.
    slopes: Array
    #: Bounds of the rounding errors of v.
    errors: Array
    #: F at the point.
    value: float
    #: What the tangent follows from, in the user's coordinates: slopes of the samples, or coefficients.
    dual: Any


class SmoothPart(ABC):
    """F, convex and smooth, in coordinates in which each feature has about the same curvature."""

    #: Lipschitz constant of the gradient, or where to start from if that is not known.
    lipschitz: float
    #: Whether `lipschitz` is an upper bound.
    is_lipschitz: bool = True

    @abstractmethod
    def linearize(self, x: Array) -> Linearization:
        """The tangent at x: one pass over the data."""

    @abstractmethod
    def evaluate_at(self, x: Array) -> float:
        """F(x)."""
