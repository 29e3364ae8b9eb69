"""Poisson regression of counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import entr

from ..._types import Array
from .._linear_docs import document_objective
from ..linear import LinearObjective
from ..row_checks import is_nonnegative
from ..targets import check_responses, require_responses
from .log_link_loss import LogLinkLoss

__all__ = ["Poisson", "PoissonLoss"]


# The formulas of a sample, which NumPy applies to arrays and Numba compiles.


def poisson_value(margin: Any, y: Any) -> Any:
    """exp(m) − ym."""
    return np.exp(margin) - y * margin


def poisson_slope(margin: Any, y: Any) -> Any:
    """exp(m) − y."""
    return np.exp(margin) - y


@dataclass(frozen=True)
class PoissonLoss(LogLinkLoss):
    """exp(m) − ym: the negative Poisson log-likelihood with log link, up to log y!."""

    no_minimum_reason = (
        "The counts are zero wherever some combination of the selected features is positive, or everywhere"
    )

    def get_null_power(self) -> float:
        return 1.0

    def value(self, margins: Array, y: Array) -> Array:
        with np.errstate(over="ignore"):
            return poisson_value(margins, y)

    def slope(self, margins: Array, y: Array) -> Array:
        with np.errstate(over="ignore"):
            return poisson_slope(margins, y)

    def curvature(self, margins: Array, y: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.exp(margins)

    def conjugate(self, slopes: Array, y: Array) -> Array:
        """c·log c − c with c = a + y ≥ 0."""
        means = slopes + y
        return -entr(means) - means


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
        return require_responses(counts, is_nonnegative, f"{type(self).__name__} needs counts y >= 0")
