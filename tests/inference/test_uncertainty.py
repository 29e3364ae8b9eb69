"""Intervals and selection frequencies: against formulas of textbooks, loops by hand, and their coverage."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import approx_fprime, minimize
from scipy.special import log_softmax

from ksparse import (
    SparseHuberRegression,
    SparseLinearRegression,
    SparseLinearRegressionCV,
    SparseLogisticRegression,
    SparsePoissonRegression,
)
from ksparse._types import Array
from ksparse.estimators import Samples
from ksparse.inference.ordinary import OrdinaryFit, fit_ordinary
from ksparse.inference.resampling import draw_bootstrap, draw_halves, split_model
from ksparse.inference.uncertainty import aggregate_splits
from tests.estimators.models import FIXED, MODELS, REPEATABLE, N, X, fitted, response

COUNTS = np.arange(N) % 3 + 1.0


def fit_given(model: Any, features: Any) -> OrdinaryFit:
    return fit_ordinary(model, model._samples, np.array(features))


def with_intercept(features: list[int], data: Array = X) -> Array:
    return np.column_stack([np.ones(len(data)), data[:, features]])


def test_least_squares_has_the_errors_of_textbooks() -> None:
    y, Z = response("linear"), with_intercept([1, 4, 6])
    fit = fit_given(fitted("linear", alpha=0.3), [1, 4, 6])
    coefficients, squares, _, _ = np.linalg.lstsq(Z, y, rcond=None)
    errors = np.sqrt(np.diag(np.linalg.inv(Z.T @ Z)) * squares[0] / (N - 4))
    np.testing.assert_allclose(fit.coefficients[0], coefficients[1:])
    np.testing.assert_allclose(fit.errors[0], errors[1:])
    low, high = fit.compute_intervals(0.9)
    np.testing.assert_allclose((high - low)[0], 2 * stats.t.ppf(0.95, N - 4) * errors[1:])
    p_values = 2 * stats.t.sf(np.abs(coefficients / errors), N - 4)
    np.testing.assert_allclose(fit.compute_p_values()[0], p_values[1:])


def test_several_responses_have_their_own_errors() -> None:
    y, both = response("responses"), fit_given(fitted("responses"), [1, 4])
    for column in range(y.shape[1]):
        alone = fit_given(SparseLinearRegression(k=2).fit(X, y[:, column]), [1, 4])
        np.testing.assert_allclose(both.errors[column], alone.errors[0])


def test_logistic_and_poisson_have_the_inverse_fisher_information() -> None:
    Z = with_intercept([1, 4])
    for name in ("logistic", "poisson"):
        model = fitted(name, alpha=0.1)
        fit = fit_given(model, [1, 4])
        plain = type(model)(k=2, alpha=0.0).fit(X[:, [1, 4]], response(name))
        margins = X[:, [1, 4]] @ np.ravel(plain.coef_) + np.ravel(plain.intercept_)
        curvature = np.exp(margins) if name == "poisson" else 1 / (2 + np.exp(margins) + np.exp(-margins))
        covariance = np.linalg.inv(Z.T @ (curvature[:, None] * Z))
        np.testing.assert_allclose(fit.coefficients[0], np.ravel(plain.coef_), rtol=1e-6)
        np.testing.assert_allclose(fit.errors[0], np.sqrt(np.diag(covariance))[1:], rtol=1e-6)


def test_several_classes_have_the_inverse_information_of_the_softmax() -> None:
    """Against differences of the log-likelihood, with coefficients of each feature that sum to 0."""
    fit = fit_given(fitted("multinomial"), [1, 4])
    Z, codes = with_intercept([1, 4]), np.unique(response("multinomial"), return_inverse=True)[1]
    basis = np.linalg.svd(np.ones((1, 3)))[2][1:]

    def loss(parameters: Array) -> float:
        margins = Z @ (parameters.reshape(3, 2) @ basis)
        return float(-log_softmax(margins, axis=1)[np.arange(N), codes].sum())

    best = minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-4}).x
    steps = 1e-3 * np.eye(6)
    slopes = [approx_fprime(best + step, loss, 1e-6) - approx_fprime(best - step, loss, 1e-6) for step in steps]
    covariance = np.linalg.inv(np.array(slopes) / 2e-3)
    for feature in (1, 2):
        block = covariance[2 * feature : 2 * feature + 2, 2 * feature : 2 * feature + 2]
        np.testing.assert_allclose(fit.errors[:, feature - 1], np.sqrt(np.diag(basis.T @ block @ basis)), rtol=1e-2)


def test_huber_has_the_sandwich_of_its_slopes() -> None:
    model = SparseHuberRegression(k=2, delta=1.0).fit(X, response("huber"))
    fit = fit_given(model, [1, 4])
    plain = SparseHuberRegression(k=2, delta=1.0).fit(X[:, [1, 4]], response("huber"))
    residuals, Z = plain.predict(X[:, [1, 4]]) - response("huber"), with_intercept([1, 4])
    bread = np.linalg.inv(Z.T @ ((np.abs(residuals) <= 1.0)[:, None] * Z))
    meat = Z.T @ (np.square(np.clip(residuals, -1.0, 1.0))[:, None] * Z)
    np.testing.assert_allclose(fit.errors[0], np.sqrt(np.diag(bread @ meat @ bread))[1:], rtol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_weights_that_are_counts_are_repeated_rows(name: str) -> None:
    rows = np.repeat(np.arange(N), COUNTS.astype(int))
    options = FIXED.get(name, {}) | REPEATABLE.get(name, {})
    weighted = fitted(name, sample_weight=COUNTS, alpha=0.1, **options)
    repeated = fitted(name, X[rows], response(name)[rows], alpha=0.1, **options)
    here, there = fit_given(weighted, [1, 4]), fit_given(repeated, [1, 4])
    np.testing.assert_allclose(here.coefficients, there.coefficients, rtol=1e-6)
    np.testing.assert_allclose(here.errors, there.errors, rtol=1e-6)


def test_what_the_samples_do_not_determine_has_no_finite_interval() -> None:
    y = X[:, 1] > X[:, 1].mean()
    separated = SparseLogisticRegression(k=1).fit(X, y)
    assert np.isinf(fit_given(separated, [1]).errors).all()
    assert (fit_given(separated, [1]).compute_p_values() == 1.0).all()
    few = SparseLinearRegression(k=2).fit(X[:4], response("linear")[:4])
    assert np.isinf(fit_given(few, [0, 1, 2]).errors).all()
    twice = np.column_stack([X, X[:, 1]])
    collinear = SparseLinearRegression(k=2).fit(twice, response("linear"))
    assert np.isinf(fit_given(collinear, [1, 8]).errors).all()
    summary = separated.summary(intervals="naive")
    assert np.isneginf(summary.features["low"]).all()
    assert any("no unique minimum" in note for note in summary.notes)
    assert "−∞ to ∞" in str(summary)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_the_bootstrap_is_a_loop_over_repeated_rows(name: str) -> None:
    """With rows repeated instead of weighted, and each fit made by the estimator itself."""
    model = fitted(name, alpha=0.05, **FIXED.get(name, {}), **REPEATABLE.get(name, {}))
    summary = model.summary(resamples=5, replacements=0)
    y, selected = response(name), np.flatnonzero(model.support_)
    labels = y["event"] if name == "cox" else y if hasattr(model, "classes_") else np.zeros(N)
    coefficients, masks = [], []
    for seed in np.random.SeedSequence(0).spawn(5):
        counts = draw_bootstrap(labels, None, np.random.default_rng(seed)).astype(int)
        assert counts.sum() == N
        rows = np.repeat(np.arange(N), counts)
        again = type(model)(**model.get_params()).fit(X[rows], y[rows])
        coefficients.append(np.atleast_2d(again.coef_)[:, selected])
        masks.append(again.support_[selected])
    low, high = np.quantile(coefficients, [0.025, 0.975], axis=0, method="weibull")
    order = [np.flatnonzero(selected == int(unit[1:]))[0] for unit in summary.features.index]
    np.testing.assert_allclose(np.atleast_2d(summary.features["low"].T), low[:, order], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(np.atleast_2d(summary.features["high"].T), high[:, order], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(summary.units["frequency"], np.mean(masks, axis=0)[order])


def test_resamples_keep_the_classes_and_their_weights() -> None:
    labels, weights = np.repeat([0, 1, 2], [20, 5, 1]), np.linspace(0.0, 2.0, 26)
    for seed in range(5):
        drawn = draw_bootstrap(labels, weights, np.random.default_rng(seed))
        for label in range(3):
            assert drawn[labels == label].sum() == pytest.approx(weights[labels == label].sum())
        assert drawn[0] == 0.0
    first, second = draw_halves(labels, np.random.RandomState(0))
    assert sorted([*first, *second]) == list(range(26))
    assert np.abs(np.bincount(labels[first], minlength=3) - np.bincount(labels[second], minlength=3)).max() <= 1


def test_counts_are_resampled_as_the_samples_they_stand_for() -> None:
    """The mean number of draws of a row is its count, and the variance that of the multinomial."""
    drawn = np.array(
        [draw_bootstrap(np.zeros(3), np.array([1.0, 2.0, 5.0]), np.random.default_rng(s)) for s in range(4000)]
    )
    np.testing.assert_allclose(drawn.mean(axis=0), [1.0, 2.0, 5.0], atol=0.08)
    np.testing.assert_allclose(drawn.var(axis=0), [7 / 8, 12 / 8, 15 / 8], rtol=0.08)


@pytest.mark.slow
def test_choices_are_repeated_if_asked_for() -> None:
    model = SparseLinearRegressionCV(ks=[1, 2, 3], cv=2).fit(X, response("linear"))
    fixed, repeated = (model.summary(resamples=4, repeat_choice=choice) for choice in (False, True))
    assert "with the choice of k and ridges" in str(repeated)
    assert "with the choice of k and ridges" not in str(fixed)
    assert fixed.units["frequency"].sum() <= model.k_
    listed = [(np.arange(0, N, 2), np.arange(1, N, 2))]
    with pytest.raises(ValueError, match="not a list of splits"):
        SparseLinearRegressionCV(ks=[1], cv=listed).fit(X, response("linear")).summary(repeat_choice=True)


def test_one_split_selects_on_one_half_and_estimates_on_the_other() -> None:
    model = fitted("linear", k=2)
    summary = model.summary(intervals="split", resamples=1, random_state=3)
    y = response("linear")
    first, second = draw_halves(np.zeros(N), np.random.RandomState(3))
    chosen = np.flatnonzero(SparseLinearRegression(k=2).fit(X[first], y[first]).support_)
    Z = with_intercept(chosen.tolist(), X[second])
    coefficients, squares, _, _ = np.linalg.lstsq(Z, y[second], rcond=None)
    errors = np.sqrt(np.diag(np.linalg.inv(Z.T @ Z)) * squares[0] / (len(Z) - 3))
    width = stats.t.ppf(0.975, len(Z) - 3) * errors
    for place, feature in enumerate(chosen, start=1):
        row = summary.features.loc[f"x{feature}"]
        assert row["low"] == pytest.approx(coefficients[place] - width[place])
        assert row["high"] == pytest.approx(coefficients[place] + width[place])
        p_value = 2 * stats.t.sf(abs(coefficients[place] / errors[place]), len(Z) - 3)
        assert row["p_value"] == pytest.approx(min(2 * p_value, 1.0))


def test_splits_are_aggregated_by_medians() -> None:
    features = np.array([0, 1])
    fits = [
        OrdinaryFit(np.array([0, 1]), np.array([[1.0, 5.0]]), np.array([[0.5, 1.0]]), np.inf),
        OrdinaryFit(np.array([0]), np.array([[2.0]]), np.array([[0.5]]), np.inf),
        OrdinaryFit(np.array([0]), np.array([[3.0]]), np.array([[0.5]]), np.inf),
    ]
    low, high, p_values = aggregate_splits(fits, features, 0.9)
    z = stats.norm.ppf(0.975)
    # In two of the three intervals of level 95 %: above the middle lower end, and below the middle upper end.
    assert (low[0, 0], high[0, 0]) == pytest.approx((2 - 0.5 * z, 2 + 0.5 * z))
    assert (low[0, 1], high[0, 1]) == (-np.inf, np.inf)
    each = 2 * stats.norm.sf(np.array([2.0, 4.0, 6.0])) * [2, 1, 1]
    assert p_values[0] == pytest.approx([2 * np.median(each), 1.0])


@pytest.mark.slow
def test_split_intervals_cover_the_coefficients_of_the_selected_model() -> None:
    """They cover the best coefficients of the model selected on the first half; naive ones do not."""
    rng, p, found = np.random.default_rng(0), 15, {"split": list[bool](), "naive": list[bool]()}
    weights = np.zeros(p)
    weights[:3] = [1.0, 0.3, 0.2]
    covariance = 0.5 ** np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    root = np.linalg.cholesky(covariance)
    for repetition in range(130):
        data = rng.standard_normal((100, p)) @ root.T
        y = data @ weights + rng.standard_normal(100)
        model = SparseLinearRegression(k=3).fit(data, y)
        _, (split,) = split_model(model, Samples(data, y), np.zeros(100), 1, repetition, None)
        for kind, fit in (("split", split), ("naive", fit_given(model, np.flatnonzero(model.support_)))):
            block = covariance[np.ix_(fit.features, fit.features)]
            target = np.linalg.solve(block, covariance[fit.features] @ weights)
            low, high = fit.compute_intervals(0.95)
            found[kind] += ((low[0] <= target) & (target <= high[0])).tolist()
    assert np.mean(found["split"]) == pytest.approx(0.95, abs=0.025)  # 2.3 standard errors of 390 intervals
    assert np.mean(found["naive"]) < 0.90


def test_splits_of_rare_classes_and_too_few_resamples() -> None:
    y = np.zeros(N)
    y[0] = 1
    model = SparseLogisticRegression(k=1).fit(X, y)
    with pytest.raises(ValueError, match="at least 2 samples of each class"):
        model.summary(intervals="split")
    notes = SparsePoissonRegression(k=1).fit(X, response("poisson")).summary(resamples=5).notes
    assert any("resamples are too few" in note for note in notes)


def test_resamples_without_convergence_are_counted() -> None:
    y = (X[:, 1] > 0).astype(int)
    with pytest.warns(Warning, match="alpha"):
        model = SparseLogisticRegression(k=1, alpha=0.0).fit(X, y)
    notes = model.summary(resamples=4).notes
    assert any("on 4 of 4 resamples the solver did not converge" in note for note in notes)
    assert any("the loss has no minimum" in note for note in notes)
