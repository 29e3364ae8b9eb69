"""A loss of all margins together, as an extension would write it: least squares, as if it were not a sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from ksparse._types import Array
from ksparse.objectives import JointLoss, LinearObjective
from ksparse.objectives.targets import check_responses


class JointSquares(JointLoss):
    """½·Σᵢ sᵢ(mᵢ − yᵢ)², as if it were not a sum over samples."""

    is_quadratic = True
    curvature_bound = 1.0

    def total(self, margins: Array, y: Array, weights: Array) -> float:
        return float(0.5 * weights @ np.square(margins - y))

    def slopes(self, margins: Array, y: Array, weights: Array) -> Array:
        return weights * (margins - y)

    def multiply_hessian(self, margins: Array, y: Array, weights: Array, directions: Array) -> Array:
        return weights[:, None] * directions

    def hessian_diagonal(self, margins: Array, y: Array, weights: Array) -> Array:
        return weights


class JointLeastSquares(LinearObjective):
    """Least squares by way of a joint loss."""

    loss = JointSquares()

    def encode_target(self, y: Any, n: int) -> Array:
        return check_responses(y, n)
