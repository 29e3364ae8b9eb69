"""Offsets and weights reach scores, paths and stability selection, not only fits and predictions."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_selection import SelectFromModel, SelectKBest
from sklearn.linear_model import Lasso
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ksparse
from ksparse import SparseCoxRegression, SparseLinearRegression, SparsePoissonRegression, StabilitySelection
from tests.estimators.models import MODELS, N, X, response

WEIGHTS = np.arange(N) % 3 + 1.0
OFFSET = 0.5 * X[:, 2]
COUNTS = np.random.default_rng(0).poisson(np.exp(0.4 * X[:, 1] + 2.0 * OFFSET))


@pytest.mark.parametrize("kind", MODELS)
def test_an_offset_in_a_score_is_a_known_part_of_the_margins(kind: str) -> None:
    """It is the same as a larger coefficient."""
    y = response(kind)
    model = MODELS[kind][0](k=2).fit(X, y)
    changes = np.linspace(0.7, -0.4, model.coef_.size // X.shape[1])
    moved = copy.deepcopy(model)
    moved.coef_.reshape(-1, X.shape[1])[:, 5] += changes
    offset = X[:, 5, None] * changes
    offset = offset[:, 0] if offset.shape[1] == 1 else offset
    expected = moved.score(X, y, WEIGHTS)
    assert model.score(X, y, sample_weight=WEIGHTS, offset=offset) == pytest.approx(expected, rel=1e-9)
    assert model.score(X, y, sample_weight=WEIGHTS) != pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("constant", [-5000.0, 800.0])
@pytest.mark.parametrize("kind", MODELS)
def test_a_constant_offset_moves_only_the_intercept(kind: str, constant: float) -> None:
    y = response(kind)
    model = MODELS[kind][0](k=2).fit(X, y)
    offset = np.full((N, len(np.atleast_2d(model.coef_))), constant)
    offset = offset[:, 0] if offset.shape[1] == 1 else offset
    moved = MODELS[kind][0](k=2).fit(X, y, offset=offset)
    np.testing.assert_allclose(moved.coef_, model.coef_, atol=1e-6)
    if kind not in ("cox", "ordinal", "multinomial"):  # they are invariant to it
        np.testing.assert_allclose(moved.intercept_ + constant, model.intercept_, atol=1e-6)
    assert moved.result_.success


@pytest.mark.parametrize("kind", ["poisson", "gamma", "negative binomial", "hinge"])
def test_choices_of_k_absorb_a_constant_offset(kind: str) -> None:
    y, choose = response(kind), getattr(ksparse, f"{MODELS[kind][0].__name__}CV")
    here, there = (choose(ks=[1, 3], cv=3).fit(X, y, offset=np.full(N, size)) for size in (0.0, 800.0))
    np.testing.assert_allclose(here.coef_, there.coef_, atol=1e-6)
    np.testing.assert_allclose(here.scores_, there.scores_, rtol=1e-6)


@pytest.mark.parametrize("kind", ["poisson", "gamma", "tweedie", "negative binomial", "cox"])
def test_an_exposure_without_its_logarithm_is_refused(kind: str) -> None:
    y, exposure = response(kind), np.linspace(150.0, 1500.0, N)
    with pytest.raises(ValueError, match="offset ranges from 150 to 1500, and exp of such differences is beyond all"):
        MODELS[kind][0](k=2).fit(X, y, offset=exposure)
    MODELS[kind][0](k=2).fit(X, y, np.where(exposure < 600, 1.0, 0.0), offset=exposure)  # the others do not count
    if kind != "cox":
        with pytest.raises(ValueError, match="pass its logarithm as offset"):
            MODELS[kind][0](k=2, fit_intercept=False).fit(X, y, offset=np.full(N, 800.0))


@pytest.mark.parametrize("kind", ["gamma", "tweedie", "poisson"])
def test_far_offsets_have_a_minimum(kind: str) -> None:
    """Of a model without features it is known."""
    y, offset = response(kind), np.linspace(-100.0, 100.0, N)
    power = {"gamma": 2.0, "tweedie": 1.5, "poisson": 1.0}[kind]
    model = MODELS[kind][0](k=0).fit(X, y, offset=offset)
    responses, rates = y @ np.exp((1.0 - power) * offset), np.exp((2.0 - power) * offset).sum()
    assert model.intercept_ == pytest.approx(np.log(responses / rates), rel=1e-9)
    assert MODELS[kind][0](k=2).fit(X, y, offset=offset).result_.success


def test_a_score_without_comparable_pairs_says_so() -> None:
    y = ksparse.make_survival_target(np.arange(1.0, N + 1.0), np.arange(N) < 40)
    model = SparseCoxRegression(k=1).fit(X, y)
    with pytest.warns(UserWarning, match="no pair of samples is comparable"):
        assert np.isnan(model.score(X[50:], y[50:]))


def test_paths_with_weights_and_offsets_are_fits() -> None:
    model = SparsePoissonRegression(alpha=1e-3)
    path = ksparse.path(X, COUNTS, [1, 2], model, sample_weight=WEIGHTS, offset=OFFSET)
    for k, coefficients in zip(path.ks, path.coef, strict=True):
        alone = clone(model).set_params(k=int(k)).fit(X, COUNTS, WEIGHTS, offset=OFFSET)
        np.testing.assert_allclose(coefficients, alone.coef_, atol=1e-6)


@pytest.mark.filterwarnings("ignore:none is selected")
def test_halves_get_their_weights_and_offsets() -> None:
    seen: list[tuple[Any, Any, Any]] = []

    class Watched(SparsePoissonRegression):
        def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Any:
            seen.append((X, sample_weight, offset))
            return super().fit(X, y, sample_weight, offset=offset)

    StabilitySelection(Watched(k=1), n_pairs=2, random_state=0).fit(X, COUNTS, WEIGHTS, offset=OFFSET)
    assert len(seen) == 4
    for half, weights, offset in seen:
        rows = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in half]
        np.testing.assert_array_equal(weights, WEIGHTS[rows])
        np.testing.assert_array_equal(offset, OFFSET[rows])


@pytest.mark.parametrize("piped", [False, True])
def test_a_known_feature_is_not_selected(piped: bool) -> None:
    y = X[:, 1] + 20.0 * X[:, 2] + 0.1 * np.random.default_rng(0).standard_normal(N)
    model: Any = SparseLinearRegression(k=1)
    model = make_pipeline(StandardScaler(), model) if piped else model
    without = StabilitySelection(model, n_pairs=3, random_state=0).fit(X, y)
    known = StabilitySelection(model, n_pairs=3, random_state=0).fit(X, y, WEIGHTS, offset=20.0 * X[:, 2])
    assert (without.get_support(indices=True), known.get_support(indices=True)) == ([2], [1])


@pytest.mark.filterwarnings("ignore:none is selected")
def test_choices_of_stability_selection_know_the_offset() -> None:
    model = ksparse.SparseLinearRegressionCV(ks=[0, 1], cv=3)
    found = StabilitySelection(model, n_pairs=2, random_state=0).fit(X, 30.0 * X[:, 2], offset=30.0 * X[:, 2])
    assert found.estimator_.k == 0


def test_what_a_selector_does_not_take_is_refused() -> None:
    y = X[:, 1] + 0.0
    with pytest.raises(TypeError, match="SelectKBest takes no sample_weight in fit"):
        StabilitySelection(SelectKBest(k=2), n_pairs=2).fit(X, y, WEIGHTS)
    with pytest.raises(TypeError, match="SelectFromModel takes no offset in fit"):
        StabilitySelection(SelectFromModel(Lasso()), n_pairs=2).fit(X, y, offset=OFFSET)
    with pytest.raises(ValueError, match="offset has shape"):
        StabilitySelection(SparseLinearRegression(k=1), n_pairs=2).fit(X, y, offset=OFFSET[:3])
