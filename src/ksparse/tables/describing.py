"""What an encoder has done to the columns of a table, in lines for people."""

from __future__ import annotations

import pandas as pd
from pandas.api.types import is_numeric_dtype

from ..wording import cut_text, quote, quote_list
from .encoder import TableEncoder
from .features import OTHER
from .kinds import UNDECIDED, KindOfColumn, name_date_format
from .unit_text import find_text_unit

__all__ = ["describe_encoding"]

#: Columns that a line names.
MOST_DESCRIBED = 12


def describe_encoding(encoder: TableEncoder, table: pd.DataFrame, *, day_first: str = 'dates="dmy"') -> list[str]:
    """A line for each thing that was done to columns.

    Parameters
    ----------
    encoder : TableEncoder
        A fitted encoder.
    table : DataFrame
        The rows that it was fitted to.
    day_first : str
        How the user says that the day is first in dates.

    Returns
    -------
    list of str
        The lines; none if all columns are numbers without gaps.

    Examples
    --------
    >>> import pandas as pd
    >>> from ksparse.tables import TableEncoder, describe_encoding
    >>> table = pd.DataFrame({"age": [30, None, 50, 41], "sex": ["m", "f", "f", "m"], "site": "Ulm"})
    >>> for line in describe_encoding(TableEncoder(min_frequency=1).fit(table), table):
    ...     print(line)
    Left out: site (it has the same value in all rows)
    Text as categories: sex (2 values)
    Missing numbers replaced by the median: age (1 row)
    """
    lines = _group("Left out", [(column.name, column.reason) for column in encoder.unused_])
    categories: list[tuple[str, str]] = []
    dates, text, medians, indicators = categories.copy(), categories.copy(), categories.copy(), categories.copy()
    for name, features in encoder.features_.items():
        kind, gaps = features.kind, int(features.find_missing(table[name]).sum())
        rows = f"{gaps} row{'s' * (gaps != 1)}"
        if kind.kind is KindOfColumn.CATEGORY:
            count = len(features.categories) + 1
            said = f"{count} value{'s' * (count != 1)}" + (", rare ones together" if features.has_other else "")
            said = "rare values together" if features.reference == OTHER else said
            categories.append((name, said + (f", missing in {rows} as one more" if gaps else "")))
            continue
        if kind.kind is KindOfColumn.DATE:
            dates.append((name, ", ".join(features.parts)))
        elif kind.remarks:
            text.append((name, "; ".join(kind.remarks)))
        if gaps:
            (indicators if features.indicator else medians).append((name, rows))
    lines += _group("Text as categories", categories)
    lines += _group("Text as numbers", text)
    lines += _group("Dates in parts", dates)
    lines += _describe_orders(encoder, day_first)
    lines += _describe_units(encoder, table)
    lines += _group("Missing numbers replaced by the median", medians)
    lines += _group("Missing numbers replaced by the median, with an indicator that they were missing", indicators)
    return lines


def _describe_orders(encoder: TableEncoder, day_first: str) -> list[str]:
    """A line for each format of dates that are read with the month first, although they may have the day first."""
    columns: dict[str, list[str]] = {}
    for name, features in encoder.features_.items():
        if UNDECIDED in features.kind.remarks:
            columns.setdefault(name_date_format(features.kind.date_format), []).append(name)
    return [
        f"Dates: {quote_list(names)} {'is' if len(names) == 1 else 'are'} read as {read} ({UNDECIDED};"
        f" {day_first} for day first)"
        for read, names in columns.items()
    ]


def _describe_units(encoder: TableEncoder, table: pd.DataFrame) -> list[str]:
    """A line for each unit of columns of text that would be numbers without it, used or left out."""
    kinds = {name: features.kind.kind for name, features in encoder.features_.items()}
    names = [name for name, kind in kinds.items() if kind is KindOfColumn.CATEGORY]
    names += [column.name for column in encoder.unused_ if column.name not in encoder.drop]
    columns: dict[str, list[str]] = {}
    for name in names:
        unit = "" if is_numeric_dtype(table[name]) else find_text_unit(table[name])
        if unit:
            columns.setdefault(unit, []).append(name)
    return [
        f"{quote_list(names)} {'looks' if len(names) == 1 else 'look'} like numbers with the unit {quote(unit)}:"
        f" remove it to use them as numbers"
        for unit, names in columns.items()
    ]


def _group(title: str, columns: list[tuple[str, str]]) -> list[str]:
    """One line for columns to which the same was done; equal reasons are said once."""
    if not columns:
        return []
    by_reason: dict[str, list[str]] = {}
    for name, reason in columns[:MOST_DESCRIBED]:
        by_reason.setdefault(reason, []).append(cut_text(name))
    said = ", ".join(f"{', '.join(names)} ({cut_text(reason, 120)})" for reason, names in by_reason.items())
    more = f", … and {len(columns) - MOST_DESCRIBED:,} more" if len(columns) > MOST_DESCRIBED else ""
    return [f"{title}: {said}{more}"]
