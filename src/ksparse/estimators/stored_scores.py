"""Held-out losses of samples in blocks: they are added up where the samples are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._types import Array, IntArray
from ..designs import Design
from ..objectives import Loss

__all__ = ["average_stored_losses"]


@dataclass(frozen=True, eq=False)
class LossesOfModels:
    """Weighted sums of the losses of some models above those of perfect predictions, and of the weights."""

    loss: Loss
    #: An intercept, or one for each output, of each model.
    intercepts: Sequence[Any]
    #: Whether all columns of the margins are outputs of a single model.
    is_joint: bool

    def __call__(self, margins: Array, y: Array, s: Array, offset: Array | float = 0.0) -> Array:
        lowest = self.loss.find_lowest(y)
        models = [margins] if self.is_joint else margins.T
        totals = [
            s @ (self.loss.value(m + b + offset, y) - lowest) for m, b in zip(models, self.intercepts, strict=True)
        ]
        return np.array([*totals, s.sum()])


def average_stored_losses(
    X: Design,
    loss: Loss,
    columns: IntArray,
    coefficients: Array,
    intercepts: Sequence[Any],
    rows: Sequence[Array],
    is_joint: bool = False,
) -> Array:
    """The mean held-out loss of each model, whose coefficients are a column of `coefficients`: one round trip.

    `rows` are the target, the weights, and the offset if there is one.
    """
    margins = X.matvec(columns, coefficients)
    function = LossesOfModels(loss, intercepts, is_joint)
    *totals, weight = X.reduce_rows(function, margins, *(X.to_rows(part) for part in rows))
    if weight == 0:
        raise ZeroDivisionError("the weights sum to zero")
    return np.array(totals) / weight
