"""Features of tables against features that were made by hand."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from ksparse import SparseLinearRegression, SparseLinearRegressionCV, TableEncoder
from ksparse.persistence import dumps, loads
from ksparse.tables import (
    UnknownCategoryWarning,
    describe_filled,
    describe_misread,
    find_columns_of,
)

from .people import make_table


def test_every_kind_against_a_table_made_by_hand() -> None:
    table = make_table()
    frame = TableEncoder(indicators=True).fit_transform(table)
    born, median = table["born"], table["gaps"].median()
    truth = {
        "plain": table["plain"],
        "gaps": table["gaps"].fillna(median),
        "gaps is missing": table["gaps"].isna(),
        "town=Kiel": table["town"] == "Kiel",
        "town=Ulm": table["town"] == "Ulm",
        "town is missing": table["town"].isna(),
        "sick": table["sick"],
        "born (year)": born.dt.year,
        "born (month)": born.dt.month,
        "born (day)": born.dt.day,
        "born (weekday)": born.dt.day_of_week,
    }
    pd.testing.assert_frame_equal(frame, pd.DataFrame(truth).astype(float), check_exact=True)
    columns = find_columns_of(frame)
    assert columns is not None
    assert columns.tolist() == ["plain", *["gaps"] * 2, *["town"] * 3, "sick", *["born"] * 4]


def test_the_table_is_not_changed() -> None:
    table = make_table()
    before = table.copy(deep=True)
    TableEncoder().fit(table).transform(table)
    pd.testing.assert_frame_equal(table, before)
    assert table.attrs == {}


def test_rare_values_and_many_values_are_one_category() -> None:
    cells = ["a"] * 10 + ["b"] * 8 + ["c"] * 6 + ["d"] * 2 + ["e"]
    table = pd.DataFrame({"x": cells, "z": np.arange(27.0) ** 2})
    assert TableEncoder().fit(table).get_feature_names_out().tolist() == ["x=b", "x=c", "x=(other)", "z"]
    few = TableEncoder(max_categories=3).fit(table)
    assert few.get_feature_names_out().tolist() == ["x=b", "x=(other)", "z"]
    np.testing.assert_array_equal(few.transform(table)["x=(other)"], np.isin(cells, ["c", "d", "e"]))


def test_new_values_are_other_or_none_of_the_known_ones() -> None:
    fitted = pd.DataFrame({"x": ["a"] * 9 + ["b"] * 6 + ["c"], "y": ["u"] * 8 + ["v"] * 8})
    new = pd.DataFrame({"x": ["new", "a", "c"], "y": ["new", "v", "u"]})
    encoder = TableEncoder().fit(fitted)
    assert encoder.get_feature_names_out().tolist() == ["x=b", "x=(other)", "y=v"]
    said = r"'x' in 1 of 3 rows \(taken as \"\(other\)\"\), 'y' in 1 of 3 rows \(taken as none of the known values\)"
    with pytest.warns(UnknownCategoryWarning, match=said):
        encoded = encoder.transform(new)
    np.testing.assert_array_equal(encoded, [[0, 1, 0], [0, 0, 1], [0, 1, 0]])
    assert {name: rows.tolist() for name, rows in encoder.find_unreadable(new).items()} == {"y": [True, False, False]}
    unknown = {"x": [True, False, False], "y": [True, False, False]}  # c was rare, but is known
    assert {name: rows.tolist() for name, rows in encoder.find_unknown(new).items()} == unknown


def test_new_values_are_no_news_where_many_rows_have_their_own() -> None:
    """As many as one may expect are "(other)" without a word; more are not, and few rows are always told."""
    towns = ["a"] * 90 + [f"village {j}" for j in range(10)]
    encoder = TableEncoder(keep=["town"]).fit(pd.DataFrame({"town": towns, "x": np.arange(100.0) ** 2}))
    assert encoder.features_["town"].novelty == 0.1

    def make_rows(known: int, new: int) -> pd.DataFrame:
        return pd.DataFrame({"town": ["a"] * known + [f"new {j}" for j in range(new)], "x": 1.0})

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder.transform(make_rows(90, 12))
        encoder.transform(make_rows(90, 0))
    for known, new in ((70, 30), (4, 1)):
        with pytest.warns(UnknownCategoryWarning, match=f"'town' in {new} of {known + new} rows"):
            encoder.transform(make_rows(known, new))


def test_cross_validation_is_quiet_about_rare_values() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"town": [f"town {j}" for j in rng.geometric(0.08, 300)], "x": rng.normal(size=300)})
    y = table["x"] + (table["town"] == "1") + rng.normal(size=300)
    for model in (SparseLinearRegressionCV(ks=[1, 2], feature_groups="columns"), SparseLinearRegression(k=1)):
        pipeline = make_pipeline(TableEncoder(), model)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            cross_val_score(pipeline, table, y, cv=KFold(10, shuffle=True, random_state=0))
    with pytest.warns(UnknownCategoryWarning):
        pipeline.fit(table, y).predict(pd.DataFrame({"town": ["elsewhere"], "x": 0.0}))


def test_more_rare_values_than_are_remembered() -> None:
    table = pd.DataFrame({"code": [f"c{j}" for j in range(1100)] * 2 + ["a"] * 100, "x": np.arange(2300.0) ** 2})
    encoder = TableEncoder(min_frequency=5, keep=["code"]).fit(table)
    assert encoder.features_["code"].has_other
    assert encoder.features_["code"].rare == ()
    assert encoder.find_unknown(pd.DataFrame({"code": ["new"], "x": 0.0})) == {}


def test_codes_are_the_same_as_text_and_as_numbers() -> None:
    fitted = pd.DataFrame({"grade": ["1"] * 9 + ["2"] * 6 + ["A"] * 5 + [None] * 5})
    encoder = TableEncoder().fit(fitted)
    assert encoder.get_feature_names_out().tolist() == ["grade=2", "grade=A", "grade is missing"]
    for cells in ([1.0, 2.0, np.nan], np.array([1, 2, np.nan], dtype=np.float32), ["1", "2", None]):
        np.testing.assert_array_equal(
            encoder.transform(pd.DataFrame({"grade": cells})), [[0, 0, 0], [1, 0, 0], [0, 0, 1]]
        )
    codes = pd.DataFrame({"grade": pd.Categorical([1.0] * 9 + [2.0] * 6 + [np.nan] * 5)})
    assert TableEncoder().fit(codes).get_feature_names_out().tolist() == ["grade=2", "grade is missing"]


def test_indicators_are_added_where_they_predict() -> None:
    rng = np.random.default_rng(0)
    missing = rng.random(200) < 0.3
    x = np.where(missing, np.nan, rng.normal(size=200))
    table = pd.DataFrame({"x": x, "z": rng.normal(size=200)})
    related, unrelated = missing + 0.5 * rng.normal(size=200), rng.normal(size=200)
    names = {
        "related": TableEncoder().fit(table, related),
        "classes": TableEncoder().fit(table, np.where(related > 0.5, "ill", "well")),
        "unrelated": TableEncoder().fit(table, unrelated),
        "without y": TableEncoder().fit(table),
        "always": TableEncoder(indicators=True).fit(table),
        "never": TableEncoder(indicators=False).fit(table, related),
    }
    found = {name: "x is missing" in encoder.get_feature_names_out() for name, encoder in names.items()}
    expected = {"related": True, "classes": True, "unrelated": False, "without y": False, "always": True}
    assert found == expected | {"never": False}


@pytest.mark.parametrize("dtype", [int, float, object])
def test_whole_numbers_with_many_values_are_tested_as_numbers(dtype: Any) -> None:
    """Prices are no classes, although they are integers; few numbers of visits are, of which no mean differs."""
    rng = np.random.default_rng(0)
    missing = rng.random(200) < 0.3
    price = (20_000 + 5_000 * missing + 10_000 * rng.random(200)).round().astype(int)
    visits = np.where(missing, rng.choice([1, 3], 200), 2)  # with the same mean
    table = pd.DataFrame({"x": np.where(missing, np.nan, rng.normal(size=200)), "z": rng.normal(size=200)})
    for y in (price, visits, np.column_stack([rng.normal(size=200).round(1), visits])):
        assert "x is missing" in TableEncoder().fit(table, y.astype(dtype)).get_feature_names_out()
    assert "x is missing" not in TableEncoder().fit(table, np.arange(200) % 97).get_feature_names_out()


def test_gaps_in_new_rows_are_filled_and_told() -> None:
    table = make_table()
    encoder = TableEncoder().fit(table)
    new = table.iloc[:3].copy()
    new.loc[1, "plain"] = np.nan
    new.loc[[0, 2], "gaps"] = np.nan
    filled = encoder.transform(new)
    assert filled["plain"].tolist() == [table["plain"][0], table["plain"].median(), table["plain"][2]]
    assert filled["gaps"].tolist()[::2] == [table["gaps"].median()] * 2
    assert {name: rows.tolist() for name, rows in encoder.find_unreadable(new).items()} == {
        "plain": [False, True, False]
    }


def test_numbers_that_are_too_large_are_counted_by_column() -> None:
    table = pd.DataFrame({"a": [1.0, np.inf, 3.0], "b": [1e200, 2.0, -np.inf], "c": [1.0, 2.0, 4.0]})
    with pytest.raises(ValueError, match=r"infinite or beyond 1e\+100: 'a' in 1 row, 'b' in 2 rows;"):
        TableEncoder().fit_transform(table)


def test_absent_columns_are_typical_values_if_they_are_not_needed() -> None:
    table = make_table()
    encoder = TableEncoder().fit(table)
    encoder.require(["plain", "town"])
    part = encoder.transform(table[["town", "plain"]])
    whole = encoder.transform(table)
    pd.testing.assert_frame_equal(part[["plain", "town=Kiel"]], whole[["plain", "town=Kiel"]])
    assert (part["gaps"] == table["gaps"].median()).all()
    with pytest.raises(ValueError, match="lacks the column 'town', which the encoder needs"):
        encoder.transform(table[["plain"]])
    with pytest.raises(ValueError, match="has no columns 'x'"):
        encoder.require(["x"])


def test_identifiers_are_left_out_unless_they_are_kept() -> None:
    table = make_table()
    encoder = TableEncoder(drop=["born"]).fit(table)
    assert [column.name for column in encoder.unused_] == ["born", "name"]
    assert "name" in TableEncoder(keep=["name"], min_frequency=1).fit(table).columns_
    # Features that somebody made are not judged.
    numbers = np.column_stack([np.arange(30.0), np.ones(30)])
    assert TableEncoder().fit_transform(numbers).shape == (30, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"drop": "name"}, "drop must be a list of columns, got the text 'name'"),
        ({"drop": ["nme"]}, "drop has 'nme', which are not columns of the table"),
        ({"keep": ["x"]}, "keep has 'x'"),
        ({"keep": ["name"], "drop": ["name"]}, "'name' is in both drop and keep"),
        ({"max_categories": 1}, "max_categories must be an integer of at least 2, got 1"),
        ({"min_frequency": 2.5}, "min_frequency must be an integer"),
        ({"indicators": "yes"}, 'indicators must be "auto", True or False'),
        ({"drop": ["plain", "gaps", "town", "sick", "born"]}, "no column of the table can be used: plain: as asked"),
    ],
)
def test_bad_parameters(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        TableEncoder(**options).fit(make_table())


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        ({"age": [1.0, None], "age is missing": [0, 1]}, ["age", "age is missing (2)", "age is missing"]),
        ({"a=x": [1, 2], "a": ["x", "y"]}, ["a=x", "a=x (2)"]),
        ({"a": ["x=y", "z"], "a=x": ["y", "z"]}, ["a=x=y", "a=x=y (2)"]),
        ({"a": ["(other)", "x"]}, ["a=(other)", "a=(other) (2)"]),
        ({"a": ["x", "z"], "a=x": [4, 2], "a=x (2)": [3, 1]}, ["a=x (3)", "a=x", "a=x (2)"]),
    ],
)
def test_features_of_the_same_name(columns: dict[str, list[Any]], names: list[str]) -> None:
    """Columns keep their names, and other features get a number."""
    table = pd.DataFrame({name: cells * 12 for name, cells in columns.items()})
    table["b"] = np.arange(24) % 7
    # The second value is the most frequent, to which others are compared.
    table = pd.concat([table, table[table.index % 2 == 1]], ignore_index=True)
    if len(columns) == 1:
        table.loc[len(table)] = ["rare", 0]
    encoder = TableEncoder(indicators=True, keep=list(columns)).fit(table)
    made = encoder.get_feature_names_out().tolist()
    assert made == [*names, "b"]
    encoded = encoder.transform(table)
    columns_of = dict(zip(made, encoder.feature_columns_.tolist(), strict=True))
    for name in columns:
        if name in made:
            assert columns_of[name] == name
            known = table[name].notna()
            np.testing.assert_array_equal(encoded[name][known], table[name][known])
    if "age" in columns:
        np.testing.assert_array_equal(encoded["age is missing (2)"], table["age"].isna())
    model = make_pipeline(encoder, SparseLinearRegression(k=1, feature_groups="columns")).fit(table, table["b"])
    loaded = loads(dumps(model))
    np.testing.assert_array_equal(loaded.predict(table), model.predict(table))


def test_columns_that_become_no_feature_are_left_out() -> None:
    words = pd.DataFrame({"rare": [f"{j} or so" for j in range(4)] * 3, "site": "Ulm", "x": np.arange(12.0) ** 2})
    encoder = TableEncoder(keep=["site"]).fit(words)
    reasons = {column.name: column.reason for column in encoder.unused_}
    assert reasons == {"rare": "no value occurs in at least 5 rows", "site": "it has the same value in all rows"}
    assert encoder.columns_.tolist() == encoder.needed_columns_ == encoder.transform(words).columns.tolist() == ["x"]
    with pytest.raises(ValueError, match=r"rare: no value occurs in at least 5 rows; name columns to use .* in keep"):
        TableEncoder(drop=["x", "site"]).fit(words)


def test_bad_tables() -> None:
    with pytest.raises(TypeError, match="sparse matrix has numbers only"):
        TableEncoder().fit(sparse.csr_array(np.eye(3)))
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(ValueError, match="two columns called 'a'"):
        TableEncoder().fit(twice)
    with pytest.raises(ValueError, match="0 sample"):
        TableEncoder().fit(make_table().iloc[:0])


def test_polars_frames_are_tables() -> None:
    polars = pytest.importorskip("polars")
    table = make_table()[["plain", "town", "sick"]]
    frame = polars.from_pandas(table)
    np.testing.assert_array_equal(TableEncoder().fit_transform(frame), TableEncoder().fit_transform(table))


def test_text_in_columns_of_numbers_is_counted() -> None:
    table = make_table()
    new = table.astype(object)
    new.loc[[0, 3], "gaps"] = ["abc", "1,5 m"]
    new.loc[1, "plain"] = "abc"
    encoder = TableEncoder().fit(table)
    new.loc[[1, 2, 4], "gaps"] = ["unknown", None, "n/a"]  # words for missing values are gaps
    text = "text that is not a number in 2 rows, such as 'abc'"
    assert describe_filled(encoder, new) == [f"'gaps': the median stands for missing values in 11 rows and for {text}"]
    assert {name: rows.sum() for name, rows in encoder.find_unreadable(new).items()} == {"plain": 1}
    assert describe_misread(encoder, new) == []


def test_a_column_of_text_alone_is_no_column_of_gaps() -> None:
    encoder = TableEncoder().fit(make_table())
    new = make_table().astype(object)
    new["gaps"] = "abc"
    new.loc[1, "gaps"] = None
    unreadable = encoder.find_unreadable(new)["gaps"]
    assert np.flatnonzero(~unreadable).tolist() == [1]
    assert describe_misread(encoder, new) == [
        "'gaps': no row has a value that can be read; text such as 'abc' is not a number"
    ]
    new["gaps"] = None
    assert "gaps" not in encoder.find_unreadable(new)
    assert describe_misread(encoder, new) == []


def test_lines_about_filled_cells_are_few() -> None:
    table = pd.DataFrame(np.arange(60.0).reshape(5, 12) ** 2, columns=[f"x{j}" for j in range(12)])
    table.iloc[2] = np.nan
    lines = describe_filled(TableEncoder().fit(table), table)
    assert lines[0] == "'x0': the median stands for missing values in 1 row"
    assert lines[8:] == ["the medians stand for cells in 4 more columns"]


@pytest.mark.parametrize("has_gaps", [False, True])
def test_dates_of_another_format_are_told_the_fitted_one(has_gaps: bool) -> None:
    dates = ["12/31/2023", "01/15/2024", "02/20/2024", None if has_gaps else "03/25/2024"]
    encoder = TableEncoder().fit(pd.DataFrame({"born": dates}))
    new = pd.DataFrame({"born": ["05/13/2024", "\x1b2024-03-05"]})
    fitted = "(month/day/year, such as 12/31/2024)"
    if has_gaps:
        said = f"text that is not a date like the fitted ones {fitted} in 1 row, such as '\\x1b2024-03-05'"
        assert describe_filled(encoder, new) == [f"'born': the median stands for {said}"]
        assert describe_misread(encoder, new) == []
    else:
        said = f"text such as '\\x1b2024-03-05' is not a date like the fitted ones {fitted}"
        assert describe_misread(encoder, new) == [f"'born': {said}"]
