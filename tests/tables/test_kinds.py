"""What columns hold, and their cells as numbers, dates and text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from ksparse.tables.kinds import (
    UNDECIDED,
    ColumnKind,
    KindOfColumn,
    infer_kind,
    read_categories,
    read_dates,
    read_values,
)

NUMBERS: dict[str, tuple[list[Any], list[float]]] = {
    "plain": (["1", " 2.5", "-3e2"], [1, 2.5, -300]),
    "missing marks": (["1", "NA", "n/a", ".", "-", "?", "", "2"], [1, *[np.nan] * 6, 2]),
    "words among numbers": (["1", "unknown", "None", "3"], [1, np.nan, np.nan, 3]),
    "percent": (["50%", "7.5 %", "-1%"], [50, 7.5, -1]),
    "currency": (["$1,000", "€20", "35 EUR", "-$3.50", "USD 7"], [1000, 20, 35, -3.5, 7]),
    "thousands": (["3,750", "12,000,000", "17"], [3750, 12e6, 17]),
    "thousands and decimals": (["1,250.50", "3.25"], [1250.5, 3.25]),
    "decimal commas": (["39,1", "1,25", "7"], [39.1, 1.25, 7]),
    "decimal commas with points": (["1.234,5", "39,1"], [1234.5, 39.1]),
    "points between thousands": (["€ 1.167.758", "€ 950.000", "€ 3"], [1167758, 950000, 3]),
    "one point is in doubt": (["$1.234", "$2.500"], [1.234, 2.5]),
    "no thousands begin with zero": (["0,125", "1,5"], [0.125, 1.5]),
    "spaces between thousands": (["1 000", "12 500,5"], [1000, 12500.5]),
    "apostrophes": (["1'000", "12'500.5"], [1000, 12500.5]),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_in_text(name: str) -> None:
    cells, numbers = NUMBERS[name]
    column = pd.Series(cells, dtype=object)
    kind = infer_kind(column)
    assert kind.kind is KindOfColumn.NUMBER
    np.testing.assert_array_equal(read_values(column, kind), numbers)


@pytest.mark.parametrize(
    ("cells", "remarks"),
    [
        (["€ 1.167.758", "€ 950.000"], ("thousands separated", "currency removed")),
        (["$1.234", "$2.500"], ("currency removed",)),
        (["3,750", "1,2"], ("decimal commas",)),
        (["3,750", "1.250,5"], ("decimal commas", "thousands separated")),
        (["3,750", "17"], ("thousands separated",)),
    ],
)
def test_only_what_was_taken_for_thousands_is_told(cells: list[str], remarks: tuple[str, ...]) -> None:
    assert infer_kind(pd.Series(cells, dtype=object)).remarks == remarks


def test_several_points_beside_a_decimal_point_are_no_number() -> None:
    assert infer_kind(pd.Series(["1.167.758", "2.5"], dtype=object)).kind is KindOfColumn.CATEGORY


@pytest.mark.parametrize("text", ["12-34", "1.2.3", "II", "5 kg", "1,2,3,4", "e5", "0x1A", "1 2", "٣x", "+", "$"])
def test_what_is_no_number(text: str) -> None:
    assert infer_kind(pd.Series([text, "7"], dtype=object)).kind is KindOfColumn.CATEGORY


def test_a_few_cells_that_are_no_numbers_are_told() -> None:
    column = pd.Series([*map(str, range(40)), "n. a. "], dtype=object)
    kind = infer_kind(column)
    assert kind.kind is KindOfColumn.NUMBER
    assert kind.remarks == ("the cell 'n. a.' is not a number and counts as missing",)
    assert np.isnan(read_values(column, kind)[-1])
    many = pd.Series(["1", "2", "low", "high"] * 5, dtype=object)
    assert infer_kind(many).kind is KindOfColumn.CATEGORY


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "none", "3"], KindOfColumn.NUMBER),
        (["2007-11-11", "Missing", "2008-01-02"], KindOfColumn.DATE),
        (["true", "unknown", "false"], KindOfColumn.TRUTH),
        (["brick", "none", "stone"], KindOfColumn.CATEGORY),
        (["none", "unknown", "none"], KindOfColumn.CATEGORY),
    ],
)
def test_words_for_missing_values_are_values_among_text(cells: list[str], kind: KindOfColumn) -> None:
    column = pd.Series(cells, dtype=object)
    found = infer_kind(column)
    assert found.kind is kind
    if kind is KindOfColumn.CATEGORY:
        assert read_categories(column).tolist() == cells
    else:
        missing = (
            read_dates(column, found).isna() if kind is KindOfColumn.DATE else np.isnan(read_values(column, found))
        )
        assert list(missing) == [False, True, False]


@pytest.mark.parametrize(
    ("cells", "second"),
    [
        (["2007-11-11", "2008-01-02"], "2008-01-02"),
        (["11.12.2007", "01.02.2003"], "2003-02-01"),
        (["31/12/2007", "01/02/2003"], "2003-02-01"),
        (["2007-11-11 10:30", "2008-01-02 00:00"], "2008-01-02"),
    ],
)
def test_dates_in_text(cells: list[str], second: str) -> None:
    column = pd.Series([*cells, None, "?"], dtype=object)
    kind = infer_kind(column)
    assert kind.kind is KindOfColumn.DATE
    dates = read_dates(column, kind)
    assert dates.iloc[1] == pd.Timestamp(second)
    assert dates.isna().tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    ("cells", "order", "date_format", "undecided"),
    [
        (["03/04/2024", "05/06/2024"], "auto", "%m/%d/%Y", True),
        (["03/04/2024", "05/06/2024"], "dmy", "%d/%m/%Y", False),
        (["03/04/2024", "05/06/2024"], "mdy", "%m/%d/%Y", False),
        (["03/04/2024", "05/06/2024"], "ymd", "%m/%d/%Y", True),  # which no cell fits
        (["03/04/2024", "05/13/2024"], "auto", "%m/%d/%Y", False),
        (["03/04/2024", "13/05/2024"], "auto", "%d/%m/%Y", False),
        (["03/04/2024", "13/05/2024"], "mdy", "%d/%m/%Y", False),
        (["03/03/2024", "05/05/2024"], "auto", "%m/%d/%Y", False),  # the same in both orders
        (["03-04-2024 10:30", "05-06-2024 11:00"], "auto", "%m-%d-%Y %H:%M", True),
        (["03-04-2024 10:30", "05-06-2024 11:00"], "dmy", "%d-%m-%Y %H:%M", False),
        (["2024-03-04", "2024-05-06"], "dmy", "%Y-%m-%d", False),
        (["03.04.2024", "05.06.2024"], "auto", "%d.%m.%Y", False),
        (["03.04.2024", "05.06.2024"], "mdy", "%m.%d.%Y", False),
        (["3 Apr 2024", "5 Jun 2024"], "mdy", "%d %b %Y", False),
    ],
)
def test_the_order_of_dates(cells: list[str], order: str, date_format: str, undecided: bool) -> None:
    kind = infer_kind(pd.Series(cells, dtype=object), order)
    assert kind == ColumnKind(KindOfColumn.DATE, date_format=date_format, remarks=(UNDECIDED,) * undecided)


@pytest.mark.parametrize("cells", [["2007", "2008"], ["May", "June"], ["1st", "2nd"], ["N1A1", "N2A2"]])
def test_what_is_no_date(cells: list[str]) -> None:
    assert infer_kind(pd.Series(cells, dtype=object)).kind is not KindOfColumn.DATE


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pd.Series([1, 2]), KindOfColumn.NUMBER),
        (pd.Series([True, False]), KindOfColumn.TRUTH),
        (pd.Series([True, None], dtype="boolean"), KindOfColumn.TRUTH),
        (pd.Series(["TRUE", "false", None]), KindOfColumn.TRUTH),
        (pd.Series([1, None], dtype="Int64"), KindOfColumn.NUMBER),
        (pd.Series(["a", "b"], dtype="category"), KindOfColumn.CATEGORY),
        (pd.Series([1, 2], dtype="category"), KindOfColumn.CATEGORY),
        (pd.Series(["yes", "no"], dtype="string"), KindOfColumn.CATEGORY),
        (pd.Series(pd.to_datetime(["2020-01-01"])), KindOfColumn.DATE),
        (pd.Series(pd.to_datetime(["2020-01-01"], utc=True)), KindOfColumn.DATE),
        (pd.Series(pd.to_timedelta([1, 2], unit="D")), KindOfColumn.NUMBER),
        (pd.Series([None, None], dtype=object), KindOfColumn.CATEGORY),
    ],
)
def test_types_of_columns(column: pd.Series, kind: KindOfColumn) -> None:
    assert infer_kind(column).kind is kind


def test_values_of_other_types() -> None:
    truth = pd.Series(["TRUE", "false", None, "1"], dtype=object)
    np.testing.assert_array_equal(read_values(truth, ColumnKind(KindOfColumn.TRUTH)), [1, 0, np.nan, 1])
    nullable = pd.Series([True, None], dtype="boolean")
    np.testing.assert_array_equal(read_values(nullable, ColumnKind(KindOfColumn.TRUTH)), [1, np.nan])
    days = pd.Series(pd.to_timedelta([1.5, None], unit="D"))
    np.testing.assert_array_equal(read_values(days, ColumnKind(KindOfColumn.NUMBER)), [1.5, np.nan])
    assert read_categories(pd.Series([1, " b ", None, "NA"], dtype=object)).tolist() == ["1", "b", None, None]
    floats = pd.Series([1.0, 2.5, None, 1e20, -0.0])
    assert read_categories(floats).tolist() == ["1", "2.5", None, "1e+20", "0"]
    assert read_categories(floats.astype("category")).tolist() == ["1", "2.5", None, "1e+20", "0"]


def test_long_text_costs_no_time() -> None:
    hostile = "1" + ",111" * 100_000 + "x"
    assert infer_kind(pd.Series([hostile, "a"], dtype=object)).kind is KindOfColumn.CATEGORY
