"""Swaps of multinomial models, where f is constant if all classes of a row move alike: the Hessian is singular."""

from __future__ import annotations

import numpy as np
import pytest

from ksparse._types import Array, Mask
from ksparse.objectives import Multinomial
from ksparse.objectives.base import compute_hessian
from ksparse.objectives.protocols import working_form
from ksparse.solvers.problem import Iterate, Problem
from ksparse.solvers.swap.ranking import build_swap_model
from ksparse.solvers.swap.tuning import SwapTuning
from ksparse.sparsity import Rows

P, CLASSES, INSIDE = 7, 3, [1, 4]


def make_problem(alpha: float, fit_intercept: bool) -> tuple[Problem, Iterate]:
    """A problem, and the minimum on two features."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, P)) + 0.7 * rng.standard_normal((80, 1))
    margins = X[:, [1, 4, 5]] @ rng.standard_normal((3, CLASSES))
    y = np.argmax(margins + rng.gumbel(size=margins.shape), axis=1)
    objective = Multinomial(X, y, alpha=alpha, fit_intercept=fit_intercept)
    form = working_form(objective)
    units = Rows(2).bind(objective.shape, objective.free)
    problem = Problem(form, units)
    support = np.zeros(objective.shape, dtype=bool)
    support[[*INSIDE, *([P] if fit_intercept else [])]] = True
    return problem, problem.refit(support, np.zeros(objective.shape))


def find_minimum(hessian: Array, linear: Array, mask: Mask) -> float:
    """min ½zᵀHz − bᵀz over a support, for a singular H whose null vectors have no slope."""
    part = hessian[np.ix_(mask, mask)]
    return float(-0.5 * linear[mask] @ np.linalg.lstsq(part, linear[mask], rcond=1e-10)[0])


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_predicted_changes_are_those_of_the_quadratic_model(alpha: float, fit_intercept: bool) -> None:
    problem, current = make_problem(alpha, fit_intercept)
    outside = ~problem.find_selected_units(current)
    model = build_swap_model(problem, current, outside, SwapTuning())
    assert not model.is_singular
    everything = np.ones(problem.objective.shape, dtype=bool)
    restricted = current.point.restrict(everything)
    hessian = compute_hessian(restricted.objective, restricted)
    linear = hessian @ current.point.x.ravel() - current.point.gradient.ravel()
    rows = np.repeat(np.arange(len(everything)), CLASSES)
    before = find_minimum(hessian, linear, np.isin(rows, [*INSIDE, P]))
    swaps = model.find_best_swaps(100)
    assert len(swaps) == 2 * (P - 2)
    for swap in swaps:
        kept = next(j for j in INSIDE if j != swap.leaving)
        after = find_minimum(hessian, linear, np.isin(rows, [kept, swap.entering, P]))
        assert swap.change == pytest.approx(after - before, abs=1e-10)
