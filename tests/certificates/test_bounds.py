"""Lower bounds, screening and the independent check against all supports of many small problems."""

from __future__ import annotations

import numpy as np
import pytest

import ksparse
from ksparse.certificates import verify

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
    assert verify(certificate, case.objective, case.sparsity) >= certificate.lower_bound - 1e-8 * size


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_bounds_are_below_all_supports(kind: str, setting: str) -> None:
    with np.errstate(all="ignore"):
        for seed in range(2 if kind in MATRIX or setting == "bounds" else 5):
            check_certificate(draw_case(kind, seed, setting))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_bounds_of_many_problems(kind: str, setting: str) -> None:
    with np.errstate(all="ignore"):
        for seed in range(100, 115 if kind in MATRIX or setting == "bounds" else 180):
            check_certificate(draw_case(kind, seed, setting))
