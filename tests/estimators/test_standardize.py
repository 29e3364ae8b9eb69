"""`standardize=True`: as a StandardScaler before the model, fitted to the training rows of each fold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ksparse
from ksparse import SparseLinearRegression, SparseLinearRegressionCV, SparseLogisticRegressionIC
from ksparse._types import Array
from tests.estimators.models import MODELS, X, assert_same, fitted, margins, response

#: Units in which the features of `X` differ by six orders of magnitude, so that a ridge selects others without scaling.
UNITS = 10.0 ** (np.arange(X.shape[1]) % 7 - 3)
DATA = X * UNITS + 5.0
WEIGHTS = np.random.default_rng(0).uniform(0.1, 3.0, len(X))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_it_is_a_scaler_before_the_model(name: str, weights: Any) -> None:
    here = fitted(name, DATA, sample_weight=weights, alpha=0.1, standardize=True)
    scaler = StandardScaler().fit(DATA, sample_weight=weights)
    there = fitted(name, scaler.transform(DATA), sample_weight=weights, alpha=0.1)
    assert_same(here, there, scale=1.0 / scaler.scale_)
    moved = margins(there, scaler.transform(DATA)) - margins(here, DATA)
    expected = moved.mean() if name == "cox" else 0.0  # whose baseline takes care of the means
    assert_allclose(moved, expected, atol=1e-6 * (1.0 + np.abs(margins(here, DATA)).max()))
    assert_allclose(here.result_.value, there.result_.value)


def test_without_an_intercept_features_are_not_centred() -> None:
    here = fitted("linear", DATA, alpha=0.1, standardize=True, fit_intercept=False)
    scaler = StandardScaler(with_mean=False).fit(DATA)
    there = fitted("linear", scaler.transform(DATA), alpha=0.1, fit_intercept=False)
    assert_same(here, there, scale=1.0 / scaler.scale_)
    assert here.intercept_ == 0.0


@pytest.mark.parametrize("name", ["linear", "multinomial"])
def test_sparse_data_gives_the_same(name: str) -> None:
    rows = np.where(np.random.default_rng(1).random(DATA.shape) < 0.7, 0.0, DATA)
    dense = fitted(name, rows, alpha=0.1, standardize=True)
    for form in (sparse.csr_array, sparse.csc_matrix):
        assert_same(fitted(name, form(rows), alpha=0.1, standardize=True), dense)


@pytest.mark.parametrize("scale", [1e-15, 1e15])
def test_the_scale_of_the_weights_does_not_matter(scale: float) -> None:
    """Their sum is not a number of rounding errors, by which features would be taken for constant, or would not."""
    data = np.column_stack([DATA, np.full(len(DATA), 0.1)])
    plain = fitted("linear", data, sample_weight=WEIGHTS, alpha=0.1, standardize=True)
    assert_same(fitted("linear", data, sample_weight=scale * WEIGHTS, alpha=0.1, standardize=True), plain)


def test_units_do_not_matter() -> None:
    assert_same(
        fitted("logistic", DATA, alpha=0.1, standardize=True),
        fitted("logistic", X, alpha=0.1, standardize=True),
        scale=1.0 / UNITS,
    )
    changed = fitted("linear", DATA, alpha=0.1).support_ != fitted("linear", X, alpha=0.1).support_
    assert changed.any(), "a ridge on features in other units selects others, so there is something to test"


def test_a_constant_feature_is_left_alone() -> None:
    data = DATA.copy()
    data[:, 0] = 7.0
    here = fitted("linear", data, k=3, alpha=0.1, standardize=True)
    assert np.isfinite(here.coef_).all()
    assert not here.support_[0]
    for seed in range(10):  # of some weights the variance of a constant rounds below 0
        weights = np.random.default_rng(seed).uniform(0.1, 3.0, len(data))
        weighted = fitted("linear", data, sample_weight=weights, alpha=0.1, standardize=True)
        assert np.isfinite(weighted.coef_).all()


def test_a_warm_start_is_in_the_units_of_the_data() -> None:
    here = SparseLinearRegression(k=3, alpha=0.1, standardize=True, warm_start=True).fit(DATA, response("linear"))
    cold = here.result_
    again = here.fit(DATA, response("linear")).result_
    assert again.history["value"][0] == pytest.approx(cold.value)
    assert_allclose(again.x, cold.x, rtol=1e-6, atol=1e-9)


def test_the_path_is_in_the_units_of_the_data() -> None:
    y = response("linear")
    path = ksparse.path(DATA, y, [1, 3], SparseLinearRegression(alpha=0.1, standardize=True))
    single = SparseLinearRegression(k=3, alpha=0.1, standardize=True).fit(DATA, y)
    assert_allclose(path.coef[1], single.coef_, rtol=1e-6, atol=1e-12)
    assert_allclose(path.intercept[1], single.intercept_)


# --- cross-validation -------------------------------------------------------------------------------------------


def test_scores_are_those_of_a_pipeline() -> None:
    y, splits = response("linear"), KFold(3)
    model = SparseLinearRegressionCV(ks=[1, 2, 3], cv=splits, alphas=0.1, refit_alphas=None, scoring="r2").fit(DATA, y)
    for row, k in enumerate([1, 2, 3]):
        pipeline = make_pipeline(StandardScaler(), SparseLinearRegression(k=k, alpha=0.1))
        assert_allclose(model.scores_[row], cross_val_score(pipeline, DATA, y, cv=splits, scoring="r2"))


def coefficients_of_a_fold(data: Array, rows: Any) -> Array:
    """Coefficients that a scorer sees in a fold that holds these rows out."""
    seen: list[Array] = []

    def scorer(model: Any, held_out: Array, y: Array) -> float:
        seen.append(np.append(model.coef_, model.intercept_))
        return 0.0

    split = (np.setdiff1d(np.arange(len(data)), rows), rows)
    model = SparseLinearRegressionCV(ks=[3], cv=[split], alphas=0.1, refit_alphas=None, scoring=scorer)
    model.fit(data, response("linear"))
    return seen[0]


def test_held_out_rows_do_not_change_the_scales_of_a_fold() -> None:
    held_out = np.arange(20)
    other = DATA.copy()
    other[held_out] *= np.random.default_rng(2).uniform(10, 1000, X.shape[1])
    before, after = coefficients_of_a_fold(DATA, held_out), coefficients_of_a_fold(other, held_out)
    assert_allclose(after, before, rtol=1e-9)
    assert not np.allclose(coefficients_of_a_fold(other, np.arange(20, 40)), before, rtol=0.1)


def test_a_criterion_does_not_depend_on_units() -> None:
    y = response("logistic")
    here, there = (SparseLogisticRegressionIC(ks=range(5), standardize=True).fit(data, y) for data in (DATA, X))
    assert_allclose(here.criterion_, there.criterion_, rtol=1e-6)
    assert_allclose(here.coef_ * UNITS, there.coef_, rtol=1e-4, atol=1e-6)


def test_bad_values_are_named() -> None:
    with pytest.raises(TypeError, match="standardize must be True or False, got 'yes'"):
        fitted("linear", standardize="yes")
    for bad in (np.nan, np.inf):
        data = DATA.copy()
        data[3, 2] = bad
        with pytest.raises(ValueError, match=r"NaN|infin"):
            fitted("linear", data, standardize=True)
