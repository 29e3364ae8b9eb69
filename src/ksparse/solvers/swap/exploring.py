"""Exploring: supports that a chain meets in a quadratic model of f on all units, where there are few.

The chain goes on where no swap lowers f (`QuadraticSwapModel.explore`). Compiled, two hundred of its swaps take as long
as a refit or two; and on a quadratic f the model is exact.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..._types import Mask
from ..problem import Iterate, Problem
from .descent import is_exact, is_lower, try_support
from .ranking import build_joint_model
from .tuning import SwapTuning

__all__ = ["explore_model"]


def explore_model(problem: Problem, start: Iterate, best: Iterate, tuning: SwapTuning) -> Iterate | None:
    """The first of the supports met from `start` on which f is lower than at the best iterate; None without one."""
    if start.support is None or problem.out_of_time:
        return None
    for support in _list_supports(problem, start, best, tuning):
        trial = try_support(problem, best, support, tuning.swap_refit_steps, tuning, None)
        if is_lower(problem, trial, best, tuning):
            return trial
    return None


def _list_supports(problem: Problem, start: Iterate, best: Iterate, tuning: SwapTuning) -> Iterator[Mask]:
    """A few supports that a chain from `start` meets, the one with the lowest predicted f first.

    Around the best iterate, if the model is not exact, also those on which it predicts that f is higher.
    """
    least = tuning.lower.compute_least_decrease(problem, best.value)
    exact = is_exact(problem)
    length = tuning.explored_swaps if exact and problem.units.singletons else tuning.fewer_explored_swaps
    chain = build_joint_model(problem, start, tuning).explore(length, least)
    predicted = start.value + np.cumsum([swap.change for swap in chain])
    met, inside = list[Mask](), problem.find_selected_units(start)
    for swap in chain:
        inside = inside.copy()
        inside[swap.leaving], inside[swap.entering] = False, True
        met.append(inside)
    any_value = start is best and not exact
    tried = {problem.find_selected_units(best).tobytes()}
    for position in np.argsort(predicted, kind="stable").tolist():
        if len(tried) > tuning.explored_trials or not (any_value or predicted[position] < best.value - least):
            return
        if met[position].tobytes() not in tried:
            tried.add(met[position].tobytes())
            yield problem.units.to_mask(met[position])
