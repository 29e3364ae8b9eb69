"""The interface of a debiasing method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from .._types import Array, Mask
from ..objectives.base import Objective, Outcome, Point

__all__ = ["Bounds", "Debias", "Outcome", "Solution"]


@dataclass(frozen=True)
class Solution:
    """A point of the restricted objective, and how it was reached."""

    point: Point
    outcome: Outcome


class Bounds(NamedTuple):
    """Bounds of the coordinates of a restricted objective."""

    lower: Array
    upper: Array

    def clip(self, x: Array) -> Array:
        """x moved into the bounds."""
        return np.clip(x, self.lower, self.upper)

    def find_movable(self, x: Array, gradient: Array) -> Mask:
        """Coordinates that descent does not push against their bound."""
        stuck = ((x <= self.lower) & (gradient > 0)) | ((x >= self.upper) & (gradient < 0))
        return ~stuck


class Debias(Protocol):
    """S3: from a start on the support to the next iterate there."""

    def __call__(self, objective: Objective, start: Array, bounds: Bounds | None = None) -> Solution:
        """Improve on `start`, a point of the restricted `objective`."""
        ...
