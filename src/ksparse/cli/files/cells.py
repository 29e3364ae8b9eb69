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

#: Cells that mean a missing value, in every table.
MISSING = (
    *("", "NA", "na", "Na", "N/A", "n/a", "NaN", "nan", "NAN", "Nan", "null", "NULL", "Null", "<NA>", "<na>"),
    *("None", "none", "NONE", ".", "-", "?", "missing", "Missing", "MISSING"),
    *("#N/A", "#NA", "#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!"),  # of spreadsheets
)
#: The sign that makes a minus beside it a value, not a gap.
PLUS, MINUS = "+", "-"
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", flags=re.A | re.I)
#: A number in which the mark separates thousands, with or without decimals.
_GROUPED = r"[1-9]\d{{0,2}}(?:{thousands}\d{{3}})+(?:{decimal}\d*)?"
#: Numbers with each decimal mark: plain, or in groups of three digits; with signs of money or per cent around them.
_ROUND = {
    decimal: re.compile(
        r"(?P<before>[$€£]? ?[+-]?)(?P<number>{grouped}|(?:\d+{decimal}?\d*|{decimal}\d+)(?:[eE][+-]?\d+)?)"
        r"(?P<after> ?[%$€£]?)".replace(
            "{grouped}", _GROUPED.format(thousands=re.escape(thousands), decimal=re.escape(decimal))
        ).replace("{decimal}", re.escape(decimal)),
        flags=re.A,
    )
    for decimal, thousands in ((".", ","), (",", "."))
}
_THOUSANDS = {".": ",", ",": "."}
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
AROUND = "$€£% "
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
        cell = text.strip(AROUND)
        commas = commas or ("," in cell and _DECIMAL_COMMA.fullmatch(cell) is not None)
        points = points or ("." in cell and _DECIMAL_POINT.fullmatch(cell) is not None)
        doubtful = doubtful or ("," in cell and _DOUBTFUL.fullmatch(cell) is not None)
        lists = lists or ("," in cell and _LIST.fullmatch(cell) is not None)
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
        column = column.where(column.isna(), column.astype(str))
    text = column.str.strip()
    missing = text.isna() | text.isin(MISSING)
    if missing.all():
        return pd.Series(np.nan, index=column.index, name=column.name)
    text = text.mask(missing)
    cells = text[~missing]
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
    number = match["number"].replace(_THOUSANDS[decimal], "").replace(decimal, ".")
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
