"""Losses, refits and test errors of survival and generalized linear models, against other packages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.linear_model import GammaRegressor, LogisticRegression, PoissonRegressor
from sklearn.metrics import d2_tweedie_score
from statsmodels.duration.hazard_regression import PHReg
from statsmodels.miscmodels.ordinal_model import OrderedModel
from suite.evaluator import evaluate
from suite.families import FAMILIES, Coefficients, compute_discordance
from suite.family_data import simulate_family, simulate_inverse_gamma, split_survival
from suite.tasks import Instance, Task

import ksparse
from ksparse.inference import concordance_index


def simulate(kind: str) -> Instance:
    return simulate_family(kind, 200, 12, 3, 0.5, 0)


@pytest.mark.parametrize("kind", FAMILIES)
def test_gradients_are_finite_differences(kind: str) -> None:
    family, task = FAMILIES[kind], simulate(kind).task
    X = family.extend(task.X[:, :4])
    at = family.start(4, task.y) + 0.1 * np.random.default_rng(0).standard_normal(family.start(4, task.y).shape)
    assert check_grad(lambda w: family.loss(w, X, task.y)[0], lambda w: family.loss(w, X, task.y)[1], at) < 1e-5


def fit_sklearn(model: Any) -> Callable[[Any, Any], Any]:
    def fit(X: Any, y: Any) -> Any:
        found = model.fit(X, y)
        return np.append(found.coef_, found.intercept_)

    return fit


def fit_classes(X: Any, y: Any) -> Any:
    found = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(X, y)
    parameters = np.vstack([found.coef_.T, found.intercept_])
    return (parameters[:, :-1] - parameters[:, -1:]).ravel()


def fit_levels(X: Any, y: Any) -> Any:
    found = OrderedModel(y.astype(int), X, distr="logit").fit(method="bfgs", disp=False, gtol=1e-8, maxiter=1000)
    return found.params  # also the first cut and the logarithms of the steps between cuts


PEERS = {
    "cox": lambda X, y: PHReg(y[:, 0], X, y[:, 1], ties="breslow").fit(disp=False).params,
    "poisson": fit_sklearn(PoissonRegressor(alpha=0.0, tol=1e-10, solver="newton-cholesky")),
    "gamma": fit_sklearn(GammaRegressor(alpha=0.0, tol=1e-10, solver="newton-cholesky")),
    "multinomial": fit_classes,
    "ordinal": fit_levels,
}


@pytest.mark.parametrize("kind", FAMILIES)
def test_refits_are_those_of_other_packages(kind: str) -> None:
    task = simulate(kind).task
    X, y = task.X[:, :4], task.y
    if kind == "cox":
        y = np.column_stack([np.ceil(4 * y[:, 0]), y[:, 1]])  # ties
    np.testing.assert_allclose(FAMILIES[kind].refit(X, y), PEERS[kind](X, y), rtol=1e-3, atol=2e-4)


@pytest.mark.parametrize("kind", FAMILIES)
def test_the_objective_is_that_of_ksparse(kind: str) -> None:
    instance, family = simulate(kind), FAMILIES[kind]
    task = instance.task
    model = getattr(ksparse, family.estimator)(3, alpha=0.0, **dict(family.options)).fit(task.X, task.y)
    measures = evaluate(instance, model.get_support(indices=True))
    value = model.result_.value
    if kind in ("poisson", "gamma"):  # f of ksparse lacks a constant
        value += family.loss(np.append(np.zeros(3), 0.0), family.extend(task.X[:, :3]), task.y)[0]
        value -= {"poisson": 1.0, "gamma": float(task.y.mean())}[kind]
    assert measures["objective"] == pytest.approx(value, rel=1e-7)
    assert measures["features"] == 3


def test_errors_are_those_of_other_packages() -> None:
    instance = simulate("cox")
    task, w = instance.task, np.linspace(-1.0, 1.0, 12)
    y = np.column_stack([np.ceil(4 * task.y[:, 0]), task.y[:, 1]])
    assert compute_discordance(task.X @ w, y) == pytest.approx(1.0 - concordance_index(y, task.X @ w))
    for kind, power in (("poisson", 1), ("gamma", 2)):
        instance = simulate(kind)
        parameters = np.append(0.1 * w, 0.3)
        means = np.exp(instance.X_test @ (0.1 * w) + 0.3)
        error = FAMILIES[kind].compute_test_error(parameters, instance.X_test, instance.y_test)
        assert error == pytest.approx(1.0 - d2_tweedie_score(instance.y_test, means, power=power))


def test_coefficients_are_evaluated_as_they_are() -> None:
    instance = simulate("cox")
    refitted = evaluate(instance, [0, 1])
    w = FAMILIES["cox"].refit(instance.task.X[:, [0, 1]], instance.task.y)
    shrunken = np.zeros(12)
    shrunken[[0, 1]] = 0.5 * w
    own = evaluate(instance, Coefficients(shrunken))
    assert own["objective"] > refitted["objective"]
    shrunken[[0, 1]] = w
    assert evaluate(instance, Coefficients(shrunken)) == pytest.approx(refitted)


def test_the_model_without_features() -> None:
    for kind in FAMILIES:
        measures = evaluate(simulate(kind), [])
        assert np.isfinite(measures["objective"])
        assert measures["test_error"] == pytest.approx(0.5 if kind == "cox" else measures["test_error"])


def test_simulations_have_the_given_correlations_and_censoring() -> None:
    instance = simulate_family("cox", 3000, 10, 3, 0.9, 0)
    assert np.corrcoef(instance.task.X[:, 0], instance.task.X[:, 1])[0, 1] == pytest.approx(0.9, abs=0.02)
    assert 0.55 < instance.task.y[:, 1].mean() < 0.75
    assert simulate_inverse_gamma(50, 10, 2, 0).task.y.min() > 0
    again = simulate_family("cox", 3000, 10, 3, 0.9, 0)
    np.testing.assert_array_equal(again.task.y, instance.task.y)


def test_survival_tables_are_standardized(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    (tmp_path / "tables").mkdir()
    lines = ["horTh,age,menostat,tsize,tgrade,pnodes,progrec,estrec,time,cens"]
    for row in range(40):
        numbers = rng.integers(1, 90, 5).tolist()
        lines.append(
            f"yes,{numbers[0]},{'Pre' if row % 2 else 'Post'},{numbers[1]},II,{numbers[2]},4,4,{row},{row % 2}"
        )
    (tmp_path / "tables" / "gbsg2.csv").write_text("\n".join(lines))
    monkeypatch.setenv("KSPARSE_DATA", str(tmp_path))
    instance = split_survival("gbsg2", 2, False, 0)
    assert isinstance(instance.task, Task)
    assert instance.task.X.shape == (27, 4)  # a time of 0 is left out, and columns that are the same in all rows
    np.testing.assert_allclose(instance.task.X.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(instance.task.X.std(axis=0), 1.0)
    assert split_survival("gbsg2", 2, True, 0).task.X.shape[1] == 4 + 9  # the square of a column of two values is none
