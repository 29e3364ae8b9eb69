"""Lower bounds, screening and the independent check against all supports of many small problems."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ksparse
from ksparse.certificates import verify
from ksparse.certificates.mean_loss import MAX_COMPILED_NUMBERS
from ksparse.objectives import Huber
from ksparse.sparsity import Entries

from .enumeration import KINDS, MATRIX, Case, draw_case

SETTINGS = ("plain", "groups", "always", "bounds")


def check_certificate(case: Case) -> None:
    result = ksparse.minimize(case.objective, sparsity=case.sparsity)
    certificate = result.certificate(steps=60)
    size = abs(case.optimum) + abs(result.value) + abs(certificate.least)
    assert certificate.lower_bound <= case.optimum + 1e-9 * size
    assert certificate.lower_bound >= certificate.least - 1e-12 * size
    units = case.sparsity.bind(case.objective.shape, case.objective.free)
    must, cannot = np.isin(units.names, certificate.must_contain), np.isin(units.names, certificate.cannot_contain)
    not_worse = case.supports[case.values <= result.value - 1e-9 * size]
    assert not_worse[:, must].all()
    assert not not_worse[:, cannot].any()
    selected = units.find_units(result.support) | units.always
    assert not (selected & cannot).any()
    if certificate.optimal:
        assert result.value <= case.optimum + 2e-6 * size
    assert verify(certificate, case.objective, case.sparsity, result.x) >= certificate.lower_bound - 1e-8 * size


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_bounds_are_below_all_supports(kind: str, setting: str) -> None:
    with np.errstate(all="ignore"):
        for seed in range(2 if kind in MATRIX or setting == "bounds" else 5):
            check_certificate(draw_case(kind, seed, setting))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in (*MATRIX, "squares")])
@pytest.mark.parametrize("setting", ["plain", "bounds"])
def test_compiled_steps_reach_the_bound_of_accelerated_ones(kind: str, setting: str) -> None:
    for seed in range(3):
        with np.errstate(all="ignore"):
            case = draw_case(kind, seed, setting)
        bounds = []
        for limit in (MAX_COMPILED_NUMBERS, 0):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("ksparse.certificates.mean_loss.MAX_COMPILED_NUMBERS", limit)
                result = ksparse.minimize(case.objective, sparsity=case.sparsity, solver=ksparse.FixedSupport())
                certificate = result.certificate(steps=2000)
            bounds.append(certificate.stages[0].bound)
        compiled, accelerated = bounds
        assert compiled >= accelerated - 0.06 * (result.value - accelerated) - 1e-9 * abs(result.value)


@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 1.0, 0.5, 3.0, 1.0, 1.0, 0.5])])
def test_slopes_at_the_ends_of_their_domain_give_a_bound(weights: Any) -> None:
    """No residual is within delta, so that none of the slopes can be changed by itself."""
    X = np.random.default_rng(0).standard_normal((8, 4))
    y = np.array([-7.0, -5.0, -6.0, -9.0, 5.0, 8.0, 6.0, 7.0]) + X[:, 0]
    objective = Huber(X, y, alpha=0.1, fit_intercept=True, delta=0.01, sample_weight=weights)
    result = ksparse.minimize(objective, 2)
    certificate = result.certificate()
    assert certificate.gap < 0.01
    verify(certificate, objective, x=result.x)
    proof = ksparse.solve_exact(objective, 2)
    assert proof.status == "optimal"
    values = [ksparse.minimize(objective, sparsity=Entries(2, always=[i, j])).value for i in range(4) for j in range(i)]
    assert proof.lower_bound <= min(values) <= proof.value * (1 + 1e-9)


def test_slopes_outside_their_domain_are_no_stage_of_a_proof() -> None:
    with np.errstate(all="ignore"):
        check_certificate(draw_case("multinomial", 5006, "groups"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_bounds_of_many_problems(kind: str, setting: str) -> None:
    with np.errstate(all="ignore"):
        for seed in range(100, 110 if kind in MATRIX or setting == "bounds" else 130):
            check_certificate(draw_case(kind, seed, setting))
