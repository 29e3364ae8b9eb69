"""Frames that an encoder returns: derived ones, files, and estimators whose k counts columns."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ksparse
from ksparse import SparseLinearRegression, SparseLogisticRegression, TableEncoder
from ksparse.tables import (
    find_columns_of,
    find_encoding,
)

from .people import make_table


def test_frames_that_are_derived_from_an_encoded_one_keep_its_columns_only() -> None:
    table = make_table()
    frame = TableEncoder().fit_transform(table)
    encoding = find_encoding(frame)
    assert encoding is not None
    assert encoding.table["town"].equals(table["town"])
    derived = [frame.iloc[::-1], frame.sample(frac=1, random_state=0).reset_index(drop=True), frame.copy(), frame * 2]
    for other in [*derived, copy.deepcopy(frame), pickle.loads(pickle.dumps(frame))]:
        assert find_encoding(other) is None
        np.testing.assert_array_equal(find_columns_of(other), find_columns_of(frame))
    turned = find_columns_of(frame[frame.columns[::-1]])
    assert turned is not None
    assert turned.tolist() == list(find_columns_of(frame))[::-1]  # type: ignore[arg-type]
    assert find_columns_of(frame.rename(columns={"plain": "other"})) is None


def test_encoded_frames_can_be_written(tmp_path: Any) -> None:
    pytest.importorskip("pyarrow")
    frame = TableEncoder().fit_transform(make_table())
    frame.to_parquet(tmp_path / "frame.parquet")
    np.testing.assert_array_equal(pd.read_parquet(tmp_path / "frame.parquet"), frame)


@pytest.mark.parametrize("estimator", [SparseLinearRegression(k=2), SparseLogisticRegression(k=2, alpha=0.01)])
def test_k_counts_columns(estimator: Any) -> None:
    """The best pair of columns, by trying all pairs."""
    table = make_table(120).drop(columns=["name", "born"])
    rng = np.random.default_rng(1)
    signal = 2.0 * table["town"].map({"Bonn": 0, "Kiel": 1, "Ulm": 3}).fillna(-2) + table["plain"]
    y = (signal + rng.normal(size=120)).to_numpy()
    if isinstance(estimator, SparseLogisticRegression):
        y = np.where(y > np.median(y), "high", "low")
    model = make_pipeline(TableEncoder(), clone(estimator).set_params(feature_groups="columns")).fit(table, y)
    selected = set(model[-1]._labels[model[-1].support_])
    assert selected == {"plain", "town"}
    assert model[-1].get_feature_names_out().tolist() == ["plain", "town=Kiel", "town=Ulm", "town is missing"]
    names = table.columns.tolist()
    values: dict[tuple[str, str], float] = {}
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            fitted = make_pipeline(TableEncoder(), clone(estimator).set_params(feature_groups="columns"))
            fitted.fit(table[[first, second]], y)
            values[first, second] = fitted[-1].result_.value
    assert model[-1].result_.value == pytest.approx(min(values.values()), rel=1e-9)
    best, _ = min(values.items(), key=lambda found: found[1])
    assert set(best) == selected


def test_groups_by_column_need_an_encoded_frame() -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 3)), columns=list("abc"))
    with pytest.raises(ValueError, match=r'feature_groups="columns" needs the data frame that a TableEncoder returns'):
        SparseLinearRegression(k=1, feature_groups="columns").fit(X, X["a"])
    scaled = make_pipeline(
        TableEncoder(),
        StandardScaler().set_output(transform="pandas"),
        SparseLinearRegression(feature_groups="columns"),
    )
    with pytest.raises(ValueError, match=r"A step between them loses the columns .* use standardize=True"):
        scaled.fit(X, X["a"])
    scaled = make_pipeline(TableEncoder(), SparseLinearRegression(k=1, feature_groups="columns", standardize=True))
    assert scaled.fit(X, X["a"])[-1].get_support(indices=True).tolist() == [0]


@pytest.mark.parametrize("column", ["sex", "born"])
def test_estimators_name_the_columns_that_are_no_numbers(column: str) -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=["a", "b"])
    cells = {"sex": ["male", "female"] * 10, "born": pd.date_range("2000-01-01", periods=20)}
    message = f"X has a column that is not numbers: '{column}'; put a ksparse.TableEncoder before the estimator"
    with pytest.raises(ValueError, match=message):
        SparseLinearRegression(k=1).fit(X.assign(**{column: cells[column]}), X["a"])


def test_pipelines_can_be_saved(tmp_path: Any) -> None:
    table = make_table(80)
    y = table["plain"].to_numpy() + 3 * (table["town"] == "Ulm")
    model = make_pipeline(TableEncoder(), SparseLinearRegression(k=3, feature_groups="columns")).fit(table, y)
    ksparse.save(model, tmp_path / "model.json")
    again = ksparse.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict(table), model.predict(table))
    selected = sorted(set(model[-1]._labels[model[-1].support_]))
    np.testing.assert_array_equal(again.predict(table[selected]), model.predict(table))
