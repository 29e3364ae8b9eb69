"""Starting again, solvers, separated classes, the same bytes."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import ksparse
from tests.estimators.models import FOUR, MODELS, X, assert_same, fitted, model, response


@pytest.mark.parametrize("name", MODELS)
def test_a_warm_start_begins_where_the_last_fit_ended(name: str) -> None:
    here = fitted(name, warm_start=True, alpha=0.01)
    first, cold = here.n_iter_, fitted(name, alpha=0.01)
    here.fit(X, response(name))
    assert here.n_iter_ < first or first == 1
    assert here.result_.history[0].value == pytest.approx(cold.result_.value, rel=1e-8)
    assert_same(here, cold)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", ["linear", "multinomial", "huber"])
def test_a_warm_start_after_changes(name: str, fit_intercept: bool) -> None:
    y = response(name)
    here = fitted(name, warm_start=True, alpha=0.1, fit_intercept=fit_intercept)
    for k in (5, 0):
        assert_same(here.set_params(k=k).fit(X, y), fitted(name, k=k, alpha=0.1, fit_intercept=fit_intercept))
    for data in (X[:, :5], X):
        same = fitted(name, data, k=2, alpha=0.1, fit_intercept=fit_intercept)
        assert_same(here.set_params(k=2).fit(data, y), same)
    here.set_params(fit_intercept=not fit_intercept).fit(X, y)
    assert_same(here, fitted(name, k=2, alpha=0.1, fit_intercept=not fit_intercept))


def test_a_warm_start_with_other_classes_or_responses() -> None:
    here = model("logistic", warm_start=True, alpha=0.1)
    for name in ("logistic", "multinomial", "logistic"):
        assert_same(here.fit(X, response(name)), fitted(name, alpha=0.1))
    here = model("linear", warm_start=True, alpha=0.1)
    for name in ("linear", "responses", "linear"):
        assert_same(here.fit(X, response(name)), fitted(name, alpha=0.1))


def test_without_a_warm_start_the_last_fit_does_not_matter() -> None:
    for name in FOUR:
        here = fitted(name)
        before = here.coef_.tobytes()
        assert here.set_params(k=5).fit(X, response(name)).set_params(k=3).fit(X, response(name)) is here
        assert here.coef_.tobytes() == before


@pytest.mark.parametrize("solver", ["auto", "grahtp", "fgrahtp", "grasp", "fbs"])
@pytest.mark.parametrize("name", ["linear", "logistic", "huber"])
def test_solvers_by_name_are_their_defaults(name: str, solver: str) -> None:
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    instance = {
        "auto": ksparse.SwapGraHTP(),
        "grahtp": ksparse.GraHTP(),
        "fgrahtp": ksparse.FGraHTP(),
        "grasp": ksparse.GraSP(),
        "fbs": ksparse.FBS(),
    }[solver]
    here = fitted(name, standard, solver=solver, alpha=0.1)
    there = fitted(name, standard, solver=instance, alpha=0.1)
    assert here.coef_.tobytes() == there.coef_.tobytes()
    assert here.support_.sum() == 3
    assert here.result_.value >= fitted(name, standard, alpha=0.1).result_.value - 1e-9


def test_methods_of_least_squares() -> None:
    """With unit steps, on data of norm 1 as their authors ask."""
    small, y = X / np.linalg.norm(X, 2), response("linear")
    best = model("linear", fit_intercept=False).fit(small, y)
    for solver in ("htp", "iht", ksparse.HTP(), ksparse.IHT()):
        here = model("linear", fit_intercept=False, solver=solver).fit(small, y)
        assert here.support_.sum() == 3
        assert best.result_.value <= here.result_.value + 1e-9
    for name in ("logistic", "poisson", "huber"):
        for solver in ("htp", "iht"):
            with pytest.raises(TypeError, match=r"is a method for LeastSquares, got .*; use GraHTP or FGraHTP"):
                fitted(name, solver=solver)


def test_a_solver_sets_its_limits() -> None:
    solver = ksparse.SwapGraHTP(max_iter=1)
    with pytest.warns(ksparse.ConvergenceWarning):
        here = fitted("multinomial", alpha=1e-6, solver=solver)
    assert here.result_.status == "max_iter"
    assert here.n_iter_ == 1


@pytest.mark.parametrize("labels", [2, 3])
def test_separated_classes(labels: int) -> None:
    """The default ridge gives a finite answer without a warning; without it the advice is to have one."""
    y = np.digitize(X[:, 4], np.quantile(X[:, 4], np.arange(1, labels) / labels))
    here = ksparse.SparseLogisticRegression(k=1).fit(X, y)
    assert here.get_support(indices=True).tolist() == [4]
    assert np.abs(here.coef_).max() < 1e3
    assert here.score(X, y) > 0.95
    assert here.result_.status == "converged"
    if labels == 2:
        with pytest.warns(ksparse.ConvergenceWarning, match="no minimum.*separate the classes.*alpha > 0, or lower k"):
            without = ksparse.SparseLogisticRegression(k=1, alpha=0.0).fit(X, y)
        assert np.isfinite(without.coef_).all()
        assert without.score(X, y) == 1.0
        assert without.result_.status == "no_minimum"


def digest() -> str:
    """All bytes of all models."""
    parts = hashlib.sha256()
    for name in MODELS:
        here = fitted(name, alpha=0.01)
        for part in (here.coef_, here.intercept_, here.support_, here.result_.history["value"], here.predict(X)):
            parts.update(np.asarray(part).tobytes())
    return parts.hexdigest()


@pytest.mark.slow
def test_the_same_call_gives_the_same_bytes() -> None:
    here = digest()
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            assert digest() == here
    command = [sys.executable, "-c", "from tests.estimators.test_fitting import digest; print(digest())"]
    there = subprocess.run(command, capture_output=True, text=True, check=True)
    assert there.stdout.strip() == here


def test_the_random_state_of_numpy_is_left_alone() -> None:
    np.random.seed(0)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    for name in FOUR:
        fitted(name)
    assert np.random.random() == expected  # noqa: NPY002
