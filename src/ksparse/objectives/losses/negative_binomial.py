"""Negative binomial regression of counts that vary more than Poisson's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, entr

from ..._types import Array
from ...validation import check_number
from .._linear_docs import document_objective
from ..linear import LinearObjective
from ..row_checks import is_nonnegative
from ..targets import check_responses, require_responses
from .log_link_loss import LogLinkLoss

__all__ = ["NegativeBinomial", "NegativeBinomialLoss", "estimate_dispersion"]

#: The dispersions between which the most likely one is looked for. Below the first, counts are Poisson's; above the
#: second, means change the loss by less than its tolerances.
SMALLEST_DISPERSION, LARGEST_DISPERSION = 1e-8, 1e6
#: Relative tolerance of the dispersion.
DISPERSION_TOL = 1e-12
#: Below this product of dispersion and count, log-gamma functions of 1/dispersion lose digits, and series are used.
SMALL_PRODUCT = 1e-4


# The formulas of a sample, which NumPy applies to arrays and Numba compiles.


def negative_binomial_value(margin: Any, y: Any, dispersion: float) -> Any:
    """(y + 1/a)·log(1 + a·exp(m)) − ym; exp(m) − ym for a = 0."""
    if dispersion == 0.0:
        return np.exp(margin) - y * margin
    shifted = margin + np.log(dispersion)
    log_total = np.maximum(shifted, 0.0) + np.log1p(np.exp(-np.abs(shifted)))
    return (y + 1.0 / dispersion) * log_total - y * margin


def negative_binomial_slope(margin: Any, y: Any, dispersion: float) -> Any:
    """(exp(m) − y)/(1 + a·exp(m)), divided by exp(m) where that is large."""
    inverse = np.exp(-np.maximum(margin, 0.0))
    mean = np.exp(np.minimum(margin, 0.0))
    return (mean - y * inverse) / (inverse + dispersion * mean)


def negative_binomial_curvature(margin: Any, y: Any, dispersion: float) -> Any:
    """exp(m)·(1 + ay)/(1 + a·exp(m))²."""
    if dispersion == 0.0:
        return np.exp(margin)
    inverse = np.exp(-np.maximum(margin, 0.0))
    mean = np.exp(np.minimum(margin, 0.0))
    return mean * inverse * (1.0 + dispersion * y) / np.square(inverse + dispersion * mean)


@dataclass(frozen=True)
class NegativeBinomialLoss(LogLinkLoss):
    """(y + 1/a)·log(1 + a·exp(m)) − ym: the negative log-likelihood with log link, up to terms of y and a."""

    no_minimum_reason = (
        "The counts are zero wherever some combination of the selected features is positive, or everywhere"
    )
    dispersion: float = 1.0

    def __post_init__(self) -> None:
        expected = f"from 0 to {LARGEST_DISPERSION:g} (with a larger one, counts tell nothing of their means)"
        check_number(self.dispersion, "dispersion", expected, lambda number: 0.0 <= number <= LARGEST_DISPERSION)

    def get_null_power(self) -> float:
        """Poisson's: the margin is near that of any dispersion."""
        return 1.0

    def value(self, margins: Array, y: Array) -> Array:
        with np.errstate(over="ignore"):
            return negative_binomial_value(margins, y, self.dispersion)

    def slope(self, margins: Array, y: Array) -> Array:
        with np.errstate(over="ignore", divide="ignore"):
            return negative_binomial_slope(margins, y, self.dispersion)

    def curvature(self, margins: Array, y: Array) -> Array:
        with np.errstate(over="ignore", divide="ignore"):
            return negative_binomial_curvature(margins, y, self.dispersion)

    def bound_curvature(self, y: Array) -> Array:
        """(y + 1/a)/4: the curvature is (y + 1/a)·σ(1 − σ) with the logistic function σ of m + log a."""
        if self.dispersion == 0.0:
            return super().bound_curvature(y)
        return 0.25 * (y + 1.0 / self.dispersion)

    def conjugate(self, slopes: Array, y: Array) -> Array:
        """c·log c + (1/θ − a)·log(1 − θa) − (y + 1/θ)·log(1 + θy) with c = a + y ≥ 0 and θa ≤ 1."""
        if self.dispersion == 0.0:
            return -entr(slopes + y) - slopes - y
        room = 1.0 - self.dispersion * slopes
        outer = (y + 1.0 / self.dispersion) * np.log1p(self.dispersion * y)
        return -entr(slopes + y) - entr(room) / self.dispersion - outer


@document_objective
class NegativeBinomial(LinearObjective):
    """f(w) = (1/n)·Σᵢ [(yᵢ + 1/a)·log(1 + a·exp(mᵢ)) − yᵢmᵢ] + (alpha/2)·‖w‖², with mᵢ = wᵀxᵢ.

    The negative log-likelihood of counts with mean μ = exp(m) and variance μ + aμ², up to terms of y and a. a = 0 is
    Poisson's.

    Parameters
    ----------
    $X
    y : array-like of shape (n,)
        Counts.
    dispersion : float, default=1.0
        a. `ksparse.objectives.losses.estimate_dispersion` finds the most likely one for given means.
    $options

    References
    ----------
    J. M. Hilbe, *Negative Binomial Regression*, Cambridge University Press, 2nd edition, 2011 (there NB2).

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    >>> result = ksparse.minimize(ksparse.objectives.NegativeBinomial(X, [1, 7, 8, 1], fit_intercept=True), k=1)
    >>> result.x.round(4)
    array([2.0149, 0.    , 0.    ])
    """

    def __init__(self, X: Any, y: Any, *, dispersion: float = 1.0, **options: Any) -> None:
        self.loss = NegativeBinomialLoss(dispersion)
        super().__init__(X, y, **options)

    def encode_target(self, y: Any, n: int) -> Array:
        counts = check_responses(y, n)
        return require_responses(counts, is_nonnegative, f"{type(self).__name__} needs counts y >= 0")


def estimate_dispersion(y: Array, means: Array, weights: Array) -> float:
    """The dispersion a at which counts with these means are most likely; 0 if they vary no more than Poisson's.

    The derivative of the log-likelihood in θ = 1/a is the weighted sum of ψ(y + θ) − ψ(θ) + log(θ/(θ + μ)) +
    (μ − y)/(θ + μ).

    Parameters
    ----------
    y, means, weights : ndarray of shape (n,)
        Counts, their means μ, and the weights of the samples.

    Returns
    -------
    float
        a, at most 10⁶.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.objectives.losses import estimate_dispersion
    >>> y = np.random.default_rng(0).negative_binomial(2, 0.25, size=100_000)      # mean 6, variance 6 + 6²/2
    >>> round(estimate_dispersion(y, np.full(y.size, 6.0), np.ones(y.size)), 2)
    0.51
    """
    counted = weights > 0  # predictions of samples without weight may be beyond all floats
    y, means, weights = y[counted], means[counted], weights[counted]

    def differentiate(log_dispersion: float) -> float:
        """The derivative of the log-likelihood in a, times a positive number."""
        dispersion = float(np.exp(log_dispersion))
        return -float(weights @ _differentiate_in_size(y, means, 1.0 / dispersion)) / dispersion**2

    low, high = np.log(SMALLEST_DISPERSION), np.log(LARGEST_DISPERSION)
    if differentiate(low) <= 0.0:
        return 0.0
    if differentiate(high) >= 0.0:
        return LARGEST_DISPERSION
    return float(np.exp(brentq(differentiate, low, high, xtol=DISPERSION_TOL, rtol=DISPERSION_TOL)))


def _differentiate_in_size(y: Array, means: Array, size: float) -> Array:
    """∂ log-likelihood/∂θ of each sample; for large θ by the terms of order θ⁻², which are all that is left."""
    if max(float(y.max(initial=0.0)), float(means.max(initial=0.0))) < SMALL_PRODUCT * size:
        # ψ(y + θ) − ψ(θ) = yψ′(θ) + …, and log and fraction are expanded in μ/θ: what cancels is left out.
        cubic = (y - 3.0 * y**2 + 2.0 * y**3) / 6.0 + 2.0 / 3.0 * means**3 - y * means**2
        return -(np.square(y - means) - y) / (2.0 * size**2) + cubic / size**3
    return digamma(y + size) - digamma(size) - np.log1p(means / size) + (means - y) / (size + means)
