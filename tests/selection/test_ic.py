"""Information criteria: against likelihoods of SciPy and scikit-learn, and formulas of textbooks."""

from __future__ import annotations

import logging
import pickle
from math import comb, log
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaln, huber
from scipy.stats import norm, poisson
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss

from ksparse import (
    SparseHuberRegressionIC,
    SparseLinearRegression,
    SparseLinearRegressionIC,
    SparseLogisticRegressionIC,
    SparsePoissonRegressionIC,
    SparseTweedieRegressionIC,
)
from ksparse._types import Array
from ksparse.selection import information_criterion

rng = np.random.default_rng(0)
N, P = 150, 12
X = rng.standard_normal((N, P))
margins = X[:, [2, 5, 9]] @ [1.5, -1.0, 0.7]
y = margins + 0.5 * rng.standard_normal(N)
labels = np.where(margins + rng.logistic(size=N) > 0, "yes", "no")
three = np.digitize(margins + rng.standard_normal(N), [-1, 1])
counts = rng.poisson(np.exp(0.5 * margins))
KS = range(6)


def penalty(criterion: str, k: int, parameters: int, n: float = N, p: int = P) -> float:
    """What a model with k features costs."""
    return {
        "aic": 2.0 * parameters,
        "bic": parameters * log(n),
        "ebic": parameters * log(n) + 2 * log(comb(p, k)),
        "gic": parameters * log(p) * log(log(n)),
    }[criterion]


@pytest.mark.parametrize("criterion", ["aic", "bic", "ebic", "gic"])
def test_the_formulas(criterion: str) -> None:
    value = information_criterion(criterion, 77.0, parameters=4, k=3, n_samples=N, n_features=P)
    assert value == pytest.approx(77 + penalty(criterion, 3, 4))


def test_an_unknown_criterion() -> None:
    with pytest.raises(ValueError, match="one of 'aic', 'bic', 'ebic', 'gic', got 'cp'"):
        information_criterion("cp", 1.0, parameters=1, k=1, n_samples=10, n_features=10)
    with pytest.raises(ValueError, match="got 'cp'"):
        SparseLinearRegressionIC(criterion="cp").fit(X, y)


@pytest.mark.parametrize("criterion", ["aic", "bic", "ebic", "gic"])
@pytest.mark.parametrize("intercept", [True, False])
def test_least_squares(criterion: str, intercept: bool) -> None:
    """Minus twice the log-likelihood of normal errors of any variance, without n·(log 2π + 1)."""
    model = SparseLinearRegressionIC(ks=KS, criterion=criterion, fit_intercept=intercept).fit(X, y)
    for k, coef, value in zip(KS, model.coef_path_, model.criterion_, strict=True):
        residuals = y
        if k:
            chosen = X[:, coef != 0]
            residuals = y - LinearRegression(fit_intercept=intercept).fit(chosen, y).predict(chosen)
        elif intercept:
            residuals = y - y.mean()
        spread = np.sqrt(np.mean(residuals**2))
        deviance = -2 * norm.logpdf(residuals, scale=spread).sum() - N * (np.log(2 * np.pi) + 1)
        assert value == pytest.approx(deviance + penalty(criterion, k, k + intercept))


def test_several_responses_share_a_variance() -> None:
    several = np.column_stack([y, X[:, 1] - y])
    model = SparseLinearRegressionIC(ks=KS, criterion="bic").fit(X, several)
    for k, coef, intercept, value in zip(KS, model.coef_path_, model.intercept_path_, model.criterion_, strict=True):
        residuals = several - X @ coef.T - intercept
        deviance = -2 * norm.logpdf(residuals, scale=np.sqrt(np.mean(residuals**2))).sum()
        assert value == pytest.approx(deviance - 2 * N * (np.log(2 * np.pi) + 1) + 2 * (k + 1) * log(N))


def softmax_freedom(chosen: Array, probabilities: Array, alpha: float) -> float:
    """Trace of H⁻¹(H − λI) without the intercepts: of the logits of all classes but the first, if there are two."""
    n, k = chosen.shape
    columns = np.column_stack([chosen, np.ones(n)])
    classes = probabilities.shape[1]
    sizes = range(classes) if classes > 2 else range(1, 2)
    blocks = [
        [columns.T * (probabilities[:, i] * ((i == j) - probabilities[:, j])) @ columns / n for j in sizes]
        for i in sizes
    ]
    ridge = np.tile(np.append(np.full(k, alpha), 0.0), len(sizes))
    hessian = np.block(blocks) + np.diag(ridge)
    return float(np.trace(np.linalg.pinv(hessian, hermitian=True) @ np.block(blocks))) - (classes - 1)


@pytest.mark.parametrize(("target", "free"), [(labels, 1), (three, 2)])
def test_logistic_without_its_ridge(target: Any, free: int) -> None:
    """Classes have one free coefficient less than there are classes; the ridge is not part of the likelihood.

    It takes degrees of freedom.
    """
    model = SparseLogisticRegressionIC(ks=KS, criterion="bic", alpha=0.05).fit(X, target)
    for k, coef, value in zip(KS, model.coef_path_, model.criterion_, strict=True):
        if k == 0:
            continue
        chosen = X[:, coef.any(axis=0)]
        refit = LogisticRegression(C=20 / N, tol=1e-10, solver="newton-cg", max_iter=1000).fit(chosen, target)
        deviance = 2 * log_loss(target, refit.predict_proba(chosen), normalize=False)
        freedom = softmax_freedom(chosen, refit.predict_proba(chosen), 0.05) + free
        assert 0.5 * free * k + free < freedom < free * (k + 1)
        assert value == pytest.approx(deviance + freedom * log(N), rel=1e-6)


def test_poisson() -> None:
    """Minus twice the log-likelihood, without the factorials of the counts."""
    model = SparsePoissonRegressionIC(ks=KS, criterion="aic").fit(X, counts)
    for k, coef, intercept, value in zip(KS, model.coef_path_, model.intercept_path_, model.criterion_, strict=True):
        likelihood = poisson.logpmf(counts, np.exp(X @ coef + intercept)).sum() + gammaln(counts + 1).sum()
        assert value == pytest.approx(-2 * likelihood + 2 * (k + 1))


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_huber_in_units_of_the_spread(scale: float) -> None:
    model = SparseHuberRegressionIC(ks=KS, criterion="bic").fit(X, scale * y)
    spread = model.delta_ / 1.345
    assert spread == pytest.approx(0.5 * scale, rel=0.3)
    for k, coef, intercept, value in zip(KS, model.coef_path_, model.intercept_path_, model.criterion_, strict=True):
        residuals = (scale * y - X @ coef - intercept) / spread
        assert value == pytest.approx(2 * huber(1.345, residuals).sum() + (k + 1) * log(N), rel=1e-6)


def test_groups_count_their_features_as_parameters_and_themselves_as_choices() -> None:
    model = SparseLinearRegressionIC(ks=range(4), feature_groups=np.arange(P) // 3).fit(X, y)
    for k, coef, value in zip(range(4), model.coef_path_, model.criterion_, strict=True):
        deviance = N * np.log(np.mean((y - X @ coef - model.intercept_path_[k]) ** 2))
        assert value == pytest.approx(deviance + (3 * k + 1) * log(N) + 2 * log(comb(4, k)))


# --- the choice -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("criterion", "true", "n", "p"),
    [("bic", 3, 500, 10), ("gic", 3, 500, 10), ("ebic", 3, 120, 60), ("ebic", 12, 250, 100)],
)
@pytest.mark.slow
def test_the_k_of_a_strong_signal(criterion: str, true: int, n: int, p: int) -> None:
    """No feature of the signal is missed; by chance, criteria let another one in now and then."""
    found = []
    for seed in range(8):
        generator = np.random.default_rng(seed)
        data = generator.standard_normal((n, p))
        support = generator.choice(p, true, replace=False)
        target = data[:, support].sum(axis=1) + 0.05 * generator.standard_normal(n)
        model = SparseLinearRegressionIC(criterion=criterion).fit(data, target)
        assert model.support_[support].all()
        assert model.k_ == model.ks_[np.argmin(model.criterion_)]
        position = model.ks_.tolist().index(model.k_)
        assert (np.diff(model.ks_[position - 1 : position + 2]) <= np.ceil(0.15 * model.k_)).all()
        found.append(model.k_ == true)
    assert np.mean(found) >= 0.75


@pytest.mark.parametrize("seed", range(4))
def test_the_criterion_is_that_of_the_models_that_are_kept(seed: int) -> None:
    """Few samples: in some of these, a wider search for the chosen k finds a better model than the path."""
    generator = np.random.default_rng(seed)
    data = generator.standard_normal((30, 70)) + generator.standard_normal((30, 1))
    target = data @ (generator.standard_normal(70) * (generator.random(70) < 0.3))
    model = SparseLinearRegressionIC(criterion="aic", ks=range(8)).fit(data, target)
    np.testing.assert_allclose(model.criterion_, 30 * np.log(2 * model.path_.values) + 2 * (model.ks_ + 1))
    assert model.k_ == model.ks_[np.argmin(model.criterion_)] == 7
    plain = SparseLinearRegression(k=7).fit(data, target)
    assert model.result_.value <= plain.result_.value * (1 + 1e-9)


@pytest.mark.parametrize(
    ("estimator", "target"),
    [
        (SparseLinearRegressionIC(), y),
        (SparseLinearRegressionIC(criterion="gic"), np.column_stack([y, -y])),
        (SparseLogisticRegressionIC(), labels),
        (SparseLogisticRegressionIC(), three),
        (SparsePoissonRegressionIC(), counts),
        (SparseHuberRegressionIC(), y),
    ],
)
def test_weights_count_samples(estimator: Any, target: Any) -> None:
    weights = np.arange(N) % 4
    weighted = clone(estimator).set_params(ks=range(5)).fit(X, target, weights)
    repeated = clone(estimator).set_params(ks=range(5)).fit(X.repeat(weights, axis=0), target.repeat(weights, axis=0))
    np.testing.assert_allclose(weighted.criterion_, repeated.criterion_, rtol=1e-7)
    assert weighted.k_ == repeated.k_


@pytest.mark.parametrize("criterion", ["aic", "bic", "ebic", "gic"])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_an_exact_fit_is_finite_and_takes_no_further_feature(criterion: str, offset: float) -> None:
    model = SparseLinearRegressionIC(criterion=criterion).fit(X, offset + X[:, 1] - X[:, 4])
    assert np.isfinite(model.criterion_).all()
    assert model.get_support(indices=True).tolist() == [1, 4]


@pytest.mark.parametrize("target", [np.zeros(N), np.full(N, 7.0)])
def test_a_constant_response_needs_no_feature(target: Array) -> None:
    model = SparseLinearRegressionIC(ks=KS).fit(X, target)
    assert np.isfinite(model.criterion_).all()
    assert model.k_ == 0


def test_hardly_any_samples() -> None:
    for n in (1, 2, 3, 5):
        assert np.isfinite(SparseLinearRegressionIC().fit(X[:n], y[:n]).criterion_).all()
    assert SparseLinearRegressionIC().fit(X[:, 2:3], y).k_ == 1


def test_sparse_data_and_pickles() -> None:
    dense = SparseLogisticRegressionIC().fit(X, labels)
    other = SparseLogisticRegressionIC().fit(sparse.csr_array(X), labels)
    np.testing.assert_allclose(other.criterion_, dense.criterion_, rtol=1e-7)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(dense)).predict(X), dense.predict(X))


def test_logging_says_which_k_has_which_value(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="ksparse"):
        model = SparseLinearRegressionIC(ks=[1, 3], criterion="bic").fit(X, y)
    expected = [f"k = {k}: bic {value:.6g}" for k, value in zip([1, 3], model.criterion_, strict=True)]
    assert [record.getMessage() for record in caplog.records] == expected


def test_a_criterion_chooses_no_k_without_a_minimum() -> None:
    """Three positive responses of 60 are fitted exactly by a few features, whose coefficients grow without end."""
    rng = np.random.default_rng(2)
    data, amounts = rng.standard_normal((60, 12)), np.zeros(60)
    amounts[[3, 7, 9]] = [1.0, 2.0, 3.0]
    model = SparseTweedieRegressionIC().fit(data, amounts)
    assert model.result_.status == "converged"
    assert model.k_ == 5
    exact = [model.at(k).result_.status != "converged" for k in model.ks_]
    assert any(exact)
    assert np.isfinite(model.criterion_).all()
    assert 0.0 < model.score(data, amounts) < 1.0
    with pytest.warns(ConvergenceWarning, match="for the chosen k = 7: "):
        SparseTweedieRegressionIC(ks=[7]).fit(data, amounts)
