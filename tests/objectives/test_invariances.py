"""The same data in another form gives the same function; other packages agree on full supports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge
from sklearn.svm import LinearSVC

import ksparse
from ksparse.objectives import LeastSquares, Logistic, Multinomial, Poisson, SquaredHinge
from tests.problems import LINEAR, N, P, design, linear, responses, signal, without_intercept

FORMS: dict[str, Any] = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "CSR": sparse.csr_array,
    "CSC": sparse.csc_array,
    "CSR matrix": sparse.csr_matrix,
    "list": lambda X: X.tolist(),
    "float32": lambda X: X.astype(np.float32),
    "float32 CSR": lambda X: sparse.csr_array(X.astype(np.float32)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", LINEAR)
@pytest.mark.slow
def test_forms_of_the_data(kind: str, form: str) -> None:
    X = design()
    tolerance = 2e-5 if "float32" in form else 1e-12
    reference = linear(kind, X, fit_intercept=True)
    objective = linear(kind, FORMS[form](X), fit_intercept=True)
    x = 0.2 * np.random.default_rng(2).standard_normal(objective.shape)
    assert objective.evaluate(x).value == pytest.approx(reference.evaluate(x).value, rel=tolerance)
    np.testing.assert_allclose(objective.evaluate(x).gradient, reference.evaluate(x).gradient, atol=tolerance)
    here, there = ksparse.minimize(objective, k=3), ksparse.minimize(reference, k=3)
    np.testing.assert_array_equal(here.support, there.support)
    np.testing.assert_allclose(here.x, there.x, atol=1e-3 if "float32" in form else 1e-7)


@pytest.mark.parametrize("form", [FORMS["C order"], FORMS["Fortran order"], FORMS["strided"], FORMS["float32"]])
def test_dense_data_is_not_copied(form: Any) -> None:
    X = form(design())
    objective: Any = Logistic(X, responses("logistic", signal(design())))
    for model in (objective, objective.working_form().objective):
        assert np.shares_memory(model._design.matrix, X)


@pytest.mark.parametrize("form", [*FORMS.values(), lambda X: np.asfortranarray(X)])
def test_inputs_are_not_changed(form: Any) -> None:
    X = form(design())
    y = signal(design()).copy()
    weights, offset = np.linspace(1, 2, N), np.linspace(0, 1, N)
    copies = [np.array(X.todense() if sparse.issparse(X) else X), y.copy(), weights.copy(), offset.copy()]
    x0 = np.ones(P + 1)
    objective = LeastSquares(X, y, alpha=0.1, sample_weight=weights, offset=offset, fit_intercept=True)
    ksparse.minimize(objective, k=3, x0=x0)
    after = [np.array(X.todense() if sparse.issparse(X) else X), y, weights, offset]
    for before, now in zip(copies, after, strict=True):
        np.testing.assert_array_equal(before, now)
    np.testing.assert_array_equal(x0, 1.0)


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("kind", LINEAR)
def test_weights_are_repeated_rows(kind: str, as_sparse: bool) -> None:
    X, rng = design(), np.random.default_rng(4)
    counts = rng.integers(0, 4, N)
    y = responses(kind, signal(X))
    form = sparse.csr_array if as_sparse else np.asarray
    options = without_intercept(kind, {"alpha": 0.05, "fit_intercept": True})
    weighted = LINEAR[kind](form(X), y, sample_weight=counts, **options)
    repeated = LINEAR[kind](form(np.repeat(X, counts, axis=0)), np.repeat(y, counts, axis=0), **options)
    x = 0.2 * rng.standard_normal(weighted.shape)
    assert weighted.evaluate(x).value == pytest.approx(repeated.evaluate(x).value, rel=1e-12)
    np.testing.assert_allclose(weighted.evaluate(x).gradient, repeated.evaluate(x).gradient, atol=1e-12)
    here, there = ksparse.minimize(weighted, k=2), ksparse.minimize(repeated, k=2)
    np.testing.assert_array_equal(here.support, there.support)
    np.testing.assert_allclose(here.x, there.x, atol=1e-7)


@pytest.mark.parametrize("kind", LINEAR)
def test_a_shift_of_the_data_moves_only_the_intercept(kind: str) -> None:
    """Uncentred data costs no accuracy: columns are centred implicitly."""
    X = design()
    near, far = (linear(kind, X + shift, fit_intercept=True) for shift in (0.0, 1e4))
    here, there = ksparse.minimize(near, k=3), ksparse.minimize(far, k=3)
    np.testing.assert_array_equal(here.support, there.support)
    np.testing.assert_allclose(here.x[:P], there.x[:P], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(here.value, there.value, rtol=1e-9)
    assert there.n_iter == here.n_iter


@pytest.mark.parametrize("solver", [ksparse.FGraHTP(step=ksparse.solvers.Normalized()), ksparse.GraHTP(step=0.1)])
def test_a_shift_of_the_data_does_not_change_the_iterates(solver: Any) -> None:
    X = design()
    near, far = (linear("logistic", X + shift, fit_intercept=True) for shift in (0.0, 1e3))
    here, there = ksparse.minimize(near, k=3, solver=solver), ksparse.minimize(far, k=3, solver=solver)
    np.testing.assert_allclose(here.history["value"], there.history["value"], rtol=1e-8)


@pytest.mark.parametrize("kind", LINEAR)
def test_labels_and_order_of_rows_do_not_matter(kind: str) -> None:
    X = design()
    y = responses(kind, signal(X))
    order = np.random.default_rng(0).permutation(N)
    here = ksparse.minimize(LINEAR[kind](X, y, alpha=0.01), k=3)
    there = ksparse.minimize(LINEAR[kind](X[order], y[order], alpha=0.01), k=3)
    np.testing.assert_allclose(here.x, there.x, atol=1e-7)


def test_any_labels() -> None:
    X = design()
    y = responses("logistic", signal(X)) == "yes"
    reference = ksparse.minimize(Logistic(X, y, alpha=0.01), k=3).x
    for labels in (np.where(y, 1, -1), np.where(y, 7.5, 2.5), np.where(y, "b", "a"), y.astype(object)):
        objective = Logistic(X, labels, alpha=0.01)
        np.testing.assert_array_equal(ksparse.minimize(objective, k=3).x, reference)
        assert set(objective.classes.tolist()) == set(np.asarray(labels).tolist())


@pytest.mark.parametrize("intercept", [False, True])
def test_ridge_of_scikit_learn(intercept: bool) -> None:
    X, y = design(), responses("least squares", signal(design()))
    for alpha in (0.0, 0.3):
        objective = LeastSquares(X, y, alpha=alpha, fit_intercept=intercept)
        found = ksparse.minimize(objective, k=P)
        peer = Ridge(alpha=alpha * N, fit_intercept=intercept) if alpha else LinearRegression(fit_intercept=intercept)
        peer.fit(X, y)
        np.testing.assert_allclose(found.x[:P], peer.coef_, atol=1e-9)
        if intercept:
            assert found.x[-1] == pytest.approx(peer.intercept_, abs=1e-9)


@pytest.mark.parametrize("intercept", [False, True])
def test_logistic_regression_of_scikit_learn(intercept: bool) -> None:
    X, y = design(), responses("logistic", signal(design()))
    found = ksparse.minimize(Logistic(X, y, alpha=0.02, fit_intercept=intercept), k=P)
    peer = LogisticRegression(C=1 / (0.02 * N), fit_intercept=intercept, tol=1e-10, solver="newton-cholesky").fit(X, y)
    np.testing.assert_allclose(found.x[:P], peer.coef_[0], atol=1e-6)


def test_multinomial_regression_of_scikit_learn() -> None:
    X, y = design(), responses("multinomial", signal(design()))
    found = ksparse.minimize(Multinomial(X, y, alpha=0.02, fit_intercept=True), k=P)
    peer = LogisticRegression(C=1 / (0.02 * N), tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(found.x[:P], peer.coef_.T, atol=1e-4)
    np.testing.assert_allclose(found.x[-1], peer.intercept_ - peer.intercept_.mean(), atol=1e-4)


def test_multinomial_without_ridge_has_rows_that_sum_to_zero() -> None:
    X, y = design(), responses("multinomial", signal(design()))
    objective = Multinomial(X, y, fit_intercept=True)
    found = ksparse.minimize(objective, k=2)
    np.testing.assert_allclose(found.x.sum(axis=1), 0.0, atol=1e-12)
    assert objective.evaluate(found.x).value == pytest.approx(found.value, rel=1e-12)
    nearly = ksparse.minimize(Multinomial(X, y, alpha=1e-9, fit_intercept=True), k=2)
    np.testing.assert_allclose(found.x, nearly.x, atol=1e-4)


@pytest.mark.slow
def test_poisson_regression_of_scikit_learn() -> None:
    X, y = design(), responses("poisson", signal(design()))
    found = ksparse.minimize(Poisson(X, y, alpha=0.02, fit_intercept=True), k=P)
    peer = PoissonRegressor(alpha=0.02, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(found.x[:P], peer.coef_, atol=1e-5)
    assert found.x[-1] == pytest.approx(peer.intercept_, abs=1e-5)


def test_linear_svm_of_scikit_learn() -> None:
    X, y = design(), responses("hinge", signal(design()))
    found = ksparse.minimize(SquaredHinge(X, y, alpha=0.05), k=P)
    peer = LinearSVC(C=1 / (0.05 * N), fit_intercept=False, tol=1e-10, max_iter=100_000, dual=False).fit(X, y)
    np.testing.assert_allclose(found.x, peer.coef_[0], atol=1e-6)
