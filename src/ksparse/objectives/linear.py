"""f(w) = a loss of the margins Xw + b + offset, plus (alpha/2)·‖w‖², of given data."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from .._types import Array
from ..designs import as_design
from ..validation import check_flag, check_nonnegative_number, check_vector
from .columns import LinearModel
from .loss import AnyLoss
from .terms import RowData, bind_loss

__all__ = ["LinearObjective", "normalize_weights"]


class LinearObjective(LinearModel):
    """A linear model of given data; subclasses name a loss and check y.

    ``f(w, b) = Σᵢ sᵢ ℓ(wᵀxᵢ + b + oᵢ, yᵢ) / Σᵢ sᵢ + (alpha/2)·‖w‖²``, with sample weights s and offsets o.
    The intercept b is the last coordinate (or row) of the iterate; it is not penalized and does not count in k.
    Solvers work with implicitly centred columns when there is an intercept.

    Parameters
    ----------
    X : array-like, sparse matrix or Design, of shape (n, p)
        Dense float64 or float32 in any memory order is used without a copy; sparse data is converted to CSC once.
    y : array-like of shape (n,), or (n, q) for several responses
        What the loss compares the margins with.
    alpha : float, default=0
        Ridge penalty.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights; a weight of 2 is the same as two equal rows.
    offset : array-like of the margins' shape, optional
        Known part of the margins.
    fit_intercept : bool, default=False
        Whether to add an intercept.
    """

    #: The loss of the margins.
    loss: AnyLoss

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        alpha: float = 0.0,
        sample_weight: Any = None,
        offset: Any = None,
        fit_intercept: bool = False,
    ) -> None:
        name = type(self).__name__
        design = as_design(X, name)
        n = design.shape[0]
        target = self.encode_target(y, n)
        total, weights = normalize_weights(sample_weight, n)
        self.check_weighted_target(target[weights > 0])
        if check_flag(fit_intercept, "fit_intercept") and not self.loss.allows_intercept:
            raise ValueError(f"{name} has no intercept: it would change nothing; leave fit_intercept out")
        outputs = self.loss.output_shape(target)
        if offset is not None:
            offset = design.to_rows(check_vector(offset, "offset", (n, *outputs)))
        has_zeros = bool((weights == 0).any())
        samples = RowData(design.to_rows(target), design.to_rows(weights), offset, has_zeros, total, outputs)
        design.check_finite(samples.weights)  # a design may keep the sums
        alpha = check_nonnegative_number(alpha, "alpha")
        terms = bind_loss(self.loss, design, samples)
        super().__init__(design, terms, alpha, bool(fit_intercept), counters=design.counters)

    @abstractmethod
    def encode_target(self, y: Any, n: int) -> Array:
        """Check the n responses or labels, and return them as the loss wants them: an array with a row for each."""

    def check_weighted_target(self, target: Array) -> None:
        """Check what must hold for the samples that have a weight; nothing by default."""

    def __repr__(self) -> str:
        n, p = self._design.shape
        return f"{type(self).__name__}(n={n}, p={p}, alpha={self.alpha:g}, fit_intercept={self.fit_intercept})"


def normalize_weights(sample_weight: Any, n: int) -> tuple[float, Array]:
    """The sum of the sample weights, and weights that sum to 1."""
    if sample_weight is None:
        return float(n), np.full(n, 1.0 / n)
    weights = check_vector(sample_weight, "sample_weight", (n,))
    if (weights < 0).any():
        first = int(np.flatnonzero(weights < 0)[0])
        raise ValueError(f"sample_weight must not be negative; entry {first} is {weights[first]:g}")
    if not weights.any():
        raise ValueError("sample_weight is zero for every sample; give at least one sample a positive weight")
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if not np.isfinite(total):
        raise ValueError("the sum of sample_weight overflows; divide the weights by a constant, which changes nothing")
    return total, weights / total
