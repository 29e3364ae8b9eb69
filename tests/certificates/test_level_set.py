"""Bounds from the curvature on the set of all solutions that are not worse, against all supports of small problems."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ksparse.certificates import level_set
from ksparse.certificates.bounding import BoundedProblem
from ksparse.certificates.linearization import StepLimits
from ksparse.objectives import Logistic, Poisson
from ksparse.objectives.protocols import WorkingForm
from ksparse.sparsity import Entries

from .enumeration import draw_case

KINDS = ("logistic", "poisson", "huber", "hinge", "negative binomial")


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_hold_for_all_solutions_that_are_not_worse(kind: str) -> None:
    raised = 0
    for seed in range(15):
        with np.errstate(all="ignore"):
            case = draw_case(kind, seed, ("plain", "always", "bounds")[seed % 3])
            units = case.sparsity.bind(case.objective.shape, case.objective.free)
            problem = BoundedProblem.of(WorkingForm(case.objective), units)
            least, size = problem.least_value, abs(case.optimum)
            start = np.zeros(problem.scale.size)
            first = problem.relax(problem.perspective.fixings, start, case.optimum, StepLimits(100))
            if first is None:
                continue
            for share in (0.0, 1e-3, 0.3):
                upper = case.optimum + share * (case.optimum - least) + 1e-9 * size
                further = problem.relax_further(first, upper, upper, StepLimits(100), 0.0) or first
                assert further.tightened.bound <= case.optimum + 1e-8 * size
                raised += further.tightened.bound > first.tightened.bound + 1e-6 * size
    assert raised >= 3


@pytest.mark.parametrize("loss", [Logistic, Poisson])
def test_quadratic_function_is_below_the_loss_on_the_level_set(loss: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    y = rng.random(60) < 1.0 / (1.0 + np.exp(-3.0 * X[:, 0]))
    objective = loss(X, y.astype(float) if loss is Poisson else y, alpha=0.01)
    problem = BoundedProblem.of(WorkingForm(objective), Entries(2).bind((4,)))
    found = problem.relax(problem.perspective.fixings, np.zeros(4), np.inf, StepLimits(100))
    assert found is not None
    part = problem.mean_loss
    assert part.samples is not None
    design = np.vstack([part.samples.design, np.ones(60)]) if part.form.fit_intercept else part.samples.design
    for excess in (0.01, 0.1, 0.5):
        level = level_set.Level(part, found.tightened, design, found.tightened.bound + excess)
        quadratic = level.bound_moves(level.estimate()[0])
        assert quadratic is not None
        margins, bound = level.margins, part.form.loss
        for direction in rng.standard_normal((200, len(design))):
            moves = direction @ design
            value, slope = bound.value(margins, part.samples.target), bound.slope(margins, part.samples.target)
            length, divergence = 1e3, np.inf
            while not divergence <= excess:
                length *= 0.9
                moved = bound.value(margins + length * moves, part.samples.target)
                divergence = float(part.samples.weights @ (moved - value - length * slope * moves))
            assert 0.5 * length**2 * direction @ quadratic.matrix @ direction <= divergence + quadratic.slack
