"""Refits that are tried together against the same ones, each for itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ksparse import make_survival_target
from ksparse._types import Array, Mask
from ksparse.debias.exact import TrialRefit
from ksparse.debias.trials import count_failures
from ksparse.objectives import Cox, LeastSquares, Logistic, Objective
from ksparse.objectives.base import compute_hessian

N, P, K = 60, 9, 3
SETTINGS = TrialRefit(tol=1e-3, max_iter=6)


def make_objective(kind: str) -> Objective:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P))
    margins = X[:, :K].sum(axis=1)
    if kind == "cox":
        return Cox(X, make_survival_target(rng.exponential(np.exp(-margins)), rng.random(N) < 0.7))
    return Logistic(X, margins + rng.logistic(size=N) > 0, alpha=1e-2, fit_intercept=kind == "logistic with intercept")


def list_starts(objective: Objective) -> list[tuple[Mask, Array, Array | None]]:
    """Supports with some of the true features, the best one last; every other one with a Hessian."""
    starts = list[tuple[Mask, Array, Array | None]]()
    for number, units in enumerate(([4, 5, 6], [0, 7, 8], [1, 2, 8], [0, 1, 5], [0, 1, 2])):
        support = np.arange(objective.size) >= P
        support[units] = True
        x = np.where(support, 0.1, 0.0)
        restricted = objective.restrict(support)
        hessian = compute_hessian(restricted, restricted.evaluate(x[support])) if number % 2 else None
        starts.append((support, x, hessian))
    return starts


def refit_each(objective: Objective, starts: list[tuple[Mask, Array, Array | None]]) -> list[float]:
    settings = [TrialRefit(tol=1e-3, max_iter=6, hessian=hessian) for _, _, hessian in starts]
    return [
        refit(objective.restrict(support), x[support]).point.value
        for refit, (support, x, _) in zip(settings, starts, strict=True)
    ]


@pytest.mark.parametrize("kind", ["cox", "logistic", "logistic with intercept"])
def test_they_come_to_nothing_where_each_of_them_does(kind: str) -> None:
    objective = make_objective(kind)
    starts = list_starts(objective)
    values = refit_each(objective, starts)
    for least in (*values, 0.0, np.inf):
        expected = next((number for number, value in enumerate(values) if value < least), len(values))
        assert count_failures(objective, starts, SETTINGS, least) == expected
    assert values[-1] == min(values)


def test_refits_end_where_f_cannot_come_below_the_target() -> None:
    objective = make_objective("cox")
    starts = list_starts(objective)
    best = refit_each(objective, starts)[-1]
    steps = []
    for target in (None, best):
        before = objective.counters.newton_steps
        settings: Any = TrialRefit(tol=1e-3, max_iter=6, target=target)
        assert count_failures(objective, starts[:-1], settings, best) == len(starts) - 1
        steps.append(objective.counters.newton_steps - before)
    assert 0 < steps[1] < steps[0]


def test_none_is_tried_where_no_compiled_code_knows_f() -> None:
    rng = np.random.default_rng(0)
    objective = LeastSquares(rng.standard_normal((N, P)), rng.standard_normal(N))
    assert count_failures(objective, list_starts(objective), SETTINGS, 0.0) == 0
