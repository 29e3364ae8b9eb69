"""What a certificate says, and where there is none."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

import ksparse
from ksparse.certificates import InvalidCertificateError, NoCertificateError, ProofStage, QuadraticDual, verify
from ksparse.objectives import Cox, Huber, LeastSquares, Logistic, Multinomial, Quadratic
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


@pytest.mark.parametrize("unit", [1e-20, 1e20])
def test_the_unit_of_y_does_not_matter(unit: float) -> None:
    noisy = X[:, 0] - X[:, 1] + RNG.standard_normal(120)
    plain = certify(Huber(X, noisy, alpha=1e-4, fit_intercept=True, delta=1.0))
    objective = Huber(X, unit * noisy, alpha=1e-4, fit_intercept=True, delta=unit)
    scaled = certify(objective)
    np.testing.assert_allclose(scaled.lower_bound, unit * unit * plain.lower_bound, rtol=1e-3)
    assert scaled.lower_bound > 0
    verify(scaled, objective)


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


def test_models_without_a_certificate_say_why_by_their_own_name() -> None:
    ordinal = ksparse.SparseOrdinalRegression(k=2).fit(X, np.digitize(y, [-1.0, 1.0]))
    with pytest.raises(AttributeError, match="for SparseOrdinalRegression: its thresholds are parameters that"):
        _ = cast(Any, ordinal).certificate_
    cox = ksparse.SparseCoxRegression(k=2).fit(X, np.column_stack([np.exp(y), np.ones(120)]))
    with pytest.raises(AttributeError, match="for SparseCoxRegression: lower bounds are known for linear models"):
        _ = cast(Any, cox).certificate_


def test_a_vacuous_bound_at_a_limit_names_the_limit() -> None:
    rng = np.random.default_rng(0)
    result = ksparse.minimize(LeastSquares(rng.standard_normal((30, 40)), rng.standard_normal(30), alpha=1e-4), 3)
    for options, name in (({"steps": 1}, "steps"), ({"time_limit": 0.0}, "time")):
        limits: Any = options
        certificate = result.certificate(**limits)
        assert certificate.ended_by == name
        assert "(gap 100 %)\n" in str(certificate)
        assert str(certificate).endswith(f"it ended at the limit of {name}; a higher limit may give a better bound")
    assert "the bound grows with alpha" in str(result.certificate())
    assert certify(Logistic(X, y > 0, alpha=0.1)).ended_by == ""


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
    value = 1.001 * certificate.value  # beyond rounding of the bound
    with pytest.raises(InvalidCertificateError, match="does not prove that unit 0 is selected"):
        verify(replace(certificate, value=value, stages=(contrary,), must_contain=np.array([])), objective)
    if kind is LeastSquares:
        more = replace(stage.dual, curvature=2.0 * stage.dual.curvature)
        with pytest.raises(InvalidCertificateError, match="less curvature"):
            verify(replace(certificate, stages=(replace(stage, dual=more),)), objective)
    else:
        with pytest.raises(InvalidCertificateError, match="do not sum to zero"):
            verify(replace(certificate, stages=(replace(stage, dual=stage.dual - 0.01),)), objective)


def forge(certificate: Any, curvature: float, scale: float) -> Any:
    """A certificate that f is nowhere lower, by a dual point at 0 with more curvature than there is."""
    count = len(certificate.stages[0].dual.curvature)
    no_unit = np.zeros(count, dtype=bool)
    dual = QuadraticDual(np.zeros((count, 1)), np.full(count, curvature), 1.0, no_unit, np.full(count, scale))
    none = certificate.stages[0].before
    stage = ProofStage(dual, none, none, certificate.value)
    nothing = certificate.must_contain[:0]
    return replace(
        certificate, lower_bound=certificate.value, stages=(stage,), must_contain=nothing, cannot_contain=nothing
    )


@pytest.mark.parametrize("reach", [1e3, 1e5, 1e7])
def test_a_dual_point_far_away_makes_nothing_of_rounding(reach: float) -> None:
    """Curvature a little above the least eigenvalue, times the square of a point along its vector."""
    objective = LeastSquares(X, y, alpha=1e-3)
    worse = ksparse.minimize(objective, 2, solver=ksparse.FixedSupport(), x0=np.where(np.arange(20) < 2, 1.0, 0.0))
    gram = X.T @ X / 120
    size = np.sqrt(gram.diagonal())
    eigenvalues, vectors = np.linalg.eigh(gram / np.outer(size, size))
    for excess in (9e-10, 1e-13):
        forged = forge(worse.certificate(), 1.0, 1.0)
        stage, point = forged.stages[0], reach * vectors[:, :1] / size[:, None]
        dual = replace(stage.dual, coefficients=point, curvature=(eigenvalues[0] + excess) * np.square(size))
        with pytest.raises(InvalidCertificateError, match="the bound of stage 0 is too high"):
            verify(replace(forged, stages=(replace(stage, dual=dual),)), objective, x=worse.x)


@pytest.mark.parametrize("kind", [LeastSquares, Huber])
@pytest.mark.parametrize("shift", [0.0, 1e7, 1.7e9])
def test_a_large_mean_of_y_makes_no_room_for_false_bounds(kind: Any, shift: float) -> None:
    objective = kind(X, 1e3 * y + shift, alpha=1e-3, fit_intercept=True)
    x0 = np.append(np.where(np.arange(20) < 2, 1.0, 0.0), 0.0)
    worse = ksparse.minimize(objective, 2, solver=ksparse.FixedSupport(), x0=x0)
    certificate = worse.certificate()
    verify(certificate, objective, x=worse.x)
    nothing = certificate.must_contain[:0]
    claim = replace(certificate, lower_bound=certificate.value, stages=(), must_contain=nothing, cannot_contain=nothing)
    with pytest.raises(InvalidCertificateError, match="only 0 is proved as a lower bound"):
        verify(claim, objective, x=worse.x)


def test_an_intercept_of_any_size_makes_no_room_for_false_bounds() -> None:
    """Slopes whose sum is not quite zero: their rest times the mean of y would be added to the bound."""
    objective = Huber(X, y + 1.7e9, alpha=0.1, fit_intercept=True, delta=100.0)
    certificate = certify(objective)
    stage = certificate.stages[0]
    slopes = cast(Any, stage.dual) - 0.5e-9 * np.abs(stage.dual).mean()
    gain = 1e-3 * certificate.value
    claim = replace(stage, dual=slopes, bound=stage.bound + gain)
    with pytest.raises(InvalidCertificateError, match="the bound of stage 0 is too high"):
        verify(replace(certificate, stages=(claim,)), objective)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("fraction", [0.0, 0.5, 1.0])
def test_more_curvature_than_there_is_is_found_out_whatever_the_scale(scale: float, fraction: float) -> None:
    """With more features than samples there is no curvature at all in some directions."""
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((15, 20))
    objective = LeastSquares(wide, wide[:, 0] + 3 * rng.standard_normal(15), alpha=1e-4)
    forged = forge(certify(objective), 1e6, scale)
    stage = forged.stages[0]
    dual = replace(stage.dual, fraction=fraction, scale=scale * np.where(np.arange(20) < 3, 1e12, 1.0))
    with pytest.raises(InvalidCertificateError, match=r"less (sparse )?curvature"):
        verify(replace(forged, stages=(replace(stage, dual=dual),)), objective)


def test_what_the_verdict_is_computed_from_is_checked() -> None:
    objective = LeastSquares(X, y, alpha=1e-3)
    result = ksparse.minimize(objective, 2)
    certificate = result.certificate()
    stage, text = certificate.stages[0], cast(Any, "1")
    dual = cast(QuadraticDual, stage.dual)
    assert verify(certificate, objective, x=result.x) == verify(certificate, objective)
    other = replace(certificate, value=2.0 * certificate.value)
    assert verify(other, objective) > 0
    wrong: list[tuple[Any, str]] = [
        (replace(certificate, least=-1e9), "the least loss of these data is 0"),
        (replace(certificate, has_bounds=True), "for coefficients with bounds, and the sparsity set is without"),
        (replace(certificate, lower_bound=np.nan), "lower_bound is not a finite number"),
        (replace(certificate, value=text), "value is not a finite number"),
        (replace(certificate, value=0.5 * certificate.lower_bound), "is proved as a lower bound"),
        (replace(certificate, value=-1.0), "no f is below 0"),
        (replace(certificate, stages=(replace(stage, dual=replace(dual, fraction=2.0)),)), "not between 0 and 1"),
        (replace(certificate, stages=(replace(stage, dual=replace(dual, fraction=np.nan)),)), "between 0 and 1"),
    ]
    for name, value, problem in (
        ("curvature", np.full(20, np.nan), "the curvature of stage 0 must be finite numbers"),
        ("curvature", np.full(20, -1.0), "has an entry below -alpha"),
        ("scale", np.zeros(20), "has an entry that is not above 0"),
        ("coefficients", np.zeros((19, 1)), "other data"),
    ):
        changed: Any = {name: value}
        wrong.append((replace(certificate, stages=(replace(stage, dual=replace(dual, **changed)),)), problem))
    for claim, problem in wrong:
        with pytest.raises(InvalidCertificateError, match=problem):
            verify(claim, objective)
    for point, problem in (
        (np.zeros(20), "and the certificate says"),
        (np.ones(20), "x has 20 units, and k is 2"),
        (np.full(20, np.nan), "not a finite number"),
        (np.zeros(3), "x has the shape"),
    ):
        with pytest.raises(InvalidCertificateError, match=problem):
            verify(certificate, objective, x=point)
    with pytest.raises(InvalidCertificateError, match="and the certificate says"):
        verify(other, objective, x=result.x)


def test_certificates_are_for_one_sparsity_set() -> None:
    objective, box = LeastSquares(X, y, alpha=1e-3), Entries(2, lower=-0.5, upper=0.5)
    result = ksparse.minimize(objective, sparsity=box)
    certificate = result.certificate()
    verify(certificate, objective, box, result.x)
    with pytest.raises(InvalidCertificateError, match="with bounds, and the sparsity set is without them; give the"):
        verify(certificate, objective)
    with pytest.raises(InvalidCertificateError, match="without bounds, and the sparsity set is with"):
        verify(replace(certificate, has_bounds=False), objective, box)
    with pytest.raises(InvalidCertificateError, match="k = 2, and the sparsity set has k = 3"):
        verify(certificate, objective, Entries(3, lower=-0.5, upper=0.5))
    free = ksparse.minimize(objective, 2)
    with pytest.raises(InvalidCertificateError, match="x is not within the bounds"):
        verify(certificate, objective, box, free.x)


@pytest.mark.parametrize("kind", [LeastSquares, Logistic])
def test_other_data_and_other_types_are_refused_in_words(kind: Any) -> None:
    def make(rows: int, columns: int) -> Any:
        target = y[:rows] if kind is LeastSquares else y[:rows] > 0
        return kind(X[:rows, :columns], target, alpha=0.1)

    certificate = certify(make(120, 20))
    for other in (make(120, 10), make(60, 20)):
        with pytest.raises(InvalidCertificateError):
            verify(certificate, other)
    wrong: Any = "a certificate"
    with pytest.raises(TypeError, match="certificate must be a Certificate"):
        verify(wrong, make(120, 20))
    for objective in (Quadratic(np.eye(20), np.ones(20)), "f"):
        unsuited: Any = objective
        with pytest.raises(TypeError, match="objective must be a linear model bound to its data"):
            verify(certificate, unsuited)
    with pytest.raises(InvalidCertificateError, match=r"for least squares, and this|is too high"):
        verify(certificate, Logistic(X, y > 0) if kind is LeastSquares else LeastSquares(X, y))


def test_slopes_of_a_softmax_are_differences_of_probabilities() -> None:
    objective = Multinomial(X, np.digitize(y, [-1.0, 0.0, 1.0]), alpha=0.1)
    certificate = certify(objective)
    stage = certificate.stages[0]
    verify(certificate, objective)
    with pytest.raises(InvalidCertificateError, match="not differences of probabilities"):
        verify(replace(certificate, stages=(replace(stage, dual=stage.dual + 0.1),)), objective)


def test_slopes_that_a_loss_has_nowhere_are_found_out() -> None:
    """The conjugate is infinite there, whatever bisection ends at."""
    objective = Logistic(X, y > 0, alpha=0.1)
    certificate = certify(objective)
    stage = certificate.stages[0]
    with pytest.raises(InvalidCertificateError, match="the bound of stage 0 is too high by inf"):
        verify(replace(certificate, stages=(replace(stage, dual=stage.dual + 1.01),)), objective)
