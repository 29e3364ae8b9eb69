"""Features are scaled inside folds, by training rows only; ridges are chosen, given, or those of the estimator."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ksparse
from ksparse import SparseLinearRegression, SparseLinearRegressionCV, SparseLogisticRegression
from ksparse.cli.data import Data
from ksparse.cli.errors import InputError
from ksparse.cli.fitted_model import FittedModel
from ksparse.cli.fitting import fit_model
from ksparse.cli.settings import Settings
from ksparse.cli.target import Target
from ksparse.cli.tasks import TASKS

from .helpers import NAMES, accepted, numbers, response


def data_of(X: Any, y: Any) -> Data:
    """A table of numbers, or the features of an svmlight file."""
    values = y if getattr(y, "dtype", None) is not None and y.dtype.names else np.asarray(y, dtype=np.float64)
    target = Target("outcome", values, np.ones(len(y), dtype=bool))
    if sparse.issparse(X):
        return Data("a.svm", X, target, first_index=1)
    return Data("a.csv", pd.DataFrame(X, columns=NAMES), target)


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
    found = fitted.predict_rows(np.arange(len(y))).prediction
    np.testing.assert_allclose(found, direct.predict(scaler.transform(X)), rtol=1e-6)


#: Number of values of the targets that have few.
TARGETS = {"classification": 2, "svm": 2, "ordinal": 3}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.slow
def test_ridges_are_chosen_unless_they_are_given(task: str) -> None:
    y: Any = np.arange(60) % TARGETS.get(task, 13) + (task == "gamma")
    if task == "cox":
        y = ksparse.make_survival_target(1.0 + y, y % 2 == 1)
    fixed, chooses, criterion = (getattr(ksparse, f"{TASKS[task].estimator}{suffix}") for suffix in ("", "CV", "IC"))
    for options in ({}, {"k": 2}, {"ks": [1, 2]}):
        model: Any = fit(numbers(), y, task=task, **options).model
        assert type(model) is chooses
        assert model.grid_scores_.shape[0] > 1
        assert model.grid_scores_.shape[2] > 1
        assert "k" not in options or model.ks_.tolist() == [2]
        assert "ks" not in options or model.ks_.tolist() == [1, 2]
    given: Any = fit(numbers(), y, task=task, ks=[1, 2], alpha=0.25).model
    assert (given.alphas_.tolist(), given.refit_alpha_) == ([0.25], 0.25)
    both = fit(numbers(), y, task=task, k=1, alpha=0.25).model
    assert type(both) is fixed
    assert both.alpha == 0.25
    by_criterion = fit(numbers(), y, task=task, criterion="ebic").model
    assert type(by_criterion) is criterion
    assert by_criterion.alpha == inspect.signature(criterion).parameters["alpha"].default


def test_too_few_rows_for_folds_have_the_ridge_of_the_estimator() -> None:
    X = numbers()[:8]
    model: Any = fit(X, response(X), k=2).model
    assert type(model) is SparseLinearRegression
    with pytest.raises(InputError, match="8 training rows are too few"):
        fit(X, response(X))


def test_the_help_names_the_default_ridge(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        accepted(capsys, "fit", "--help")
    alpha = inspect.signature(SparseLogisticRegression).parameters["alpha"].default
    assert f"{alpha:g} for classification" in " ".join(capsys.readouterr().out.split())
