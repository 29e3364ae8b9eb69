"""First fits, whose residuals tell the scale or the dispersion that a loss needs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._types import Array, Matrix
from ..designs.blocked import RowValues, map_values, multiply_rows, reduce_values
from ..objectives import LinearObjective
from ..objectives.columns import LinearModel
from ..objectives.loss import AnyLoss
from ..objectives.protocols import working_form
from ..optimize import minimize
from ..solvers import FixedSupport, Problem, Result, Solver
from ..threads import one_thread
from ..weights import count_weighted_samples
from .linear_model import SparseLinearModel
from .margins import multiply_selected
from .stored_medians import find_middle_values

__all__ = [
    "compute_weighted_median",
    "estimate_residuals",
    "estimate_spread",
    "fit_pilot",
    "has_samples_for",
    "make_refit",
]

#: A pilot fit has at least this many samples for each feature, so that its residuals resemble the errors.
PILOT_SAMPLES_PER_FEATURE = 10
#: The median absolute deviation of a standard normal variable.
NORMAL_MAD = 0.6744897501960817
#: Sums of weights that differ from one half by a smaller fraction are one half.
HALF_TOLERANCE = 1e-9


def fit_pilot(
    model: SparseLinearModel, objective: LinearObjective, weights: Any, solver: Solver | None = None, x0: Any = None
) -> Result:
    """Minimize a pilot objective with as many features as its samples can bear.

    Nothing is said of its convergence: the fit that follows says what there is to say of the data.
    """
    n_samples, k = int(count_weighted_samples(weights)), model.estimate_k()
    n_always = int(model.build_sparsity(objective, k).bind(objective.shape, objective.free).always.sum())
    fewer = max(min(k, n_samples // PILOT_SAMPLES_PER_FEATURE), n_always, 1)
    sparsity = model.build_sparsity(objective, fewer)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return minimize(objective, sparsity=sparsity, solver=solver or model.find_solver(), x0=x0)


def has_samples_for(k: int, weights: Any) -> bool:
    """Whether there are so many samples for k features that residuals resemble the errors."""
    return k * PILOT_SAMPLES_PER_FEATURE <= count_weighted_samples(weights)


def make_refit(model: SparseLinearModel, objective: LinearModel, k: int) -> Callable[[AnyLoss, float, Array], Result]:
    """What minimizes another loss of an objective with another ridge on the support of an x; one pass for all of them.

    Nothing is said of its convergence.
    """
    form = working_form(objective)
    working = form.objective
    assert isinstance(working, LinearModel)
    units = model.build_sparsity(objective, k).bind(objective.shape, objective.free).divide_bounds(form.unit)

    def refit(loss: AnyLoss, alpha: float, x: Array) -> Result:
        changed = replace(form, objective=working.with_alpha(alpha).with_loss(loss))
        with one_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return FixedSupport().solve(Problem(changed, units), form.to_working(x))

    return refit


def estimate_residuals(
    model: SparseLinearModel, objective: LinearObjective, X: Matrix, target: Any, weights: Any, offset: Any
) -> Any:
    """The residuals of a pilot fit; they stay with the rows of X if the target does."""
    coefficients, intercept = model.split_intercept(fit_pilot(model, objective, weights))
    if isinstance(target, RowValues):
        used = np.flatnonzero(coefficients)
        predicted: Any = multiply_rows(X, used, coefficients[used])
    else:
        predicted = multiply_selected(X, coefficients)
    residuals = map_values(partial(_subtract, intercept), target, predicted)
    return residuals if offset is None else map_values(np.subtract, residuals, offset)


def _subtract(intercept: Any, target: Array, predicted: Array) -> Array:
    return target - predicted - intercept


def estimate_spread(deviations: Any, weights: Any) -> float:
    """The median absolute deviation, normalized to be the standard deviation of normal errors."""
    has_weight = bool(reduce_values(np.any, weights, combine=np.logical_or))
    return compute_weighted_median(map_values(np.abs, deviations), weights) / NORMAL_MAD if has_weight else 0.0


def compute_weighted_median(values: Any, weights: Any) -> float:
    """The value with as much weight below as above it; the mean of the middle two, where there are two."""
    # Half of the weight up to rounding, so that neither the scale nor the order of the weights decides.
    half = 0.5 * np.array([1.0 - HALF_TOLERANCE, 1.0 + HALF_TOLERANCE])
    if isinstance(values, RowValues):
        return float(find_middle_values(values, weights, half).mean())
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    return float(values[order[np.searchsorted(below, half * below[-1])]].mean())
