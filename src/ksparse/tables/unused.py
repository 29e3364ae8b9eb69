"""Columns that say nothing about new rows: identifiers, numbers of rows, constants, empty ones."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .kinds import ColumnKind, KindOfColumn, clean_text, read_values

__all__ = ["UnusedColumn", "find_reason_to_omit"]

#: Names that people give to identifiers and numbers of rows.
NAME_OF_IDENTIFIER = re.compile(
    r"^(?:.*[_ .-])?(?:id|ids|uid|uuid|guid|key)$|^unnamed:? ?\d*$|^row[_ .]?(?:names?|num(?:ber)?s?|id|nr)?$|^index$"
    r"|^(?:case|obs|observation|nr|no|#)$|^__index_level_\d+__$|.*[a-z]ID$",
    flags=re.A,
)
#: Text is an identifier if at least this fraction of the cells have a value of their own,
DISTINCT_FRACTION = 0.95
#: in at least this many rows: of fewer, all may differ by chance.
LEAST_ROWS = 20


@dataclass(frozen=True)
class UnusedColumn:
    """A column that is left out, and why."""

    name: str
    reason: str
    #: Whether the column names rows, and so belongs into a table of predictions.
    is_identifier: bool = False


def find_reason_to_omit(name: str, cells: pd.Series, kind: ColumnKind) -> UnusedColumn | None:
    """Why a column tells nothing about other rows; None if it may."""
    known = clean_text(cells) if kind.kind is KindOfColumn.CATEGORY else cells
    known = known[known.notna()]
    if not len(known):
        return UnusedColumn(name, "it is empty")
    distinct = known.nunique()
    if distinct == 1 and len(known) == len(cells):
        return UnusedColumn(name, "it has the same value in all rows")
    if kind.kind is KindOfColumn.CATEGORY:
        return _judge_text(name, known, distinct)
    if kind.kind is KindOfColumn.NUMBER:
        return _judge_numbers(name, cells, kind)
    return None


def _judge_text(name: str, known: pd.Series, distinct: int) -> UnusedColumn | None:
    if len(known) >= LEAST_ROWS and distinct >= DISTINCT_FRACTION * len(known):
        every = "each row has" if distinct == len(known) else f"{distinct} of {len(known)} rows have"
        return UnusedColumn(name, f"it is an identifier or free text: {every} a value of its own", is_identifier=True)
    if _is_named_identifier(name) and distinct > len(known) / 2:
        return UnusedColumn(name, "by its name and its many values it is an identifier", is_identifier=True)
    return None


def _judge_numbers(name: str, cells: pd.Series, kind: ColumnKind) -> UnusedColumn | None:
    numbers = read_values(cells, kind)
    whole = len(numbers) > 2 and bool((numbers == np.round(numbers)).all())  # NaN is not
    if not whole:
        return None
    distinct = len(np.unique(numbers)) == len(numbers)
    named = _is_named_identifier(name)
    if (
        distinct
        and (numbers[0] in (0.0, 1.0))
        and bool((np.diff(numbers) == 1.0).all())
        and (named or len(numbers) >= LEAST_ROWS)
    ):
        return UnusedColumn(name, f"it numbers the rows from {numbers[0]:g} to {numbers[-1]:g}", is_identifier=True)
    if named and distinct:
        return UnusedColumn(name, "by its name and its distinct whole numbers it is an identifier", is_identifier=True)
    return None


def _is_named_identifier(name: str) -> bool:
    return bool(NAME_OF_IDENTIFIER.match(name) or NAME_OF_IDENTIFIER.match(name.lower()))
