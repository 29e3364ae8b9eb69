"""What single units are worth: by how much f falls if one enters, and rises if one leaves."""

from __future__ import annotations

import numpy as np

from ..._types import Array
from ...objectives.protocols import HasSwapScores
from ..problem import Iterate, Problem

__all__ = ["entering_gains", "leaving_costs"]


def entering_gains(problem: Problem, iterate: Iterate) -> Array:
    """Expected decrease of f for each unit, if it alone enters: ½·Σ g_j²/D_jj over its coordinates.

    g is the gradient, without the entries that bounds block, and D the curvature; an objective with better scores
    (`HasSwapScores`) has its own. Only the gains of units outside the support have a meaning.
    """
    units, point, objective = problem.units, iterate.point, problem.objective
    slopes = units.descent(point.gradient)
    if isinstance(objective, HasSwapScores):
        return units.total(objective.entering_gains(point, slopes))
    return units.total(0.5 * np.square(slopes) / objective.curvature(point))


def leaving_costs(problem: Problem, iterate: Iterate) -> Array:
    """Expected increase of f for each unit, if it alone leaves: ½·Σ D_jj·x_j² over its coordinates."""
    objective, point = problem.objective, iterate.point
    if isinstance(objective, HasSwapScores):
        return problem.units.total(objective.leaving_costs(point))
    return problem.units.total(0.5 * np.square(point.x) * objective.curvature(point))
