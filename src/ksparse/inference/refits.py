"""Exact refits of a fitted model on other units: without one of them, or with another in its place."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from .._types import Array, Mask
from ..debias import Outcome
from ..designs import Design
from ..objectives.columns import LinearModel
from ..objectives.protocols import working_form
from ..solvers import Iterate, Problem

__all__ = ["Refits", "check_fit_samples", "fix_model"]


def fix_model(model: Any) -> Any:
    """A model with the k and the penalties that `model` has, or has chosen, and with what it has estimated.

    It is a copy: preparing it for other samples does not change the model.
    """
    if hasattr(model, "k_") and hasattr(model, "build_fixed"):
        return model.at(model.k_) if hasattr(model, "at") else model.build_fixed(model.k_)[0]
    fixed = copy.copy(model)
    fixed.warm_start = False
    fixed.fix_estimates()
    return fixed


def check_fit_samples(model: Any, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Any:
    """The validated samples, of which X must have the features of the fit."""
    validate_data(model, X, reset=False, skip_check_array=True)
    samples = copy.copy(model).check_samples(X, y, sample_weight, offset)
    if isinstance(samples.X, Design):
        raise ValueError(
            "intervals, and what the loss is without a feature, need X in memory, not of Dask or on disk; pass some of "
            "the rows and their y, such as X[:100_000].compute()"
        )
    return samples


class Refits:
    """f of a model with fixed k and penalties on its samples, minimized on any of its units.

    f is the mean loss plus the ridge of the coefficients (`refit_alpha`, or `alpha` where that is None), in the
    coordinates in which the model is fitted: divided by standard deviations with `standardize=True`.

    Parameters
    ----------
    model : estimator
        A fitted linear model with a fixed k, such as `fix_model` gives; it is prepared for the samples.
    samples : Samples
        The validated samples of the fit.
    """

    def __init__(self, model: Any, samples: Any) -> None:
        objective, penalty = model.prepare(samples), model.get_refit_penalty()
        if penalty is not None:
            objective = model.with_penalty(objective, penalty)
        sparsity = replace(model.build_sparsity(objective, model.k), always=())
        units = sparsity.bind(objective.shape, objective.free)
        form = working_form(objective)
        self.problem = Problem(form, units.divide_bounds(form.unit))
        self.units = self.problem.units
        #: How many samples there are, by their weights.
        self.n_samples: float = objective.effective_samples

    @property
    def objective(self) -> LinearModel:
        """f in the coordinates in which it is minimized."""
        objective = self.problem.objective
        assert isinstance(objective, LinearModel)
        return objective

    def refit(self, selected: Mask, start: Array | None = None) -> Iterate:
        """The minimum of f on some units, and the free coordinates."""
        start = np.zeros(self.objective.shape) if start is None else start
        return self.problem.refit(self.units.to_mask(selected), start)

    def compute_mean_loss(self, iterate: Iterate) -> float:
        """f without the ridge."""
        x = iterate.point.x
        return float(iterate.value - self.objective.penalty(x[:-1] if self.objective.fit_intercept else x))


def has_minimum(iterate: Iterate) -> bool:
    """Whether f was minimized: not where classes are separated and there is no ridge."""
    return iterate.outcome in (Outcome.SOLVED, Outcome.SINGULAR)
