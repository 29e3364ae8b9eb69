"""Coordinates in which solvers see a linear model: of centred columns, in units whose squares floats can hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._types import Array

__all__ = ["CentredCoordinates", "replace_zeros", "rescale_alpha"]


@dataclass(frozen=True)
class CentredCoordinates:
    """The change of variables between a user's coefficients and those of centred columns in other units."""

    #: A user's coefficients are the working ones times these.
    factors: Array
    #: Means of the columns that were subtracted, in working units; None if there is no intercept to take care of them.
    shift: Array | None
    #: The margin of a model without features, which was added to all margins.
    null: Any

    def to_working(self, x: Array) -> Array:
        """Working coordinates of a user's x."""
        moved = x / self.factors
        if self.shift is not None:
            moved[-1] += self.shift @ moved[:-1] - self.null
        return moved

    def to_user(self, x: Array) -> Array:
        """A user's x of working coordinates."""
        moved = x * self.factors
        if self.shift is not None:
            moved[-1] -= self.shift @ x[:-1] - self.null
        return moved


def rescale_alpha(alpha: float, unit: float) -> float:
    """The ridge of coefficients of X times `unit` that is `alpha` for those of X."""
    rescaled = alpha * unit * unit
    if not np.isfinite(rescaled):
        raise ValueError(
            f"alpha = {alpha:g} is too large for an X whose squares underflow: no coefficient can be told from 0; "
            "multiply X by a constant, or lower alpha"
        )
    return rescaled


def replace_zeros(diagonal: Array) -> Array:
    """Curvatures, with the largest one in place of zeros: a constant column must not get an infinite step."""
    if diagonal.min(initial=np.inf) > 0:
        return diagonal
    largest = float(diagonal.max(initial=0.0)) or 1.0
    return np.where(diagonal > 0, diagonal, largest)
