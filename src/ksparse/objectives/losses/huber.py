"""Huber's robust regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._types import Array
from ...validation import check_positive_number
from .._linear_docs import document_objective
from ..linear import LinearObjective
from ..loss import Loss
from ..targets import check_responses, check_squares

__all__ = ["Huber", "HuberLoss"]


# The formulas of a sample, which NumPy applies to arrays and Numba compiles.


def huber_value(margin: Any, y: Any, delta: float) -> Any:
    """½r² for |r| ≤ δ, else δ|r| − ½δ²."""
    size = np.abs(margin - y)
    inner = np.minimum(size, delta)
    return inner * (size - 0.5 * inner)


def huber_slope(margin: Any, y: Any, delta: float) -> Any:
    """The residual r, between −δ and δ."""
    return np.minimum(np.maximum(margin - y, -delta), delta)


def huber_curvature(margin: Any, y: Any, delta: float) -> Any:
    """1 for |r| ≤ δ, else 0."""
    return (np.abs(margin - y) <= delta) * 1.0


@dataclass(frozen=True)
class HuberLoss(Loss):
    """½r² for |r| ≤ δ, else δ|r| − ½δ², with r = m − y."""

    curvature_bound = 1.0
    curvature_vanishes = True
    of_residuals = True
    delta: float = 1.35

    def __post_init__(self) -> None:
        check_positive_number(self.delta, "delta")

    def value(self, margins: Array, y: Array) -> Array:
        return huber_value(margins, y, self.delta)

    def slope(self, margins: Array, y: Array) -> Array:
        return huber_slope(margins, y, self.delta)

    def curvature(self, margins: Array, y: Array) -> Array:
        return huber_curvature(margins, y, self.delta)

    def conjugate(self, slopes: Array, y: Array) -> Array:
        """½a² + ay for |a| ≤ δ."""
        return np.where(np.abs(slopes) <= self.delta, slopes * (0.5 * slopes + y), np.inf)


@document_objective
class Huber(LinearObjective):
    """f(w) = (1/n)·Σᵢ huber(wᵀxᵢ − yᵢ) + (alpha/2)·‖w‖², with huber(r) = ½r² for |r| ≤ δ, else δ|r| − ½δ².

    Parameters
    ----------
    $X
    y : array-like of shape (n,)
        The responses.
    delta : float, default=1.35
        Where the loss turns from quadratic to linear, in the units of y.
    $options

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> X = np.column_stack([np.arange(6.0), np.ones(6)])
    >>> y = 2 * np.arange(6.0)
    >>> y[5] = 1000.0
    >>> ksparse.minimize(ksparse.objectives.Huber(X, y), k=1).x.round(2)
    array([2.22, 0.  ])
    """

    def __init__(self, X: Any, y: Any, *, delta: float = 1.35, **options: Any) -> None:
        self.loss = HuberLoss(delta)
        super().__init__(X, y, **options)

    def encode_target(self, y: Any, n: int) -> Array:
        return check_squares(check_responses(y, n))
