"""Medians and categories are those of the training part of each fold: scores against a loop made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline

from ksparse import (
    SparseLinearRegression,
    SparseLinearRegressionCV,
    SparseLogisticRegression,
    SparseLogisticRegressionCV,
    TableEncoder,
)
from ksparse._types import AnyArray

from .people import make_table


def make_target(table: pd.DataFrame) -> AnyArray:
    """A number that depends on gaps, on a category and on a number without gaps."""
    noise = np.random.default_rng(5).normal(size=len(table))
    town = table["town"].map({"Bonn": 0.0, "Kiel": 1.0, "Ulm": 3.0}).fillna(-1.0)
    return np.asarray(table["plain"] + town + 1.5 * table["gaps"].isna() + noise)


@pytest.mark.slow
@pytest.mark.parametrize("classes", [False, True])
def test_scores_are_those_of_folds_that_are_encoded_alone(classes: bool) -> None:
    table = make_table(90)
    y = make_target(table)
    kinds: tuple[Any, Any] = (SparseLinearRegressionCV, SparseLinearRegression)
    splitter: Any = KFold(3, shuffle=True, random_state=1)
    if classes:
        y = np.where(y > np.median(y), "high", "low")
        kinds = (SparseLogisticRegressionCV, SparseLogisticRegression)
        splitter = StratifiedKFold(3, shuffle=True, random_state=1)
    ks, alphas, refit_alphas = [1, 2, 4], [0.05, 0.5], [0.02, 0.2]
    chooser = kinds[0](ks=ks, alphas=alphas, refit_alphas=refit_alphas, cv=splitter, feature_groups="columns")
    chosen = make_pipeline(TableEncoder(), chooser).fit(table, y)[-1]
    # The columns and what they hold are those of the table; everything that is estimated is estimated anew.
    columns = TableEncoder().fit(table, y)
    for fold, (train, held_out) in enumerate(splitter.split(table, y)):
        encoder = columns.refit(table.iloc[train], y[train])
        X, X_held_out = encoder.transform(table.iloc[train]), encoder.transform(table.iloc[held_out])
        for i, alpha in enumerate(alphas):
            for j, k in enumerate(ks):
                for m, refit_alpha in enumerate(refit_alphas):
                    model = clone(kinds[1](feature_groups="columns", standardize=True))
                    model.set_params(k=k, alpha=alpha, refit_alpha=refit_alpha).fit(X, y[train])
                    if classes:
                        right = model.classes_.searchsorted(y[held_out])
                        score = np.log(model.predict_proba(X_held_out)[np.arange(len(right)), right]).mean()
                    else:
                        score = -0.5 * np.mean((y[held_out] - model.predict(X_held_out)) ** 2)
                    assert chosen.grid_scores_[i, j, m, fold] == pytest.approx(score, rel=1e-6)


def test_held_out_rows_do_not_change_the_features_of_others() -> None:
    """An enormous held-out value moves the median of all rows, but not that of the training rows."""
    table = make_table(40)[["plain", "gaps", "town"]]
    y = make_target(table)
    train, held_out = np.arange(30), np.arange(30, 40)
    seen = table.copy()
    seen.loc[held_out, "gaps"] = 1e6
    seen.loc[held_out, "town"] = "elsewhere"
    results = []
    for frame in (table, seen):
        encoder = TableEncoder(drop=[]).fit(frame, y).refit(frame.iloc[train], y[train])
        results.append(encoder.transform(frame.iloc[train]))
    pd.testing.assert_frame_equal(results[0], results[1])


def test_categories_of_parts_are_those_of_their_rows() -> None:
    """Values are frequent in as large a fraction of a part as of all rows; a column keeps a feature in any part."""
    town = np.array(["a", "b", "b", "c", "c", "d"] * 7)
    table = pd.DataFrame({"town": town, "x": np.arange(42.0) ** 2})
    whole = TableEncoder(min_frequency=6).fit(table)
    assert whole.features_["town"].categories == ("a", "c", "d")
    without_d, only_c = np.flatnonzero(town != "d")[:18].tolist(), np.flatnonzero(town == "c")
    # Of 21 and of 20 rows, a value is frequent if it is in 3 of them.
    parts = [(np.arange(21), {"a", "b", "c", "d"}, False), ([*without_d, 5, 11], {"a", "b", "c"}, True)]
    for rows, frequent, has_other in parts:
        part, alone = whole.refit(table.iloc[rows]), TableEncoder(min_frequency=3).fit(table.iloc[rows])
        made = part.features_["town"]
        assert {made.reference, *made.categories} == frequent
        assert made.has_other == has_other
        pd.testing.assert_frame_equal(part.transform(table), alone.transform(table))
        pd.testing.assert_frame_equal(part.refit(table).transform(table), whole.transform(table))
    constant = whole.refit(table.iloc[only_c])
    assert constant.get_feature_names_out().tolist() == ["town=(other)", "x"]
    model = SparseLinearRegressionCV(ks=[0, 1, 2], cv=KFold(6), feature_groups="columns")
    assert np.isfinite(make_pipeline(whole, model).fit(table, table["x"])[-1].grid_scores_).all()


def test_a_column_without_frequent_values_keeps_a_feature() -> None:
    """In a part where each value is rare, all but the first of the most frequent are "(other)"."""
    table = pd.DataFrame({"town": list("abcdefgh") * 5 + list("aabb"), "x": np.arange(44.0) ** 2})
    whole = TableEncoder(min_frequency=6).fit(table)
    assert whole.get_feature_names_out().tolist() == ["town=b", "town=(other)", "x"]
    rows = table.iloc[8:16]
    encoded = whole.refit(rows).transform(rows)
    assert encoded.columns.tolist() == ["town=(other)", "x"]
    np.testing.assert_array_equal(encoded["town=(other)"], rows["town"] != "a")


def test_columns_that_vary_in_some_folds_only() -> None:
    """A category that one fold lacks, a column that is constant in one, and gaps that the training part has not."""
    rng = np.random.default_rng(0)
    order = np.arange(40)
    table = pd.DataFrame(
        {
            "group": np.where(order < 10, "first", np.where(order % 2, "a", "b")),
            "late": np.where(order < 10, np.nan, rng.normal(size=40)),
            "flag": np.where(order < 10, rng.random(40) < 0.5, True),
            "x": rng.normal(size=40),
        }
    )
    y = rng.normal(size=40) + table["x"].to_numpy()
    model = SparseLinearRegressionCV(ks=[1, 2, 3], cv=KFold(4), feature_groups="columns")
    chosen = make_pipeline(TableEncoder(indicators=True), model).fit(table, y)[-1]
    assert np.isfinite(chosen.grid_scores_).all()


def test_complete_numbers_share_the_moments_of_all_rows() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(2000, 4)), columns=list("abcd"))
    y = table["a"].to_numpy() + rng.normal(size=2000)
    encoded = make_pipeline(TableEncoder(), SparseLinearRegressionCV(feature_groups="columns")).fit(table, y)[-1]
    plain = SparseLinearRegressionCV().fit(table, y)
    assert encoded.k_ == plain.k_
    np.testing.assert_allclose(encoded.coef_, plain.coef_, rtol=1e-8)
    assert "columns" in encoded.choice_
