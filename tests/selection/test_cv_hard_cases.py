"""Cross-validation where data is scarce, classes are missing, or ks is "auto"."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from ksparse import (
    SparseCoxRegressionCV,
    SparseLinearRegression,
    SparseLinearRegressionCV,
    SparseLogisticRegression,
    SparseLogisticRegressionCV,
    SparseOrdinalRegressionCV,
    SparsePoissonRegressionCV,
    SparseQuantileRegressionCV,
    make_survival_target,
)

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 10))
y = X[:, 1] - X[:, 7] + 0.5 * rng.standard_normal(60)
REGRESSIONS = (SparseLinearRegressionCV, SparseLinearRegression)


@pytest.mark.parametrize(("true", "n", "p"), [(3, 100, 60), (12, 200, 100), (40, 400, 200)])
@pytest.mark.slow
def test_auto_finds_the_k_of_a_strong_signal(true: int, n: int, p: int) -> None:
    data = np.random.default_rng(true).standard_normal((n, p))
    support = np.random.default_rng(true).choice(p, true, replace=False)
    target = data[:, support].sum(axis=1) + 0.1 * np.random.default_rng(1).standard_normal(n)
    model = SparseLinearRegressionCV(rule="1se").fit(data, target)
    assert model.support_[support].all()
    assert model.k_ == min(k for k in model.ks_ if k >= true)
    assert true <= model.k_ <= 1.15 * true
    assert (np.diff(model.ks_) > 0).all()
    assert model.ks_[0] == 0
    assert true < model.ks_[-1] <= max(75, 4 * true)
    assert len(model.ks_) < 30
    assert model.scores_.shape == (len(model.ks_), 5)


@pytest.mark.slow
def test_a_response_that_one_feature_determines_is_predicted() -> None:
    """Scores of penalties differ by as many orders of magnitude as losses do; most of them predict nothing."""
    rng = np.random.default_rng(2)
    data = rng.standard_normal((300, 6))
    data[:, 0] = rng.poisson(2, 300)
    model = SparseQuantileRegressionCV(quantile=0.8, ks=range(4), cv=3).fit(data, data[:, 0] - 0.5)
    assert model.k_ == 1
    assert model.score(data, data[:, 0] - 0.5) > 0.999
    assert model.at(k=2).score(data, data[:, 0] - 0.5) > 0.999


@pytest.mark.parametrize("always", [[0, 4, 5], None])
def test_auto_begins_with_what_is_always_selected(always: Any) -> None:
    model = SparseLinearRegressionCV(always_select=always).fit(X, y)
    assert model.ks_[0] == (3 if always else 0)
    assert model.ks_[-1] == 10


@pytest.mark.slow
def test_shapes_of_the_path() -> None:
    three = np.digitize(y, [-1, 1])
    cases: list[tuple[Any, Any, tuple[int, ...], tuple[int, ...]]] = [
        (SparseLinearRegressionCV, y, (3, 10), (3,)),
        (SparseLinearRegressionCV, np.column_stack([y, y]), (3, 2, 10), (3, 2)),
        (SparseLogisticRegressionCV, y > 0, (3, 1, 10), (3, 1)),
        (SparseLogisticRegressionCV, three, (3, 3, 10), (3, 3)),
    ]
    for estimator, target, coef, intercept in cases:
        model = estimator(ks=[1, 2, 5], cv=2).fit(X, target)
        assert model.ks_.tolist() == model.path_.ks.tolist() == [1, 2, 5]
        assert model.coef_path_.shape == coef
        assert model.intercept_path_.shape == intercept
        assert model.scores_.shape == (3, 2)
        chosen = model.ks_.tolist().index(model.k_)
        np.testing.assert_array_equal(model.coef_path_[chosen], model.coef_)
        np.testing.assert_array_equal(model.intercept_path_[chosen], model.intercept_)
        assert model.path_.results[chosen] is model.result_


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("logistic", [False, True])
def test_the_chosen_model_is_no_worse_than_that_of_the_plain_estimator(seed: int, logistic: bool) -> None:
    """Few samples: in some of these, the path alone leads to a worse one."""
    generator = np.random.default_rng(seed)
    data = generator.standard_normal((30, 70)) + generator.standard_normal((30, 1))
    margins = data @ (generator.standard_normal(70) * (generator.random(70) < 0.3))
    alpha = 0.01 if logistic else 0.0
    kinds: Any = (SparseLogisticRegressionCV, SparseLogisticRegression) if logistic else REGRESSIONS
    # Whatever k is best: seven is taken.
    model = kinds[0](
        ks=range(9), cv=2, scoring=lambda model, *_: model.support_.sum() == 7, alphas=alpha, refit_alphas=None
    ).set_params(standardize=False, rule="best")
    model.fit(data, margins > 0 if logistic else margins)
    plain = kinds[1](k=7, alpha=alpha).fit(data, margins > 0 if logistic else margins)
    assert model.k_ == 7
    assert model.result_.value <= plain.result_.value * (1 + 1e-9)


def test_a_class_of_one_row_and_a_single_event() -> None:
    grades = np.arange(60) % 3
    grades[grades == 2] = 1
    grades[7] = 2
    with (
        pytest.warns(UserWarning, match="least populated class"),
        pytest.raises(ValueError, match="class 2 of y has 1"),
    ):
        SparseOrdinalRegressionCV(cv=2).fit(X, grades)
    kept = [(np.arange(40), np.arange(40, 60))]  # the row is never held out
    assert SparseOrdinalRegressionCV(ks=[1], cv=kept).fit(X, grades).classes_.tolist() == [0, 1, 2]
    survival = make_survival_target(np.arange(1.0, 61.0), np.arange(60) == 30)
    with pytest.raises(ValueError, match="y has 1 event, and"):
        SparseCoxRegressionCV(cv=3).fit(X, survival)


@pytest.mark.slow
def test_a_class_that_the_training_samples_of_a_fold_lack() -> None:
    classes = np.where(y > 0, "a", "b")
    classes[0] = "c"
    with pytest.raises(ValueError, match=r"'c' of y has 1 row, .*; merge the class with another, or remove it"):
        SparseLogisticRegressionCV(cv=KFold(3)).fit(X, classes)
    model = SparseLogisticRegressionCV(ks=[1, 2], cv=KFold(3), scoring="accuracy").fit(X, classes)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.coef_path_.shape == (2, 3, 10)
    with pytest.raises(ValueError, match="only one class"):
        SparseLogisticRegressionCV(cv=KFold(2)).fit(X, np.arange(60) < 30)


def test_a_score_that_is_no_number_says_which_k() -> None:
    def scorer(model: Any, data: Any, target: Any) -> float:
        return np.nan if model.support_.sum() == 2 else 0.0

    with pytest.raises(ValueError, match="score for k = 2 is NaN or \\+inf"):
        SparseLinearRegressionCV(ks=[1, 2, 3], scoring=scorer).fit(X, y)


@pytest.mark.slow
def test_an_infinite_loss_is_the_worst_score() -> None:
    def scorer(model: Any, data: Any, target: Any) -> float:
        return -np.inf if model.support_.sum() == 2 else -float(model.support_.sum())

    for rule in ("best", "1se", "smooth"):
        assert SparseLinearRegressionCV(ks=[1, 2, 3], scoring=scorer, rule=rule).fit(X, y).k_ == 1


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"rule": "2se"}, ValueError, "one of 'smooth', 'near', 'best', '1se', got '2se'"),
        ({"ks": "all"}, ValueError, '"auto" or a sequence'),
        ({"ks": 5}, TypeError, "sequence of integers"),
        ({"ks": []}, ValueError, "empty"),
        ({"ks": [2], "always_select": [1, 2, 3]}, ValueError, "3 are always selected"),
        ({"scoring": "best"}, ValueError, "not a valid scoring"),
        ({"solver": "best"}, ValueError, "solver must be one of"),
        ({"cv": 100}, ValueError, "n_splits=100"),
        ({"alphas": "all"}, ValueError, "alphas must be \"auto\", a number or a sequence of numbers, got 'all'"),
        ({"alphas": None}, TypeError, 'alphas must be "auto", a number or a sequence'),
        ({"alphas": True}, TypeError, "alphas must be"),
        ({"alphas": ["0.1"]}, TypeError, "alphas must be"),
        ({"alphas": ["a"]}, TypeError, 'alphas must be "auto"'),
        ({"alphas": []}, ValueError, "alphas is empty"),
        ({"alphas": [0.1, -1.0]}, ValueError, "alphas must hold finite numbers of at least 0"),
        ({"alphas": np.nan}, ValueError, "alphas must hold finite numbers of at least 0"),
        ({"refit_alphas": "none"}, ValueError, "refit_alphas must be"),
        ({"refit_alphas": [np.inf]}, ValueError, "refit_alphas must hold finite numbers"),
    ],
)
def test_bad_parameters(options: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        SparseLinearRegressionCV(**options).fit(X, y)


@pytest.mark.slow
def test_one_feature_and_hardly_any_samples() -> None:
    assert SparseLinearRegressionCV().fit(X[:, 1:2], y).k_ == 1
    model = SparseLinearRegressionCV(cv=2).fit(X[:2], y[:2])
    assert model.ks_.tolist() == [0, 1, 2]  # up to twice the number of training samples
    assert SparseLinearRegressionCV().fit(X[:5], y[:5]).ks_.max() <= 8
    assert SparseLogisticRegressionCV(cv=2).fit(X[:6], [0, 1, 0, 1, 0, 1]).k_ <= 6


def test_what_has_no_minimum_is_said_of_the_chosen_k() -> None:
    with pytest.warns(ConvergenceWarning, match="for the chosen k = 1: f has no minimum"):
        SparseLogisticRegressionCV(ks=[1, 2], alphas=0, refit_alphas=None, scoring="accuracy").fit(X, X[:, 3] > 0)


@pytest.mark.parametrize("target", [np.zeros(60), np.full(60, 1e6)])
def test_a_constant_response(target: Any) -> None:
    model = SparseLinearRegressionCV().fit(X, target)
    assert model.k_ == 0
    np.testing.assert_allclose(model.predict(X), target)


def test_counts_with_an_outlying_sample_are_scored() -> None:
    data = np.abs(X)
    counts = rng.poisson(np.exp(data[:, 0]))
    data[3] *= 100
    assert np.isfinite(SparsePoissonRegressionCV(ks=[1, 2]).fit(data, counts).scores_).all()
