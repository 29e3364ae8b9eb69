"""What cells of tables mean: missing values, plain numbers, and numbers with commas."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from ...tables.kinds import CURRENCY, MISSING_MARKS, MISSING_WORDS, write_value

#: Usual spellings of marks for missing values, for pandas; others are found where it left text.
MISSING = (
    "NaN",
    *(spelling for mark in sorted(MISSING_MARKS) for spelling in {mark: 1, mark.upper(): 1, mark.capitalize(): 1}),
)
#: The sign that makes a minus beside it a value, not a gap.
PLUS, MINUS = "+", "-"
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", flags=re.A | re.I)
#: What separates thousands, for each decimal mark.
_THOUSANDS = {".": ",'\u00a0\u202f ", ",": ".'\u00a0\u202f "}
#: A number in which the mark separates thousands, with or without decimals.
_GROUPED = r"[1-9]\d{{0,2}}(?:{thousands}\d{{3}})+(?:{decimal}\d*)?"
#: Numbers with each decimal mark: plain, or in groups of three digits; with signs of money or per cent around them.
_ROUND = {
    decimal: re.compile(
        r"(?P<before>[+-]? ?(?:{currency})? ?[+-]?)"
        r"(?P<number>{grouped}|(?:\d+{decimal}?\d*|{decimal}\d+)(?:[eE][+-]?\d+)?)"
        r"(?P<after> ?(?:%|{currency})?)".replace(
            "{grouped}", _GROUPED.format(thousands=f"[{_THOUSANDS[decimal]}]", decimal=re.escape(decimal))
        )
        .replace("{decimal}", re.escape(decimal))
        .replace("{currency}", CURRENCY),
        flags=re.A,
    )
    for decimal in _THOUSANDS
}
#: What shows that a comma is a decimal mark: digits after it that are not a group of three, or a zero before it.
_DECIMAL_COMMA = re.compile(
    r"[+-]?(?:\d*,(?:\d{1,2}|\d{4,})|0,\d+|\d{4,},\d+|\d{1,3}(?:\.\d{3})+,\d*|\d*,\d+[eE][+-]?\d+)", flags=re.A
)
#: The same of a point.
_DECIMAL_POINT = re.compile(
    r"[+-]?(?:\d*\.(?:\d{1,2}|\d{4,})|0\.\d+|\d{4,}\.\d+|\d{1,3}(?:,\d{3})+\.\d*|\d*\.\d+[eE][+-]?\d+)", flags=re.A
)
#: A number that is in doubt: a group of three digits after a comma.
_DOUBTFUL = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?", flags=re.A)
#: A number in which points can only separate thousands, if commas are decimal marks.
_POINTS_OF_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d*)?", flags=re.A)
#: What may be around a number.
_AROUND = re.compile(rf"^\s*(?:{CURRENCY})?\s*|\s*(?:%|{CURRENCY})?\s*$")
#: A list of codes, not a number.
_LIST = re.compile(r"\d{1,2}(?:,\d{1,2}){2,}", flags=re.A)


def is_number(cell: str) -> bool:
    """Whether a cell is a plain number, with a decimal point."""
    return NUMBER.fullmatch(cell.strip()) is not None


def find_decimal(cells: Iterable[str], *, semicolons: bool) -> tuple[str, str]:
    """The decimal mark of a file, and a note if commas are in its numbers.

    Parameters
    ----------
    cells : iterable of str
        Cells of the file.
    semicolons : bool
        Whether cells are separated by semicolons, as where decimals have a comma.
    """
    commas = points = doubtful = lists = False
    for text in cells:
        if "," not in text and "." not in text:
            continue
        cell = _AROUND.sub("", text)
        commas = commas or _DECIMAL_COMMA.fullmatch(cell) is not None
        points = points or _DECIMAL_POINT.fullmatch(cell) is not None
        doubtful = doubtful or _DOUBTFUL.fullmatch(cell) is not None
        lists = lists or _LIST.fullmatch(cell) is not None
    if lists and not semicolons:
        return ".", ""
    if commas and points:
        return ".", "Some numbers have decimal points, others commas; those with commas were read as text"
    if commas or (doubtful and not points and semicolons):
        return ",", "Numbers have decimal commas (--decimal . if they do not)"
    return ".", "Commas in numbers separate thousands (--decimal , if they are decimal marks)" if doubtful else ""


def convert_text(column: pd.Series, decimal: str = ".") -> pd.Series:
    """A column of a text file: as numbers or truth values if all its cells are such, else as text with gaps.

    Parameters
    ----------
    column : Series
        What pandas made of the column: text, or objects of several kinds.
    decimal : {".", ","}
        The decimal mark of the file.
    """
    kinds = set(map(type, column.dropna()))
    if kinds == {bool}:
        return column.astype("boolean")
    if not kinds <= {str}:
        column = column.where(column.isna(), column.astype(object).map(write_value))
    text = column.str.strip()
    lower = text.str.lower()
    missing = text.isna() | lower.isin(MISSING_MARKS)
    if missing.all():
        return pd.Series(np.nan, index=column.index, name=column.name)
    text = text.mask(missing)
    words = lower.isin(MISSING_WORDS)
    if words.any() and not (words | missing).all():
        numbers = _convert_cells(text.mask(words), decimal)
        if pd.api.types.is_float_dtype(numbers):
            return numbers
    return _convert_cells(text, decimal)


def _convert_cells(text: pd.Series, decimal: str) -> pd.Series:
    """Text with gaps as numbers, if all its cells are such, however they are written."""
    cells = text.dropna()
    numeric = all(map(is_number, cells.head(20))) and all(map(is_number, cells))
    if numeric and (decimal == "." or has_decimal_points(cells) or not any("." in cell for cell in cells)):
        return _to_floats(text, cells)
    return _convert_marks(text, decimal)


def has_decimal_points(cells: Iterable[str]) -> bool:
    """Whether some cell is a number with a point that cannot separate thousands."""
    return any("." in cell and is_number(cell) and not _POINTS_OF_THOUSANDS.fullmatch(cell) for cell in cells)


def _to_floats(column: pd.Series, cells: pd.Series) -> pd.Series:
    """A column with its cells as numbers."""
    numbers = pd.Series(np.nan, index=column.index, name=column.name)
    numbers[cells.index] = [float(cell) for cell in cells]
    return numbers


def _convert_marks(column: pd.Series, decimal: str) -> pd.Series:
    """A column in which most cells are numbers with commas, with these numbers as Python writes them."""
    marked = column[column.str.contains(r"\d[.,]\d", na=False)]
    if marked.empty or not any(_ROUND[decimal].fullmatch(cell) for cell in marked.head(20)):
        return column
    cells = column.dropna()
    found = [_ROUND[decimal].fullmatch(cell) for cell in cells]
    if sum(map(bool, found)) * 2 <= len(cells):
        return column  # a few cells among text are labels or remarks
    kept = is_number if decimal == "," and has_decimal_points(cells) else None  # then points in doubt are such, too
    written = [
        _write_number(match, decimal) if match and not (kept and kept(cell)) else cell
        for cell, match in zip(cells, found, strict=True)
    ]
    plain = pd.Series(written, index=cells.index, dtype=object)
    if all(map(is_number, written)):
        return _to_floats(column, plain)
    text = column.astype(object)
    text[cells.index] = plain
    return text.astype(column.dtype)


def _write_number(match: re.Match[str], decimal: str) -> str:
    number = re.sub(f"[{_THOUSANDS[decimal]}]", "", match["number"]).replace(decimal, ".")
    return f"{match['before']}{number}{match['after']}"


def convert_values(column: pd.Series) -> pd.Series:
    """A column with values of any type: as numbers, truth values or dates if all are such, else as text with gaps."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    kind = column.dtype
    plain = pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_complex_dtype(kind)
    if plain or pd.api.types.is_bool_dtype(kind) or pd.api.types.is_datetime64_any_dtype(kind):
        return column
    missing = column.isna()
    kinds = set(map(type, column[~missing]))
    if kinds and bool not in kinds and all(issubclass(each, (Real, Decimal)) for each in kinds):
        # By way of text, since some integers are too large for a float.
        return _to_floats(column, column[~missing].astype(str))
    if kinds and all(issubclass(each, datetime.date) for each in kinds):
        days = column.where(~missing, None).tolist()
        if not any(getattr(day, "tzinfo", None) for day in days):
            return pd.Series(np.array(days, dtype="datetime64[us]"), index=column.index, name=column.name)
    if bytes in kinds:
        column = column.map(lambda cell: cell.decode(errors="replace") if isinstance(cell, bytes) else cell)
    return convert_text(column)


def hide_missing(column: pd.Series, na: tuple[str, ...]) -> pd.Series:
    """A column with gaps where cells are, as numbers or as text, among those that the user calls missing."""
    if pd.api.types.is_bool_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
        return column
    values: list[Any] = list(na)
    if pd.api.types.is_numeric_dtype(column):
        values = [float(cell) for cell in na if is_number(cell)]
    return column.mask(column.isin(values)) if values else column
