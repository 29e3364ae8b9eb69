"""Poisson regression of counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy

from ..._types import Array
from .._linear_docs import document_objective
from ..linear import LinearObjective
from ..loss import Loss
from ..targets import check_responses

__all__ = ["Poisson", "PoissonLoss"]


# The formulas of a sample, which NumPy applies to arrays and Numba compiles.


def poisson_value(margin: Any, y: Any) -> Any:
    """exp(m) − ym."""
    return np.exp(margin) - y * margin


def poisson_slope(margin: Any, y: Any) -> Any:
    """exp(m) − y."""
    return np.exp(margin) - y


@dataclass(frozen=True)
class PoissonLoss(Loss):
    """exp(m) − ym: the negative Poisson log-likelihood with log link, up to log y!."""

    no_minimum_reason = (
        "The counts are zero wherever some combination of the selected features is positive, or everywhere"
    )

    def find_cancelling_size(self, value: float, at_start: float, mean: Any) -> float:
        """Both exp(m) and ym are of the size of the counts, and may cancel."""
        return max(abs(value), float(mean))

    def find_null_margin(self, mean: Any) -> float:
        """log ȳ: from zero, tiny rates would take Newton's method one step for each unit of it."""
        return float(np.log(mean)) if mean > 0 else 0.0

    def value(self, margins: Array, y: Array) -> Array:
        with np.errstate(over="ignore"):
            return poisson_value(margins, y)

    def find_lowest(self, y: Array) -> Array:
        """y − y log y, at the margin log y: what is above it is half the deviance."""
        return y - xlogy(y, y)

    def slope(self, margins: Array, y: Array) -> Array:
        with np.errstate(over="ignore"):
            return poisson_slope(margins, y)

    def curvature(self, margins: Array, y: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.exp(margins)


@document_objective
class Poisson(LinearObjective):
    """f(w) = (1/n)·Σᵢ [exp(wᵀxᵢ) − yᵢ wᵀxᵢ] + (alpha/2)·‖w‖²: counts with a log link, up to a constant in y.

    Parameters
    ----------
    $X
    y : array-like of shape (n,)
        Counts.
    $options

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    >>> result = ksparse.minimize(ksparse.objectives.Poisson(X, [1, 7, 8, 1], fit_intercept=True), k=1)
    >>> result.x.round(4)
    array([2.0149, 0.    , 0.    ])
    """

    loss = PoissonLoss()

    def encode_target(self, y: Any, n: int) -> Array:
        counts = check_responses(y, n)
        if (counts < 0).any():
            first = int(np.flatnonzero(counts < 0)[0])
            raise ValueError(f"Poisson needs counts y >= 0; y[{first}] is {counts[first]:g}")
        return counts
