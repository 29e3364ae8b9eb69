"""`refit_alpha`: the ridge of the coefficients, after the one that selects features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, TweedieRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import ksparse
from ksparse._types import Array
from ksparse.solvers import GraHTP
from tests.estimators.models import MODELS, X, assert_same, fitted, response

STRONG, WEAK = 2.0, 0.01
EXACT = {"tol": 1e-10, "max_iter": 10_000}
#: Powers of the variances of models with a log link.
POWERS = {"poisson": 1.0, "gamma": 2.0, "tweedie": 1.5}
WEIGHTS: Array = np.random.default_rng(0).uniform(0.1, 3.0, len(X))


def reference_fit(name: str, data: Array, y: Any, alpha: float, weights: Any = None) -> Any:
    """Scikit-learn's model of some columns with this ridge."""
    total = len(data) if weights is None else weights.sum()
    if name in ("linear", "responses"):
        return Ridge(alpha=total * alpha, tol=1e-10).fit(data, y, weights)
    if name in POWERS:
        power = {"power": POWERS[name], "link": "log"}
        return TweedieRegressor(alpha=alpha, solver="newton-cholesky", **power, **EXACT).fit(data, y, weights)
    if name.startswith("hinge"):  # the peer penalizes the intercept, of a column of ones or larger
        return LinearSVC(C=1 / (total * alpha), intercept_scaling=1e3, dual=False, **EXACT).fit(data, y, weights)
    return LogisticRegression(C=1 / (total * alpha), **EXACT).fit(data, y, weights)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
@pytest.mark.parametrize(
    "name",
    ["linear", "responses", "logistic", "multinomial", "poisson", "gamma", "tweedie", "hinge", "hinge of classes"],
)
def test_the_selected_columns_are_fitted_as_by_scikit_learn(name: str, weights: Any) -> None:
    here = fitted(name, sample_weight=weights, alpha=STRONG, refit_alpha=WEAK)
    assert_array_equal(here.support_, fitted(name, sample_weight=weights, alpha=STRONG).support_)
    there = reference_fit(name, X[:, here.support_], response(name), WEAK, weights)
    assert_allclose(here.coef_[..., here.support_], there.coef_, rtol=1e-4, atol=1e-5)
    assert_allclose(here.intercept_, there.intercept_, rtol=1e-4, atol=1e-5)
    assert not np.any(here.coef_[..., ~here.support_])


def test_the_ridge_of_the_selection_selects() -> None:
    """A feature that a strong ridge prefers: a column of large units costs it little."""
    rng = np.random.default_rng(0)
    data = rng.standard_normal((200, 3)) * [1.0, 30.0, 1.0]
    y = 1.2 * data[:, 0] + data[:, 1] / 30 + 0.1 * rng.standard_normal(200)
    supports = {
        (alpha, refit): ksparse.SparseLinearRegression(1, alpha=alpha, refit_alpha=refit)
        .fit(data, y)
        .get_support(indices=True)
        .tolist()
        for alpha in (0.0, 10.0)
        for refit in (0.0, 10.0, None)
    }
    assert all(support == ([0] if alpha == 0.0 else [1]) for (alpha, _), support in supports.items())
    refitted = ksparse.SparseLinearRegression(1, alpha=10.0, refit_alpha=0.0).fit(data, y)
    assert refitted.coef_[1] == pytest.approx(LinearRegression().fit(data[:, 1:2], y).coef_[0])


@pytest.mark.parametrize("name", MODELS)
def test_without_it_or_with_the_same_ridge_nothing_is_fitted_again(name: str) -> None:
    plain, same = fitted(name, alpha=0.1), fitted(name, alpha=0.1, refit_alpha=0.1)
    assert_array_equal(same.coef_, plain.coef_)
    assert_array_equal(same.intercept_, plain.intercept_)
    assert same.result_.passes == plain.result_.passes
    assert same.result_.message == plain.result_.message


@pytest.mark.parametrize("name", MODELS)
def test_where_both_ridges_select_the_same_the_refit_is_the_fit(name: str) -> None:
    options = {"delta": 1.0} if name == "huber" else {}
    here, there = fitted(name, alpha=1.2 * WEAK, refit_alpha=WEAK, **options), fitted(name, alpha=WEAK, **options)
    assert_same(here, there, rtol=1e-5)
    assert here.result_.value == pytest.approx(there.result_.value)
    assert here.result_.message.startswith("converged")
    assert "another penalty" in here.result_.message
    assert here.result_.success
    assert here.n_iter_ >= 1


@pytest.mark.parametrize("name", ["linear", "logistic"])
def test_scaled_features(name: str) -> None:
    data = X * 10.0 ** (np.arange(X.shape[1]) % 4 - 2)
    here = fitted(name, data, alpha=STRONG, refit_alpha=WEAK, standardize=True)
    scaler = StandardScaler().fit(data)
    there = reference_fit(name, scaler.transform(data)[:, here.support_], response(name), WEAK)
    expected = there.coef_ / scaler.scale_[here.support_]
    assert_allclose(here.coef_[..., here.support_], expected, rtol=1e-4, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("options", [{"feature_groups": np.arange(8) // 2, "k": 2}, {"always_select": [0, 3]}])
@pytest.mark.parametrize("name", ["linear", "multinomial"])
def test_groups_and_always_selected_features_are_refitted_too(name: str, options: dict[str, Any]) -> None:
    here = fitted(name, alpha=STRONG, refit_alpha=WEAK, **options)
    there = reference_fit(name, X[:, here.support_], response(name), WEAK)
    assert_allclose(here.coef_[..., here.support_], there.coef_, rtol=1e-4, atol=1e-5)


def test_positive_coefficients_stay_positive() -> None:
    here = fitted("linear", k=5, alpha=STRONG, refit_alpha=0.0, positive=True)
    there = LinearRegression(positive=True).fit(X[:, here.support_], response("linear"))
    assert (here.coef_ >= 0).all()
    assert_allclose(here.coef_[here.support_], there.coef_, rtol=1e-6, atol=1e-8)


def test_other_storage_and_solvers() -> None:
    expected = fitted("linear", alpha=STRONG, refit_alpha=WEAK)
    assert_same(fitted("linear", sparse.csr_array(X), alpha=STRONG, refit_alpha=WEAK), expected)
    for solver in ("grahtp", GraHTP()):
        other = fitted("linear", alpha=STRONG, refit_alpha=WEAK, solver=solver)
        there = Ridge(alpha=len(X) * WEAK).fit(X[:, other.support_], response("linear"))
        assert_allclose(other.coef_[other.support_], there.coef_, rtol=1e-6)


def test_a_warm_start_may_begin_with_refitted_coefficients() -> None:
    warm = fitted("linear", alpha=STRONG, refit_alpha=WEAK, warm_start=True)
    before = warm.coef_.copy()
    assert_allclose(warm.fit(X, response("linear")).coef_, before, rtol=1e-8)


def test_separated_classes_without_a_ridge_say_so() -> None:
    with pytest.warns(ksparse.ConvergenceWarning, match="no minimum"):
        ksparse.SparseLogisticRegression(1, alpha=0.1, refit_alpha=0.0).fit(X, X[:, 2] > X[:, 2].mean())


@pytest.mark.parametrize("bad", [-1.0, np.nan, "strong", np.inf])
def test_bad_values_are_named(bad: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="alpha"):
        fitted("linear", alpha=0.1, refit_alpha=bad)


def test_criteria_take_the_refitted_models() -> None:
    model = ksparse.SparseLinearRegressionIC(ks=[1, 3], criterion="bic", alpha=STRONG, refit_alpha=0.0)
    model.fit(X, response("linear"))
    for k, coef, value in zip([1, 3], model.coef_path_, model.criterion_, strict=True):
        chosen = X[:, coef != 0]
        there = LinearRegression().fit(chosen, response("linear"))
        residuals = response("linear") - there.predict(chosen)
        assert_allclose(coef[coef != 0], there.coef_, rtol=1e-6)
        assert value == pytest.approx(len(X) * np.log(np.mean(residuals**2)) + (k + 1) * np.log(len(X)))


def test_paths_take_the_refitted_models() -> None:
    base = ksparse.SparseLinearRegression(alpha=STRONG, refit_alpha=WEAK)
    path = ksparse.path(X, response("linear"), [1, 3], base)
    for k, coef in zip([1, 3], path.coef, strict=True):
        assert_allclose(coef, clone(base).set_params(k=k).fit(X, response("linear")).coef_, rtol=1e-6, atol=1e-9)


def test_it_is_saved_with_the_model(tmp_path: Any) -> None:
    here = fitted("logistic", alpha=STRONG, refit_alpha=WEAK)
    ksparse.save(here, tmp_path / "model.json")
    again = ksparse.load(tmp_path / "model.json")
    assert again.refit_alpha == WEAK
    assert_array_equal(again.coef_, here.coef_)
