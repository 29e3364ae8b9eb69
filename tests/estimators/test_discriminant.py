"""SparseDiscriminantAnalysis: LDA with the sparse precision matrix of the samples around their class means."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, cross_val_score

from ksparse import SparseDiscriminantAnalysis, SparseDiscriminantAnalysisCV, SparsePrecision
from ksparse._types import AnyArray, Array


def classes(n: int = 120, p: int = 8, count: int = 3, seed: int = 0) -> tuple[Array, AnyArray]:
    """Gaussian classes with a chain of dependent variables."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] += 0.7 * X[:, j - 1]
    y = rng.integers(count, size=n)
    X[:, :count] += 1.5 * np.eye(count)[y]
    return X, y


@pytest.mark.parametrize("count", [2, 3, 5])
def test_with_all_edges_it_is_scikit_learns(count: int) -> None:
    X, y = classes(count=count)
    ours = SparseDiscriminantAnalysis(k=1000).fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    here, there = ours.decision_function(X), theirs.decision_function(X)
    if count > 2:  # theirs has a term that all classes have in common
        here, there = np.diff(here), np.diff(there)
    assert_allclose(here, there, atol=1e-6)


def test_the_precision_is_that_of_centred_samples() -> None:
    X, y = classes()
    model = SparseDiscriminantAnalysis(k=5).fit(X, y)
    centred = X - model.means_[y]
    assert_allclose(model.precision_, SparsePrecision(k=5, assume_centered=True).fit(centred).precision_, atol=1e-8)
    assert len(model.edges_) == 5
    assert_allclose(model.covariance_ @ model.precision_, np.eye(8), atol=1e-8)


def test_the_papers_scores() -> None:
    """δ_l(x) = xᵀΩμ_l − ½μ_lᵀΩμ_l + log π_l (§5.2.2), but for what all classes have in common."""
    X, y = classes()
    model = SparseDiscriminantAnalysis(k=5).fit(X, y)
    deltas = [
        X @ model.precision_ @ mean - 0.5 * mean @ model.precision_ @ mean + np.log(np.mean(y == label))
        for label, mean in enumerate(model.means_)
    ]
    centre = model.priors_ @ model.means_
    common = (X - 0.5 * centre) @ model.precision_ @ centre
    assert_allclose(model.decision_function(X), np.array(deltas).T - common[:, None], atol=1e-9)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("count", [2, 3])
def test_large_means_cost_no_digits(count: int) -> None:
    X, y = classes(count=count)
    X = np.round(X * 2**16) / 2**16  # so that a mean can be added and taken away exactly
    plain, moved = (SparseDiscriminantAnalysis(k=5).fit(X + mean, y).predict_proba(X + mean) for mean in (0.0, 2.0**26))
    assert_allclose(moved, plain, atol=1e-6)


def test_priors_move_the_margins() -> None:
    X, y = classes(count=2)
    plain = SparseDiscriminantAnalysis(k=5, priors=[0.5, 0.5]).fit(X, y)
    other = SparseDiscriminantAnalysis(k=5, priors=[0.1, 0.9]).fit(X, y)
    assert_allclose(other.decision_function(X) - plain.decision_function(X), np.log(9.0))
    assert_allclose(SparseDiscriminantAnalysis().fit(X, y).priors_, np.bincount(y) / len(y))


def test_cross_validation_chooses_by_the_likelihood_of_held_out_samples() -> None:
    X, y = classes(n=90)
    model = SparseDiscriminantAnalysisCV(ks=[0, 4, 7, 20], shrinkages=0.0, rule="best").fit(X, y)
    splits = StratifiedKFold(6, shuffle=True, random_state=0).split(X, y)
    for fold, (train, test) in enumerate(splits):
        means = np.array([X[train][y[train] == label].mean(axis=0) for label in range(3)])
        part = SparsePrecision(k=7, assume_centered=True).fit(X[train] - means[y[train]])
        assert model.scores_[2, fold] == pytest.approx(part.score(X[test] - means[y[test]]), rel=1e-6)
    assert_array_equal(model.ks_, [0, 4, 7, 20])
    assert model.k_ == model.ks_[model.scores_.mean(axis=1).argmax()] == len(model.edges_)


def test_cross_validation_by_a_scorer() -> None:
    X, y = classes(n=90)
    labels = np.array(["a", "b", "c"])[y]
    model = SparseDiscriminantAnalysisCV(ks=[0, 7], shrinkages=0.0, cv=3, scoring="accuracy").fit(X, labels)
    for row, k in enumerate([0, 7]):
        splitter = StratifiedKFold(3, shuffle=True, random_state=0)
        truth = cross_val_score(SparseDiscriminantAnalysis(k), X, labels, cv=splitter)
        assert_allclose(model.scores_[row], truth)
    assert model.predict(X).dtype == labels.dtype


def test_a_fold_may_lack_a_class_if_the_scorer_does_not_mind() -> None:
    X, y = classes(n=60, count=2)
    rare = np.where(np.arange(60) == 0, 7, y)
    model = SparseDiscriminantAnalysisCV(ks=[0, 3], cv=KFold(3), scoring="accuracy").fit(X, rare)
    assert model.classes_.tolist() == [0, 1, 7]
    assert model.scores_.shape == (2, 3)


def test_the_path_of_precision_matrices() -> None:
    X, y = classes(n=90)
    model = SparseDiscriminantAnalysisCV(ks=[0, 4, 7], cv=3).fit(X, y)
    assert model.path_.ks.tolist() == [0, 4, 7]
    chosen = model.ks_.tolist().index(model.k_)
    assert_allclose(model.path_.precision[chosen].toarray(), model.precision_)
    assert not hasattr(model, "coef_path_")


@pytest.mark.slow
def test_the_chain_helps_to_classify() -> None:
    X, y = classes(n=300)
    held_out, labels = classes(n=2000, seed=1)
    chain = SparseDiscriminantAnalysisCV().fit(X, y)
    diagonal = SparseDiscriminantAnalysis(0).fit(X, y)
    assert chain.score(held_out, labels) > diagonal.score(held_out, labels) + 0.02


@pytest.mark.slow
def test_wine() -> None:
    X, y = load_wine(return_X_y=True)
    assert cross_val_score(SparseDiscriminantAnalysisCV(ks=[0, 20]), X, y, cv=3).mean() > 0.95


def test_groups_reach_the_splitter() -> None:
    X, y = classes(n=60, count=2)
    groups = np.arange(60) // 10
    model = SparseDiscriminantAnalysisCV(ks=[0, 3], cv=GroupKFold(3)).fit(X, y, groups=groups)
    assert model.scores_.shape == (2, 3)


def test_more_variables_than_samples_and_constant_ones() -> None:
    X, y = classes(n=20, p=50, count=2)
    X[:, 10] = 3.0
    model = SparseDiscriminantAnalysis(30).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"priors": [0.5, 0.5]}, "for 3 classes"),
        ({"priors": [0.5, 0.6, 0.1]}, "add up to 1"),
        ({"priors": [0.5, 0.5, 0.0]}, "positive"),
    ],
)
def test_bad_parameters_are_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SparseDiscriminantAnalysis(**parameters).fit(*classes())
    with pytest.raises(TypeError, match="how many edges to select"):
        SparseDiscriminantAnalysis("cv").fit(*classes())


def test_bad_labels_are_named() -> None:
    X, y = classes()
    with pytest.raises(ValueError, match="only one class: 1"):
        SparseDiscriminantAnalysis().fit(X, np.ones(len(X), dtype=int))
    with pytest.raises(ValueError, match="more samples than classes"):
        SparseDiscriminantAnalysis().fit(X[:3], [0, 1, 2])
    rare = np.where(np.arange(len(y)) == 0, 7, y % 2)
    splits = [(np.arange(1, 120), np.arange(1))]
    with pytest.raises(ValueError, match=r"class 7 of y has 1 row, .*; merge the class with another"):
        SparseDiscriminantAnalysisCV(cv=splits).fit(X, rare)
