"""First fits, whose residuals tell the scale or the dispersion that a loss needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import Array, Matrix
from ..objectives import LinearObjective
from ..optimize import minimize
from ..solvers import Result, Solver
from ..weights import count_weighted_samples
from .linear_model import SparseLinearModel
from .margins import multiply_selected

__all__ = ["compute_weighted_median", "estimate_residuals", "estimate_spread", "fit_pilot"]

#: A pilot fit has at least this many samples for each feature, so that its residuals resemble the errors.
PILOT_SAMPLES_PER_FEATURE = 10
#: The median absolute deviation of a standard normal variable.
NORMAL_MAD = 0.6744897501960817
#: Sums of weights that differ from one half by a smaller fraction are one half.
HALF_TOLERANCE = 1e-9


def fit_pilot(
    model: SparseLinearModel, objective: LinearObjective, weights: Array, solver: Solver | None = None, x0: Any = None
) -> Result:
    """Minimize a pilot objective with as many features as its samples can bear."""
    n_samples, k = int(count_weighted_samples(weights)), model.estimate_k()
    n_always = int(model.build_sparsity(objective, k).bind(objective.shape, objective.free).always.sum())
    fewer = max(min(k, n_samples // PILOT_SAMPLES_PER_FEATURE), n_always, 1)
    return minimize(
        objective, sparsity=model.build_sparsity(objective, fewer), solver=solver or model.find_solver(), x0=x0
    )


def estimate_residuals(
    model: SparseLinearModel, objective: LinearObjective, X: Matrix, target: Array, weights: Array, offset: Any
) -> Array:
    """The residuals of a pilot fit."""
    coefficients, intercept = model.split_intercept(fit_pilot(model, objective, weights))
    return target - multiply_selected(X, coefficients) - intercept - (0.0 if offset is None else offset)


def estimate_spread(deviations: Array, weights: Array) -> float:
    """The median absolute deviation, normalized to be the standard deviation of normal errors."""
    return compute_weighted_median(np.abs(deviations), weights) / NORMAL_MAD if weights.any() else 0.0


def compute_weighted_median(values: Array, weights: Array) -> float:
    """The value with as much weight below as above it; the mean of the middle two, where there are two."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    # Half of the weight up to rounding, so that neither the scale nor the order of the weights decides.
    half = 0.5 * below[-1] * np.array([1.0 - HALF_TOLERANCE, 1.0 + HALF_TOLERANCE])
    return float(values[order[np.searchsorted(below, half)]].mean())
