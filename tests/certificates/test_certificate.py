"""What a certificate says, and where there is none."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ksparse
from ksparse.certificates import InvalidCertificateError, NoCertificateError, verify
from ksparse.objectives import Cox, Huber, LeastSquares, Logistic, Quadratic
from ksparse.sparsity import Entries

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 20))
y = X[:, 3] - 2 * X[:, 7] + 0.5 * RNG.standard_normal(120)


def certify(objective: Any, **options: Any) -> Any:
    return ksparse.minimize(objective, **{"k": 2, **options}).certificate()


def test_a_proof_of_a_clear_case_fixes_all_features() -> None:
    certificate = certify(LeastSquares(X, y, alpha=1e-3, fit_intercept=True))
    assert certificate.optimal
    assert not certificate.vacuous
    assert certificate.must_contain.tolist() == [3, 7]
    assert certificate.cannot_contain.size == 18
    assert str(certificate).startswith("Proved to be optimal: f = ")
    assert certificate.seconds > 0


def test_a_solution_that_is_not_the_best_is_not_certified() -> None:
    x0 = np.where(np.arange(20) < 2, 1.0, 0.0)
    objective = LeastSquares(X, y, alpha=1e-3)
    worse = ksparse.minimize(objective, 2, solver=ksparse.FixedSupport(), x0=x0)
    best = ksparse.minimize(objective, 2)
    certificate = worse.certificate()
    assert not certificate.optimal
    assert certificate.lower_bound <= best.value < certificate.value


def test_without_a_ridge_a_bound_is_vacuous_and_says_so() -> None:
    certificate = certify(Logistic(X, y > 0))
    assert certificate.vacuous
    assert certificate.gap == 1.0
    assert certificate.lower_bound == 0.0
    assert str(certificate).startswith("Vacuous: ")
    assert "alpha" in str(certificate)


def test_bounds_take_the_place_of_a_ridge() -> None:
    certificate = certify(Logistic(X, y > 0), k=None, sparsity=Entries(2, lower=-1.5, upper=1.5))
    assert certificate.has_bounds
    assert not certificate.vacuous
    assert "within the bounds" in str(certificate)


def test_more_features_than_samples_have_sparse_curvature() -> None:
    rng = np.random.default_rng(1)
    wide = rng.standard_normal((300, 320))
    objective = LeastSquares(wide, wide[:, 0] - wide[:, 300] + rng.standard_normal(300), alpha=1e-4)
    certificate = certify(objective)
    assert any(stage.dual.fraction < 1 for stage in certificate.stages)
    assert certificate.gap < 0.5
    assert verify(certificate, objective) >= certificate.lower_bound - 1e-9


def test_units_do_not_matter() -> None:
    plain = certify(Huber(X, y, alpha=0.1, fit_intercept=True, delta=1.0))
    scaled = certify(Huber(1e5 * X, 1e-3 * y, alpha=0.1 * 1e10, fit_intercept=True, delta=1e-3))
    np.testing.assert_allclose(scaled.lower_bound, 1e-6 * plain.lower_bound, rtol=1e-9)
    huge = certify(Huber(1e90 * X, y, alpha=0.1 * 1e180, fit_intercept=True, delta=1.0))
    np.testing.assert_allclose(huge.lower_bound, plain.lower_bound, rtol=1e-9)


def test_sparse_and_single_precision_data_give_the_same_bound() -> None:
    from scipy import sparse

    rounded = np.where(np.abs(X) > 0.5, X, 0.0).astype(np.float32)
    labels = rounded @ np.ones(20) > 0
    dense = Logistic(rounded.astype(np.float64), labels, alpha=0.05, fit_intercept=True)
    for data in (rounded, sparse.csr_array(rounded)):
        certificate = certify(Logistic(data, labels, alpha=0.05, fit_intercept=True))
        np.testing.assert_allclose(certificate.lower_bound, certify(dense).lower_bound, rtol=1e-6)
        assert verify(certificate, dense) >= certificate.lower_bound - 1e-9


@pytest.mark.parametrize("objective", [Quadratic(np.eye(3), np.ones(3)), Cox(X, np.column_stack([np.exp(y), y > 0]))])
def test_no_certificate_is_an_error_that_says_why(objective: Any) -> None:
    with pytest.raises(NoCertificateError, match=r"there is no certificate for .*: lower bounds are known for linear"):
        ksparse.minimize(objective, 1).certificate()


def test_copies_have_no_data() -> None:
    result = ksparse.minimize(LeastSquares(X, y), 2)
    for again in (copy.copy(result), pickle.loads(pickle.dumps(result))):
        assert again.x.tolist() == result.x.tolist()
        with pytest.raises(ValueError, match="copied, unpickled or loaded"):
            again.certificate()


def test_models_have_a_certificate_of_their_selection() -> None:
    model = ksparse.SparseLogisticRegression(k=2, alpha=0.1, refit_alpha=0.001).fit(X, y > 0)
    certificate = model.certificate_
    assert certificate.value == ksparse.minimize(Logistic(X, y > 0, alpha=0.1, fit_intercept=True), 2).value
    assert model.certificate_ is certificate
    model.fit(X, y > 1)
    assert model.certificate_ is not certificate
    again = pickle.loads(pickle.dumps(model))
    assert not hasattr(again, "certificate_")
    with pytest.raises(AttributeError, match="solve the problem again"):
        _ = again.certificate_
    assert not hasattr(ksparse.SparseLogisticRegression(k=2), "certificate_")


def test_limits_of_steps_and_time_are_kept() -> None:
    result = ksparse.minimize(Logistic(X, y > 0, alpha=1e-3), 2)
    assert result.certificate(steps=3).steps == 3
    assert result.certificate(time_limit=0).steps == 1
    with pytest.raises(ValueError, match="time_limit"):
        result.certificate(time_limit=-1)


@pytest.mark.parametrize("kind", [LeastSquares, Logistic])
def test_false_certificates_are_found_out(kind: Any) -> None:
    objective = kind(X, y if kind is LeastSquares else y > 0, alpha=0.1, fit_intercept=True)
    certificate = certify(objective)
    assert verify(certificate, objective) <= certificate.value
    stage = certificate.stages[0]
    too_high = replace(certificate, lower_bound=certificate.value * 1.01)
    with pytest.raises(InvalidCertificateError, match="is proved as a lower bound"):
        verify(too_high, objective)
    with pytest.raises(InvalidCertificateError, match="the bound of stage 0 is too high"):
        verify(replace(certificate, stages=(replace(stage, bound=stage.bound + 1.0),)), objective)
    with pytest.raises(InvalidCertificateError, match="not proved to be in"):
        verify(replace(certificate, must_contain=np.array([0])), objective)
    contrary = replace(stage, after=stage.before.include([0, 1]))
    with pytest.raises(InvalidCertificateError, match="does not prove that unit 0 is selected"):
        verify(replace(certificate, stages=(contrary,), must_contain=np.array([])), objective)
    if kind is LeastSquares:
        more = replace(stage.dual, curvature=2.0 * stage.dual.curvature)
        with pytest.raises(InvalidCertificateError, match="less curvature"):
            verify(replace(certificate, stages=(replace(stage, dual=more),)), objective)
    else:
        with pytest.raises(InvalidCertificateError, match="do not sum to zero"):
            verify(replace(certificate, stages=(replace(stage, dual=stage.dual - 0.01),)), objective)
