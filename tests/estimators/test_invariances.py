"""Units of features and responses, weights and repeated rows: what must not matter, does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import is_classifier

from ksparse import SparseHuberRegression, SparseLogisticRegression, SparseNegativeBinomialRegression
from ksparse.estimators.pilot import compute_weighted_median
from tests.estimators.models import (
    MODELS,
    REPEATABLE,
    WITHOUT_INTERCEPT,
    N,
    P,
    X,
    assert_same,
    fitted,
    intercepts,
    margins,
    reference,
    response,
)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", MODELS)
def test_units_of_features_do_not_matter(name: str, form: Any) -> None:
    units = 1000.0 ** np.array([1, -1, 0, 1, 0, 0, 2, -2])
    here, there = fitted(name, form(X * units)), reference(name)
    assert_same(here, there, scale=1 / units)
    np.testing.assert_allclose(margins(here, X * units), margins(there, X), atol=1e-5)
    if not is_classifier(here):
        np.testing.assert_allclose(here.predict(form(X * units)), there.predict(X), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("alpha", [0.0, 0.1])
@pytest.mark.parametrize("name", MODELS)
def test_a_shift_of_features_moves_only_the_intercept(name: str, alpha: float) -> None:
    shift = 1e4
    here, there = fitted(name, X + shift * np.arange(P), alpha=alpha), reference(name, alpha)
    assert_same(here, there)
    if name in WITHOUT_INTERCEPT:
        assert here.intercept_ == there.intercept_ == 0.0
    if name != "cox":
        moved = intercepts(there) - there.coef_ @ (shift * np.arange(P))
        np.testing.assert_allclose(intercepts(here), moved, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_order_of_samples_and_features_does_not_matter(name: str) -> None:
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(N), rng.permutation(P)
    here, there = fitted(name, X[rows][:, columns], response(name)[rows]), reference(name)
    np.testing.assert_array_equal(here.support_, there.support_[columns])
    np.testing.assert_allclose(here.coef_, there.coef_[..., columns], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("c", [-1.0, 1e-6, 1e6])
@pytest.mark.parametrize("name", ["linear", "responses", "huber"])
def test_units_of_the_response_rescale_coefficients(name: str, c: float) -> None:
    here, there = fitted(name, y=c * response(name)), reference(name)
    assert_same(here, there, scale=c)
    np.testing.assert_allclose(here.intercept_, c * there.intercept_, rtol=1e-6)
    if name == "huber":
        assert here.delta_ == pytest.approx(abs(c) * there.delta_)


@pytest.mark.parametrize("shift", [-20.0, 1e5])
@pytest.mark.parametrize("name", ["linear", "responses", "huber"])
def test_a_shift_of_the_response_moves_only_the_intercept(name: str, shift: float) -> None:
    here, there = fitted(name, y=response(name) + shift), reference(name)
    assert_same(here, there)
    np.testing.assert_allclose(here.intercept_, there.intercept_ + shift, rtol=1e-7)


def test_outliers_do_not_move_the_robust_answer() -> None:
    y = response("huber")
    near, far = y.copy(), y.copy()
    near[::10] += 1e3
    far[::10] += 1e6
    clean, here, there = (fitted("huber", y=values) for values in (y, near, far))
    assert_same(there, here, rtol=1e-5)
    np.testing.assert_array_equal(here.support_, clean.support_)
    np.testing.assert_allclose(here.coef_, clean.coef_, atol=0.2)
    assert here.delta_ < 2 * clean.delta_
    assert np.abs(fitted("linear", y=near).coef_ - clean.coef_).max() > 10


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_the_dispersion_does_not_depend_on_units_of_features(unit: float) -> None:
    y = response("negative binomial")
    here, there = (SparseNegativeBinomialRegression(k=3).fit(scale * X, y) for scale in (1.0, unit))
    assert here.dispersion_ == pytest.approx(there.dispersion_, rel=1e-6)
    assert_array_equal(here.support_, there.support_)


def test_weighted_medians() -> None:
    rng = np.random.default_rng(0)
    for n in range(1, 12):
        values, counts = rng.standard_normal(n), rng.integers(1, 4, n).astype(np.float64)
        assert compute_weighted_median(values, np.full(n, 0.1)) == np.median(values)
        for factor in (1.0, 0.1, 1 / 3):
            repeated = np.median(np.repeat(values, counts.astype(int)))
            assert compute_weighted_median(values, factor * counts) == pytest.approx(repeated, rel=1e-12)


def test_the_automatic_delta_is_that_of_the_errors() -> None:
    rng = np.random.default_rng(0)
    data = rng.standard_normal((2000, 5))
    y = 50 * data[:, 0] + 3 * rng.standard_normal(2000)
    assert SparseHuberRegression(k=1).fit(data, y).delta_ == pytest.approx(1.345 * 3, rel=0.05)
    assert SparseHuberRegression(k=1).fit(data, 50 * data[:, 0]).delta_ < 1


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", MODELS)
def test_weights_are_repeated_rows(name: str, form: Any) -> None:
    counts = np.random.default_rng(0).integers(0, 4, N)
    options = {"alpha": 0.01, **REPEATABLE.get(name, {})}
    here = fitted(name, form(X), sample_weight=counts, **options)
    there = fitted(name, form(np.repeat(X, counts, axis=0)), np.repeat(response(name), counts, axis=0), **options)
    assert_same(here, there)
    y = response(name)
    repeated = np.repeat(X, counts, axis=0), np.repeat(y, counts, axis=0)
    assert here.score(X, y, sample_weight=counts) == pytest.approx(here.score(*repeated))


@pytest.mark.parametrize("name", MODELS)
def test_a_sample_without_weight_is_no_sample(name: str) -> None:
    weights = np.linspace(1.0, 2.0, N)
    weights[::3] = 0.0
    kept = weights > 0
    wild = np.where(kept[:, None], X, 1e3 * X)
    here = fitted(name, wild, sample_weight=weights, alpha=0.01)
    assert_same(here, fitted(name, X[kept], response(name)[kept], weights[kept], alpha=0.01))


@pytest.mark.parametrize("factor", [1e-3, 7.0])
@pytest.mark.parametrize("name", MODELS)
def test_only_ratios_of_weights_count(name: str, factor: float) -> None:
    weights = np.random.default_rng(0).uniform(0.5, 1.5, N)
    assert_same(fitted(name, sample_weight=factor * weights), fitted(name, sample_weight=weights), rtol=1e-5)


@pytest.mark.parametrize("weights", [None, np.linspace(0.0, 3.0, N)])
@pytest.mark.parametrize("name", ["logistic", "multinomial"])
@pytest.mark.slow
def test_class_weights_are_sample_weights(name: str, weights: Any) -> None:
    y, one = response(name), np.ones(N) if weights is None else weights
    labels, codes = np.unique(y, return_inverse=True)
    some = np.array([1.0, 5.0, 2.0])[: len(labels)]
    by_hand = {
        "balanced": 1 / np.bincount(codes, one)[codes],
        "dict": some[codes],
        "part": np.where(codes == 1, 5.0, 1.0),
    }
    given = {
        "balanced": "balanced",
        "dict": dict(zip(labels.tolist(), some, strict=True)),
        "part": {labels.tolist()[1]: 5.0},
    }
    plain = fitted(name, sample_weight=weights, alpha=0.01)
    for kind, class_weight in given.items():
        here = fitted(name, class_weight=class_weight, sample_weight=weights, alpha=0.01)
        assert_same(here, fitted(name, sample_weight=by_hand[kind] * one, alpha=0.01))
        assert not np.allclose(here.coef_, plain.coef_, rtol=1e-3)


def test_balanced_classes_have_the_same_total_whatever_the_weights() -> None:
    y, counts = response("logistic"), np.where(response("logistic") == "yes", 5, 1)
    repeated = np.repeat(X, counts, axis=0), np.repeat(y, counts)
    model = SparseLogisticRegression(k=3, class_weight="balanced")
    weighted = SparseLogisticRegression(k=3, class_weight="balanced").fit(X, y, sample_weight=counts)
    assert_same(weighted, model.fit(*repeated), rtol=1e-5)
    assert_same(weighted, SparseLogisticRegression(k=3, class_weight="balanced").fit(X, y), rtol=1e-5)
