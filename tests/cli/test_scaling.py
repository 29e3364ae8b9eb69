"""Features are scaled inside folds, by training rows only; the ridge penalty has one default."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ksparse
from ksparse import SparseLinearRegression, SparseLinearRegressionCV, SparseLogisticRegression
from ksparse.cli.data import Data
from ksparse.cli.fitting import FittedModel, fit_model
from ksparse.cli.settings import TASKS, Settings

from .helpers import NAMES, accepted, numbers, response


def data_of(X: Any, y: Any) -> Data:
    return Data("a.csv", X, NAMES, "outcome", np.asarray(y, dtype=np.float64))


def fit(X: Any, y: Any, **settings: Any) -> FittedModel:
    return fit_model(data_of(X, y), Settings(**{"test": 0.0, "task": "regression", **settings}))


def test_held_out_rows_have_no_influence_on_the_scales_of_their_fold() -> None:
    """Scores of cross-validation are those of a pipeline whose scaler sees only the training rows of each fold."""
    X = numbers()
    X[::7] *= 3.0  # what a fold leaves out changes its scales
    y = response(X)
    fitted = fit(X, y, k=None, alpha=0.5, seed=3)
    model: Any = fitted.model
    assert isinstance(model, SparseLinearRegressionCV)
    for place, (train, held_out) in enumerate(KFold(5, shuffle=True, random_state=3).split(X)):
        for row, k in enumerate(model.ks_.tolist()):
            pipeline = make_pipeline(StandardScaler(), SparseLinearRegression(k=k, alpha=0.5)).fit(X[train], y[train])
            loss = 0.5 * np.mean((y[held_out] - pipeline.predict(X[held_out])) ** 2)
            assert model.scores_[row, place] == pytest.approx(-loss, rel=1e-6)


@pytest.mark.parametrize("task", ["regression", "huber", "classification"])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_coefficients_are_those_of_standardized_features_in_the_units_of_the_data(task: str, storage: Any) -> None:
    X = np.abs(numbers())
    y = response(X) if task != "classification" else response(X) > 1.4
    scaler = StandardScaler().fit(X)
    direct = TASKS[task].find_class()(k=2, alpha=0.1).fit(scaler.transform(X), y)
    fitted = fit(storage(X), y, task=task, k=2, alpha=0.1)
    np.testing.assert_allclose(np.ravel(fitted.model.coef_) * scaler.scale_, np.ravel(direct.coef_), rtol=1e-6)
    np.testing.assert_allclose(fitted.coefficients(standardize=True)[0], np.ravel(direct.coef_), rtol=1e-6)
    np.testing.assert_allclose(fitted.intercepts(standardize=True), direct.intercept_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(fitted.model.predict(X), direct.predict(scaler.transform(X)), rtol=1e-6)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("suffix", ["", "CV", "IC"])
def test_the_ridge_of_the_command_is_that_of_the_estimator(task: str, suffix: str) -> None:
    kind = getattr(ksparse, f"{TASKS[task].estimator}{suffix}")
    default = inspect.signature(kind).parameters["alpha"].default
    y = np.arange(60) % 2 if task == "classification" else np.arange(60) % 13
    criterion = "cv" if suffix == "CV" else "ebic"
    fitted = fit(numbers(), y, task=task, k=None if suffix else 2, criterion=criterion)
    assert type(fitted.model) is kind
    assert fitted.model.alpha == default
    assert fit(numbers(), y, task=task, k=1, alpha=0.25).model.alpha == 0.25


def test_the_help_names_the_default_ridge(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        accepted(capsys, "fit", "--help")
    alpha = inspect.signature(SparseLogisticRegression).parameters["alpha"].default
    assert f"{alpha:g} for classification" in " ".join(capsys.readouterr().out.split())
