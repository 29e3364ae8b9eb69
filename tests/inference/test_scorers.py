"""Scorers: classes in an order of their own, and times until an event."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ksparse
from ksparse import SparseCoxRegression, SparseCoxRegressionCV, SparseOrdinalRegression, SparseOrdinalRegressionCV
from ksparse.inference import concordance_index, find_scorer, repeat_cross_validation

rng = np.random.default_rng(0)
X = rng.standard_normal((150, 4))
LATENT = 2 * X[:, 0] - X[:, 1] + rng.logistic(size=150)
ORDER = ["low", "medium", "high"]
CODES = np.digitize(LATENT, [-1, 1])
LABELS = np.array(ORDER)[CODES]
SURVIVAL = ksparse.make_survival_target(rng.exponential(np.exp(-X[:, 0])), rng.random(150) < 0.7)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["neg_log_loss", "roc_auc_ovr", "accuracy"])
def test_names_of_classes_do_not_matter(name: str) -> None:
    by_text, by_code = SparseOrdinalRegression(k=2, categories=ORDER), SparseOrdinalRegression(k=2)
    scorer = find_scorer(by_text, name)
    expected = cross_val_score(by_code, X, CODES, scoring=name, cv=3, error_score="raise")
    found = cross_val_score(by_text, X, LABELS, scoring=scorer, cv=3, error_score="raise")
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    piped = make_pipeline(StandardScaler(with_mean=False, with_std=False), by_text)
    found = cross_val_score(piped, X, LABELS, scoring=find_scorer(piped, name), cv=3, error_score="raise")
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_scores_by_hand() -> None:
    model = SparseOrdinalRegression(k=2, categories=ORDER).fit(X, LABELS)
    probabilities = model.predict_proba(X)
    assert model.classes_.tolist() == ORDER
    assert find_scorer(model, "neg_log_loss")(model, X, LABELS) == pytest.approx(-log_loss(CODES, probabilities))
    two = SparseOrdinalRegression(k=2, categories=["no", "mild"])
    y = np.where(LATENT > 0, "mild", "no")
    here = two.fit(X, y)
    expected = roc_auc_score(LATENT > 0, here.predict_proba(X)[:, 1])
    assert find_scorer(two, "roc_auc")(here, X, y) == pytest.approx(expected)


def test_functions_of_a_user_see_the_model() -> None:
    model = SparseOrdinalRegression(k=2, categories=ORDER).fit(X, LABELS)
    assert find_scorer(model, lambda fitted, X, y: fitted.thresholds_[0])(model, X, LABELS) == model.thresholds_[0]
    assert find_scorer(model, lambda fitted, X, y: fitted.score(X, y))(model, X, LABELS) == model.score(X, LABELS)


def test_other_classifiers_are_scored_as_they_are() -> None:
    iris = load_iris()
    model = LogisticRegression(max_iter=1000).fit(iris.data, iris.target)
    scored = find_scorer(model, "neg_log_loss")(model, iris.data, iris.target)
    assert scored == get_scorer("neg_log_loss")(model, iris.data, iris.target)


@pytest.mark.slow
def test_choice_of_k_by_a_score_of_probabilities() -> None:
    cv = StratifiedKFold(3)
    options: dict[str, Any] = {
        "scoring": "neg_log_loss",
        "ks": [0, 1, 2],
        "alphas": 0.01,
        "refit_alphas": None,
        "cv": cv,
    }
    by_text = SparseOrdinalRegressionCV(categories=ORDER, **options).fit(X, LABELS)
    by_code = SparseOrdinalRegressionCV(**options).fit(X, CODES)
    np.testing.assert_allclose(by_text.scores_, by_code.scores_, rtol=1e-9)
    assert by_text.k_ == by_code.k_ == 2


@pytest.mark.slow
def test_repeated_folds() -> None:
    by_text = repeat_cross_validation(SparseOrdinalRegression(k=2, categories=ORDER), X, LABELS, cv=3, repeats=1)
    by_code = repeat_cross_validation(SparseOrdinalRegression(k=2), X, CODES, cv=3, repeats=1)
    for column in ("score", "baseline"):
        np.testing.assert_allclose(by_text.table[column].astype(float), by_code.table[column].astype(float), rtol=1e-9)
    assert by_text.table.loc["neg_log_loss", "is_better"]


@pytest.mark.slow
def test_concordance_index_by_name() -> None:
    model = SparseCoxRegression(k=2).fit(X, SURVIVAL)
    expected = concordance_index(SURVIVAL, model.predict(X))
    assert find_scorer(model, "concordance_index")(model, X, SURVIVAL) == expected == model.score(X, SURVIVAL)
    chosen = SparseCoxRegressionCV(scoring="concordance_index", ks=[0, 1, 2], alphas=0.01, refit_alphas=None, cv=3)
    assert chosen.fit(X, SURVIVAL).k_ > 0
    assert ((chosen.scores_[1:] > 0.6) & (chosen.scores_[1:] < 1)).all()
    np.testing.assert_allclose(chosen.scores_[0], 0.5)
    search = GridSearchCV(SparseCoxRegression(), {"k": [1, 2]}, scoring=find_scorer(model, "concordance_index"), cv=3)
    assert search.fit(X, SURVIVAL).best_score_ > 0.6


def test_scores_that_know_no_censoring_are_refused() -> None:
    with pytest.raises(ValueError, match=r"scoring must be 'concordance_index' .* got 'r2'"):
        SparseCoxRegressionCV(scoring="r2").fit(X, SURVIVAL)
