"""Trials: short refits that show whether another support is better."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..._types import Mask
from ...debias.exact import TrialRefit
from ..problem import Iterate, Problem
from .swap_model import PredictedMinimizer, Swap
from .tuning import SwapTuning

__all__ = ["is_lower", "swap_units", "try_support"]


def try_support(
    problem: Problem,
    current: Iterate,
    support: Mask,
    max_steps: int,
    tuning: SwapTuning,
    prediction: PredictedMinimizer | None = None,
) -> Iterate:
    """Refit on another support in a few Newton steps, which end early once f cannot come below the current one.

    They start from the predicted minimizer, if there is a prediction, and reuse its Hessian.
    """
    target = current.value if current.support is not None else np.inf
    start = current.point.x if prediction is None else prediction.x
    hessian = None if prediction is None else prediction.hessian
    debias = TrialRefit(tol=tuning.loose_refit.tol, max_iter=max_steps, target=target, hessian=hessian)
    return problem.refit(support, start, debias)


def is_lower(problem: Problem, trial: Iterate, current: Iterate, tuning: SwapTuning) -> bool:
    """Whether f is lower at the trial."""
    return tuning.lower.is_lower(problem, trial.value, than=current.value)


def swap_units(problem: Problem, current: Iterate, swaps: Iterable[Swap]) -> Mask:
    """The support after some swaps."""
    inside = problem.selected_units(current)
    for swap in swaps:
        inside[swap.leaving], inside[swap.entering] = False, True
    return problem.units.mask(inside)
