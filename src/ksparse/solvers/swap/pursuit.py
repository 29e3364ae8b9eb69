"""PURSUE: GraHTP's iteration with steps scaled by the curvature, and with backtracking."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...objectives.base import NotFiniteError
from ..problem import Iterate, Problem
from ..steps import Step
from .state import Phase, SwapState, hand_over, with_state
from .trials import is_lower, try_support
from .tuning import SwapTuning

__all__ = ["pursue"]


def pursue(problem: Problem, current: Iterate, state: SwapState, tuning: SwapTuning) -> Iterate:
    """Take the longest step whose support gives a lower f; without one, hand over to swaps.

    z = x − η·D⁻¹∇f(x) with the curvature D, for η = `state.step_size` and half as long each time. The support of the
    k largest units of z is refitted.
    """
    gradient = current.point.gradient
    metric = problem.objective.curvature(current.point)
    max_steps = tuning.first_refit_steps if current.support is None else tuning.pursuit_refit_steps
    size, last_tried, values = state.step_size, current.support, list[float]()
    while size >= tuning.shortest_step:
        z = Step(size, metric).take(current.point.x, gradient)
        support = problem.units.select(z, metric)
        if last_tried is None or not np.array_equal(support, last_tried):
            trial = try_support(problem, current, support, max_steps, tuning)
            if is_lower(problem, trial, current, tuning):
                following = min(tuning.longest_step, size if values else 2.0 * size)
                return _accept(current, replace(trial, step=size), state, following, tuning)
            values.append(trial.value)
            last_tried = support
        size *= 0.5
    if values and not np.isfinite(values).any():
        raise NotFiniteError("f is not finite after any step")
    return hand_over(current, state, Phase.BULK_SWAP)


def _accept(current: Iterate, trial: Iterate, state: SwapState, step_size: float, tuning: SwapTuning) -> Iterate:
    """The trial; pursuit continues as long as it lowers f by much."""
    decrease = current.value - trial.value
    much = current.support is None or decrease > tuning.pursuit_decrease * abs(current.value)
    phase = Phase.PURSUE if much else Phase.BULK_SWAP
    return with_state(trial, replace(state, phase=phase, step_size=step_size, chain_length=tuning.chain_length))
