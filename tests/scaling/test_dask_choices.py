"""Data frames of Dask, graphs, chosen k and many fits side by side: the answers of arrays in memory."""

from __future__ import annotations

from typing import Any

import dask.dataframe as dd
import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import ShuffleSplit

from ksparse import (
    SparseDiscriminantAnalysis,
    SparseLinearRegression,
    SparseLinearRegressionCV,
    SparseLinearRegressionIC,
    SparseLogisticRegression,
    SparseLogisticRegressionCV,
    SparsePrecision,
    SparsePrecisionCV,
    SparsePrecisionIC,
    StabilitySelection,
)
from ksparse.designs import as_design
from ksparse.designs.blocked import BlockedDesign
from tests.scaling.test_dask_arrays import CHUNKS, MODELS, NOISE, SIGNAL, N, P, X, assert_same, in_chunks

LABELS = MODELS["logistic"][1]
FRAME = pd.DataFrame(X, columns=[f"f{j}" for j in range(P)]).assign(f2=(X[:, 2] > 0).astype(int))


# --- least squares and graphs: one pass -----------------------------------------------------------------------------


@pytest.mark.parametrize("count", CHUNKS)
def test_the_precision_is_that_in_memory(count: int) -> None:
    here, there = SparsePrecision(k=8).fit(in_chunks(X, count)), SparsePrecision(k=8).fit(X)
    np.testing.assert_allclose(here.precision_, there.precision_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(here.location_, there.location_, rtol=0, atol=1e-12)


@pytest.mark.parametrize("options", [{"assume_centered": True}, {"standardize": False}])
def test_options_of_precision(options: dict[str, Any]) -> None:
    here, there = SparsePrecision(k=8, **options).fit(in_chunks(X)), SparsePrecision(k=8, **options).fit(X)
    np.testing.assert_allclose(here.precision_, there.precision_, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", [SparsePrecisionCV, SparsePrecisionIC])
def test_edges_are_chosen_as_in_memory(kind: Any) -> None:
    here, there = kind(ks=[1, 4, 8]).fit(in_chunks(X)), kind(ks=[1, 4, 8]).fit(X)
    assert here.k_ == there.k_
    np.testing.assert_allclose(here.precision_, there.precision_, rtol=0, atol=1e-10)


def test_constant_variables_are_reported() -> None:
    constant = X.copy()
    constant[:, 3] = 7.1
    with pytest.warns(UserWarning, match="1 variables are constant, such as \\[3\\]"):
        here = SparsePrecision(k=4).fit(in_chunks(constant))
    with pytest.warns(UserWarning, match="constant"):
        there = SparsePrecision(k=4).fit(constant)
    np.testing.assert_allclose(here.precision_, there.precision_, rtol=1e-10)


def test_graphs_refuse_what_needs_all_samples() -> None:
    bad = X.copy()
    bad[5, 2] = np.nan
    with pytest.raises(ValueError, match=r"X has NaN or infinite values.*in the variables \[2\]"):
        SparsePrecision(k=4).fit(in_chunks(bad))
    with pytest.raises(ValueError, match="SparsePrecision needs all samples in one place"):
        SparsePrecision(k=4, transformation="rank").fit(in_chunks(X))
    with pytest.raises(ValueError, match="SparseDiscriminantAnalysis needs all samples in one place"):
        SparseDiscriminantAnalysis(k=4).fit(in_chunks(X), LABELS)


def test_least_squares_and_graphs_take_one_round_trip() -> None:
    y = SIGNAL + NOISE
    for fit in (lambda design: SparseLinearRegression(k=3).fit(design, y), SparsePrecision(k=4).fit):
        design = as_design(in_chunks(X))
        assert isinstance(design, BlockedDesign)
        fit(design)
        assert (design.counters.round_trips, design.counters.passes) == (1, 1)


def test_cross_validated_least_squares_takes_one_round_trip() -> None:
    design = as_design(in_chunks(X))
    here = SparseLinearRegressionCV(ks=[1, 3, 5], cv=3).fit(design, SIGNAL + NOISE)
    there = SparseLinearRegressionCV(ks=[1, 3, 5], cv=3).fit(X, SIGNAL + NOISE)
    assert design.counters.round_trips == 1
    assert here.k_ == there.k_
    np.testing.assert_allclose(here.grid_scores_, there.grid_scores_, rtol=1e-9)
    assert_same(here, there)


def test_criteria_of_least_squares_are_those_in_memory() -> None:
    here, there = (SparseLinearRegressionIC(ks=[1, 3, 5]).fit(data, SIGNAL + NOISE) for data in (in_chunks(X), X))
    np.testing.assert_allclose(here.criterion_, there.criterion_, rtol=1e-10)
    assert_same(here, there)


def test_collinear_features_are_fitted_without_moments() -> None:
    """Moments would have lost too many digits: the general method is used."""
    double = np.column_stack([X, X[:, 1] * (1.0 + 1e-7 * NOISE)])
    design = as_design(in_chunks(double))
    here = SparseLinearRegression(k=3, alpha=0.1).fit(design, SIGNAL + NOISE)
    assert design.counters.round_trips > 1
    assert_same(here, SparseLinearRegression(k=3, alpha=0.1).fit(double, SIGNAL + NOISE))


# --- chosen k ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("cv", [2, ShuffleSplit(2, test_size=0.3, random_state=0)])
def test_k_and_ridges_are_chosen_as_in_memory(cv: Any) -> None:
    options: dict[str, Any] = {"ks": [1, 3], "cv": cv, "alphas": [0.01], "refit_alphas": [0.01, 0.1]}
    weights = 1.0 + (np.arange(N) % 2)
    here = SparseLogisticRegressionCV(**options).fit(in_chunks(X), LABELS, weights)
    there = SparseLogisticRegressionCV(**options).fit(X, LABELS, weights)
    assert here.k_ == there.k_
    np.testing.assert_allclose(here.grid_scores_, there.grid_scores_, rtol=1e-7)
    assert_same(here, there)


# --- data frames ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["linear", "logistic"])
def test_data_frames(name: str) -> None:
    model, y = MODELS[name]
    blocks, series = dd.from_pandas(FRAME, npartitions=3), dd.from_pandas(pd.Series(y), npartitions=2)
    here, there = model.fit(blocks, series), type(model)(**model.get_params()).fit(FRAME, y)
    assert_same(here, there)
    assert here.get_feature_names_out().tolist() == there.get_feature_names_out().tolist()
    predict = "decision_function" if name == "logistic" else "predict"
    np.testing.assert_allclose(getattr(here, predict)(blocks), getattr(there, predict)(FRAME), rtol=0, atol=1e-7)
    with pytest.raises(ValueError, match="other names, or another order"):
        here.predict(blocks[FRAME.columns[::-1]])


def test_columns_of_data_frames_must_be_numbers() -> None:
    frame = dd.from_pandas(FRAME.assign(town="Ulm"), npartitions=2)
    with pytest.raises(ValueError, match=r"the columns \['town'\] of X are not numbers"):
        SparseLinearRegression(k=2).fit(frame, SIGNAL)


# --- many fits side by side -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_stability_selection_runs_on_the_workers(client: Any) -> None:
    selector = StabilitySelection(SparseLogisticRegression(k=3, alpha=1e-3), n_pairs=3, random_state=0)
    with joblib.parallel_config(backend="dask"):
        here = selector.fit(X, LABELS).frequencies_
    there = StabilitySelection(SparseLogisticRegression(k=3, alpha=1e-3), n_pairs=3, random_state=0).fit(X, LABELS)
    np.testing.assert_array_equal(here, there.frequencies_)
