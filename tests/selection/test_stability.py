"""Stability selection: halves, frequencies, and what scikit-learn expects of a selector."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectFromModel, SelectKBest, SelectorMixin, f_regression
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ksparse import (
    SparseLinearRegression,
    SparseLinearRegressionCV,
    SparseLinearRegressionIC,
    SparseLogisticRegression,
    StabilitySelection,
)
from ksparse._types import Array
from ksparse.selection import expected_false_selections, find_smallest_threshold

pd: Any = import_module("pandas")

rng = np.random.default_rng(0)
X = rng.standard_normal((101, 20))
y = X[:, 3] - X[:, 8] + X[:, 15] + rng.standard_normal(101)
HALVES: list[Array] = []


class Recorder(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Remembers which samples it was fitted to, numbered in the first column of X."""

    def __init__(self, classifier: bool = False) -> None:
        self.classifier = classifier

    def fit(self, data: Any, target: Any) -> Recorder:
        HALVES.append(data[:, 0].astype(int))
        self.n_features_in_ = data.shape[1]
        return self

    def _get_support_mask(self) -> Any:
        return np.ones(self.n_features_in_, dtype=bool)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier" if self.classifier else "regressor"
        return tags


def halves(target: Any, n_pairs: int = 20, classifier: bool = False, seed: int = 0) -> list[tuple[Array, Array]]:
    """The samples of the two halves of each pair."""
    HALVES.clear()
    data = np.column_stack([np.arange(len(target)), np.ones(len(target))])
    StabilitySelection(Recorder(classifier), n_pairs=n_pairs, random_state=seed).fit(data, target)
    return list(zip(HALVES[::2], HALVES[1::2], strict=True))


@pytest.mark.parametrize("n", [2, 10, 101])
def test_two_halves_are_disjoint_and_hold_all_samples(n: int) -> None:
    pairs = halves(np.linspace(0, 1, n))
    assert len(pairs) == 20
    for first, second in pairs:
        assert abs(len(first) - len(second)) <= 1
        assert sorted([*first, *second]) == list(range(n))


def test_every_sample_is_as_often_in_each_half() -> None:
    first = np.bincount(np.concatenate([pair[0] for pair in halves(np.linspace(0, 1, 10), n_pairs=400)]))
    np.testing.assert_allclose(first / 400, 0.5, atol=4 * 0.5 / np.sqrt(400))


@pytest.mark.parametrize("text", [False, True])
def test_both_halves_have_the_same_shares_of_classes(text: bool) -> None:
    labels = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], [50, 31, 4]))
    for pair in halves(np.array(["a", "b", "c"])[labels] if text else labels, classifier=True):
        first, second = (np.bincount(labels[half], minlength=3) for half in pair)
        assert (np.abs(first - second) <= 1).all()


def test_frequencies_are_those_of_a_loop() -> None:
    pairs = halves(y, n_pairs=5, seed=7)
    base = SparseLinearRegression(k=5)
    model = StabilitySelection(base, n_pairs=5, random_state=7, threshold=0.6).fit(X, y)
    masks = [clone(base).fit(X[half], y[half]).support_ for pair in pairs for half in pair]
    np.testing.assert_allclose(model.frequencies_, np.mean(masks, axis=0))
    np.testing.assert_array_equal(model.support_, model.frequencies_ >= 0.6)
    assert model.n_selected_ == pytest.approx(5)
    assert model.threshold_ == 0.6
    assert model.max_false_ == pytest.approx(expected_false_selections(0.6, 5, 20, 5))


@pytest.mark.slow
def test_the_threshold_that_is_asked_for() -> None:
    base = SparseLinearRegression(k=3)
    usual = StabilitySelection(base, n_pairs=10, random_state=0).fit(X, y)
    assert usual.threshold_ == 0.75
    strict = StabilitySelection(base, n_pairs=10, max_false=0.4, random_state=0).fit(X, y)
    assert strict.threshold_ == find_smallest_threshold(0.4, strict.n_selected_, 20, 10)
    assert strict.max_false_ <= 0.4
    np.testing.assert_array_equal(strict.frequencies_, usual.frequencies_)
    plain = StabilitySelection(base, n_pairs=10, max_false=0.5, assumption="none", random_state=0).fit(X, y)
    assert plain.max_false_ == pytest.approx(9 / (20 * (2 * plain.threshold_ - 1)))
    assert plain.get_support(indices=True).tolist() == [3, 8, 15]


@pytest.mark.filterwarnings("ignore:none is selected:UserWarning")
def test_on_noise_fewer_features_are_selected_than_the_bound_says() -> None:
    selected, bounds = [], []
    for seed in range(15):
        generator = np.random.default_rng(seed)
        noise, response = generator.standard_normal((50, 30)), generator.standard_normal(50)
        model = StabilitySelection(SelectKBest(f_regression, k=5), n_pairs=15, threshold=0.6, random_state=seed)
        selected.append(model.fit(noise, response).support_.sum())
        bounds.append(model.max_false_)
    assert 0 < np.mean(selected) <= np.mean(bounds)


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_the_same_seed_gives_the_same_however_many_jobs(backend: str) -> None:
    model = StabilitySelection(SparseLinearRegression(k=4), n_pairs=4, random_state=3)
    first = clone(model).fit(X, y).frequencies_
    with parallel_config(backend):
        np.testing.assert_array_equal(clone(model).set_params(n_jobs=2).fit(X, y).frequencies_, first)
    assert (clone(model).set_params(random_state=4).fit(X, y).frequencies_ != first).any()
    generator = np.random.RandomState(3)
    np.testing.assert_array_equal(clone(model).set_params(random_state=generator).fit(X, y).frequencies_, first)


@pytest.mark.slow
@pytest.mark.parametrize(
    "inner",
    [
        SparseLinearRegressionCV(ks=[2, 3, 5], cv=3),
        SparseLinearRegressionIC(),
        SelectFromModel(LinearRegression(), max_features=4),
        SelectKBest(f_regression, k=4),
    ],
)
def test_any_selector_may_be_inside(inner: Any) -> None:
    model = StabilitySelection(inner, n_pairs=5, random_state=0).fit(X, y)
    assert model.support_[[3, 8, 15]].all()
    assert model.n_selected_ == pytest.approx(model.frequencies_.sum())


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, np.float32, np.ndarray.tolist])
def test_the_form_of_the_data_does_not_matter(form: Any) -> None:
    model = StabilitySelection(SparseLinearRegression(k=3), n_pairs=3, random_state=0)
    np.testing.assert_allclose(clone(model).fit(form(X), y).frequencies_, clone(model).fit(X, y).frequencies_)


def test_names_of_a_data_frame_reach_the_estimator() -> None:
    names = [f"f{j}" for j in range(20)]
    frame = pd.DataFrame(X, columns=names, index=np.arange(101)[::-1])
    inner = SparseLinearRegression(k=4, always_select=["f0"])
    model = StabilitySelection(inner, n_pairs=5, random_state=0).fit(frame, pd.Series(y, index=frame.index))
    assert model.frequencies_[0] == 1
    assert model.get_feature_names_out().tolist() == ["f0", "f3", "f8", "f15"]
    chosen = model.set_output(transform="pandas").transform(frame)
    pd.testing.assert_frame_equal(chosen, frame[["f0", "f3", "f8", "f15"]])


def test_it_is_a_step_of_a_pipeline() -> None:
    model = StabilitySelection(SparseLinearRegression(k=3), n_pairs=5, random_state=0)
    pipeline = make_pipeline(model, LinearRegression()).fit(X, y)
    chosen = X[:, [3, 8, 15]]
    np.testing.assert_allclose(pipeline.predict(X), LinearRegression().fit(chosen, y).predict(chosen))
    assert model.get_support(indices=True).tolist() == [3, 8, 15]
    np.testing.assert_array_equal(model.transform(X), chosen)
    assert (model.inverse_transform(chosen) != 0).any(axis=0).sum() == 3


def test_labels_and_several_responses() -> None:
    labels = np.where(X[:, 3] - X[:, 8] > 0, "yes", "no")
    model = StabilitySelection(SparseLogisticRegression(k=2), n_pairs=3, random_state=0).fit(X, labels)
    assert model.get_support(indices=True).tolist() == [3, 8]
    several = np.column_stack([y, X[:, 3]])
    model = StabilitySelection(SparseLinearRegression(k=3), n_pairs=3, random_state=0).fit(X, several)
    assert model.support_[3]


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"threshold": 0.6, "max_false": 1.0}, ValueError, "either threshold or max_false"),
        ({"threshold": 0.4}, ValueError, "between 0.5 and 1, got 0.4"),
        ({"threshold": 1.1}, ValueError, "between 0.5 and 1, got 1.1"),
        ({"max_false": 0.001}, ValueError, "at least .* more than the 0.001 allowed; select fewer"),
        ({"max_false": 0.0}, ValueError, "max_false must be finite and greater than 0"),
        ({"n_pairs": 0}, ValueError, "n_pairs must be a positive integer, got 0"),
        ({"n_pairs": 2.0}, ValueError, "n_pairs must be a positive integer, got 2.0"),
        ({"assumption": "concave"}, ValueError, '"none" or "unimodal"'),
    ],
)
def test_bad_parameters(options: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        StabilitySelection(SparseLinearRegression(k=5), **{"n_pairs": 2, **options}).fit(X, y)


@pytest.mark.parametrize("wrong", [LinearRegression(), SparseLinearRegression, make_pipeline(LinearRegression()), None])
def test_an_estimator_that_selects_nothing(wrong: Any) -> None:
    with pytest.raises(TypeError, match="estimator must select features"):
        StabilitySelection(wrong).fit(X, y)


def test_a_pipeline_that_standardizes() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 12))
    y = X[:, 2] - X[:, 5] + rng.logistic(size=80) > 0
    units = np.where(np.arange(12) % 2, 1e3, 1e-3)
    model = make_pipeline(StandardScaler(), SparseLogisticRegression(k=2, alpha=0.1))
    masks = [StabilitySelection(model, n_pairs=5, random_state=0).fit(data, y).frequencies_ for data in (X, X * units)]
    assert_allclose(masks[0], masks[1])
    dropping = make_pipeline(SparseLogisticRegression(k=3), SparseLogisticRegression(k=2))
    with pytest.raises(ValueError, match="has 3 features, but X has 12"):
        StabilitySelection(dropping, n_pairs=1).fit(X, y)


def test_an_impossible_bound_is_refused_before_the_first_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    fitted: list[int] = []
    monkeypatch.setattr(SparseLinearRegression, "fit", lambda *_: fitted.append(1))
    with pytest.raises(ValueError, match="select fewer features"):
        StabilitySelection(SparseLinearRegression(k=6), max_false=0.001).fit(X, y)
    assert not fitted


def test_nothing_stable_is_said() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 30)), rng.standard_normal(40)
    model = StabilitySelection(SparseLinearRegression(k=1), n_pairs=5, threshold=1.0, random_state=0)
    with pytest.warns(UserWarning, match="none is selected on a fraction of 1 of the halves; the largest fraction is"):
        model.fit(X, y)
    assert not model.support_.any()
