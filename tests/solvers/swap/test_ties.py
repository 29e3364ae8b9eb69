"""Of features with equal columns, between which f cannot decide, the first one is selected."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ksparse.objectives import LeastSquares, Logistic
from ksparse.objectives.protocols import working_form
from ksparse.solvers import Problem
from ksparse.solvers.swap.ties import break_ties
from ksparse.solvers.swap.tuning import SwapTuning
from ksparse.sparsity import Entries

ALPHA = 0.1


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("kind", [LeastSquares, Logistic])
def test_the_first_of_equal_columns_is_selected(kind: Any, intercept: bool) -> None:
    """With a ridge, whose slope differs between a selected column and its copy."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6))
    X[:, 2] = X[:, 5]
    margins = 2 * X[:, 5] - X[:, 0] + 0.1 * rng.standard_normal(40)
    f = kind(X, margins if kind is LeastSquares else margins > 0, alpha=ALPHA, fit_intercept=intercept)
    problem = Problem(working_form(f), Entries(2).bind(f.shape, f.free))
    found = problem.refit(np.array([1, 0, 0, 0, 0, 1] + [1] * intercept, dtype=bool), np.zeros(f.shape))
    assert found.point.gradient is not None  # ties are looked for only where it is known
    final = break_ties(problem, found, found, SwapTuning())
    assert problem.find_selected_units(final).nonzero()[0].tolist() == [0, 2]
    assert final.value == pytest.approx(found.value, rel=1e-12)
    unknown = replace(found, point=problem.objective.evaluate(found.point.x))
    assert break_ties(problem, unknown, found, SwapTuning()) is found


def test_the_gradient_of_the_penalty_is_that_of_the_ridge() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 4)), rng.standard_normal(20)
    x = rng.standard_normal(5)
    ridge, plain = (LeastSquares(X, y, alpha=alpha, fit_intercept=True) for alpha in (ALPHA, 0.0))
    expected = ridge.evaluate(x).gradient - plain.evaluate(x).gradient
    np.testing.assert_allclose(ridge.penalty_gradient(ridge.evaluate(x)), expected, atol=1e-12)
