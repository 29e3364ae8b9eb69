"""Bounds of the curvature that hold everywhere: negative binomial and Cox regression."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import ksparse
from ksparse.objectives import Cox, NegativeBinomial, NoLipschitzConstantError, Poisson
from ksparse.objectives.losses import NegativeBinomialLoss
from ksparse.theory import bracket_curvature, report
from tests.problems import design, draw_survival, responses, signal

X = design()
MARGINS = signal(X)
TIMES = draw_survival(MARGINS - MARGINS.mean(), ties=True, entry=True, strata=True)
COUNTS = responses("negative binomial", MARGINS)


def cox(**options: Any) -> Cox:
    return Cox(X, TIMES, sample_weight=np.arange(len(X)) % 3 + 0.0, **options)


def top_eigenvalues(objective: Any, size: float, s: int | None = None) -> list[float]:
    """The largest eigenvalues of Hessians at random points of some size; the worst on s coordinates."""
    found = []
    for seed in range(10):
        x = size * np.random.default_rng(seed).standard_normal(objective.shape)
        hessian = objective.hessian(objective.evaluate(x))
        blocks = [hessian] if s is None else [hessian[np.ix_(b, b)] for b in combinations(range(len(hessian)), s)]
        found.append(max(float(np.linalg.eigvalsh(block)[-1]) for block in blocks))
    return found


@pytest.mark.parametrize("dispersion", [0.01, 0.7, 30.0])
def test_bound_of_negative_binomial_is_attained(dispersion: float) -> None:
    loss, margins = NegativeBinomialLoss(dispersion), np.linspace(-30.0, 30.0, 60_001)
    for count in (0.0, 1.0, 17.0):
        largest = loss.curvature(margins, np.full(margins.size, count)).max()
        assert largest == pytest.approx(loss.bound_curvature(np.array([count]))[0], rel=1e-6)


def test_without_dispersion_there_is_no_bound() -> None:
    assert np.isposinf(NegativeBinomialLoss(0.0).bound_curvature(np.ones(2))).all()
    with pytest.raises(NoLipschitzConstantError, match=r"no bound of the curvature of .* is known"):
        Poisson(X, COUNTS).lipschitz()


def test_a_sample_without_weight_does_not_count() -> None:
    counts = np.append(COUNTS, 1000.0)
    here = NegativeBinomial(np.vstack([X, X[:1]]), counts, sample_weight=np.append(np.ones(len(X)), 0.0))
    assert here.lipschitz() == pytest.approx(NegativeBinomial(X, COUNTS).lipschitz())


@pytest.mark.parametrize("size", [0.01, 1.0, 10.0])
@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_bounds_of_cox_hold(size: float, ties: str) -> None:
    objective = cox(ties=ties, alpha=0.1)
    assert max(top_eigenvalues(objective, size)) <= objective.lipschitz()
    metric = np.linspace(0.5, 4.0, X.shape[1])
    scaled = Cox(X / np.sqrt(metric), TIMES, ties=ties, sample_weight=np.arange(len(X)) % 3 + 0.0)
    assert cox(ties=ties).lipschitz(metric) == pytest.approx(scaled.lipschitz())
    found = bracket_curvature(objective, 2).largest
    assert max(top_eigenvalues(objective, size, 2)) <= found.high < objective.lipschitz()


def test_bound_of_cox_is_attained_by_two_samples() -> None:
    objective = Cox([[1.0, 0.0], [4.0, 4.0]], ksparse.make_survival_target([1.0, 2.0], [True, False]))
    hessian = objective.hessian(objective.evaluate(np.zeros(2)))
    assert objective.lipschitz() == pytest.approx(np.linalg.eigvalsh(hessian)[-1])
    assert bracket_curvature(objective, 1).largest.high == pytest.approx(hessian.diagonal().max())


@pytest.mark.parametrize("objective", [NegativeBinomial(X, COUNTS, fit_intercept=True), cox()])
def test_bounded_curvature_gives_steps_and_constants(objective: Any) -> None:
    result = ksparse.minimize(objective, k=2, solver=ksparse.GraHTP())
    assert result.success
    found = report(objective, 2)
    assert np.isfinite(found.curvature_s.largest.high)
    assert found.curvature_s.largest.low <= found.curvature_s.largest.high
    assert "no bound" not in found.theorem_1.reason
