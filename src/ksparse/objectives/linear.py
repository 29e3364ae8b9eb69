"""f(w) = a loss of the margins Xw + b + offset, plus (alpha/2)·‖w‖², of given data."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Any

import numpy as np

from .._types import Array
from ..designs import as_design
from ..designs.blocked import RowValues, collect_if_dask, fill_rows, map_values, open_row_values, reduce_values
from ..validation import check_flag, check_nonnegative_number
from .columns import LinearModel
from .loss import AnyLoss, JointLoss
from .row_checks import check_exponents, check_row_values, divide_rows, find_faults, has_zero, is_nonnegative
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
        y = collect_if_dask(y) if isinstance(getattr(self, "loss", None), JointLoss) else y
        y, sample_weight, offset = (
            open_row_values(values, design, what)
            for values, what in ((y, "y"), (sample_weight, "sample_weight"), (offset, "offset"))
        )
        target = self.encode_target(y, n)
        if isinstance(target, RowValues) and sample_weight is None:
            sample_weight = fill_rows(target.design, 1.0)
        total, weights = normalize_weights(sample_weight, n)
        self.check_weights(target, weights)
        if check_flag(fit_intercept, "fit_intercept") and not self.loss.allows_intercept:
            raise ValueError(f"{name} has no intercept: it would change nothing; leave fit_intercept out")
        outputs = self.loss.output_shape(target)
        if offset is not None:
            offset = check_row_values(offset, "offset", (n, *outputs))
            if self.loss.exponentiates:
                check_exponents(offset, weights, bool(fit_intercept) or not self.loss.allows_intercept)
            offset = design.to_rows(offset)
        has_zeros = bool(reduce_values(has_zero, weights, combine=np.logical_or))
        samples = RowData(design.to_rows(target), design.to_rows(weights), offset, has_zeros, total, outputs)
        design.check_finite(samples.weights)  # a design may keep the sums
        alpha = check_nonnegative_number(alpha, "alpha")
        terms = bind_loss(self.loss, design, samples)
        super().__init__(design, terms, alpha, bool(fit_intercept), counters=design.counters)

    @abstractmethod
    def encode_target(self, y: Any, n: int) -> Any:
        """Check the n responses or labels, and return them as the loss wants them: an array with a row for each.

        They may be `RowValues`, which stay with the rows of X; then so does what is returned.
        """

    def check_weights(self, target: Any, weights: Any) -> None:
        """Check what must hold for the samples that have a weight."""
        if not isinstance(target, RowValues):
            self.check_weighted_target(target[weights > 0])

    def check_weighted_target(self, target: Array) -> None:
        """The same, for these samples alone, if they are in memory; nothing by default."""

    def __repr__(self) -> str:
        n, p = self._design.shape
        return f"{type(self).__name__}(n={n}, p={p}, alpha={self.alpha:g}, fit_intercept={self.fit_intercept})"


def normalize_weights(sample_weight: Any, n: int) -> tuple[float, Any]:
    """The sum of the sample weights, and weights that sum to 1; those that stay with the rows of X do so."""
    if sample_weight is None:
        return float(n), np.full(n, 1.0 / n)
    weights = check_row_values(sample_weight, "sample_weight", (n,))
    negative = find_faults(weights, is_nonnegative)
    if negative.n_wrong:
        raise ValueError(f"sample_weight must not be negative; entry {negative.first} is {negative.value:g}")
    with np.errstate(over="ignore"):
        total = float(reduce_values(np.sum, weights))
    if total == 0:
        raise ValueError("sample_weight is zero for every sample; give at least one sample a positive weight")
    if not np.isfinite(total):
        raise ValueError("the sum of sample_weight overflows; divide the weights by a constant, which changes nothing")
    return total, map_values(partial(divide_rows, total), weights)
