"""Stability selection of edges: the same halves and bounds as for features, with pairs in their place."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ksparse import (
    SparseDiscriminantAnalysis,
    SparseLinearRegression,
    SparsePrecision,
    SparsePrecisionCV,
    StabilitySelection,
)
from ksparse._types import Array
from ksparse.inference.resampling import draw_halves
from ksparse.persistence import dumps, loads
from ksparse.selection import expected_false_selections

pd: Any = import_module("pandas")
P, NAMES = 6, list("abcdef")


def chain(n: int = 81) -> Array:
    X = np.random.default_rng(0).standard_normal((n, P))
    for j in range(1, P):
        X[:, j] += 0.8 * X[:, j - 1]
    return X


def test_frequencies_are_those_of_a_loop() -> None:
    X = chain()
    model = StabilitySelection(SparsePrecision(k=5), n_pairs=3, random_state=7, threshold=0.8).fit(X)
    generator = np.random.RandomState(7)
    halves = [half for _ in range(3) for half in draw_halves(np.zeros(len(X)), generator)]
    masks = [SparsePrecision(k=5).fit(X[half]).precision_ != 0 for half in halves]
    expected = np.mean(masks, axis=0)
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(model.frequencies_, expected)
    np.testing.assert_array_equal(model.support_, expected >= 0.8)
    assert model.n_selected_ == pytest.approx(5)
    assert model.max_false_ == pytest.approx(expected_false_selections(0.8, 5, P * (P - 1) // 2, 3))


def test_edges_have_names_and_frequencies() -> None:
    frame = pd.DataFrame(chain(), columns=NAMES)
    model = StabilitySelection(SparsePrecision(k=5, known_edges=[("a", "f")]), n_pairs=4, random_state=0).fit(frame)
    found = model.edges_.tolist()
    assert ("a", "f", 1.0) in found
    assert model.edges_.dtype.names == ("i", "j", "frequency")
    frequencies = [frequency for *_, frequency in found]
    assert frequencies == sorted(frequencies, reverse=True)
    assert min(frequencies) >= model.threshold_
    assert len(found) == np.triu(model.support_, 1).sum()
    again = loads(dumps(model))
    assert again.edges_.tolist() == found
    plain = StabilitySelection(SparsePrecision(k=5), n_pairs=2, random_state=0).fit(chain())
    assert {(i, j) for i, j, _ in plain.edges_.tolist()} <= {(j, j + 1) for j in range(P - 1)}


def test_errors_of_a_bound_count_pairs() -> None:
    with pytest.raises(ValueError, match="with 5 of 15 features selected"):
        StabilitySelection(SparsePrecision(k=5), n_pairs=2, max_false=0.001).fit(chain())


@pytest.mark.parametrize(
    "inner",
    [
        SparsePrecisionCV(ks=[3, 5], shrinkages=[0.1], cv=2),
        make_pipeline(StandardScaler(), SparsePrecision(k=5)),
        SparsePrecision(k=5, transformation="rank"),
    ],
    ids=["chooses k", "pipeline", "ranks"],
)
def test_any_graph_may_be_inside(inner: Any) -> None:
    model = StabilitySelection(inner, n_pairs=2, random_state=0, n_jobs=1).fit(chain())
    assert model.frequencies_.shape == (P, P)
    assert model.frequencies_[0, 1] == 1
    assert model.n_selected_ <= 5


def test_halves_of_a_classifier_are_stratified() -> None:
    labels = np.repeat([0, 1], [78, 3])  # a half without the second class could not be fitted
    model = StabilitySelection(SparseDiscriminantAnalysis(k=5), n_pairs=3, random_state=0)
    assert clone(model).fit(chain(), labels).frequencies_[1, 2] == 1
    with pytest.raises(ValueError, match="requires y"):
        model.fit(chain())


def test_what_does_not_fit_graphs_is_refused() -> None:
    with pytest.raises(ValueError, match="halves are of samples"):
        StabilitySelection(SparsePrecision(k=2, covariance="precomputed")).fit(np.eye(3))
    model = StabilitySelection(SparsePrecision(k=5), n_pairs=1, random_state=0).fit(chain())
    with pytest.raises(TypeError, match="a graph selects edges, not features"):
        model.get_support()
    features = StabilitySelection(SparseLinearRegression(k=2), n_pairs=1, random_state=0)
    with pytest.raises(ValueError, match="requires y"):
        features.fit(chain())
    assert not hasattr(features.fit(chain(), chain()[:, 0]), "edges_")
