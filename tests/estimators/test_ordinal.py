"""SparseOrdinalRegression: probabilities, classes in their order, choice of k, files and summaries."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.model_selection import StratifiedKFold

import ksparse
from ksparse import SparseLogisticRegression, SparseOrdinalRegression, SparseOrdinalRegressionCV
from ksparse._types import Array
from tests.estimators.models import MARGINS, N, X, response

#: pandas, which comes without types.
pd: Any = import_module("pandas")

Y = response("ordinal")
NAMED = np.array(["poor", "fair", "good"])[Y]


def test_probabilities_are_differences_of_cumulative_ones() -> None:
    model = SparseOrdinalRegression(k=3).fit(X, Y)
    offset = np.linspace(-1.0, 1.0, N)
    margins = X @ model.coef_ + offset
    cumulative = expit(model.thresholds_ - margins[:, None])
    expected = np.diff(np.column_stack([np.zeros(N), cumulative, np.ones(N)]))
    np.testing.assert_allclose(model.predict_proba(X, offset), expected, atol=1e-12)
    np.testing.assert_allclose(model.predict_log_proba(X, offset), np.log(expected), rtol=1e-6)
    np.testing.assert_array_equal(model.predict(X, offset), expected.argmax(axis=1))
    assert model.score(X, Y) == np.mean(model.predict(X) == Y)
    assert model.intercept_ == 0.0
    assert model.coef_.shape == (X.shape[1],)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_names_and_storage_do_not_matter(form: Any) -> None:
    numbers = SparseOrdinalRegression(k=3).fit(X, Y)
    categories = ["poor", "fair", "good"]
    ordered = pd.Series(pd.Categorical(NAMED, categories, ordered=True))
    data = form(X) if form is not pd.DataFrame else pd.DataFrame(X).rename(columns=str)
    for y, given in ((NAMED, categories), (ordered, None), (Y, None)):
        model = SparseOrdinalRegression(k=3, categories=given).fit(data, y)
        np.testing.assert_allclose(model.coef_, numbers.coef_, atol=1e-9)
        np.testing.assert_allclose(model.thresholds_, numbers.thresholds_, atol=1e-9)
        assert model.classes_.tolist() == (categories if y is not Y else [0, 1, 2])
    assert SparseOrdinalRegression(k=3, categories=categories).fit(X, NAMED).predict(X).tolist() == [
        categories[code] for code in numbers.predict(X)
    ]


def test_the_other_order_changes_signs() -> None:
    here = SparseOrdinalRegression(k=3, categories=["good", "fair", "poor"]).fit(X, NAMED)
    there = SparseOrdinalRegression(k=3).fit(X, Y)
    np.testing.assert_allclose(here.coef_, -there.coef_, atol=1e-8)
    np.testing.assert_allclose(here.thresholds_, -there.thresholds_[::-1], atol=1e-8)


def test_two_classes_are_logistic_regression() -> None:
    here = SparseOrdinalRegression(k=3, alpha=0.02).fit(X, Y > 0)
    there = SparseLogisticRegression(k=3, alpha=0.02).fit(X, Y > 0)
    np.testing.assert_allclose(here.predict_proba(X), there.predict_proba(X), atol=1e-6)


def test_class_weights_are_sample_weights() -> None:
    here = SparseOrdinalRegression(k=3, class_weight={0: 2.0, 2: 0.5}).fit(X, Y)
    there = SparseOrdinalRegression(k=3).fit(X, Y, sample_weight=np.array([2.0, 1.0, 0.5])[Y])
    np.testing.assert_allclose(here.coef_, there.coef_)
    balanced = SparseOrdinalRegression(k=3, class_weight="balanced").fit(X, Y)
    weights = N / (3 * np.bincount(Y))
    np.testing.assert_allclose(balanced.coef_, SparseOrdinalRegression(k=3).fit(X, Y, weights[Y]).coef_)


def test_scores_of_cross_validation_by_hand() -> None:
    weights = np.linspace(0.5, 1.5, N)
    folds = StratifiedKFold(4)
    chosen = SparseOrdinalRegressionCV(ks=[1, 3], alphas=0.02, refit_alphas=None, standardize=False, cv=folds)
    chosen.fit(X, Y, sample_weight=weights)
    for place, k in enumerate([1, 3]):
        for fold, (train, test) in enumerate(folds.split(X, Y)):
            model = SparseOrdinalRegression(k=k, alpha=0.02).fit(X[train], Y[train], weights[train])
            logs = model.predict_log_proba(X[test])[np.arange(len(test)), Y[test]]
            assert chosen.scores_[place, fold] == pytest.approx(np.average(logs, weights=weights[test]), rel=1e-6)


def test_thresholds_of_every_k_are_saved(tmp_path: Path) -> None:
    chosen = SparseOrdinalRegressionCV(ks=[1, 2, 4], alphas=0.01, refit_alphas=[0.0, 0.1], cv=3).fit(X, Y)
    ksparse.save(chosen, tmp_path / "model.json")
    again = ksparse.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(X), chosen.predict_proba(X))
    for k in (1, 2, 4):
        model: Any = chosen.at(k)
        options = {"alpha": model.alpha, "refit_alpha": model.refit_alpha, "standardize": True}
        fresh = SparseOrdinalRegression(k=k, **options).fit(X, Y)
        np.testing.assert_allclose(model.thresholds_, fresh.thresholds_, atol=1e-6)
        np.testing.assert_array_equal(again.at(k).thresholds_, model.thresholds_)


def test_text_in_an_order_of_its_own_is_saved(tmp_path: Path) -> None:
    model = SparseOrdinalRegression(k=2, categories=["poor", "fair", "good"]).fit(X, NAMED)
    ksparse.save(model, tmp_path / "model.json")
    again = ksparse.load(tmp_path / "model.json")
    assert again.classes_.tolist() == ["poor", "fair", "good"]
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    text = (tmp_path / "model.json").read_text()
    for wrong in (
        text.replace('"fair"', '"poor"'),
        text.replace("SparseOrdinalRegression", "SparseLogisticRegression"),
    ):
        (tmp_path / "model.json").write_text(wrong)
        with pytest.raises(ValueError, match="is not a model saved by ksparse, or it is damaged"):
            ksparse.load(tmp_path / "model.json")


def test_a_fold_without_a_class_is_an_error() -> None:
    y = Y.copy()
    y[7] = 3
    with pytest.raises(ValueError, match="the class 3 of y has 1 row, and no training data"):
        SparseOrdinalRegressionCV(ks=[1], cv=[(np.delete(np.arange(N), 7), np.array([7, 8]))]).fit(X, y)


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (NAMED, "whose order is not known; pass categories"),
        (MARGINS, "Unknown label type: continuous"),
        (np.zeros(N, dtype=int), "only one class"),
    ],
)
def test_bad_targets(y: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        SparseOrdinalRegression(k=2).fit(X, y)


def test_the_summary_has_odds_ratios_of_one_output() -> None:
    model = SparseOrdinalRegression(k=2).fit(X, Y)
    summary = model.summary(resamples=5)
    np.testing.assert_allclose(summary.features["odds_ratio"], np.exp(summary.features["coefficient"]))
    assert "coefficients are for the log-odds of a higher class" in str(summary)
    assert not summary.outputs


def test_naive_intervals_are_those_of_statsmodels() -> None:
    ordered: Any = import_module("statsmodels.miscmodels.ordinal_model").OrderedModel
    model = SparseOrdinalRegression(k=2, alpha=0.0).fit(X, Y)
    naive = model.summary(intervals="naive").features
    selected = np.flatnonzero(model.support_)
    fitted = ordered(Y, X[:, selected], distr="logit").fit(method="newton", disp=False, maxiter=50)
    expected: Array = fitted.conf_int()[:2]
    np.testing.assert_allclose(naive.loc[[f"x{j}" for j in selected], ["low", "high"]], expected, rtol=1e-4)


def test_half_grades_are_labels_with_categories() -> None:
    y, grades = np.array([1.0, 1.5, 2.0])[Y], [1, 1.5, 2]
    whole = SparseOrdinalRegression(k=3).fit(X, Y)
    for categories in (grades, ["1", "1.5", "2"]):
        model = SparseOrdinalRegression(k=3, categories=categories).fit(X, y)
        assert model.classes_.tolist() == grades
        np.testing.assert_array_equal(model.coef_, whole.coef_)
        assert model.score(X, y) == whole.score(X, Y)
        assert model.score(X, y, np.arange(len(y))) == whole.score(X, Y, np.arange(len(y)))
    here = SparseOrdinalRegressionCV(ks=[1, 3], categories=grades).fit(X, y)
    np.testing.assert_array_equal(here.scores_, SparseOrdinalRegressionCV(ks=[1, 3]).fit(X, Y).scores_)
    with pytest.raises(ValueError, match=r"y has the number 1.5, which is no whole number; if it is a grade, pass cat"):
        SparseOrdinalRegression(k=3).fit(X, y)
    with pytest.raises(ValueError, match=r"y has the label '1\.5', which is not in categories"):
        SparseOrdinalRegression(k=3, categories=[1, 2]).fit(X, y)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_categories_are_not_missing(missing: Any) -> None:
    with pytest.raises(ValueError, match="categories has a missing value"):
        SparseOrdinalRegression(k=3, categories=["poor", "fair", "good", missing]).fit(X, NAMED)
