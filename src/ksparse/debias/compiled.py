"""Small refits, compiled: with tens of features and hundreds of samples, calls would cost more than arithmetic."""

from __future__ import annotations

from dataclasses import astuple
from functools import cache
from typing import Any

import numpy as np

from .._types import Array, Mask
from ..objectives.base import Objective, value_at_zero
from ..objectives.columns import LinearModel
from ..objectives.losses import (
    CoxLoss,
    HuberLoss,
    LogisticLoss,
    NegativeBinomialLoss,
    PoissonLoss,
    QuantileLoss,
    SquaredHingeLoss,
    SquaredLoss,
    TweedieLoss,
)
from ..objectives.losses.cox import BoundCoxLoss
from ..objectives.sample_data import SampleData
from ._samples import (
    COX,
    FAILED,
    HINGE,
    HUBER,
    LOGISTIC,
    NEGATIVE_BINOMIAL,
    POISSON,
    QUANTILE,
    SOLVED,
    SQUARED,
    TWEEDIE,
    Limits,
    SampleArrays,
)
from .base import Outcome, Solution

__all__ = [
    "collect_data",
    "count_work",
    "load_refits",
    "make_ridge",
    "make_samples",
    "minimize_compiled",
    "run_compiled",
]

#: Largest number of entries of X on the support. With more, arithmetic costs more than calls, and sparse columns should
#: stay sparse.
MAX_NUMBERS = 50_000
#: The numbers of the losses that are compiled.
LOSSES: dict[type, int] = {
    LogisticLoss: LOGISTIC,
    PoissonLoss: POISSON,
    HuberLoss: HUBER,
    SquaredHingeLoss: HINGE,
    SquaredLoss: SQUARED,
    TweedieLoss: TWEEDIE,
    NegativeBinomialLoss: NEGATIVE_BINOMIAL,
    QuantileLoss: QUANTILE,
    CoxLoss: COX,
}
#: Stands for a Hessian that is not known.
UNKNOWN: Array = np.empty((0, 0))


def collect_data(model: LinearModel, support: Mask | None = None, max_numbers: int = MAX_NUMBERS) -> SampleData | None:
    """The samples of a small model, or of one that is small on a support, whose loss is compiled; None for others."""
    size = model.size if support is None else np.count_nonzero(support)
    if type(model.loss) not in LOSSES or model.n_samples * size > max_numbers:
        return None
    return (model if support is None else model.restrict(support)).collect_samples()


def make_ridge(alpha: float, n_columns: int, size: int) -> Array:
    """The ridge of each coordinate; an intercept has none."""
    ridge = np.full(size, alpha)
    ridge[n_columns:] = 0.0
    return ridge


def make_samples(data: SampleData, columns: Array, fit_intercept: bool) -> tuple[SampleArrays, Any]:
    """The samples as compiled refits take them, with other columns in the place of those of X; and their risk sets.

    There are risk sets for a partial likelihood; None otherwise.
    """
    n, k = columns.shape
    design = np.empty((k + fit_intercept, n))
    design[:k] = columns.T
    design[k:] = 1.0
    offset = np.zeros(n) if data.offset is None else data.offset
    unit = float(np.abs(data.target).max(initial=0.0)) if data.loss.of_residuals else 1.0
    loss, sets = LOSSES[type(data.loss)], None
    if isinstance(data.bound, BoundCoxLoss):  # its risk sets know the times
        sets, parameters, target = data.bound.sets, np.array([data.bound.least]), data.weights
    else:
        parameters, target = np.array(astuple(data.loss), dtype=np.float64), data.target
    return SampleArrays(loss, parameters, design, target, data.weights, offset, unit), sets


@cache
def load_refits() -> Any:
    """The compiled refits, imported when they are first needed: Numba takes half a second to import."""
    from . import _small_refits

    return _small_refits


def run_compiled(
    samples: tuple[SampleArrays, Any],
    ridge: Array,
    start: Array,
    at_zero: float,
    limits: Limits,
    hessian: Array | None = None,
) -> tuple[int, Array, float, Array, int, int]:
    """`minimize_samples`, of these arguments."""
    known = UNKNOWN if hessian is None else np.ascontiguousarray(hessian)
    result: Any = load_refits().minimize_samples(*samples, ridge, start, at_zero, known, limits)
    return result


def count_work(objective: Objective, n_steps: int, n_hessians: int, n_columns: int) -> None:
    """Count what refits on some columns have done."""
    counters = objective.counters
    counters.newton_steps += n_steps
    counters.gradients += n_steps
    counters.hessians += n_hessians
    counters.products += n_hessians * n_columns**2


def minimize_compiled(objective: Objective, start: Array, limits: Limits, hessian: Array | None) -> Solution | None:
    """Minimize a small model; None for others, and where the general method should be used.

    Without a ridge f may have no minimum, or many; the general method tells which.
    """
    if not isinstance(objective, LinearModel) or objective.is_quadratic or not start.size:
        return None
    data = collect_data(objective)
    if data is None:
        return None
    samples = make_samples(data, data.columns, objective.fit_intercept)
    ridge = make_ridge(objective.alpha, data.columns.shape[1], start.size)
    at_zero = value_at_zero(objective)
    status, x, value, margins, n_steps, n_hessians = run_compiled(samples, ridge, start, at_zero, limits, hessian)
    count_work(objective, n_steps, n_hessians, data.columns.shape[1])
    if status == FAILED:
        return None
    point = objective.make_point(x, value, margins)
    if objective.is_unbounded_below(point):
        return None
    return Solution(point, Outcome.SOLVED if status == SOLVED else Outcome.UNFINISHED)
