"""Graphs as people meet them: names of edges, normal scores, and errors that name variables."""

from __future__ import annotations

import copy
import pickle
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm, rankdata
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.preprocessing import scale

from ksparse import SparseDiscriminantAnalysis, SparsePrecision, SparsePrecisionCV, SparsePrecisionIC
from ksparse._types import Array
from ksparse.estimators.normal_scores import compute_normal_scores
from ksparse.persistence import dumps, loads

pd: Any = import_module("pandas")
NAMES = list("abcdef")


def chain(n: int = 60, seed: int = 0) -> Array:
    X = np.random.default_rng(seed).standard_normal((n, 6))
    for j in range(1, 6):
        X[:, j] += 0.8 * X[:, j - 1]
    return X


def frame(n: int = 60) -> Any:
    return pd.DataFrame(chain(n), columns=NAMES)


@pytest.mark.parametrize(
    "model",
    [SparsePrecision(k=4), SparsePrecisionCV(ks=[4], cv=2), SparsePrecisionIC(ks=[4]), SparseDiscriminantAnalysis(k=4)],
    ids=lambda model: type(model).__name__,
)
def test_edges_have_names_where_there_are_names(model: Any) -> None:
    labels = np.arange(60) % 2
    model.fit(frame(), labels)
    rows, columns = np.nonzero(np.triu(model.precision_, 1))
    assert {(i, j) for i, j, _ in model.edges_.tolist()} == {
        (NAMES[i], NAMES[j]) for i, j in zip(rows, columns, strict=True)
    }
    for i, j, strength in model.edges_.tolist():
        assert strength == model.partial_correlation_[NAMES.index(i), NAMES.index(j)]
    sizes = np.abs(model.edges_["partial_correlation"])
    assert (np.diff(sizes) <= 0).all()
    again = loads(dumps(model))
    assert again.edges_.tolist() == model.edges_.tolist()
    model.fit(chain(), labels)
    assert model.edges_.dtype["i"] == np.intp


def test_names_are_kept_whole() -> None:
    names = ["a\0", "a", "a rather long name " * 50, "d", "e", "f"]
    model = SparsePrecision(k=15).fit(pd.DataFrame(chain(), columns=names))
    assert {*model.edges_["i"], *model.edges_["j"]} == set(names)


def test_partial_correlations_are_those_of_residuals() -> None:
    X = chain(200)
    partial = SparsePrecision(k=15).fit(X).partial_correlation_  # all pairs: Ω is the inverse of the covariance
    centred = X - X.mean(axis=0)
    others = centred[:, [2, 3, 4, 5]]
    residuals = centred[:, :2] - others @ np.linalg.lstsq(others, centred[:, :2], rcond=None)[0]
    assert partial[0, 1] == pytest.approx(np.corrcoef(residuals.T)[0, 1])
    assert_array_equal(partial, partial.T)
    assert_array_equal(partial.diagonal(), 1.0)


def test_before_fit_there_are_no_edges() -> None:
    assert not hasattr(SparsePrecision(), "edges_")
    assert not hasattr(SparsePrecision(), "partial_correlation_")


# --- normal scores ---------------------------------------------------------------------------------------------------


def test_scores_of_training_samples_are_those_of_mean_ranks() -> None:
    X = np.random.default_rng(0).integers(0, 9, (40, 3)).astype(float)
    expected = norm.ppf(rankdata(X, axis=0) / 41)
    assert_allclose(compute_normal_scores(X, np.sort(X, axis=0)), expected, atol=1e-14)


def test_scores_of_other_samples_lie_between_those_of_their_neighbours() -> None:
    training = np.arange(10.0)[:, None]
    inside = compute_normal_scores(np.array([[3.2], [-1.0], [99.0]]), training).ravel()
    assert_allclose(inside, norm.ppf([4.5 / 11, 0.5 / 11, 10.5 / 11]))


def test_increasing_functions_change_nothing() -> None:
    X, other = chain(), chain(seed=1)
    models = [
        SparsePrecision(k=5, transformation="rank").fit(X),
        SparsePrecision(k=5, transformation="rank").fit(np.exp(3 * X)),
    ]
    assert_array_equal(models[0].precision_, models[1].precision_)
    assert models[0].score(other) == models[1].score(np.exp(3 * other))
    assert_array_equal(models[0].mahalanobis(other), models[1].mahalanobis(np.exp(3 * other)))
    huge = SparsePrecision(k=5, transformation="rank").fit(X * 1e200)
    assert_array_equal(huge.precision_, models[0].precision_)


def test_a_model_of_ranks_is_one_of_scores() -> None:
    X, other = chain(), chain(seed=1)
    ordered = np.sort(X, axis=0)
    Z, others = compute_normal_scores(X, ordered), compute_normal_scores(other, ordered)
    by_rank, by_hand = SparsePrecision(k=5, transformation="rank").fit(X), SparsePrecision(k=5).fit(Z)
    assert_allclose(by_rank.precision_, by_hand.precision_)
    assert by_rank.score(other) == pytest.approx(by_hand.score(others))
    assert_allclose(by_rank.mahalanobis(other), by_hand.mahalanobis(others))
    again = loads(dumps(by_rank))
    assert again.score(other) == by_rank.score(other)


def test_the_constructor_takes_transform_too() -> None:
    """The attribute has another name: scikit-learn would take what has an attribute `transform` for a transformer."""
    X = chain()
    for kind, options in (
        (SparsePrecision, {"k": 5}),
        (SparsePrecisionCV, {"ks": [3, 5], "cv": 3}),
        (SparsePrecisionIC, {"ks": [3, 5]}),
    ):
        model = kind(transform="rank", **options)
        assert model.transformation == "rank"
        assert not hasattr(model, "transform")
        assert "transform" not in model.get_params()
        copies = [clone(model), pickle.loads(pickle.dumps(model)), copy.deepcopy(model), model]
        assert [made.transformation for made in copies] == ["rank"] * 4
        assert_array_equal(model.fit(X).precision_, kind(transformation="rank", **options).fit(X).precision_)
        with pytest.raises(TypeError, match="transform is another name of transformation; pass one of them"):
            kind(transform="rank", transformation="rank")
        with pytest.raises(TypeError, match="no parameter 'transforms'; did you mean transform"):
            kind(transforms="rank")
        with pytest.raises(ValueError, match="transformation must be None or \"rank\", got 'ranks'"):
            kind(transform="ranks", **options).fit(X)


def test_outliers_do_no_harm() -> None:
    X = chain(200)
    X[7, [0, 5]] = 1e4  # both on the same day
    raw, ranks = (SparsePrecision(k=5, transformation=kind).fit(X) for kind in (None, "rank"))
    assert (raw.precision_[0, 5] != 0, ranks.precision_[0, 5] != 0) == (True, False)
    assert {(i, i + 1) for i in range(5)} == {(i, j) for i, j, _ in ranks.edges_.tolist()}


def test_folds_take_ranks_among_their_training_rows() -> None:
    X = chain()
    cv = KFold(3)
    model = SparsePrecisionCV(ks=[3, 6], shrinkages=0.1, cv=cv, transformation="rank").fit(X)
    for fold, (train, test) in enumerate(cv.split(X)):
        ordered = np.sort(X[train], axis=0)
        by_hand = SparsePrecision(k=6, shrinkage=0.1, shrink_by="amount").fit(compute_normal_scores(X[train], ordered))
        assert model.scores_[1, fold] == pytest.approx(by_hand.score(compute_normal_scores(X[test], ordered)))
    fixed_k = model.at(k=3)
    assert fixed_k.transformation == "rank"
    assert fixed_k.score(X) == pytest.approx(
        SparsePrecision(k=3, shrinkage=0.1, shrink_by="amount", transformation="rank").fit(X).score(X)
    )


# --- what is refused, and what is said -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"transformation": "ranks"}, "transformation must be None or \"rank\", got 'ranks'"),
        ({"transformation": "rank", "covariance": "precomputed"}, 'transformation="rank" needs samples'),
    ],
)
def test_bad_transforms(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        SparsePrecision(k=1, **options).fit(np.eye(3))


@pytest.mark.parametrize("model", [SparsePrecision(k=2), SparseDiscriminantAnalysis(k=2)])
def test_gaps_are_named_and_counted(model: Any) -> None:
    data = frame()
    data.loc[[3, 4], "b"] = np.nan
    data.loc[4, "e"] = np.inf
    with pytest.raises(ValueError, match="missing") as caught:
        model.fit(data, np.arange(60) % 2)
    says = str(caught.value)
    assert says.startswith("X has 2 missing (NaN) and 1 infinite values in 2 of 60 rows, in the variables 'b', 'e';")
    assert "HistGradientBoosting" not in says
    assert "dropna" in says
    X = chain()
    X[0, 5] = np.nan
    with pytest.raises(ValueError, match=r"X has 1 missing \(NaN\) value in 1 of 60 rows, in the variable '5'; leave"):
        model.fit(X, np.arange(60) % 2)


def test_text_is_named() -> None:
    data = frame().assign(city="Rome\x1b[31m", b=["x"] * 60)
    with pytest.raises(ValueError, match="numbers, but 2 of 7 have text or other values: 'b', 'city'; leave them out"):
        SparsePrecision(k=2).fit(data)


@pytest.mark.parametrize("model", [SparsePrecision(k=2), SparsePrecisionCV(ks=[2], cv=2), SparsePrecisionIC(ks=[2])])
def test_a_covariance_for_samples_is_noticed(model: Any) -> None:
    with pytest.warns(UserWarning, match='square and symmetric.*covariance="precomputed"'):
        model.fit(np.cov(chain().T))


def test_samples_are_not_taken_for_a_covariance() -> None:
    square = chain(6)
    SparsePrecision(k=2).fit(square)  # warnings are errors
    SparsePrecision(k=2).fit(5.0 - 4.0 * np.eye(6))  # symmetric, but with larger entries than variances allow
    distances = np.abs(np.subtract.outer(np.arange(6.0) ** 2, np.arange(6.0) ** 2))
    SparsePrecision(k=2).fit(distances)
    SparsePrecision(k=2, covariance="precomputed").fit(np.cov(scale(chain()).T))
