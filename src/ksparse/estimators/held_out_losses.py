"""Scores of a linear model on held-out samples: minus their mean loss above that of perfect predictions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from .._types import AnyArray, Array, IntArray, Mask
from ..debias.ridges import apply_to_rows, minimize_for_ridges
from ..designs import Design
from ..objectives import JointLoss, Loss, Objective
from ..objectives.columns import LinearModel
from ..objectives.loss import SampleMargins
from ..objectives.protocols import WorkingForm
from ..solvers import Result
from .base import Samples, SparseEstimator
from .margins import add_offset, multiply_selected
from .stored_scores import average_stored_losses

__all__ = ["HeldOutLosses"]

#: Why held-out samples have no score.
NO_WEIGHT = "all held-out samples of a fold have weight 0; use fewer folds, or leave out samples without weight"


class HeldOutLosses(SparseEstimator):
    """A linear model that is scored by its loss."""

    n_features_in_: int
    fit_intercept: bool
    positive: bool
    #: What features were divided by before the fit; None without standardizing.
    _scale: Array | None

    @abstractmethod
    def coefficients(self, result: Result) -> tuple[Array, Any]:
        """Coefficients and intercept of a solution, in scikit-learn's shapes and the units of the data."""

    @abstractmethod
    def encode_target(self, y: AnyArray) -> Array:
        """Responses of other samples as the loss takes them."""

    @abstractmethod
    def weigh_samples(self, target: Array, sample_weight: Array | None) -> Array | None:
        """Weights of the samples in the loss."""

    def score_held_out(self, objective: Objective, result: Result, held_out: Samples) -> float:
        """Minus the mean loss of the held-out samples, above that of perfect predictions."""
        assert isinstance(objective, LinearModel)
        coefficients, intercept = self.coefficients(result)
        target = self.encode_target(held_out.y)
        if isinstance(held_out.X, Design):
            used = np.flatnonzero(np.atleast_2d(coefficients).any(axis=0))
            columns = coefficients[..., used].T
            return float(self._average_stored(objective.loss, held_out, target, used, columns, [intercept])[0])
        margins = add_offset(multiply_selected(held_out.X, coefficients) + intercept, held_out.offset)
        margins = margins.reshape(len(target), *objective.loss.output_shape(target))
        if isinstance(objective.loss, Loss):
            losses = objective.loss.value(margins, target)
            return -float(self._average_losses(objective.loss, losses, target, held_out.sample_weight))
        assert isinstance(objective.loss, JointLoss)
        weights = self.weigh_samples(target, held_out.sample_weight)
        weights = np.ones(len(margins)) if weights is None else weights
        training = objective.collect_margins(result.x)
        try:
            return -objective.loss.average_held_out(training, SampleMargins(margins, target, weights))
        except ZeroDivisionError as error:
            raise ValueError(NO_WEIGHT) from error

    def score_refits(
        self, form: WorkingForm, x: Array, support: Mask, penalties: Sequence[float], held_out: Samples
    ) -> Array | None:
        assert isinstance(form.objective, LinearModel)
        loss = form.objective.loss
        if self.positive or support.ndim > 1 or not isinstance(loss, Loss):
            return None
        solutions = minimize_for_ridges(form.objective.restrict(support), np.array(penalties), x[support])
        if solutions is None:
            return None
        full = np.zeros((len(penalties), x.size))
        full[:, support] = solutions
        full = np.array([form.to_user(row) for row in full])
        used = np.flatnonzero(support[: self.n_features_in_])
        coefficients = full[:, used] if self._scale is None else full[:, used] / self._scale[used]
        if isinstance(held_out.X, Design):
            intercepts = full[:, -1] if self.fit_intercept else np.zeros(len(full))
            target = self.encode_target(held_out.y)
            return self._average_stored(loss, held_out, target, used, coefficients.T, intercepts.tolist())
        columns = held_out.X[:, used]
        margins = coefficients @ (columns.toarray() if sparse.issparse(columns) else columns).T
        if self.fit_intercept:
            margins += full[:, -1:]
        if held_out.offset is not None:
            margins += held_out.offset
        target = self.encode_target(held_out.y)
        losses = apply_to_rows(loss.value, margins, target)
        return -self._average_losses(loss, losses, target, held_out.sample_weight)

    def _average_stored(
        self, loss: Any, held_out: Samples, target: Array, used: IntArray, columns: Array, intercepts: list[Any]
    ) -> Array:
        """Minus the mean losses of samples in blocks for one or several models; `columns` are their coefficients."""
        weights = self.weigh_samples(target, held_out.sample_weight)
        rows = [target, np.ones(len(target)) if weights is None else weights]
        rows += [] if held_out.offset is None else [held_out.offset]
        is_joint = bool(loss.output_shape(target))
        columns = columns if columns.ndim == 2 else columns[:, None]
        try:
            return -average_stored_losses(held_out.X, loss, used, columns, intercepts, rows, is_joint)
        except ZeroDivisionError as error:
            raise ValueError(NO_WEIGHT) from error

    def _average_losses(self, loss: Loss, losses: Array, target: Array, sample_weight: Array | None) -> Array:
        """The mean over samples, which are the last axis, of losses above those of perfect predictions."""
        losses = losses - loss.find_lowest(target)
        try:
            means: Array = np.average(losses, weights=self.weigh_samples(target, sample_weight), axis=-1)
        except ZeroDivisionError as error:
            raise ValueError(NO_WEIGHT) from error
        return means
