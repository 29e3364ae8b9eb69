"""A solution with more or fewer units: where paths over k start from a neighbouring k."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..._types import Mask
from ...debias.exact import TrialRefit
from ..problem import Iterate, Problem
from .models import choose_removals, entering_gains
from .tuning import SwapTuning

__all__ = ["Growth", "grow", "plan_growth", "shrink"]

TUNING = SwapTuning()


class Growth(NamedTuple):
    """The support of a solution with the units added that gain most, and the sum of their single gains."""

    support: Mask
    gain: float


def plan_growth(problem: Problem, iterate: Iterate, size: int | None = None) -> Growth:
    """Which units to add to a solution that has fewer than `size`, by default k."""
    inside = problem.selected_units(iterate)
    gains = np.where(inside, 0.0, entering_gains(problem, iterate))
    larger = problem.units.top(np.where(inside, np.inf, gains), size)
    return Growth(problem.units.mask(larger), float(gains[larger & ~inside].sum()))


def grow(problem: Problem, iterate: Iterate, plan: Growth | None = None) -> Iterate:
    """Add the units that gain most to a solution that has fewer than k, or those of a plan, and refit."""
    plan = plan_growth(problem, iterate) if plan is None else plan
    return problem.refit(plan.support, iterate.point.x, TUNING.loose_refit)


def shrink(problem: Problem, iterate: Iterate, tol: float = TUNING.loose_refit.tol) -> Iterate:
    """Remove the units that cost least from a solution that has more than k, and refit."""
    units = problem.units
    inside = problem.selected_units(iterate) | units.always
    surplus, prediction = int(inside.sum()) - units.k, None
    if surplus > 0:
        complete = replace(iterate, support=units.mask(inside))
        removed, prediction = choose_removals(problem, complete, surplus, TUNING)
        inside[removed] = False
    x, hessian = (iterate.point.x, None) if prediction is None else prediction
    return problem.refit(units.mask(inside), x, TrialRefit(tol=tol, hessian=hessian))
