"""What losses with a log link have in common: the mean of a response is exp(m)."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from ..._types import Array
from ..loss import Loss

__all__ = ["LogLinkLoss"]


class LogLinkLoss(Loss):
    """A loss of a mean exp(m), for responses that are not negative."""

    exponentiates = True

    @abstractmethod
    def get_null_power(self) -> float:
        """The power p of Tweedie's loss of which the margin of a model without features is taken."""

    def log_null_sums(self, offset: Array, y: Array, weights: Array) -> Array:
        """log Σ s·y·exp(−(p − 1)o) and log Σ s·exp((2 − p)o): exp of their difference is the mean where o is 0."""
        power = self.get_null_power()
        return np.array([sum_exp((1.0 - power) * offset, weights * y), sum_exp((2.0 - power) * offset, weights)])

    def accepts_zeros(self) -> bool:
        """Whether a response may be 0."""
        return True

    def find_cancelling_size(self, value: float, at_start: float, mean: Any) -> float:
        """The terms of the loss are of the size of the responses, and may cancel."""
        return max(abs(value), float(mean))

    def find_null_margin(self, mean: Any) -> float:
        """log ȳ: from zero, tiny rates would take Newton's method one step for each unit of it."""
        return float(np.log(mean)) if mean > 0 else 0.0

    def find_lowest(self, y: Array) -> Array:
        """The loss at the margin log y, or its limit: what is above it is half the deviance."""
        lowest = np.zeros(y.shape)
        lowest[y > 0] = self.value(np.log(y[y > 0]), y[y > 0])
        return lowest


def sum_exp(exponents: Array, weights: Array) -> float:
    """log Σ s·exp(e), which does not overflow; −∞ where no weight is positive."""
    counted = weights > 0
    if not counted.any():
        return -np.inf
    largest = float(exponents[counted].max())
    return largest + float(np.log(weights[counted] @ np.exp(exponents[counted] - largest)))
