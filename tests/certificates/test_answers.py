"""What users get: words, limits and comparisons of certificates and proofs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ksparse
from ksparse.certificates import InvalidCertificateError, verify
from ksparse.certificates.incumbents import Incumbents
from ksparse.objectives import LeastSquares, Logistic, NegativeBinomial
from ksparse.sparsity import Entries

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 30)) + RNG.standard_normal((60, 1))
y = X[:, :6].sum(axis=1) + 6.0 * RNG.standard_normal(60)


def test_verify_takes_k() -> None:
    objective = LeastSquares(X, y, alpha=0.1)
    result = ksparse.minimize(objective, 3)
    certificate = result.certificate()
    assert verify(certificate, objective, 3, result.x) == verify(certificate, objective)
    with pytest.raises(InvalidCertificateError, match="for k = 3, and the sparsity set has k = 6"):
        verify(certificate, objective, 6)
    wrong: Any = "3"
    with pytest.raises(TypeError, match="k must be an integer"):
        verify(certificate, objective, wrong)


@pytest.mark.parametrize("limit", [None, np.inf, np.float32(np.inf)])
def test_no_limit_of_time_is_none_or_infinity(limit: Any) -> None:
    objective = LeastSquares(X, y, alpha=1.0)
    assert ksparse.minimize(objective, 2).certificate(time_limit=limit).ended_by != "time"
    assert ksparse.solve_exact(objective, 2, time_limit=limit).status == "optimal"


@pytest.mark.parametrize("limit", [-1.0, np.nan, -np.inf])
def test_other_limits_are_errors_of_both(limit: float) -> None:
    objective = LeastSquares(X, y, alpha=1.0)
    with pytest.raises(ValueError, match="time_limit must be finite and at least 0"):
        ksparse.minimize(objective, 2).certificate(time_limit=limit)
    with pytest.raises(ValueError, match="time_limit must be finite and at least 0"):
        ksparse.solve_exact(objective, 2, time_limit=limit)


def test_answers_with_arrays_are_compared_by_identity() -> None:
    objective = Logistic(X, y > 0, alpha=0.1)
    for make in (
        lambda: ksparse.minimize(objective, 2),
        lambda: ksparse.minimize(objective, 2).certificate(),
        lambda: ksparse.minimize(objective, 2).certificate().stages[0],
        lambda: ksparse.solve_exact(objective, 2),
    ):
        first, second = make(), make()
        assert first == first
        assert first != second
        assert len({first, second}) == 2


def test_a_wide_gap_that_was_asked_for_is_no_proof() -> None:
    objective = LeastSquares(X, y, alpha=1e-3)
    wide = ksparse.solve_exact(objective, 6, gap=1.0)
    assert wide.status == "optimal"
    assert wide.gap > 0.01
    assert str(wide).startswith("Within the gap that was asked for: f = ")
    assert str(ksparse.solve_exact(objective, 6)).startswith("Proved: f = ")


@pytest.mark.parametrize("is_refitted", [False, True])
def test_supports_that_are_listed_have_k_units(is_refitted: bool) -> None:
    """Also where bounds fix coefficients at 0 and the best solution is lower than refits by their rounding."""
    upper = np.where(np.arange(30) % 3 == 0, 1.0, 0.0)
    box = Entries(4, always=[1], lower=-upper, upper=upper)
    solved = ksparse.minimize(LeastSquares(X, y, alpha=0.1), sparsity=box).solved
    assert solved is not None
    incumbents = Incumbents(solved.form, solved.units, 0.0, within=0.0)
    best = np.isin(np.arange(30), [0, 1, 3])
    whole = best | (np.arange(30) == (29 if is_refitted else 2))
    value, _ = incumbents.minimize_on(whole if is_refitted else np.arange(30) < 1)
    incumbents.offer(np.where(best, 0.5 * upper, 0.0), (1.0 - 1e-10) * value)
    near = incumbents.list_near()
    assert near[0][0] == incumbents.value < value
    assert np.array_equal(near[0][1], whole)


@pytest.mark.parametrize("k", [3, 8])
def test_the_best_solution_is_within_the_first_support(k: int) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        few = rng.standard_normal((12, 6))
        upper = np.where(rng.random(6) < 0.6, 0.0, 1.0)
        objective = NegativeBinomial(few, rng.poisson(np.exp(few[:, 0])), alpha=1.0, dispersion=1.0)
        proof = ksparse.solve_exact(objective, sparsity=Entries(k, lower=-upper, upper=upper), within=0.0)
        assert {near.selected.size for near in proof.supports} == {min(k, 6)}
        assert np.isin(proof.selected, proof.supports[0].selected).all()
