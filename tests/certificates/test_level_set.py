"""Bounds from the curvature on the set of all solutions that are not worse, against all supports of small problems."""

from __future__ import annotations

import numpy as np
import pytest

from ksparse.certificates import level_set
from ksparse.certificates.bounding import BoundedProblem
from ksparse.certificates.linearization import StepLimits
from ksparse.objectives.protocols import WorkingForm

from .enumeration import draw_case

KINDS = ("logistic", "poisson", "huber", "hinge", "negative binomial")


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_hold_for_all_solutions_that_are_not_worse(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(level_set, "LEAST_GAIN", 0.0)
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
                further = problem.relax_further(first, upper, upper, StepLimits(100))
                assert further.tightened.bound <= case.optimum + 1e-8 * size
                raised += further.tightened.bound > first.tightened.bound + 1e-6 * size
    assert raised >= 3
