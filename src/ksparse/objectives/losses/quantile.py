"""Quantile regression with a smoothed check loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import entr

from ..._types import Array
from ...validation import check_number, check_positive_number
from .._linear_docs import document_objective
from ..linear import LinearObjective
from ..loss import Loss, sum_entropies
from ..targets import check_responses, check_squares

__all__ = ["Quantile", "QuantileLoss"]


# The formulas of a sample, which NumPy applies to arrays and Numba compiles.


def quantile_value(margin: Any, y: Any, quantile: float, bandwidth: float) -> Any:
    """τr + h·log(1 + exp(−r/h)) with r = y − m."""
    residual = y - margin
    rest = bandwidth * np.log1p(np.exp(-np.abs(residual) / bandwidth))
    return quantile * residual + np.maximum(-residual, 0.0) + rest


def quantile_slope(margin: Any, y: Any, quantile: float, bandwidth: float) -> Any:
    """1/(1 + exp(r/h)) − τ."""
    scaled = (y - margin) / bandwidth
    small = np.exp(-np.abs(scaled))
    return np.maximum(small, (scaled <= 0.0) * 1.0) / (1.0 + small) - quantile


def quantile_curvature(margin: Any, y: Any, bandwidth: float) -> Any:
    """exp(r/h)/(h·(1 + exp(r/h))²)."""
    small = np.exp(-np.abs((y - margin) / bandwidth))
    return small / (bandwidth * np.square(1.0 + small))


@dataclass(frozen=True)
class QuantileLoss(Loss):
    """τr + h·log(1 + exp(−r/h)) with r = y − m: above the check loss max(τr, (τ − 1)r) by at most h·log 2."""

    of_residuals = True
    curvature_vanishes = True
    quantile: float = 0.5
    bandwidth: float = 1.0

    def __post_init__(self) -> None:
        check_number(self.quantile, "quantile", "between 0 and 1 (0.5 is the median)", lambda level: 0.0 < level < 1.0)
        check_positive_number(self.bandwidth, "bandwidth")

    @property
    def curvature_bound(self) -> float:  # type: ignore[override]
        """1/(4h)."""
        return 0.25 / self.bandwidth

    def value(self, margins: Array, y: Array) -> Array:
        return quantile_value(margins, y, self.quantile, self.bandwidth)

    def find_lowest(self, y: Array) -> float:
        """h times the entropy of (τ, 1 − τ)."""
        return float(self.bandwidth * (entr(self.quantile) + entr(1.0 - self.quantile)))

    def slope(self, margins: Array, y: Array) -> Array:
        return quantile_slope(margins, y, self.quantile, self.bandwidth)

    def curvature(self, margins: Array, y: Array) -> Array:
        return quantile_curvature(margins, y, self.bandwidth)

    def conjugate(self, slopes: Array, y: Array) -> Array:
        """ay + h·(q·log q + (1 − q)·log(1 − q)) with q = a + τ between 0 and 1."""
        return slopes * y - self.bandwidth * sum_entropies(slopes + self.quantile)

    def majorize(self, margins: Array, y: Array) -> Array:
        """tanh(r/2h)/2r, from log(2·cosh(r/2h)), which grows no faster than r² (Jaakkola and Jordan 2000)."""
        residuals = np.abs(y - margins)
        limit = np.full(residuals.shape, 0.25 / self.bandwidth)
        return np.divide(np.tanh(0.5 * residuals / self.bandwidth), 2.0 * residuals, out=limit, where=residuals > 0)


@document_objective
class Quantile(LinearObjective):
    """f(w) = (1/n)·Σᵢ [τrᵢ + h·log(1 + exp(−rᵢ/h))] + (alpha/2)·‖w‖², with rᵢ = yᵢ − wᵀxᵢ.

    A smooth loss of the τ-quantile, above the check loss max(τr, (τ − 1)r) by at most h·log 2: the check loss convolved
    with the logistic density of scale h.

    Parameters
    ----------
    $X
    y : array-like of shape (n,)
        The responses.
    quantile : float, default=0.5
        τ.
    bandwidth : float, default=1.0
        h, in the units of y.
    $options

    References
    ----------
    S. Zheng, *Gradient descent algorithms for quantile regression with smooth approximation*, International Journal of
    Machine Learning and Cybernetics 2 (2011), 191–207.

    X. He, X. Pan, K. M. Tan and W.-X. Zhou, *Smoothed quantile regression with large-scale inference*, Journal of
    Econometrics 232 (2023), 367–388.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> X = np.column_stack([np.ones(101), np.linspace(-1, 1, 101) ** 3])
    >>> objective = ksparse.objectives.Quantile(X, np.arange(101.0), quantile=0.9, bandwidth=0.1)
    >>> ksparse.minimize(objective, k=1).x.round(1)
    array([90.2,  0. ])
    """

    def __init__(self, X: Any, y: Any, *, quantile: float = 0.5, bandwidth: float = 1.0, **options: Any) -> None:
        self.loss = QuantileLoss(quantile, bandwidth)
        super().__init__(X, y, **options)

    def encode_target(self, y: Any, n: int) -> Array:
        return check_squares(check_responses(y, n))
