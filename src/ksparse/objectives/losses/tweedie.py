"""Regression of amounts with a log link: gamma, and Tweedie's family between Poisson and gamma."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import entr

from ..._types import Array
from ...validation import check_number
from .._linear_docs import document_objective
from ..linear import LinearObjective
from ..row_checks import is_nonnegative, is_positive
from ..targets import check_responses, require_responses
from .log_link_loss import LogLinkLoss

__all__ = ["Gamma", "Tweedie", "TweedieLoss"]

#: exp of more is not used: a response of 0 times infinity would be NaN.
LARGEST_EXPONENT = 700.0
#: Newton steps and bisections for the margin of a slope.
MAX_SLOPE_STEPS = 100


# The formulas of a sample, which NumPy applies to arrays and Numba compiles.


def tweedie_value(margin: Any, y: Any, power: float) -> Any:
    """exp((2 − p)m)/(2 − p) + y·exp(−(p − 1)m)/(p − 1); for p = 1 the second term is −ym, for 2 the first is m."""
    growth = margin if power == 2.0 else np.exp((2.0 - power) * margin) / (2.0 - power)
    if power == 1.0:
        return growth - y * margin
    return growth + y * np.exp(np.minimum((1.0 - power) * margin, LARGEST_EXPONENT)) / (power - 1.0)


def tweedie_slope(margin: Any, y: Any, power: float) -> Any:
    """exp((2 − p)m) − y·exp(−(p − 1)m)."""
    decline = np.exp(np.minimum((1.0 - power) * margin, LARGEST_EXPONENT))
    return np.exp((2.0 - power) * margin) - y * decline


def tweedie_curvature(margin: Any, y: Any, power: float) -> Any:
    """(2 − p)·exp((2 − p)m) + (p − 1)·y·exp(−(p − 1)m)."""
    decline = np.exp(np.minimum((1.0 - power) * margin, LARGEST_EXPONENT))
    return (2.0 - power) * np.exp((2.0 - power) * margin) + (power - 1.0) * y * decline


@dataclass(frozen=True)
class TweedieLoss(LogLinkLoss):
    """exp((2 − p)m)/(2 − p) + y·exp(−(p − 1)m)/(p − 1): half the Tweedie deviance with log link, up to terms of y."""

    no_minimum_reason = (
        "The responses are zero, or too small beside others for floats, wherever some combination of the selected "
        "features is positive, or everywhere"
    )
    power: float = 1.5

    def __post_init__(self) -> None:
        # Beyond 2 the log-likelihood with a log link is not concave; between 0 and 1 there is no such distribution.
        check_number(self.power, "power", "from 1 (Poisson) to 2 (gamma)", lambda power: 1.0 <= power <= 2.0)

    def accepts_zeros(self) -> bool:
        return self.power < 2.0

    def get_null_power(self) -> float:
        return self.power

    def find_cancelling_size(self, value: float, at_start: float, mean: Any) -> float:
        """The terms of the loss are of the size of ȳ^(2 − p)."""
        return max(abs(value), float(mean) ** (2.0 - self.power))

    def value(self, margins: Array, y: Array) -> Array:
        with np.errstate(over="ignore"):
            return tweedie_value(margins, y, self.power)

    def slope(self, margins: Array, y: Array) -> Array:
        with np.errstate(over="ignore"):
            return tweedie_slope(margins, y, self.power)

    def curvature(self, margins: Array, y: Array) -> Array:
        with np.errstate(over="ignore"):
            return tweedie_curvature(margins, y, self.power)

    def conjugate(self, slopes: Array, y: Array) -> Array:
        """c·log c − c with c = a + y ≥ 0 for Poisson's loss, and c·log(c/y) − c with c = 1 − a ≥ 0 for gamma's.

        Between them it is am − ℓ(m) at the margin m with the slope a, which has no closed form unless y = 0.
        """
        if self.power == 1.0:
            return -entr(slopes + y) - slopes - y
        if self.power == 2.0:
            rest = 1.0 - slopes
            return -entr(rest) - rest * (np.log(y) + 1.0)
        conjugates = -(entr(slopes) + slopes) / (2.0 - self.power)
        positive = y > 0
        a, y = slopes[positive], y[positive]
        margins = find_margins_of_slopes(a, y, self.power)
        conjugates[positive] = a * margins - tweedie_value(margins, y, self.power)
        return conjugates


def find_margins_of_slopes(slopes: Array, y: Array, power: float) -> Array:
    """The margins at which the loss has these slopes, for y > 0 and a power between 1 and 2.

    The slope is 0 at log y, and one of its two terms bounds the margin on the other side. Newton's method stays there.
    """
    at_zero = np.log(y)
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.log(slopes + y ** (2.0 - power)) / (2.0 - power)
        near = -np.log((y ** (2.0 - power) - slopes) / y) / (power - 1.0)
    low, high = np.where(slopes < 0, near, at_zero), np.where(slopes > 0, far, at_zero)
    margins = 0.5 * (low + high)
    for _ in range(MAX_SLOPE_STEPS):
        excess = tweedie_slope(margins, y, power) - slopes
        low, high = np.where(excess < 0, margins, low), np.where(excess > 0, margins, high)
        following = margins - excess / tweedie_curvature(margins, y, power)
        following = np.where((following >= low) & (following <= high), following, 0.5 * (low + high))
        if np.allclose(following, margins, rtol=1e-15, atol=1e-15):
            break
        margins = following
    return margins


@document_objective
class Tweedie(LinearObjective):
    """f(w) = (1/n)·Σᵢ [exp((2 − p)mᵢ)/(2 − p) + yᵢ·exp(−(p − 1)mᵢ)/(p − 1)] + (alpha/2)·‖w‖², with mᵢ = wᵀxᵢ.

    Half the mean Tweedie deviance with a log link, up to terms of y: the variance is proportional to the p-th power of
    the mean. With 1 < p < 2, y is a sum of a Poisson number of gamma amounts, and may be 0. p = 1 is Poisson's, p = 2
    gamma's loss (with −yᵢmᵢ in place of the second term, and mᵢ of the first).

    Parameters
    ----------
    $X
    y : array-like of shape (n,)
        Responses that are not negative.
    power : float, default=1.5
        p, from 1 to 2.
    $options

    References
    ----------
    B. Jørgensen, *Exponential dispersion models*, Journal of the Royal Statistical Society B 49 (1987), 127–162.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    >>> result = ksparse.minimize(ksparse.objectives.Tweedie(X, [0, 7.5, 8.5, 1], fit_intercept=True), k=1)
    >>> np.exp(result.x[[2, 0]]).round(4)      # the mean of 0 and 1, and how many times as much 7.5 and 8.5 are
    array([ 0.5, 16. ])
    """

    loss: TweedieLoss

    def __init__(self, X: Any, y: Any, *, power: float = 1.5, **options: Any) -> None:
        self.loss = TweedieLoss(power)
        super().__init__(X, y, **options)

    def encode_target(self, y: Any, n: int) -> Array:
        amounts = check_responses(y, n)
        if self.loss.accepts_zeros():
            return require_responses(amounts, is_nonnegative, f"{type(self).__name__} needs y >= 0")
        return require_responses(amounts, is_positive, self._describe_need())

    def _describe_need(self) -> str:
        """That responses are positive, and which power takes zeros."""
        return "Tweedie with power 2, which is gamma, needs y > 0 (a power between 1 and 2 takes zeros)"


@document_objective
class Gamma(Tweedie):
    """f(w) = (1/n)·Σᵢ [wᵀxᵢ + yᵢ·exp(−wᵀxᵢ)] + (alpha/2)·‖w‖²: positive amounts with a log link.

    Half the mean gamma deviance, up to a constant in y: the standard deviation is proportional to the mean.

    Parameters
    ----------
    $X
    y : array-like of shape (n,)
        Positive responses.
    $options

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    >>> result = ksparse.minimize(ksparse.objectives.Gamma(X, [1, 7, 8, 1], fit_intercept=True), k=1)
    >>> np.exp(result.x[[2, 0]]).round(4)      # the mean of 1 and 1, and how many times as much 7 and 8 are
    array([1. , 7.5])
    """

    def __init__(self, X: Any, y: Any, **options: Any) -> None:
        super().__init__(X, y, power=2.0, **options)

    def _describe_need(self) -> str:
        return "Gamma needs y > 0 (Tweedie with a power between 1 and 2 takes zeros)"
