"""Cross-validation of k and two ridges: each score is that of the plain estimator on data it has not seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import KFold, ShuffleSplit

import ksparse
from ksparse._types import Array
from tests.selection.held_out import MODELS, OPTIONS, RESPONSE, WEIGHTS, P, X, loss_score

#: Ridges that are suggested are rounded to three digits.
ROUNDED = 0.011
KS, ALPHAS, REFIT_ALPHAS = [0, 1, 3], [0.01, 0.5], [0.001, 0.2]
SPLITS = list(KFold(2, shuffle=True, random_state=0).split(X))
#: Groups of features that hold one strong feature each.
GROUPS = np.array([0, 1, 2, 3, 2, 0, 3, 1])


def loop(
    name: str,
    splits: Any = SPLITS,
    weights: Array | None = None,
    data: Any = X,
    score: Any = loss_score,
    ks: Any = KS,
    refits: Any = REFIT_ALPHAS,
    **options: Any,
) -> Array:
    """Scores of the plain estimator, fitted to the training part of each split with each combination."""
    _, fixed, y = MODELS[name]
    options = {"standardize": True, **OPTIONS.get(name, {}), **options}
    table = np.empty((len(ALPHAS), len(ks), len(refits), len(splits)))
    for (a, k, r, fold), _ in np.ndenumerate(table):
        train, test = splits[fold]
        model = fixed(k=ks[k], alpha=ALPHAS[a], refit_alpha=refits[r], **options)
        model.fit(data[train], y[train], None if weights is None else weights[train])
        outside = () if weights is None else (weights[test],)
        table[a, k, r, fold] = score(model, data[test], y[test], *outside)
    return table


def validated(name: str, data: Any = X, weights: Any = None, **options: Any) -> Any:
    options = {"ks": KS, "alphas": ALPHAS, "refit_alphas": REFIT_ALPHAS, "cv": SPLITS, **options}
    chosen, _, y = MODELS[name]
    return chosen(**{**OPTIONS.get(name, {}), **options}).fit(data, y, weights)


@pytest.mark.slow
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
@pytest.mark.parametrize("name", MODELS)
def test_scores_of_all_combinations(name: str, weights: Any) -> None:
    model, expected = validated(name, weights=weights), loop(name, weights=weights)
    assert_allclose(model.grid_scores_, expected, rtol=1e-6, atol=1e-9)
    assert_array_equal(model.alphas_, ALPHAS)
    assert_array_equal(model.refit_alphas_, REFIT_ALPHAS)
    means = expected.mean(axis=-1)
    assert np.ptp(means[:, 2], axis=(0, 1)) > 1e-3, "the ridges matter, so there is something to test"


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"feature_groups": GROUPS}, {"always_select": [0]}, {"positive": True}])
@pytest.mark.parametrize("name", MODELS)
def test_groups_and_always_selected_and_positive_features(name: str, options: dict[str, Any]) -> None:
    ks = [1, 2, 3]
    model = validated(name, ks=ks, **options)
    assert_allclose(model.grid_scores_, loop(name, ks=ks, **options), rtol=1e-6, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"fit_intercept": False}, {"standardize": False}])
@pytest.mark.parametrize("name", ["linear", "logistic", "huber"])
def test_without_intercept_or_scaling(name: str, options: dict[str, Any]) -> None:
    assert_allclose(validated(name, **options).grid_scores_, loop(name, **options), rtol=1e-6, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_sparse_features(name: str) -> None:
    data = np.where(np.random.default_rng(0).random(X.shape) < 0.3, 0.0, X)
    model = validated(name, sparse.csr_array(data), weights=WEIGHTS)
    assert_allclose(model.grid_scores_, loop(name, data=data, weights=WEIGHTS), rtol=1e-6, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "scoring"),
    [
        ("linear", "neg_mean_absolute_error"),
        ("responses", "r2"),
        ("logistic", "roc_auc"),
        ("multinomial", "neg_log_loss"),
        ("poisson", "neg_mean_poisson_deviance"),
        ("huber", "neg_median_absolute_error"),
    ],
)
def test_scorers_of_scikit_learn(name: str, scoring: str) -> None:
    model = validated(name, scoring=scoring)
    assert_allclose(model.grid_scores_, loop(name, score=get_scorer(scoring)), rtol=1e-5, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_without_a_refit_coefficients_keep_the_ridge_of_the_selection(name: str) -> None:
    model = validated(name, refit_alphas=None)
    assert_allclose(model.grid_scores_, loop(name, refits=[None]), rtol=1e-6, atol=1e-9)
    assert np.isnan(model.refit_alphas_).all()
    assert model.refit_alpha_ == model.alpha_


def test_class_weights() -> None:
    options: dict[str, Any] = {"class_weight": {"yes": 3.0, "no": 1.0}}

    def score(model: Any, data: Array, y: Any) -> float:
        return loss_score(model, data, y, np.where(y == "yes", 3.0, 1.0))

    model = validated("logistic", **options)
    assert_allclose(model.grid_scores_, loop("logistic", score=score, **options), rtol=1e-6)


# --- the models that are kept ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_the_path_has_the_penalties_that_were_chosen_for_each_k(name: str) -> None:
    _, fixed, y = MODELS[name]
    model = validated(name, rule="best")
    means = model.grid_scores_.mean(axis=-1)
    for position, k in enumerate(KS):
        a, r = np.unravel_index(means[:, position].argmax(), means[:, position].shape)
        plain = fixed(k=k, alpha=ALPHAS[a], refit_alpha=REFIT_ALPHAS[r], standardize=True, **OPTIONS.get(name, {})).fit(
            X, y
        )
        assert_allclose(model.coef_path_[position], plain.coef_, rtol=1e-5, atol=1e-7)
        assert_allclose(model.intercept_path_[position], plain.intercept_, rtol=1e-5, atol=1e-7)
        assert_array_equal(model.scores_[position], model.grid_scores_[a, position, r])
        at = model.at(k)
        assert type(at) is fixed
        assert (at.k, at.alpha, at.refit_alpha) == (k, ALPHAS[a], REFIT_ALPHAS[r])
    assert model.k_ == KS[int(means.max(axis=(0, 2)).argmax())]
    assert model.alpha_ == model.at(model.k_).alpha
    assert model.refit_alpha_ == model.at(model.k_).refit_alpha


def test_a_number_is_the_same_as_a_list_of_one() -> None:
    one, several = validated("linear", alphas=0.5, refit_alphas=0.2), validated("linear")
    assert one.grid_scores_.shape == (1, 3, 1, 2)
    assert_allclose(one.grid_scores_[0, :, 0], several.grid_scores_[1, :, 1], rtol=1e-12)
    assert_array_equal(validated("linear", alphas=[0.5, 0.01, 0.5]).alphas_, [0.01, 0.5])


# --- no leakage ------------------------------------------------------------------------------------------------


def coefficients_seen(name: str, standardize: bool, data: tuple[Any, Any], split: Any) -> list[Array]:
    """Coefficients and intercepts of each combination in one fold, as a scorer sees them."""
    seen: list[Array] = []

    def scorer(model: Any, held_out: Any, response: Any) -> float:
        seen.append(np.append(model.coef_.ravel(), model.intercept_))
        return 0.0

    model = MODELS[name][0](ks=KS, alphas=ALPHAS, refit_alphas=REFIT_ALPHAS, cv=[split], scoring=scorer)
    model.set_params(standardize=standardize).fit(*data)
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("name", ["linear", "logistic", "poisson", "huber"])
def test_held_out_samples_change_no_coefficient_of_their_fold(name: str, standardize: bool) -> None:
    y = MODELS[name][2]
    splits = list(KFold(3).split(X))
    data, target = X.copy(), y.copy()
    rows = splits[1][1]
    data[rows] = data[rows] * np.linspace(-3.0, 5.0, P) + 7.0
    target[rows] = np.roll(y[rows], 3) if name in ("logistic", "poisson") else -4.0 * y[rows]
    pairs = [(X, y), (data, target)]
    before, after = (coefficients_seen(name, standardize, pair, splits[1]) for pair in pairs)
    assert len(before) >= len(KS) * len(REFIT_ALPHAS)
    if name == "linear":  # moments of folds are differences, and round
        assert_allclose(after, before, rtol=1e-9, atol=1e-11)
    else:
        assert_array_equal(after, before)
    here, there = (coefficients_seen(name, standardize, pair, splits[0]) for pair in pairs)
    assert not np.allclose(here[-1], there[-1], rtol=0.01)


# --- ridges that are suggested ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_the_choice_does_not_depend_on_units_of_features(name: str) -> None:
    chosen, _, y = MODELS[name]
    here, there = (chosen(ks=[0, 1, 2, 3, 5], cv=3).fit(data, y) for data in (X, 1000.0 * X))
    assert here.k_ == there.k_
    assert_array_equal(here.support_, there.support_)
    assert_allclose(there.alphas_, here.alphas_, rtol=1e-6)
    assert there.alpha_ == pytest.approx(here.alpha_)
    assert there.refit_alpha_ == pytest.approx(here.refit_alpha_)
    assert_allclose(there.grid_scores_, here.grid_scores_, rtol=1e-6)
    assert_allclose(1000.0 * there.coef_, here.coef_, rtol=1e-5, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["linear", "responses", "huber"])
@pytest.mark.parametrize("factor", [1e-3, 1e4])
def test_the_choice_does_not_depend_on_units_of_the_response(name: str, factor: float) -> None:
    chosen, _, y = MODELS[name]
    here, there = (chosen(ks=[0, 1, 2, 3, 5], cv=3).fit(X, target) for target in (y, factor * y))
    assert here.k_ == there.k_
    assert_array_equal(here.support_, there.support_)
    assert_allclose(there.alphas_, here.alphas_, rtol=1e-6)
    assert_allclose(there.refit_alphas_, here.refit_alphas_, rtol=1e-6)
    assert_allclose(there.grid_scores_, factor**2 * here.grid_scores_, rtol=1e-6)
    assert_allclose(there.coef_, factor * here.coef_, rtol=1e-5, atol=1e-8 * factor)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_without_scaling_ridges_are_in_squared_units_of_the_features(name: str) -> None:
    chosen, _, y = MODELS[name]
    model = chosen(ks=[0, 2], cv=3, standardize=False)
    here, there = (clone(model).fit(data, y) for data in (X, 20.0 * X))
    assert_allclose(there.alphas_, 400.0 * here.alphas_, rtol=ROUNDED)
    assert_allclose(there.refit_alphas_, 400.0 * here.refit_alphas_, rtol=ROUNDED)
    assert_allclose(there.grid_scores_, here.grid_scores_, rtol=ROUNDED)


def test_the_curvature_of_the_losses() -> None:
    """Of standardized features at the null model: 1 for squares, p(1 − p), the mean count, the part within delta."""
    ratios = {}
    for name in ("linear", "logistic", "poisson", "huber"):
        chosen, _, y = MODELS[name]
        ratios[name] = chosen(ks=[1], cv=2, **OPTIONS.get(name, {})).fit(X, y).alphas_
    share = np.mean(MODELS["logistic"][2] == "yes")
    assert_allclose(ratios["logistic"], share * (1 - share) * ratios["linear"], rtol=ROUNDED)
    assert_allclose(ratios["poisson"], np.mean(MODELS["poisson"][2]) * ratios["linear"], rtol=ROUNDED)
    assert 0.03 in ratios["linear"]
    assert (ratios["huber"] < ratios["linear"]).all()


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"always_select": [0, 2]}, {"feature_groups": GROUPS, "always_select": [1]}])
@pytest.mark.parametrize("name", MODELS)
def test_ridges_are_suggested_where_features_are_always_selected(name: str, options: dict[str, Any]) -> None:
    chosen, _, y = MODELS[name]
    given = OPTIONS.get(name, {})
    model = chosen(ks=[2, 3], cv=2, **options, **given).fit(X, y)
    assert_allclose(model.alphas_, chosen(ks=[2], cv=2, **given).fit(X, y).alphas_, rtol=ROUNDED)


@pytest.mark.parametrize("name", ["linear", "logistic", "poisson", "huber"])
def test_weights_times_a_constant_are_the_same_weights(name: str) -> None:
    chosen, _, y = MODELS[name]
    here, there = (chosen(ks=[0, 1, 3], cv=2).fit(X, y, factor * WEIGHTS) for factor in (1e-100, 1e100))
    assert (here.k_, here.alpha_, here.refit_alpha_) == (there.k_, there.alpha_, there.refit_alpha_)
    assert_allclose(here.refit_alphas_, there.refit_alphas_, rtol=ROUNDED)
    assert_allclose(here.scores_, there.scores_, rtol=1e-7)
    assert_allclose(here.coef_, there.coef_, rtol=1e-6, atol=1e-9)


def test_few_samples_with_most_of_the_weight_suggest_stronger_ridges() -> None:
    chosen, _, y = MODELS["logistic"]
    uneven = np.where(np.arange(len(X)) < 20, 1.0, 1e-3)
    even, few = (chosen(ks=[1], cv=2).fit(X, y, weights) for weights in (np.ones(len(X)), uneven))
    assert few.refit_alphas_[0] > 3 * even.refit_alphas_[0]


@pytest.mark.parametrize("factor", [1e-100, 1e-9, 1e9, 1e100])
def test_the_units_of_rates_do_not_matter(factor: float) -> None:
    chosen, _, y = MODELS["poisson"]
    here, there = (chosen(ks=range(5)).fit(X, c * y) for c in (factor, 1.0))
    assert here.k_ == there.k_
    assert_allclose(here.scores_, factor * there.scores_, rtol=1e-6)
    assert_allclose(here.coef_, there.coef_, rtol=1e-5, atol=1e-9)


@pytest.mark.slow
def test_huber_finds_a_signal_with_hardly_any_noise() -> None:
    rng = np.random.default_rng(0)
    data = rng.standard_normal((50, 10))
    y = data[:, :3] @ [3.0, -2.0, 1.0] + 0.001 * rng.standard_normal(50)
    model = ksparse.SparseHuberRegressionCV().fit(data, y)
    assert model.support_[:3].all()
    assert_allclose(model.coef_[:3], [3.0, -2.0, 1.0], rtol=0.05)


@pytest.mark.slow
def test_splits_that_overlap_and_leave_samples_out() -> None:
    splits = list(ShuffleSplit(3, test_size=0.2, train_size=0.6, random_state=0).split(X))
    for name in ("linear", "logistic"):
        assert_allclose(validated(name, cv=splits).grid_scores_, loop(name, splits), rtol=1e-6, atol=1e-9)


def test_noise_has_no_feature_and_says_so() -> None:
    rng = np.random.default_rng(3)
    noise = rng.standard_normal((80, 10))
    model = ksparse.SparseLinearRegressionCV().fit(noise, rng.standard_normal(80))
    assert model.k_ == 0
    assert model.choice_.endswith("no feature improves clearly on the model without features")
    assert model.choice_.startswith("k = 0 of 10 features, chosen among ")


def test_the_largest_k_that_was_tried_is_said() -> None:
    some = ksparse.SparseLinearRegressionCV(ks=[0, 1, 2], rule="best").fit(X, RESPONSE)
    assert some.k_ == 2
    assert "this is the largest k that was tried, and a larger one may predict better: try some by ks=" in some.choice_
    dense = np.random.default_rng(0).standard_normal((100, 4))
    every = ksparse.SparseLinearRegressionCV(rule="best").fit(dense, dense.sum(axis=1) + 0.01 * dense[:, 0] ** 2)
    assert every.k_ == 4
    assert every.choice_.endswith("from 0 to 4")
    middle = ksparse.SparseLinearRegressionCV(ks=range(9), rule="1se").fit(X, RESPONSE)
    assert 0 < middle.k_ < 8
    assert middle.choice_ == f"k = {middle.k_} of 8 features, chosen among 9 k from 0 to 8"
