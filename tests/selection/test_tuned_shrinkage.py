"""Shrinkage of graphs chosen with the number of edges: loops by hand, what a fold may see, other k, files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal
from sklearn.model_selection import KFold, StratifiedKFold

import ksparse
from ksparse import SparseDiscriminantAnalysis, SparseDiscriminantAnalysisCV, SparsePrecision, SparsePrecisionCV
from ksparse._types import Array
from ksparse.datasets import make_precision
from ksparse.estimators.graph_model import AMOUNTS
from ksparse.objectives.shrinkage import shrink_covariance
from ksparse.selection.rules import choose, compute_standard_errors
from tests.estimators.test_discriminant import classes

KS = [0, 3, 7]
SHRINKAGES = [0.0, 0.05, 0.2]
WAYS = ("factor", "amount")


def draw(n: int = 60, p: int = 8, seed: int = 0) -> Array:
    """Samples whose variables have different spreads."""
    return make_precision(n, p, probability=0.3, random_state=seed).X * np.linspace(0.5, 3.0, p)


@pytest.mark.parametrize("by", WAYS)
@pytest.mark.slow
def test_grid_scores_are_a_loop_over_folds_shrinkages_and_k(by: str) -> None:
    X = draw()
    model = SparsePrecisionCV(ks=KS, shrinkages=SHRINKAGES, shrink_by=by, cv=3, rule="best").fit(X)
    truth = np.empty((3, 3, 1, 3))
    for fold, (train, test) in enumerate(KFold(3, shuffle=True, random_state=0).split(X)):
        for i, s in enumerate(SHRINKAGES):
            for j, k in enumerate(KS):
                part = SparsePrecision(k=k, shrinkage=s, shrink_by=by).fit(X[train])
                truth[i, j, 0, fold] = part.score(X[test])
    assert_allclose(model.grid_scores_, truth, rtol=1e-6)
    means = truth.mean(axis=(2, 3))
    row, column = np.unravel_index(means.argmax(), means.shape)
    assert (model.shrinkage_, model.k_) == (SHRINKAGES[row], KS[column])
    assert_allclose(model.scores_.mean(axis=1), means.max(axis=0), rtol=1e-6)
    fixed = SparsePrecision(k=model.k_, shrinkage=model.shrinkage_, shrink_by=by).fit(X)
    assert_allclose(model.precision_, fixed.precision_, rtol=1e-6, atol=1e-9)
    table = model.cv_results_
    assert_array_equal(np.unique(table["param_shrinkage"]), SHRINKAGES)
    assert table["params"][int(np.argmax(table["mean_test_score"]))] == {"shrinkage": model.shrinkage_, "k": model.k_}


@pytest.mark.slow
def test_grid_scores_of_a_classifier_by_hand() -> None:
    """Folds are shuffled and stratified, and each has class means, scales and correlations of its own."""
    X, y = classes(n=90)
    model = SparseDiscriminantAnalysisCV(ks=KS, shrinkages=SHRINKAGES, cv=3).fit(X, y)
    for fold, (train, test) in enumerate(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)):
        means = np.array([X[train][y[train] == label].mean(axis=0) for label in range(3)])
        for i, s in enumerate(SHRINKAGES):
            part = SparsePrecision(k=7, assume_centered=True, shrinkage=s, shrink_by="amount")
            part.fit(X[train] - means[y[train]])
            assert_allclose(model.grid_scores_[i, 2, 0, fold], part.score(X[test] - means[y[test]]), rtol=1e-6)


@pytest.mark.slow
def test_a_scorer_sees_the_shrunken_model() -> None:
    X, y = classes(n=90)
    model = SparseDiscriminantAnalysisCV(
        ks=[7], shrinkages=SHRINKAGES, cv=StratifiedKFold(3), scoring="neg_log_loss"
    ).fit(X, y)
    for fold, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
        for i, s in enumerate(SHRINKAGES):
            part = SparseDiscriminantAnalysis(k=7, shrinkage=s, shrink_by="amount").fit(X[train], y[train])
            predicted = part.predict_proba(X[test])[np.arange(len(test)), y[test]]
            assert_allclose(model.grid_scores_[i, 0, 0, fold], np.log(predicted).mean(), rtol=1e-5)


@pytest.mark.parametrize("kind", ["precision", "discriminant"])
@pytest.mark.slow
def test_folds_do_not_see_what_is_held_out(kind: str) -> None:
    """Whatever is held out, it is scored by the means, scales and Ω of the training samples."""
    X, y = classes(n=90)
    train, test = np.arange(50), np.arange(50, 90)
    changed = X.copy()
    changed[test] = 3.0 * X[test] + 1.0
    kinds: dict[str, Any] = {"precision": SparsePrecision, "discriminant": SparseDiscriminantAnalysis}
    chosen: Any = {"precision": SparsePrecisionCV, "discriminant": SparseDiscriminantAnalysisCV}[kind]
    for data in (X, changed):
        model = chosen(ks=[4], shrinkages=[0.1], cv=[(train, test)]).fit(data, y)
        part = kinds[kind](k=4, shrinkage=0.1, shrink_by="amount").fit(X[train], y[train])
        centres = part.means_[y[test]] if kind == "discriminant" else part.location_
        deviations = data[test] - centres
        held_out = deviations.T @ deviations / len(test)
        omega = part.precision_
        truth = 0.5 * (np.linalg.slogdet(omega)[1] - np.sum(held_out * omega) - len(omega) * np.log(2 * np.pi))
        assert_allclose(model.grid_scores_.ravel(), [truth], rtol=1e-6)


def test_one_split_chooses_by_the_spread_of_its_samples() -> None:
    """The weakest shrinkage, and then the fewest edges, within 0.2 standard errors of the held-out samples."""
    X, ks, shrinkages = make_precision(80, 12, 0.3, random_state=0).X, [0, 4, 8, 16, 32], [0.02, 0.05, 0.1, 0.2]
    train, test = np.arange(40), np.arange(40, 80)
    model = SparsePrecisionCV(ks=ks, shrinkages=shrinkages, cv=[(train, test)]).fit(X)
    likelihoods = np.array([[score_samples(X[train], X[test], k, s) for k in ks] for s in shrinkages])
    means = likelihoods.mean(axis=-1)
    top = np.unravel_index(means.argmax(), means.shape)
    margin = 0.2 * likelihoods[top].std(ddof=1) / np.sqrt(len(test))
    row = next(i for i in range(4) if means[i].max() >= means.max() - margin)
    column = next(j for j in range(5) if means[row, j] >= means[row].max() - margin)
    assert (model.shrinkage_, model.k_) == (shrinkages[row], ks[column])
    assert row < top[0]
    assert column < means[row].argmax()
    assert model.at(32).shrinkage == model.shrinkage_


def score_samples(train: Array, test: Array, k: int, shrinkage: float) -> Array:
    """The log-likelihood of each test sample."""
    part = SparsePrecision(k=k, shrinkage=shrinkage, shrink_by="amount").fit(train)
    return np.asarray(multivariate_normal(part.location_, part.covariance_).logpdf(test))


def test_standard_errors_of_folds_are_those_of_their_samples() -> None:
    """The variance of a mean of means; for a scorer, and for folds of one sample each, the spread over the folds."""
    X = draw(20, p=4)
    options: dict[str, Any] = {"ks": [2], "shrinkages": 0.1}
    model = SparsePrecisionCV(cv=KFold(3), **options).fit(X)
    parts = [score_samples(X[train], X[test], 2, 0.1) for train, test in KFold(3).split(X)]
    variance = sum(part.var(ddof=1) / len(part) for part in parts) / 9
    assert_allclose(model._grid_errors, np.sqrt(variance), rtol=1e-6)
    scored = SparsePrecisionCV(cv=KFold(3), scoring=lambda fitted, X, y: fitted.score(X), **options).fit(X)
    alone = SparsePrecisionCV(cv=KFold(20), **options).fit(X)
    for other in (scored, alone):
        assert_allclose(other._grid_errors, compute_standard_errors(other.grid_scores_))


@pytest.mark.parametrize("by", WAYS)
@pytest.mark.slow
def test_no_shrinkage_is_one_choice_of_the_grid(by: str) -> None:
    X = draw()
    alone = SparsePrecisionCV(ks=KS, shrinkages=0.0, shrink_by=by, cv=3, rule="best").fit(X)
    among = SparsePrecisionCV(ks=KS, shrinkages=SHRINKAGES, shrink_by=by, cv=3, rule="best").fit(X)
    assert_array_equal(alone.grid_scores_[0], among.grid_scores_[0])
    assert (alone.shrinkage_, alone.shrinkages_.tolist()) == (0.0, [0.0])
    means = [np.mean([SparsePrecision(k).fit(X[a]).score(X[b]) for a, b in folds(X)]) for k in KS]
    assert alone.k_ == KS[int(np.argmax(means))]


def folds(X: Array) -> Any:
    return KFold(3, shuffle=True, random_state=0).split(X)


@pytest.mark.parametrize("kind", ["precision", "discriminant"])
@pytest.mark.slow
def test_at_another_k_is_the_fixed_model_and_is_saved(kind: str, tmp_path: Any) -> None:
    X, y = classes(n=90)
    model: Any = {"precision": SparsePrecisionCV, "discriminant": SparseDiscriminantAnalysisCV}[kind](
        ks=KS, shrinkages=SHRINKAGES, cv=3, rule="best"
    ).fit(X, y)
    ksparse.save(model, tmp_path / "model.json")
    loaded = ksparse.load(tmp_path / "model.json")
    fixed_kind: Any = {"precision": SparsePrecision, "discriminant": SparseDiscriminantAnalysis}[kind]
    best = model.grid_scores_.mean(axis=-1)[:, :, 0].argmax(axis=0)
    for position, k in enumerate(KS):
        other = model.at(k)
        assert type(other) is fixed_kind
        assert (other.k, other.shrinkage, other.shrink_by) == (k, SHRINKAGES[best[position]], "amount")
        assert_array_equal(other.scores_, model.scores_[position])
        fixed = fixed_kind(k=k, shrinkage=other.shrinkage, shrink_by="amount").fit(X, y)
        assert_allclose(other.precision_, fixed.precision_, rtol=1e-6, atol=1e-9)
        assert_array_equal(other.edges_["i"], fixed.edges_["i"])
        assert_array_equal(other.result_.support, fixed.result_.support)
        assert_array_equal(other.result_.selected, fixed.result_.selected)
        assert other.bounds_ == fixed.bounds_
        assert not {"ks_", "shrinkages_", "shrinkage_", "path_"} & set(vars(other))
        ksparse.save(other, tmp_path / "other.json")
        for again in (loaded.at(k), ksparse.load(tmp_path / "other.json")):
            assert_array_equal(again.precision_, other.precision_)
            assert again.bounds_ == other.bounds_
        if kind == "discriminant":
            assert_array_equal(loaded.at(k).predict(X), fixed.predict(X))
    assert_array_equal(model.at(model.k_).precision_, model.precision_)


@pytest.mark.slow
def test_bounds_are_those_of_the_chosen_shrinkage() -> None:
    """Without shrinkage Σ is singular and has the paper's bounds; with it, it has none."""
    X = draw(12, p=16)
    model = SparsePrecisionCV(ks=[5], shrinkages=[0.0, 0.3], cv=3, rule="best").fit(X)
    none = ksparse.objectives.EigenvalueBounds(0.0, np.inf)
    assert model.shrinkage_ == 0.3
    assert model.bounds_ == model.at(5).bounds_ == none
    plain = SparsePrecisionCV(ks=[5], shrinkages=0.0, cv=3).fit(X)
    assert plain.bounds_ == plain.at(5).bounds_ == SparsePrecision(k=5).fit(X).bounds_ != none


@pytest.mark.slow
def test_units_do_not_matter() -> None:
    X = draw()
    units = 10.0 ** np.arange(-4.0, 4.0)
    one, other = (SparsePrecisionCV(ks=KS, cv=3).fit(data) for data in (X, X * units))
    assert_allclose(one.shrinkages_, other.shrinkages_)
    assert (one.k_, one.shrinkage_) == (other.k_, other.shrinkage_)
    assert_allclose(one.grid_scores_, other.grid_scores_ + np.log(units).sum(), rtol=1e-5)
    assert_allclose(one.precision_, other.precision_ * np.multiply.outer(units, units), rtol=1e-4, atol=1e-8)


@pytest.mark.slow
def test_the_order_of_rows_hardly_matters() -> None:
    """A number of folds is shuffled: samples of a file that is sorted by one variable are in all folds."""
    X = draw(90)
    X = X[np.argsort(X[:, 0])]
    by_number = SparsePrecisionCV(ks=[4], shrinkages=0.1, cv=3).fit(X)
    consecutive = SparsePrecisionCV(ks=[4], shrinkages=0.1, cv=KFold(3)).fit(X)
    assert by_number.scores_.std() < 0.5 * consecutive.scores_.std()


@pytest.mark.parametrize("by", WAYS)
@pytest.mark.slow
def test_shrinkage_helps_where_samples_are_few(by: str) -> None:
    data = make_precision(40, 20, random_state=1)
    tuned = SparsePrecisionCV(shrink_by=by, cv=4).fit(data.X)
    plain = SparsePrecisionCV(shrinkages=0.0, cv=4).fit(data.X)
    assert tuned.shrinkage_ > 0
    errors = [float(np.linalg.norm(model.precision_ - data.precision)) for model in (tuned, plain)]
    assert errors[0] < errors[1]


@pytest.mark.slow
def test_auto_leaves_out_what_is_impossible() -> None:
    """Nearly equal correlations of few samples: the smallest amounts do not converge on some fold."""
    rng = np.random.default_rng(0)
    X = 1e-4 * rng.standard_normal((8, 30)) + rng.standard_normal((8, 1))
    amounts = np.array(AMOUNTS) / np.sqrt(8)
    model = SparsePrecisionCV(ks=[2], cv=2).fit(X)
    assert set(model.shrinkages_.round(9)) <= set(amounts.round(9))
    assert 0.0 not in model.shrinkages_
    for s in model.shrinkages_:
        for rows in (slice(None), *(train for train, _ in KFold(2, shuffle=True, random_state=0).split(X))):
            shrink_covariance(np.corrcoef(X[rows], rowvar=False), s, "amount")


@pytest.mark.slow
def test_auto_drops_amounts_that_fail_on_a_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    from ksparse.estimators import graph_model
    from ksparse.objectives.shrinkage import ShrinkageError

    X = draw(40)
    whole = np.corrcoef(X, rowvar=False)

    def refuse(covariance: Array, shrinkage: float, by: str) -> Array:
        if 0 < shrinkage < 0.1 and not np.allclose(covariance, whole):
            raise ShrinkageError("too small")
        return shrink_covariance(covariance, shrinkage, by)

    monkeypatch.setattr(graph_model, "shrink_covariance", refuse)
    model = SparsePrecisionCV(ks=KS, cv=3).fit(X)
    assert_allclose(model.shrinkages_, [0.0, *(amount for amount in np.array(AMOUNTS) / np.sqrt(40) if amount >= 0.1)])
    with pytest.raises(ShrinkageError):
        SparsePrecisionCV(ks=KS, cv=3, shrinkages=[0.05, 0.2]).fit(X)


@pytest.mark.parametrize("rule", ["smooth", "best", "1se"])
@pytest.mark.slow
def test_with_one_fold_the_best_combination_is_chosen(rule: str) -> None:
    scores = np.random.default_rng(3).standard_normal((3, 6, 1, 1))
    best = np.unravel_index(scores.argmax(), scores.shape)
    assert_array_equal(choose(scores, np.arange(6), rule), best[:3])


@pytest.mark.slow
def test_wrong_shrinkages_are_named() -> None:
    X = draw(30)
    for wrong, message in (
        ([], "shrinkages is empty"),
        (1.0, "shrinkages must be at least 0 and below 1"),
        ([-0.1], "shrinkages must hold"),
        ("all", 'shrinkages must be "auto"'),
    ):
        with pytest.raises(ValueError, match=message):
            SparsePrecisionCV(shrinkages=wrong).fit(X)
    for kind in ({"a": 1}, None):
        with pytest.raises(TypeError, match="shrinkages must be"):
            SparsePrecisionCV(shrinkages=kind).fit(X)
    with pytest.raises(ValueError, match="shrink_by must be"):
        SparsePrecisionCV(shrink_by="lasso").fit(X)
    assert "shrinkage" not in SparsePrecisionCV().get_params()
