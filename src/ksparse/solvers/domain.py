"""Where f is not finite: what a search tells the user that could not go on because of it."""

from __future__ import annotations

import numpy as np

from ..debias import Outcome
from ..objectives.base import Point
from ..objectives.user import describe_point
from .problem import Iterate, Problem

__all__ = ["describe_value", "find_end_of_domain"]


def describe_value(problem: Problem, point: Point) -> str:
    """The value of f at a point of the working coordinates, and the user's x that this is."""
    return f"f is {point.value} at {describe_point(problem.form.to_user(point.x))}"


def find_end_of_domain(problem: Problem, iterate: Iterate) -> Point | None:
    """A step downhill from an iterate whose support was not minimized on, if f is not finite there: that ended it."""
    if iterate.outcome is not Outcome.UNFINISHED:
        return None
    trial = _step_over_all(problem, iterate) if iterate.support is None else _step_on_support(problem, iterate)
    return None if np.isfinite(trial.value) else trial


def _step_on_support(problem: Problem, iterate: Iterate) -> Point:
    """A scaled gradient step on the support of an iterate."""
    support = iterate.support
    assert support is not None
    solution = iterate.point.restrict(support) if iterate.solution is None else iterate.solution
    step = -solution.gradient / solution.curvature
    bounds = problem.restrict_bounds(support)
    ahead = solution.x + step if bounds is None else bounds.clip(solution.x + step)
    return solution.objective.evaluate(ahead).extend(problem.objective, support)


def _step_over_all(problem: Problem, start: Iterate) -> Point:
    """A scaled gradient step from a start that no support was better than, in the units that it would select."""
    metric = start.point.curvature
    z = start.point.x - start.point.gradient / metric
    support = problem.units.select(z, metric)
    return problem.objective.evaluate(np.where(support, problem.units.clip(z), 0.0))
