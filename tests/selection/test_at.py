"""What cross-validation keeps: the model of each k, a table of all scores; and what uses its choice."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ksparse
from ksparse import (
    SparseDiscriminantAnalysisCV,
    SparseLinearRegression,
    SparseLinearRegressionCV,
    SparseLinearRegressionIC,
    SparseLogisticRegression,
    SparseLogisticRegressionCV,
    SparseNegativeBinomialRegression,
    SparseNegativeBinomialRegressionCV,
    SparseNegativeBinomialRegressionIC,
    SparsePrecision,
    SparsePrecisionCV,
    StabilitySelection,
)
from tests.selection.held_out import MODELS, OPTIONS, RESPONSE, P, X

pd: Any = import_module("pandas")
KS = [0, 1, 2, 4]


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_the_model_of_each_k_is_that_of_its_parameters(name: str) -> None:
    chosen, fixed, y = MODELS[name]
    model = chosen(ks=KS, cv=3, **OPTIONS.get(name, {})).fit(X, y)
    for position, k in enumerate(KS):
        at = model.at(k)
        assert type(at) is fixed
        assert at.k == k
        assert at.alpha in model.alphas_
        assert at.refit_alpha in model.refit_alphas_
        assert at.standardize
        again = clone(at).fit(X, y)
        assert_array_equal(again.support_, at.support_)
        assert_allclose(again.coef_, at.coef_, rtol=1e-5, atol=1e-7)
        if y.dtype.kind in "US":
            assert_array_equal(at.predict(X), again.predict(X))
        else:
            assert_allclose(at.predict(X), again.predict(X), rtol=1e-4, atol=1e-5)
        assert_array_equal(at.coef_, model.coef_path_[position])
        assert_array_equal(at.scores_, model.scores_[position])
        assert at.result_ is model.path_.results[position]
        assert not hasattr(at, "ks_")
        assert not hasattr(at, "path_")
    best = model.at(model.k_)
    assert_array_equal(best.coef_, model.coef_)
    assert_array_equal(best.predict(X), model.predict(X))
    assert (best.alpha, best.refit_alpha) == (model.alpha_, model.refit_alpha_)


@pytest.mark.slow
def test_without_a_refit_the_model_has_none() -> None:
    model = SparseLinearRegressionCV(ks=KS, cv=3, refit_alphas=None).fit(X, RESPONSE)
    at = model.at(2)
    assert at.refit_alpha is None
    assert_allclose(clone(at).fit(X, RESPONSE).coef_, at.coef_, rtol=1e-6, atol=1e-9)


def test_parameters_of_the_model_are_kept() -> None:
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    labels = MODELS["logistic"][2]
    options: dict[str, Any] = {"always_select": ["b"], "class_weight": "balanced", "standardize": False, "effort": 1}
    model = SparseLogisticRegressionCV(ks=[1, 3], cv=3, alphas=1.0, **options).fit(frame, labels)
    at = model.at(3)
    assert {name: getattr(at, name) for name in options} == options
    assert at.get_feature_names_out().tolist() == frame.columns[at.support_].tolist()
    assert "b" in at.get_feature_names_out()
    assert_array_equal(at.feature_names_in_, frame.columns)
    assert_array_equal(at.classes_, ["no", "yes"])
    assert at.predict_proba(frame).shape == (len(X), 2)
    assert at.score(frame, labels) > 0.6


@pytest.mark.parametrize("name", ["responses", "logistic", "huber"])
def test_it_can_be_saved(name: str, tmp_path: Any) -> None:
    chosen, _, y = MODELS[name]
    model = chosen(ks=[1, 3], cv=2, alphas=0.1, refit_alphas=[0.01, 0.1]).fit(X, y)
    for k, saved in ((1, model.at(1)), (3, model.at(3)), (model.k_, model)):
        ksparse.save(saved, tmp_path / "model.json")
        again = ksparse.load(tmp_path / "model.json")
        assert type(again) is type(saved)
        assert getattr(again, "k", k) in (k, None)
        assert_array_equal(again.predict(X), saved.predict(X))
    assert again.choice_ == model.choice_
    assert_array_equal(again.at(3).coef_, model.at(3).coef_)
    assert_array_equal(again.cv_results_["mean_test_score"], model.cv_results_["mean_test_score"])


@pytest.mark.parametrize("k", [3, -1, 2.5, True, "2", None])
def test_a_k_that_was_not_tried(k: Any) -> None:
    model = SparseLinearRegressionCV(ks=KS, cv=2, alphas=0.1, refit_alphas=None).fit(X, RESPONSE)
    with pytest.raises(ValueError, match=r"was not tried; ks_ has \[0, 1, 2, 4\]"):
        model.at(k)


def test_before_it_is_fitted() -> None:
    with pytest.raises(NotFittedError):
        SparseLinearRegressionCV().at(1)


def test_graphs_have_a_model_for_each_number_of_edges() -> None:
    model = SparsePrecisionCV(ks=[0, 3], cv=2).fit(X)
    at = model.at(3)
    assert type(at) is SparsePrecision
    assert at.k == len(at.edges_) == 3
    assert_allclose(at.precision_, clone(at).fit(X).precision_, rtol=1e-5, atol=1e-8)
    labels = MODELS["multinomial"][2]
    analysis = SparseDiscriminantAnalysisCV(ks=[0, 3], cv=2).fit(X, labels).at(3)
    assert_array_equal(analysis.predict(X), clone(analysis).fit(X, labels).predict(X))


# --- the table of scores ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_table_is_that_of_a_grid_search() -> None:
    splits = list(KFold(3, shuffle=True, random_state=0).split(X))
    grid = {"alpha": [0.01, 1.0], "k": [1, 3], "refit_alpha": [0.001, 0.1, 0.5]}
    base = SparseLinearRegression(standardize=True)
    search = GridSearchCV(base, grid, cv=splits, scoring="neg_mean_squared_error").fit(X, RESPONSE)
    model = SparseLinearRegressionCV(
        ks=grid["k"], alphas=grid["alpha"], refit_alphas=grid["refit_alpha"], cv=splits, rule="best"
    ).set_params(scoring="neg_mean_squared_error")
    ours, theirs = model.fit(X, RESPONSE).cv_results_, search.cv_results_
    assert ours["params"] == theirs["params"]
    assert set(ours) == {name for name in theirs if "time" not in name}
    for name in ours:
        if "test_score" in name and not name.startswith("rank"):
            assert_allclose(ours[name], theirs[name], rtol=1e-6, atol=1e-9)
    rounded = theirs["mean_test_score"].round(9)  # both ridges often select the same: what is equal rounds apart
    assert_array_equal(ours["rank_test_score"], 1 + np.sum(rounded > rounded[:, None], axis=1))
    assert search.best_score_ == pytest.approx(model.scores_.mean(axis=1).max())
    frame = pd.DataFrame(ours)
    assert frame.shape == (12, 4 + 3 + 3)
    best = frame.sort_values("rank_test_score", kind="stable").iloc[0]
    assert (best.param_k, best.param_alpha, best.param_refit_alpha) == (model.k_, model.alpha_, model.refit_alpha_)


def test_the_table_has_columns_for_what_was_varied() -> None:
    linear = SparseLinearRegressionCV(ks=KS, alphas=[0.1, 1.0], refit_alphas=None, cv=2).fit(X, RESPONSE)
    assert len(linear.cv_results_["params"]) == 8
    assert "param_refit_alpha" not in linear.cv_results_
    assert all(set(row) == {"alpha", "k"} for row in linear.cv_results_["params"])
    graph = SparseDiscriminantAnalysisCV(ks=[0, 2, 5], cv=2).fit(X, MODELS["multinomial"][2])
    assert len(pd.DataFrame(graph.cv_results_)) == graph.grid_scores_[..., 0].size
    assert "param_k" in graph.cv_results_
    some = clone(linear.at(2)).set_params(**linear.cv_results_["params"][3]).fit(X, RESPONSE)
    assert some.k == linear.cv_results_["param_k"][3]


def test_a_criterion_has_no_folds() -> None:
    assert not hasattr(SparseLinearRegressionIC(ks=KS).fit(X, RESPONSE), "cv_results_")


# --- stability selection ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("pipeline", [False, True])
@pytest.mark.slow
def test_stability_selection_fixes_what_was_chosen_on_all_samples(pipeline: bool) -> None:
    cv = SparseLogisticRegressionCV(ks=[3], cv=3)
    labels = MODELS["logistic"][2]
    estimator = make_pipeline(StandardScaler(), cv) if pipeline else cv
    stable = StabilitySelection(estimator, n_pairs=4, random_state=0).fit(X, labels)
    fitted = clone(estimator).fit(X, labels)
    chosen = fitted[-1] if pipeline else fitted
    used = stable.estimator_[-1] if pipeline else stable.estimator_
    assert type(used) is SparseLogisticRegression
    assert (used.k, used.alpha, used.refit_alpha) == (3, chosen.alpha_, chosen.refit_alpha_)
    if pipeline:
        assert list(stable.estimator_.named_steps) == list(estimator.named_steps)
        assert type(stable.estimator_[0]) is StandardScaler
    plain = StabilitySelection(stable.estimator_, n_pairs=4, random_state=0).fit(X, labels)
    assert_array_equal(stable.frequencies_, plain.frequencies_)
    assert isinstance(estimator[-1] if pipeline else estimator, SparseLogisticRegressionCV), "the parameter is kept"
    assert stable.n_selected_ == pytest.approx(3.0)


def test_stability_selection_with_a_fixed_model_clones_it() -> None:
    base = SparseLinearRegression(2)
    stable = StabilitySelection(base, n_pairs=3, random_state=0).fit(X, RESPONSE)
    assert stable.estimator_ is not base
    assert stable.estimator_.get_params() == base.get_params()
    assert not hasattr(base, "coef_")


def test_stability_selection_refuses_early_what_no_threshold_guarantees() -> None:
    with pytest.raises(ValueError, match="false selections may be expected at any threshold"):
        StabilitySelection(SparseLinearRegressionCV(ks=[P - 1], cv=2), max_false=0.01, n_pairs=3).fit(X, RESPONSE)


def test_stability_selection_with_names() -> None:
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    cv = SparseLinearRegressionCV(ks=[3], cv=2, always_select=["c"])
    stable = StabilitySelection(cv, n_pairs=3, random_state=0).fit(frame, RESPONSE)
    assert "c" in stable.get_feature_names_out()


@pytest.mark.parametrize(
    ("options", "advice"),
    [({"alpha": 0.1}, "alphas=0.1"), ({"k": 3}, "ks=\\[10\\]"), ({"refit_alpha": 0.0}, "refit_alphas")],
)
def test_parameters_that_are_chosen_are_named(options: dict[str, Any], advice: str) -> None:
    with pytest.raises(TypeError, match=f"SparseLinearRegressionCV has no parameter .*{advice}"):
        ksparse.SparseLinearRegressionCV(**options)


@pytest.mark.parametrize("choose", [SparseNegativeBinomialRegressionIC, SparseNegativeBinomialRegressionCV])
@pytest.mark.parametrize("options", [{}, {"feature_groups": [0, 0, 1, 2, 3, 4]}])
def test_each_k_has_its_own_dispersion(choose: Any, options: Any) -> None:
    """It is that of an estimator with the same features, and so are the coefficients."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 6))
    counts = rng.poisson(np.exp(1 + X[:, 0] + 0.7 * X[:, 2] - 0.5 * X[:, 4]) * rng.gamma(5.0, 0.2, 300))
    penalties = {"alphas": 0.0, "refit_alphas": None, "standardize": False} if choose.__name__.endswith("CV") else {}
    model = choose(ks=[1, 2, 3], **penalties, **options).fit(X, counts)
    found = [model.at(k) for k in (1, 2, 3)]
    for k, fixed in zip((1, 2, 3), found, strict=True):
        alone = SparseNegativeBinomialRegression(k=k, **options).fit(X, counts)
        np.testing.assert_array_equal(fixed.support_, alone.support_)
        assert fixed.dispersion_ == pytest.approx(alone.dispersion_, rel=1e-6)
        np.testing.assert_allclose(fixed.coef_, alone.coef_, atol=1e-6)
        assert fixed.result_.value == pytest.approx(alone.result_.value, rel=1e-6)
    assert found[0].dispersion_ > 2 * found[2].dispersion_
    assert model.dispersion_ == model.at(model.k_).dispersion_
    assert choose(ks=[1], dispersion=0.3, **penalties, **options).fit(X, counts).at(1).dispersion_ == 0.3


def test_the_dispersion_of_a_k_with_few_samples_is_that_of_the_first_fit() -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 20))
    counts = rng.poisson(np.exp(1 + X[:, 0]) * rng.gamma(2.0, 0.5, 60))
    model = SparseNegativeBinomialRegressionIC(ks=[1, 6, 7, 15]).fit(X, counts)
    first, six, seven, many = (model.at(k).dispersion_ for k in (1, 6, 7, 15))
    assert first > six > 0
    assert seven == many == pytest.approx(SparseNegativeBinomialRegression(k=15).fit(X, counts).dispersion_, rel=1e-6)
