"""Lower bounds of the smooth part of f: what every relaxation is made from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._types import Array
from .relaxation import Perspective

__all__ = ["EPS", "Approach", "Linearization", "SmoothPart", "StepLimits"]

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


@dataclass(frozen=True)
class StepLimits:
    """When to stop."""

    #: Number of steps.
    steps: int = 500
    #: By `ksparse.clock.read_clock`.
    deadline: float = np.inf


class Approach(NamedTuple):
    """Where a method of its own has led to, from where the accelerated steps start."""

    x: Array
    z: Array
    #: Whether no further steps are needed.
    is_near: bool
    #: How many passes over the data they took.
    steps: int


class SmoothPart(ABC):
    """F, convex and smooth, in coordinates in which each feature has about the same curvature."""

    #: Lipschitz constant of the gradient, or where to start from if that is not known.
    lipschitz: float
    #: Whether `lipschitz` is an upper bound.
    is_lipschitz: bool = True

    def approach(self, perspective: Perspective, x: Array, target: float, limits: StepLimits) -> Approach | None:
        """Steps of second order on F + Ω, for a bound that reaches `target` or is near to the best; None by default."""
        return None

    @abstractmethod
    def linearize(self, x: Array) -> Linearization:
        """The tangent at x: one pass over the data."""

    @abstractmethod
    def evaluate_at(self, x: Array) -> float:
        """F(x)."""
