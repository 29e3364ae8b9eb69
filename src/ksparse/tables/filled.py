"""Cells of new rows that are missing or cannot be read, in lines for people."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from .._types import Mask
from ..wording import MOST_NAMES, cut_text, quote
from .encoder import TableEncoder
from .features import ColumnFeatures
from .kinds import KindOfColumn, describe_date_format

__all__ = ["describe_filled", "describe_misread"]

#: What text that cannot be read is not, in columns of each kind.
READABLE = {KindOfColumn.NUMBER: "not a number", KindOfColumn.TRUTH: "neither true nor false"}


def describe_filled(encoder: TableEncoder, table: pd.DataFrame) -> list[str]:
    """A line for each needed column in which medians stand for cells of new rows.

    Parameters
    ----------
    encoder : TableEncoder
        A fitted encoder.
    table : DataFrame
        New rows that it transforms.

    Returns
    -------
    list of str
        The lines, with the numbers of rows; missing cells and text that cannot be read are counted apart.

    Examples
    --------
    >>> import pandas as pd
    >>> from ksparse import TableEncoder
    >>> from ksparse.tables import describe_filled
    >>> encoder = TableEncoder().fit(pd.DataFrame({"age": [30, None, 50, 41]}))
    >>> describe_filled(encoder, pd.DataFrame({"age": [None, 60, "old"]}, dtype=object))
    ["'age': the median stands for missing values in 1 row and for text that is not a number in 1 row, such as 'old'"]
    """
    lines = []
    for features in _find_measured(encoder):
        cells = table[features.column]
        missing = features.find_missing(cells)
        if not (features.has_missing and missing.any()):
            continue
        misread = features.find_misread(cells)
        gaps, parts = int((missing & ~misread).sum()), []
        if gaps:
            parts.append(f"missing values in {_count(gaps)}")
        if misread.any():
            text = f"text that is {_say_expected(features)} in {_count(int(misread.sum()))}"
            parts.append(f"{text}, such as {_quote_first(cells, misread)}")
        lines.append(f"{quote(features.column)}: the median stands for {' and for '.join(parts)}")
    return _cut_lines(lines, "the medians stand for cells")


def describe_misread(encoder: TableEncoder, table: pd.DataFrame) -> list[str]:
    """A line for each needed column that has text in place of dates of the fitted format, or in place of all numbers.

    Parameters
    ----------
    encoder : TableEncoder
        A fitted encoder.
    table : DataFrame
        New rows.

    Returns
    -------
    list of str
        The lines, for the columns that make rows unreadable: see `TableEncoder.find_unreadable`.

    Examples
    --------
    >>> import pandas as pd
    >>> from ksparse import TableEncoder
    >>> from ksparse.tables import describe_misread
    >>> encoder = TableEncoder().fit(pd.DataFrame({"born": ["12/31/2023", "01/15/2024", "02/20/2024"]}))
    >>> describe_misread(encoder, pd.DataFrame({"born": ["2024-03-05", "03/25/2024"]}))
    ["'born': text such as '2024-03-05' is not a date like the fitted ones (month/day/year, such as 12/31/2024)"]
    """
    lines = []
    for features in _find_measured(encoder):
        cells = table[features.column]
        misread = features.find_misread(cells)
        if not (misread & features.find_unreadable(cells)).any():
            continue
        name, first = quote(features.column), _quote_first(cells, misread)
        if features.kind.kind is KindOfColumn.DATE:
            lines.append(f"{name}: text such as {first} is {_say_expected(features)}")
        elif features.find_missing(cells).all():
            said = f"text such as {first} is {_say_expected(features)}"
            lines.append(f"{name}: no row has a value that can be read; {said}")
    return _cut_lines(lines, "there is such text")


def _find_measured(encoder: TableEncoder) -> Iterator[ColumnFeatures]:
    """The features of each needed column that holds no categories."""
    every = (encoder.get_features(name) for name in encoder.needed_columns_)
    return (features for features in every if features.kind.kind is not KindOfColumn.CATEGORY)


def _say_expected(features: ColumnFeatures) -> str:
    if features.kind.kind is not KindOfColumn.DATE:
        return READABLE[features.kind.kind]
    date_format = features.kind.date_format
    fitted = cut_text(describe_date_format(date_format)) if date_format else ""
    return f"not a date like the fitted ones ({fitted})" if fitted else "not a date"


def _quote_first(cells: pd.Series, rows: Mask) -> str:
    return quote(str(cells.iloc[int(np.argmax(rows))]).strip())


def _count(rows: int) -> str:
    return f"{rows} row{'s' * (rows != 1)}"


def _cut_lines(lines: list[str], rest: str) -> list[str]:
    """The first lines, and how many there are besides."""
    more = len(lines) - MOST_NAMES
    return lines if more <= 0 else [*lines[:MOST_NAMES], f"{rest} in {more:,} more column{'s' * (more != 1)}"]
