"""What losses with a log link have in common: the mean of a response is exp(m)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._types import Array
from ..loss import Loss

__all__ = ["LogLinkLoss"]


class LogLinkLoss(Loss):
    """A loss of a mean exp(m), for responses that are not negative."""

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
