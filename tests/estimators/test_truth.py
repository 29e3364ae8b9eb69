"""With all features, what other packages find; with few, the best of all supports; always, what `minimize` finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge

import ksparse
from tests.estimators.models import FIXED, FOUR, MODELS, WITHOUT_INTERCEPT, N, P, X, fitted, model, response
from tests.problems import supports

EXACT = {"tol": 1e-12, "max_iter": 100_000}


def agree(here: Any, there: Any, atol: float = 1e-5) -> None:
    np.testing.assert_allclose(here.coef_, there.coef_, atol=atol)
    np.testing.assert_allclose(here.intercept_, there.intercept_, atol=atol)


@pytest.mark.parametrize("k", [P, 100])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
@pytest.mark.parametrize("name", ["linear", "responses"])
def test_all_features_are_ridge_regression(name: str, alpha: float, fit_intercept: bool, k: int) -> None:
    options = {"fit_intercept": fit_intercept}
    peer = Ridge(alpha=N * alpha, **options) if alpha else LinearRegression(**options)
    agree(fitted(name, k=k, alpha=alpha, **options), peer.fit(X, response(name)), atol=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", ["logistic", "multinomial"])
def test_all_features_are_logistic_regression(name: str, fit_intercept: bool) -> None:
    peer = LogisticRegression(C=1 / (N * 0.02), fit_intercept=fit_intercept, **EXACT).fit(X, response(name))
    here = fitted(name, k=P, alpha=0.02, fit_intercept=fit_intercept)
    agree(here, peer)
    np.testing.assert_allclose(here.predict_proba(X), peer.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(here.predict_log_proba(X), peer.predict_log_proba(X), atol=1e-5)
    np.testing.assert_allclose(here.decision_function(X), peer.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(here.predict(X), peer.predict(X))


@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_all_features_are_poisson_regression(alpha: float) -> None:
    # No more accurate than that: below it the peer's line search fails by rounding on some processors, with a warning.
    peer = PoissonRegressor(alpha=alpha, solver="newton-cholesky", tol=1e-9).fit(X, response("poisson"))
    here = fitted("poisson", k=P, alpha=alpha)
    agree(here, peer)
    np.testing.assert_allclose(here.predict(X), peer.predict(X), rtol=1e-6)
    assert here.score(X, response("poisson")) == pytest.approx(peer.score(X, response("poisson")))


@pytest.mark.parametrize("delta", [0.3, "auto"])
@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_all_features_are_huber_regression(alpha: float, delta: Any) -> None:
    y = response("huber")
    here = fitted("huber", k=P, alpha=alpha, delta=delta)

    def f(x: Any) -> float:
        r, d = np.abs(y - X @ x[:-1] - x[-1]), here.delta_
        return float(np.where(r <= d, r**2 / 2, d * r - d**2 / 2).mean() + alpha / 2 * x[:-1] @ x[:-1])

    found = np.append(here.coef_, here.intercept_)
    truth = scipy_minimize(f, np.zeros(P + 1), method="BFGS", options={"gtol": 1e-7})
    assert f(found) == pytest.approx(here.result_.value, rel=1e-12)
    assert f(found) <= truth.fun + 1e-12
    np.testing.assert_allclose(found, truth.x, atol=1e-4)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_the_best_of_all_supports(name: str, k: int) -> None:
    parameters: dict[str, Any] = {"alpha": 0.01, **FIXED.get(name, {})}
    values = [
        fitted(name, X[:, support], k=P, **parameters).result_.value for support in supports(P, k)
    ]  # refits of all features, which other packages confirm
    best = list(supports(P, k))[int(np.argmin(values))]
    found = fitted(name, k=k, **parameters)
    np.testing.assert_array_equal(found.support_, best)
    assert found.result_.value == pytest.approx(min(values), rel=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", MODELS)
def test_what_minimize_finds(name: str, fit_intercept: bool) -> None:
    options: dict[str, Any] = {"alpha": 0.01, **FIXED.get(name, {})}
    if name in WITHOUT_INTERCEPT:
        fit_intercept = False
    else:
        options["fit_intercept"] = fit_intercept
    weights = np.linspace(1, 2, N)
    result = ksparse.minimize(MODELS[name][1](X, response(name), sample_weight=weights, **options), k=3)
    here = fitted(name, sample_weight=weights, **options)
    assert here.result_.x.tobytes() == result.x.tobytes()
    np.testing.assert_array_equal(here.get_support(indices=True), result.selected)
    np.testing.assert_array_equal(here.coef_, np.atleast_2d(result.x.T)[:, :P].reshape(here.coef_.shape))
    np.testing.assert_array_equal(np.ravel(here.intercept_), result.x[-1] if fit_intercept else 0.0)
    assert here.n_iter_ == result.n_iter
    assert here.n_features_in_ == P


def test_defaults() -> None:
    """Ten features, and a ridge only where classes can be separated."""
    for name in FOUR:
        parameters = MODELS[name][0]().get_params()
        assert parameters.items() >= {"k": 10, "fit_intercept": True, "solver": "auto", "warm_start": False}.items()
        assert parameters["alpha"] == (1e-3 if name == "logistic" else 0.0)
    assert model("huber").delta == "auto"
