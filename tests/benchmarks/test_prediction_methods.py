"""The simulation has the stated distribution, the evaluator agrees with samples, and peers are what they are called."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
import pytest
from prediction_suite.elastic_net import compute_logistic_path, make_penalties
from prediction_suite.regressors import BEFORE, FOLDS, REGRESSORS
from prediction_suite.relaxed_lasso import GAMMAS, choose_relaxed_lasso, compute_relaxed_path
from prediction_suite.scoring import score_classification, score_coefficients, score_regression, score_support
from prediction_suite.simulation import SIZES, SNRS, Setting, draw_features, list_settings, make_beta, simulate
from prediction_suite.timing import Isolated, time_call
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression
from sklearn.metrics import log_loss, r2_score, roc_auc_score

#: Packages that methods need, in addition to scikit-learn.
PACKAGES = {"MCP": "skglm", "SCAD": "skglm", "abess": "abess", "fastsparsegams": "fastsparsegams"}


def test_there_are_480_settings_with_the_papers_snrs() -> None:
    settings = list_settings()
    assert len(set(settings)) == 480
    np.testing.assert_allclose(SNRS, [0.05, 0.09, 0.14, 0.25, 0.42, 0.71, 1.22, 2.07, 3.52, 6.0], atol=0.005)


def test_types_of_beta() -> None:
    np.testing.assert_array_equal(np.flatnonzero(make_beta(1, 10, 5)), [0, 2, 4, 7, 9])
    np.testing.assert_array_equal(make_beta(2, 4, 2), [1, 1, 0, 0])
    np.testing.assert_allclose(make_beta(3, 6, 3), [10, 5.25, 0.5, 0, 0, 0])
    np.testing.assert_allclose(make_beta(5, 5, 2), [1, 1, 0.5, 0.25, 0.125])
    with pytest.raises(ValueError, match="beta_type must be one of"):
        make_beta(4, 5, 2)


@pytest.mark.parametrize("correlation", [0.0, 0.35, 0.7])
def test_features_have_the_covariance(correlation: float) -> None:
    X = draw_features(np.random.default_rng(0), 200_000, 5, correlation)
    distances = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    np.testing.assert_allclose(X.T @ X / len(X), correlation**distances, atol=0.015)


def test_data_have_the_signal_to_noise_ratio_and_depend_on_the_seed_only() -> None:
    setting = Setting("medium", 5, 0.7, SNRS[-1])
    data = [simulate(setting, replication) for replication in range(20)]
    signal = np.var(np.concatenate([one.X @ one.beta for one in data]))
    noise = np.var(np.concatenate([one.y - one.X @ one.beta for one in data]))
    assert signal / noise == pytest.approx(setting.snr, rel=0.05)
    assert noise == pytest.approx(data[0].noise_variance, rel=0.05)
    np.testing.assert_array_equal(simulate(setting, 3).y, data[3].y)
    assert not np.array_equal(data[0].y, data[1].y)
    np.testing.assert_array_equal(data[0].support, np.arange(SIZES["medium"].s))


def test_relative_test_error_agrees_with_new_samples() -> None:
    rng = np.random.default_rng(1)
    data = simulate(Setting("low", 3, 0.35, SNRS[6]), 0)
    coef, intercept = data.beta + rng.standard_normal(10), 2.0
    X = draw_features(rng, 400_000, 10, 0.35)
    y = X @ data.beta + np.sqrt(data.noise_variance) * rng.standard_normal(len(X))
    sampled = np.mean((y - X @ coef - intercept) ** 2) / data.noise_variance
    exact = score_coefficients(coef, intercept, data.beta, data.covariance, data.noise_variance)
    assert exact == pytest.approx(sampled, rel=0.01)
    assert score_coefficients(data.beta, 0.0, data.beta, data.covariance, data.noise_variance) == 1.0
    null = score_coefficients(np.zeros(10), 0.0, data.beta, data.covariance, data.noise_variance)
    assert null == pytest.approx(1.0 + SNRS[6])


def test_scores_of_supports_and_predictions_agree_with_scikit_learn() -> None:
    assert score_support(np.array([1.0, 0.0, 2.0, 3.0]), [0, 1]) == (3, 0.5, 0.4)
    assert score_support(np.zeros(4), [0, 1]) == (0, 0.0, 0.0)
    rng = np.random.default_rng(0)
    truth, probabilities = rng.random(60) < 0.4, np.round(rng.random(60), 1).clip(0.05, 0.95)
    scores = score_classification(probabilities, truth)
    assert scores.loss == pytest.approx(log_loss(truth, probabilities))
    assert scores.auc == pytest.approx(roc_auc_score(truth, probabilities))
    assert scores.accuracy == np.mean((probabilities > 0.5) == truth)
    y = rng.standard_normal(30)
    assert 1.0 - score_regression(y + 0.1, y, y.mean()) == pytest.approx(r2_score(y, y + 0.1))


def center(X: Any) -> Any:
    return np.asfortranarray(X - X.mean(axis=0))


def test_relaxed_lasso_is_the_lasso_or_least_squares_at_the_ends() -> None:
    data = simulate(Setting("low", 2, 0.35, SNRS[7]), 0)
    X, y = center(data.X), center(data.y)
    alpha = 0.2 * np.abs(X.T @ y).max() / len(y)
    (relaxed,) = compute_relaxed_path(X, y, [alpha])
    lasso = Lasso(alpha, fit_intercept=False, tol=1e-8).fit(X, y).coef_
    active = np.flatnonzero(lasso)
    assert 0 < len(active) < 10
    np.testing.assert_allclose(relaxed[GAMMAS.index(1.0)], lasso, atol=2e-3)
    refit = LinearRegression(fit_intercept=False).fit(X[:, active], y).coef_
    np.testing.assert_allclose(relaxed[GAMMAS.index(0.0)][active], refit)
    np.testing.assert_array_equal(np.flatnonzero(relaxed[GAMMAS.index(0.0)]), active)
    np.testing.assert_allclose(relaxed[GAMMAS.index(0.5)], (relaxed[0] + relaxed[-1]) / 2)


def test_relaxed_lasso_fits_an_intercept() -> None:
    data = simulate(Setting("low", 2, 0.0, SNRS[9]), 0)
    coef, intercept = choose_relaxed_lasso(data.X, data.y, FOLDS)
    shifted, moved = choose_relaxed_lasso(data.X + 3.0, data.y + 7.0, FOLDS)
    np.testing.assert_allclose(shifted, coef, atol=1e-6)
    assert moved == pytest.approx(intercept + 7.0 - 3.0 * coef.sum(), abs=1e-5)


#: The packages that methods need, and their oldest versions.
NEEDED = {
    "MCP": ("skglm", None),
    "SCAD": ("skglm", None),
    "abess": ("abess", None),
    "fastsparsegams": ("fastsparsegams", None),
    "elastic net": ("sklearn", "1.7"),
}


@pytest.mark.parametrize("name", [name for name in REGRESSORS if name != BEFORE])
def test_methods_recover_a_strong_signal(name: str) -> None:
    package, least = NEEDED.get(name, ("numpy", None))
    pytest.importorskip(package, least)
    data = simulate(Setting("low", 2, 0.0, SNRS[9]), 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        coef, intercept = REGRESSORS[name](data.X, data.y + 5.0)
    error = score_coefficients(coef, intercept - 5.0, data.beta, data.covariance, data.noise_variance)
    assert 1.0 < error < 1.3


def test_elastic_net_minimizes_its_objective() -> None:
    pytest.importorskip("skglm")
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.standard_normal((80, 30)))
    signs = np.where(X[:, 0] + rng.standard_normal(80) > 0.3, 1.0, -1.0)
    alphas = make_penalties(X, signs, 0.5)[:12]
    path = compute_logistic_path(X, signs, alphas, 0.5)
    np.testing.assert_array_equal(path[0, :-1], 0.0)
    model = LogisticRegression(C=1 / (80 * alphas[-1]), l1_ratio=0.5, solver="saga", tol=1e-10, max_iter=100_000)
    model.fit(X, signs)
    np.testing.assert_allclose(path[-1, :-1], model.coef_[0], atol=0.01)
    assert path[-1, -1] == pytest.approx(model.intercept_[0], abs=0.01)


def test_a_failure_is_a_result() -> None:
    result, seconds, failure = time_call(int, "x")
    assert result is None
    assert seconds >= 0
    assert failure.startswith("ValueError: invalid literal")


def test_a_crash_of_another_process_is_a_result() -> None:
    isolated = Isolated()
    assert isolated.time_call(os._exit, 3)[::2] == (None, "the process died 2 times")
    assert isolated.time_call(abs, -3)[::2] == (3, "")
    assert isolated.pool is not None
    isolated.pool.shutdown()
