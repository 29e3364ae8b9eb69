"""What a column of a table holds (numbers, dates, true and false, categories), and its cells as such values."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import pandas as pd

from .._types import AnyArray, Array

__all__ = [
    "DATE_ORDERS",
    "MISSING_MARKS",
    "ColumnKind",
    "KindOfColumn",
    "clean_text",
    "describe_date_format",
    "infer_kind",
    "name_date_format",
    "read_categories",
    "read_dates",
    "read_number_columns",
    "read_values",
    "write_value",
]

#: Texts that stand for a missing value, in lower case.
MISSING_MARKS = frozenset(
    [
        *("", "na", "n/a", "n.a.", "nan", "null", "<na>", "?", ".", "-", "--"),
        *("#n/a", "#na", "#null!", "#div/0!", "#value!", "#ref!", "#name?", "#num!"),  # of spreadsheets
    ]
)
#: Words that do so among numbers, dates, and true and false; among other words they are values like them.
MISSING_WORDS = ("none", "missing", "unknown", "not available", "not done", "nil")
#: Texts that stand for true and false, in lower case.
TRUE_OR_FALSE = {"true": 1.0, "false": 0.0}
#: A column of text holds numbers or dates if at least this fraction of its cells are such; the others count as missing.
ENOUGH_CELLS = 0.95
#: Signs and codes of currencies, as a pattern.
CURRENCY = "[$€£¥₹]|USD|EUR|GBP|CHF"
#: A number with a sign, a currency or a unit of percent around it.
NUMBER_IN_TEXT = re.compile(
    rf"^(?P<sign>[+-]?)\s*(?:{CURRENCY})?\s*"
    r"(?P<number>[+-]?[0-9.,'\u00a0\u202f ]*[0-9][0-9.,]*(?:[eE][+-]?[0-9]+)?)"
    rf"\s*(?:%|{CURRENCY})?$"
)
#: Longer text is no number.
LONGEST_NUMBER = 60
#: Digits in groups of three; which mark separates them is the first group.
GROUPED = re.compile(r"^[+-]?[1-9]\d{0,2}(?:([,.'\u00a0\u202f ])\d{3})(?:\1\d{3})*(?:[.,]\d+)?$")
#: A comma that cannot separate thousands: not three digits follow, or points or spaces separate them already.
DECIMAL_COMMA = re.compile(r"^[^,]*,(?:\d{1,2}|\d{4,})(?:[eE][+-]?\d+)?$|[.'\u00a0\u202f ][^,]*,\d+$")
#: Points that can only separate thousands, since there are several.
SEVERAL_POINTS = re.compile(r"^[+-]?[1-9]\d{0,2}(?:\.\d{3}){2,}$")
#: A point that cannot separate thousands.
DECIMAL_POINT = re.compile(r"^[^.]*\.(?:\d{1,2}|\d{4,})(?:[eE][+-]?\d+)?$|[,'\u00a0\u202f ][^.]*\.\d+$")
#: Dates that have points between their numbers have the day first.
DATE_WITH_POINTS = re.compile(r"^\d{1,2}\.\d{1,2}\.\d{4}$")
#: What the parts of a format of dates are called.
DATE_WORDS = {
    "%d": "day",
    "%m": "month",
    "%b": "month",
    "%B": "month",
    "%Y": "year",
    "%y": "year",
    "%H": "hour",
    "%I": "hour",
    "%M": "minute",
    "%S": "second",
}
#: Orders of day, month and year that a user can say.
DATE_ORDERS = ("dmy", "mdy", "ymd")
#: What is remarked of dates that are dates in two orders.
UNDECIDED = "no cell decides the order"
#: Day, month and year differ in a date that shows a format.
EXAMPLE_DATE = pd.Timestamp("2024-12-31")
#: Whole numbers are not dates, even if they could be years.
WHOLE_NUMBER = re.compile(r"^[+-]?\d+(?:\.\d*)?$")
#: Up to this, each integer is a float.
LARGEST_INTEGER = 2.0**53
#: Cells of a column that are looked at before all of them are parsed as dates.
FEW_CELLS = 50


class KindOfColumn(str, Enum):
    """What a column holds.

    Examples
    --------
    >>> from ksparse.tables import KindOfColumn
    >>> [kind.value for kind in KindOfColumn]
    ['number', 'true or false', 'date', 'category']
    """

    NUMBER = "number"
    TRUTH = "true or false"
    DATE = "date"
    CATEGORY = "category"


@dataclass(frozen=True)
class ColumnKind:
    """What a column holds, and how its text is read.

    Examples
    --------
    >>> import pandas as pd
    >>> from ksparse.tables.kinds import infer_kind, read_values
    >>> prices = pd.Series(["$1,000", "$250.50", "?"])
    >>> kind = infer_kind(prices)
    >>> kind.kind.value, read_values(prices, kind).tolist()
    ('number', [1000.0, 250.5, nan])
    """

    kind: KindOfColumn
    #: The decimal mark of numbers that are text; empty for numbers that are numbers.
    decimal: str = ""
    #: The format of dates that are text, as `strptime` takes it; empty for others.
    date_format: str = ""
    #: What else was taken for missing, for example.
    remarks: tuple[str, ...] = ()


def infer_kind(cells: pd.Series, date_order: str = "auto") -> ColumnKind:
    """What a column holds, from its type, or for text from its cells; the order is that of dates where it fits."""
    if pd.api.types.is_bool_dtype(cells):
        return ColumnKind(KindOfColumn.TRUTH)
    if isinstance(cells.dtype, pd.CategoricalDtype):
        return ColumnKind(KindOfColumn.CATEGORY)
    if pd.api.types.is_numeric_dtype(cells) or pd.api.types.is_timedelta64_dtype(cells):
        return ColumnKind(KindOfColumn.NUMBER)
    if pd.api.types.is_datetime64_any_dtype(cells):
        return ColumnKind(KindOfColumn.DATE)
    return _infer_kind_of_text(clean_text(cells).dropna(), date_order)


def _infer_kind_of_text(text: pd.Series, date_order: str) -> ColumnKind:
    is_word = text.str.lower().isin(MISSING_WORDS)
    words, text = text[is_word], text[~is_word]
    distinct = text.drop_duplicates()
    if not len(distinct):
        return ColumnKind(KindOfColumn.CATEGORY)
    if distinct.str.lower().isin(list(TRUE_OR_FALSE)).all():
        return ColumnKind(KindOfColumn.TRUTH)
    decimal = _find_decimal(distinct)
    numbers = _parse_numbers(text, decimal)
    others = int(np.isnan(numbers).sum())
    if others <= (1.0 - ENOUGH_CELLS) * len(text) and others < len(text):
        other = pd.concat([text[np.isnan(numbers)], words])
        return ColumnKind(KindOfColumn.NUMBER, decimal=decimal, remarks=_describe_numbers(text, other, decimal))
    guess = _guess_date_format(text)
    date_format, remarks = _order_date_format(text, guess, date_order) if guess else ("", ())
    known = _parse_dates(text, date_format).notna() if date_format else pd.Series([False])
    if known.mean() < ENOUGH_CELLS:
        return ColumnKind(KindOfColumn.CATEGORY)
    return ColumnKind(KindOfColumn.DATE, date_format=date_format, remarks=remarks)


def clean_text(cells: pd.Series) -> pd.Series:
    """Cells as text without white space around it; None where they are missing or a mark for that."""
    if pd.api.types.infer_dtype(cells, skipna=True) in ("string", "categorical"):  # few are different, as a rule
        places, distinct = pd.factorize(cells)
        known = np.array([*map(_clean_value, distinct), None], dtype=object)[places]  # missing ones have the place −1
    else:
        missing = cells.isna().to_numpy(dtype=bool)
        known = [None if gap else _clean_value(cell) for cell, gap in zip(cells.tolist(), missing, strict=True)]
    return pd.Series(known, index=cells.index, dtype=object)


def _clean_value(value: Any) -> str | None:
    text = write_value(value).strip()
    return None if text.lower() in MISSING_MARKS else text


def write_value(value: Any) -> str:
    """A cell as text; whole numbers without decimals, since integers are floats in a column with gaps."""
    is_whole = isinstance(value, (float, np.floating)) and abs(value) < LARGEST_INTEGER and float(value).is_integer()
    return str(int(value)) if is_whole else str(value)


def _find_decimal(distinct: pd.Series) -> str:
    """The decimal mark: a comma, if one of some number can be nothing else, or if points separate thousands."""
    marked = distinct[distinct.str.contains("[.,]", regex=True)]
    bodies = [
        match["number"] for text in marked if len(text) <= LONGEST_NUMBER and (match := NUMBER_IN_TEXT.match(text))
    ]
    if any("," in body and DECIMAL_COMMA.search(body) for body in bodies):
        return ","
    points_separate = any(map(SEVERAL_POINTS.match, bodies)) and not any(map(DECIMAL_POINT.search, bodies))
    return "," if points_separate else "."


def _parse_numbers(text: pd.Series, decimal: str) -> Array:
    """Text as numbers; NaN where it is none."""
    plain: Array = np.array(pd.to_numeric(text, errors="coerce"), dtype=np.float64)
    values = text.to_numpy()
    if decimal == ",":
        plain = np.full(len(values), np.nan)
    for place in np.flatnonzero(np.isnan(plain)):
        plain[place] = _parse_number(values[place], decimal)
    return plain


def _parse_number(text: str, decimal: str) -> float:
    match = NUMBER_IN_TEXT.match(text) if len(text) <= LONGEST_NUMBER else None
    if match is None:
        return np.nan
    whole, mark, fraction, thousands = _split_number(match["number"], decimal)
    if thousands:
        whole = whole.replace(thousands, "")
    try:
        return float(f"{match['sign']}{whole}{'.' if mark else ''}{fraction}")
    except ValueError:
        return np.nan


def _split_number(body: str, decimal: str) -> tuple[str, str, str, str]:
    """What is before the decimal mark, this mark, what is after it, and the mark that separates thousands, if any."""
    whole, mark, fraction = body.partition(decimal) if body.count(decimal) == 1 else (body, "", "")
    grouped = GROUPED.match(whole)
    return whole, mark, fraction, grouped[1] if grouped is not None and grouped[1] != decimal else ""


def _describe_numbers(text: pd.Series, other: pd.Series, decimal: str) -> tuple[str, ...]:
    remarks = []
    if decimal == "," and text.str.contains(",", regex=False).any():
        remarks.append("decimal commas")
    if any(
        _split_number(match["number"], decimal)[3]
        for cell in text.iloc[:FEW_CELLS]
        if (match := NUMBER_IN_TEXT.match(cell[:LONGEST_NUMBER]))
    ):
        remarks.append("thousands separated")
    for mark, meaning in (("%", "percent signs removed"), (CURRENCY, "currency removed")):
        if text.str.contains(mark, regex=True).any():
            remarks.append(meaning)
    if len(other):
        example = repr(other.iloc[0][:30])
        remarks.append(
            f"{len(other)} cells such as {example} are not numbers and count as missing"
            if len(other) > 1
            else f"the cell {example} is not a number and counts as missing"
        )
    return tuple(remarks)


def _guess_date_format(text: pd.Series) -> str:
    """The format of dates, or empty text if they are none; skrub guesses it, the month first where both can be."""
    few = text.iloc[:FEW_CELLS]
    if few.map(lambda cell: bool(WHOLE_NUMBER.match(cell)) or not any(map(str.isdigit, cell))).any():
        return ""
    if few.map(lambda cell: bool(DATE_WITH_POINTS.match(cell))).all():
        return "%d.%m.%Y"
    from skrub import ToDatetime  # it takes more than a second to import, and few tables need it

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a format that pandas cannot guess
        reader = ToDatetime()
        try:
            reader.fit_transform(pd.Series(text.to_numpy(), name="text", dtype=object))
        except ValueError:  # what skrub raises for a column that has no dates
            return ""
    return reader.format_ or ""


def _order_date_format(text: pd.Series, guess: str, order: str) -> tuple[str, tuple[str, ...]]:
    """The format with day, month and year in the order that is asked for, if it fits, and a remark."""
    asked = _reorder_date(guess, order) if order != "auto" else ""
    if asked and _parse_dates(text, asked).notna().mean() >= ENOUGH_CELLS:
        return asked, ()
    other = _reorder_date(guess, "dmy") if guess.startswith("%m") else ""
    if not other:
        return guess, ()
    by_month, by_day = _parse_dates(text, guess), _parse_dates(text, other)
    is_undecided = by_day.notna().equals(by_month.notna()) and not by_day.equals(by_month)
    return guess, (UNDECIDED,) if is_undecided else ()


def _parse_dates(text: pd.Series, date_format: str) -> pd.Series:
    return pd.to_datetime(text, format=date_format, errors="coerce")


def _reorder_date(date_format: str, order: str) -> str:
    """The format with day, month and year in another order; empty if one of them is no number."""
    codes = {code[1].lower(): code for code in re.findall("%[dmYy]", date_format)}
    if set(codes) != set("dmy"):
        return ""
    ordered = iter([codes[letter] for letter in order])
    return re.sub("%[dmYy]", lambda _: next(ordered), date_format)


def describe_date_format(date_format: str) -> str:
    """A format of dates for people, with an example.

    Examples
    --------
    >>> from ksparse.tables.kinds import describe_date_format
    >>> describe_date_format("%d/%m/%Y")
    'day/month/year, such as 31/12/2024'
    """
    return f"{name_date_format(date_format)}, such as {EXAMPLE_DATE.strftime(date_format)}"


def name_date_format(date_format: str) -> str:
    """A format of dates in words, as month/day/year."""
    return re.sub("%[a-zA-Z]", lambda code: DATE_WORDS.get(code[0], code[0]), date_format)


def read_values(cells: pd.Series, kind: ColumnKind) -> Array:
    """The cells of a column of numbers, or of true and false, as numbers; NaN where they are missing."""
    if pd.api.types.is_timedelta64_dtype(cells):
        return np.asarray(cells.dt.total_seconds() / 86400.0, dtype=np.float64)  # in days
    if pd.api.types.is_numeric_dtype(cells):
        return np.asarray(cells.to_numpy(dtype=np.float64, na_value=np.nan))
    text = clean_text(cells)
    numbers = np.full(len(text), np.nan)
    known = text.notna().to_numpy(dtype=bool)
    if kind.kind is KindOfColumn.TRUTH:
        truth = text[known].str.lower().map({**TRUE_OR_FALSE, "1": 1.0, "0": 0.0, "1.0": 1.0, "0.0": 0.0})
        numbers[known] = truth.to_numpy(dtype=np.float64)
    else:
        numbers[known] = _parse_numbers(text[known], kind.decimal or ".")
    return numbers


def read_number_columns(table: pd.DataFrame, kinds: Mapping[str, ColumnKind] | None = None) -> Array:
    """Columns as numbers; NaN where a cell is none. Fast for thousands of columns of numbers."""
    if all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in table.dtypes):
        return np.asarray(table.to_numpy(dtype=np.float64))
    kinds = kinds or dict.fromkeys(table.columns, ColumnKind(KindOfColumn.NUMBER))
    return np.column_stack([read_values(table[name], kinds[name]) for name in table.columns])


def read_dates(cells: pd.Series, kind: ColumnKind) -> pd.Series:
    """The cells of a column of dates; NaT where they are missing or of another format."""
    if pd.api.types.is_datetime64_any_dtype(cells):
        return cells.dt.tz_localize(None) if cells.dt.tz is not None else cells
    return pd.to_datetime(clean_text(cells), format=kind.date_format or None, errors="coerce")


def read_categories(cells: pd.Series) -> AnyArray:
    """The cells of a column of categories as text; None where they are missing."""
    values: Any = clean_text(cells).to_numpy(dtype=object)
    return values
