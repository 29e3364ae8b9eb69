"""Cross-validation: the scores are those of a loop over the folds, and no fold sees what it is scored on."""

from __future__ import annotations

import logging
import pickle
from importlib import import_module
from typing import Any

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.metrics import get_scorer, make_scorer, mean_absolute_error
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

import ksparse
from ksparse import (
    SparseHuberRegression,
    SparseHuberRegressionCV,
    SparseLinearRegression,
    SparseLinearRegressionCV,
    SparseLogisticRegression,
    SparseLogisticRegressionCV,
    SparsePoissonRegression,
    SparsePoissonRegressionCV,
)
from ksparse._types import Array
from ksparse.selection.rules import choose
from tests.selection.held_out import loss_score

pd: Any = import_module("pandas")

rng = np.random.default_rng(0)
X = rng.standard_normal((120, 8))
#: Four features whose effects are clearly different, so that the best support of each size is unique.
margins = X[:, [6, 1, 4, 3]] @ [4.0, -2.0, 1.0, 0.5]
y = margins + 0.2 * rng.standard_normal(120)
labels = np.where(margins + rng.logistic(size=120) > 0, "yes", "no")
three = np.digitize(margins + rng.standard_normal(120), [-2, 2])
counts = rng.poisson(np.exp(0.3 * margins))
KS = [0, 1, 3, 4]
#: One ridge for selection and coefficients, data as they are, the k with the best mean.
PLAIN: dict[str, Any] = {"refit_alphas": None, "standardize": False, "rule": "best"}

PAIRS: dict[str, tuple[Any, Any, Any]] = {
    "linear": (SparseLinearRegressionCV(alphas=0, **PLAIN), SparseLinearRegression(), y),
    "responses": (
        SparseLinearRegressionCV(alphas=0, **PLAIN),
        SparseLinearRegression(),
        np.column_stack([y, -y + X[:, 3]]),
    ),
    "no intercept": (
        SparseLinearRegressionCV(alphas=0, fit_intercept=False, **PLAIN),
        SparseLinearRegression(fit_intercept=False),
        y,
    ),
    "logistic": (SparseLogisticRegressionCV(alphas=0.01, **PLAIN), SparseLogisticRegression(alpha=0.01), labels),
    "multinomial": (SparseLogisticRegressionCV(alphas=0.01, **PLAIN), SparseLogisticRegression(alpha=0.01), three),
    "poisson": (SparsePoissonRegressionCV(alphas=0, **PLAIN), SparsePoissonRegression(), counts),
    "huber": (SparseHuberRegressionCV(delta=0.3, alphas=0, **PLAIN), SparseHuberRegression(delta=0.3), y),
}


def loop(base: Any, target: Any, splits: Any, score: Any, ks: Any = KS, weights: Any = None) -> Array:
    """Scores of the plain estimator for each k and each fold."""
    table = np.empty((len(ks), len(splits)))
    for row, k in enumerate(ks):
        for column, (train, test) in enumerate(splits):
            inside = None if weights is None else weights[train]
            model = clone(base).set_params(k=k).fit(X[train], target[train], inside)
            outside = () if weights is None else (weights[test],)
            table[row, column] = score(model, X[test], target[test], *outside)
    return table


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_default_scores_are_those_of_a_loop(name: str) -> None:
    chosen, base, target = PAIRS[name]
    splits = list(KFold(2, shuffle=True, random_state=0).split(X))
    model = clone(chosen).set_params(ks=KS, cv=splits).fit(X, target)
    expected = loop(base, target, splits, loss_score)
    np.testing.assert_allclose(model.scores_, expected, rtol=1e-5, atol=1e-8)
    assert model.k_ == KS[int(np.argmax(expected.mean(axis=1)))]
    single = clone(base).set_params(k=model.k_).fit(X, target)
    np.testing.assert_allclose(model.coef_, single.coef_, rtol=1e-5, atol=1e-7)
    assert np.shape(model.coef_) == np.shape(single.coef_)
    assert np.shape(model.intercept_) == np.shape(single.intercept_)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "scoring"),
    [
        ("linear", "r2"),
        ("linear", make_scorer(mean_absolute_error, greater_is_better=False)),
        ("linear", lambda model, data, target: -float(np.median(np.abs(model.predict(data) - target)))),
        ("responses", "neg_mean_squared_error"),
        ("logistic", "accuracy"),
        ("logistic", "roc_auc"),
        ("logistic", "neg_log_loss"),
        ("multinomial", "balanced_accuracy"),
        ("multinomial", "roc_auc_ovr"),
        ("poisson", "neg_mean_poisson_deviance"),
    ],
)
def test_scorers_of_scikit_learn(name: str, scoring: Any) -> None:
    chosen, base, target = PAIRS[name]
    splits = list(KFold(2, shuffle=True, random_state=1).split(X))
    model = clone(chosen).set_params(ks=[0, 2], cv=splits, scoring=scoring).fit(X, target)
    expected = loop(base, target, splits, get_scorer(scoring), ks=[0, 2])
    np.testing.assert_allclose(model.scores_, expected, rtol=1e-5, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(
    "cv",
    [
        3,
        KFold(4, shuffle=True, random_state=3),
        StratifiedKFold(3),
        ShuffleSplit(3, test_size=0.2, random_state=0),
        GroupKFold(4),
        PredefinedSplit(np.arange(120) // 50 - 1),
        TimeSeriesSplit(3),
        [(np.arange(60), np.arange(60, 120)), (np.arange(30, 120), np.arange(30))],
    ],
    ids=lambda cv: type(cv).__name__,
)
def test_any_splitter(cv: Any) -> None:
    samples = np.arange(120) // 7 if isinstance(cv, GroupKFold) else None
    splitter = StratifiedKFold(3, shuffle=True, random_state=0) if cv == 3 else cv
    splits = list(splitter.split(X, labels, samples)) if hasattr(splitter, "split") else splitter
    model = SparseLogisticRegressionCV(ks=[1, 3], cv=cv, alphas=0.01, **PLAIN).fit(X, labels, groups=samples)
    expected = loop(SparseLogisticRegression(alpha=0.01), labels, splits, loss_score, ks=[1, 3])
    np.testing.assert_allclose(model.scores_, expected, rtol=1e-5, atol=1e-8)


def test_splits_may_come_from_an_iterator() -> None:
    once = SparseLinearRegressionCV(ks=KS, cv=KFold(3).split(X)).fit(X, y)
    np.testing.assert_array_equal(once.scores_, SparseLinearRegressionCV(ks=KS, cv=KFold(3)).fit(X, y).scores_)
    with pytest.raises(ValueError, match="cv gives no splits"):
        SparseLinearRegressionCV(cv=[]).fit(X, y)


def test_weights_in_fitting_and_in_the_default_score() -> None:
    weights = rng.uniform(0.1, 3.0, 120)
    splits = list(KFold(2).split(X))
    for name in ("linear", "logistic"):
        chosen, base, target = PAIRS[name]
        model = clone(chosen).set_params(ks=[1, 3], cv=splits).fit(X, target, sample_weight=weights.tolist())
        expected = loop(base, target, splits, loss_score, ks=[1, 3], weights=weights)
        np.testing.assert_allclose(model.scores_, expected, rtol=1e-5, atol=1e-8)
        single = clone(base).set_params(k=model.k_).fit(X, target, weights)
        np.testing.assert_allclose(model.coef_, single.coef_, rtol=1e-6, atol=1e-8)
    weights[:40] = 0
    with pytest.raises(ValueError, match="all held-out samples of a fold have weight 0"):
        SparseLinearRegressionCV(cv=KFold(3)).fit(X, y, weights)
    times = ksparse.make_survival_target(np.exp(y - y.mean()), np.ones(120))
    for chosen, target in ((ksparse.SparseCoxRegressionCV, times), (ksparse.SparseOrdinalRegressionCV, y > y.mean())):
        with pytest.raises(ValueError, match="all held-out samples of a fold have weight 0"):
            chosen(cv=KFold(3)).fit(X, target, weights)


# --- no leakage -------------------------------------------------------------------------------------------------


def recorded(data: Array, target: Array, splits: Any) -> tuple[Any, Any]:
    """Coefficients and intercept of each fold and k as a scorer sees them, and the scores."""
    seen = []

    def scorer(model: Any, held_out: Array, response: Array) -> float:
        seen.append(np.append(model.coef_, model.intercept_))
        return float(model.score(held_out, response))

    model = SparseLinearRegressionCV(ks=KS, cv=splits, scoring=scorer, alphas=0, **PLAIN)
    scores = model.fit(data, target).scores_
    return np.array(seen).reshape(len(splits), len(KS), -1), scores


def test_held_out_samples_change_nothing_but_scores() -> None:
    splits = list(KFold(3).split(X))
    held_out = splits[1][1]
    other_X, other_y = X.copy(), y.copy()
    other_X[held_out] = rng.standard_normal((len(held_out), 8)) * 50
    other_y[held_out] = 1000.0
    before, scores = recorded(X, y, splits)
    after, other_scores = recorded(other_X, other_y, splits)
    assert_allclose(before[1], after[1], rtol=1e-10, atol=1e-12)  # moments of folds are differences, and round
    assert (np.abs(before[[0, 2]] - after[[0, 2]]).max(axis=-1) > 0.1).all()
    assert (scores[:, 1] != other_scores[:, 1]).all()


def test_a_fold_does_not_depend_on_the_others() -> None:
    splits = list(KFold(3).split(X))
    together = SparseLogisticRegressionCV(ks=[1, 3], cv=splits).fit(X, labels)
    for i, split in enumerate(splits):
        alone = SparseLogisticRegressionCV(ks=[1, 3], cv=[split]).fit(X, labels)
        np.testing.assert_array_equal(alone.grid_scores_[..., 0], together.grid_scores_[..., i])


# --- the choice -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_the_rule_of_one_standard_error(seed: int) -> None:
    noisy = margins + 3 * np.random.default_rng(seed).standard_normal(120)
    model = SparseLinearRegressionCV(ks=range(9), alphas=0, refit_alphas=None, rule="1se").fit(X, noisy)
    means = model.scores_.mean(axis=1)
    best = means.argmax()
    limit = means[best] - model.scores_[best].std(ddof=1) / np.sqrt(5)
    assert model.k_ == min(k for k, mean in zip(model.ks_, means, strict=True) if mean >= limit)
    assert model.k_ <= SparseLinearRegressionCV(ks=range(9), alphas=0, refit_alphas=None, rule="best").fit(X, noisy).k_


@pytest.mark.slow
def test_ties_go_to_fewer_features() -> None:
    tied = np.array([[0.0, 0.0], [1.0, 3.0], [3.0, 1.0], [2.0, 2.0]])
    assert choose(tied[None, :, None], np.arange(4), "best").k == 1
    constant = SparseLinearRegressionCV(ks=[1, 2, 3], scoring=lambda model, data, target: 0.5).fit(X, y)
    assert constant.k_ == 1
    exact = SparseLinearRegressionCV().fit(X, X[:, 2] - X[:, 5])
    assert exact.get_support(indices=True).tolist() == [2, 5]


@pytest.mark.slow
def test_the_number_of_jobs_does_not_matter() -> None:
    model = SparseLogisticRegressionCV(ks=[1, 3], cv=3)
    expected = clone(model).fit(X, labels)
    for jobs in (1, 2):
        np.testing.assert_array_equal(clone(model).set_params(n_jobs=jobs).fit(X, labels).scores_, expected.scores_)
    for backend in ("threading", "loky"):
        with joblib.parallel_config(backend=backend, n_jobs=2):
            other = clone(model).fit(X, labels)
        np.testing.assert_array_equal(other.scores_, expected.scores_)
        np.testing.assert_array_equal(other.coef_path_, expected.coef_path_)


def test_logging_says_which_k_has_which_score(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="ksparse"):
        model = SparseLinearRegressionCV(ks=[1, 4], rule="best").fit(X, y)
    *steps, last = [record.getMessage() for record in caplog.records]
    for k, scores, message in zip([1, 4], model.scores_, steps, strict=True):
        assert message.startswith(f"k = {k}: score {scores.mean():.4g} ± ")
    assert last == model.choice_


@pytest.mark.slow
def test_it_can_be_cloned_pickled_and_searched() -> None:
    model = SparseLogisticRegressionCV(ks=[1, 4], cv=2).fit(X, labels)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(clone(model).fit(X, labels).coef_, model.coef_)
    ridged = SparseLogisticRegressionCV(ks=[1, 4], cv=2, **PLAIN)
    search = GridSearchCV(ridged, {"alphas": [1e-4, 10.0]}, cv=2).fit(X, labels)
    assert search.best_params_ == {"alphas": 1e-4}


def test_names_of_a_data_frame() -> None:
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    series = pd.Series(y, index=np.arange(120)[::-1])
    model = SparseLinearRegressionCV(ks=range(2, 6), always_select=["a"], scoring="r2", rule="best").fit(frame, series)
    assert model.get_feature_names_out().tolist() == ["a", "b", "d", "e", "g"]
    np.testing.assert_array_equal(model.path_.feature_names, list("abcdefgh"))
    groups = {name: name in "bg" for name in frame}
    grouped = SparseLinearRegressionCV(feature_groups=groups, scoring="r2", cv=GroupKFold(3))
    grouped.fit(frame, series, groups=np.arange(120) // 10)
    assert grouped.ks_.tolist() == [0, 1, 2]
    assert grouped.feature_groups is groups


def test_one_response_as_a_column() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    y = X[:, 1] - X[:, 4] + 0.1 * rng.standard_normal(60)
    flat, column = (SparseLinearRegressionCV(ks=[1, 2, 3]).fit(X, target) for target in (y, y[:, None]))
    assert_allclose(column.scores_, flat.scores_)


def test_compared_scores_decide() -> None:
    model = SparseLogisticRegressionCV(ks=range(6), cv=3).fit(X, labels)
    averages = model.compared_scores_
    assert averages.shape == (6,)
    best = int(np.argmax(averages))
    assert averages[best] > -np.inf
    assert model.k_ <= best
    plain = SparseLogisticRegressionCV(ks=range(6), cv=3, rule="best").fit(X, labels)
    np.testing.assert_array_equal(plain.compared_scores_, plain.scores_.mean(axis=1))
    assert plain.k_ == int(np.argmax(plain.compared_scores_))
