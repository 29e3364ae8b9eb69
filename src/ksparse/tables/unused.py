"""Columns that say nothing about new rows: identifiers, numbers of rows, constants, empty ones."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .._types import Array
from ..wording import cut_text
from .kinds import ColumnKind, KindOfColumn, clean_text, read_number_columns

__all__ = ["CONSTANT", "NoColumnError", "UnusedColumn", "find_unused"]

#: Columns for which an error says why they cannot be used.
MOST_REASONS = 5

#: Names that people give to identifiers and numbers of rows.
NAME_OF_IDENTIFIER = re.compile(
    r"^(?:.*[_ .-])?(?:id|ids|uid|uuid|guid|key)$|^unnamed:? ?\d*$|^row[_ .]?(?:names?|num(?:ber)?s?|id|nr)?$|^index$"
    r"|^(?:case|obs|observation|nr|no|#|mrn|pid)$|^__index_level_\d+__$|.*[a-z]ID$"
    r"|^(?:patient|subject|participant|person|sample|record|case|customer|client|account|member|employee|student)"
    r"(?:[_ .-]?(?:nr|no|num|number|#)\.?)?$",
    flags=re.A,
)
#: Text, or whole numbers in a column with such a name, are an identifier if there are this many values for each cell,
DISTINCT_FRACTION = 0.95
#: and of columns with other names, in at least this many rows: of fewer, all may differ by chance.
LEAST_ROWS = 20
#: Numbers of rows of which some have been left out go up to this multiple of the rows that remain.
LARGEST_PER_ROW = 1.2
EMPTY, CONSTANT = "it is empty", "it has the same value in all rows"


@dataclass(frozen=True)
class UnusedColumn:
    """A column that is left out, and why.

    Examples
    --------
    >>> import pandas as pd
    >>> from ksparse.tables import TableEncoder
    >>> TableEncoder().fit(pd.DataFrame({"site": ["Ulm", "Ulm"], "age": [30, 40]})).unused_
    [UnusedColumn(name='site', reason='it has the same value in all rows', is_identifier=False)]
    """

    name: str
    reason: str
    #: Whether the column names rows, and so belongs into a table of predictions.
    is_identifier: bool = False


class NoColumnError(ValueError):
    """No column of a table can be used.

    Parameters
    ----------
    unused : sequence of UnusedColumn
        All its columns.

    Attributes
    ----------
    reasons : str
        The first columns, with the reasons.

    Examples
    --------
    >>> import pandas as pd
    >>> from ksparse.tables import NoColumnError, TableEncoder
    >>> try:
    ...     TableEncoder().fit(pd.DataFrame({"site": ["Ulm", "Ulm"]}))
    ... except NoColumnError as error:
    ...     print(error.reasons)
    site: it has the same value in all rows
    """

    def __init__(self, unused: Sequence[UnusedColumn]) -> None:
        more = f"; … and {len(unused) - MOST_REASONS:,} more" if len(unused) > MOST_REASONS else ""
        self.reasons = "; ".join(f"{cut_text(c.name)}: {c.reason}" for c in unused[:MOST_REASONS]) + more
        super().__init__(
            f"no column of the table can be used: {self.reasons}; name columns to use all the same in keep"
        )


def find_unused(table: pd.DataFrame, kinds: Mapping[str, ColumnKind]) -> dict[str, UnusedColumn]:
    """The columns of a table that tell nothing about other rows.

    Parameters
    ----------
    table : DataFrame
        The table.
    kinds : mapping of str to ColumnKind
        What its columns hold.

    Returns
    -------
    dict of str to UnusedColumn
        They, by name, with the reasons.

    Examples
    --------
    >>> import pandas as pd
    >>> from ksparse.tables.kinds import infer_kind
    >>> from ksparse.tables.unused import find_unused
    >>> table = pd.DataFrame({"id": [7, 3, 9], "age": [30, 41, 50], "site": "Ulm"})
    >>> list(find_unused(table, {name: infer_kind(table[name]) for name in table}))
    ['id', 'site']
    """
    numbers = [name for name, kind in kinds.items() if kind.kind is KindOfColumn.NUMBER]
    others = [name for name, kind in kinds.items() if kind.kind is not KindOfColumn.NUMBER]
    found = {name: _judge_cells(name, table[name], kinds[name]) for name in others}
    found |= _judge_numbers(numbers, read_number_columns(table[numbers], kinds))
    return {name: reason for name in table.columns if (reason := found.get(name)) is not None}


def _judge_cells(name: str, cells: pd.Series, kind: ColumnKind) -> UnusedColumn | None:
    known = clean_text(cells) if kind.kind is KindOfColumn.CATEGORY else cells
    known = known[known.notna()]
    distinct = known.nunique()
    if not len(known):
        return UnusedColumn(name, EMPTY)
    if distinct == 1 and len(known) == len(cells):
        return UnusedColumn(name, CONSTANT)
    if kind.kind is not KindOfColumn.CATEGORY:
        return None
    if len(known) >= LEAST_ROWS and distinct >= DISTINCT_FRACTION * len(known):
        every = "each row has" if distinct == len(known) else f"{distinct} of {len(known)} rows have"
        return UnusedColumn(name, f"it is an identifier or free text: {every} a value of its own", is_identifier=True)
    if _is_named_identifier(name) and distinct > len(known) / 2:
        return UnusedColumn(name, "by its name and its many values it is an identifier", is_identifier=True)
    return None


def _judge_numbers(names: Sequence[str], values: Array) -> dict[str, UnusedColumn]:
    """Columns of numbers at once, since there may be thousands."""
    if not names:
        return {}
    missing = np.isnan(values)
    found = {names[j]: UnusedColumn(names[j], EMPTY) for j in np.flatnonzero(missing.all(axis=0)).tolist()}
    complete = np.flatnonzero(~missing.any(axis=0))
    constant = (values[:, complete] == values[:1, complete]).all(axis=0)
    found |= {names[j]: UnusedColumn(names[j], CONSTANT) for j in complete[constant].tolist()}
    whole = ((values == np.round(values)) | missing).all(axis=0)
    for j in np.flatnonzero(whole).tolist():
        if names[j] not in found and (reason := _judge_whole_numbers(names[j], values[:, j])):
            found[names[j]] = UnusedColumn(names[j], reason, is_identifier=True)
    return found


def _judge_whole_numbers(name: str, numbers: Array) -> str:
    """Why whole numbers are an identifier; empty if they need not be."""
    named = _is_named_identifier(name)
    known = numbers[~np.isnan(numbers)]
    steps, numbering = np.diff(known), f"it numbers the rows from {known[0]:g} to {known[-1]:g}"
    complete = known[0] in (0.0, 1.0) and len(known) == len(numbers) and (steps == 1.0).all()
    if complete and (named or len(numbers) >= LEAST_ROWS):
        return numbering
    if len(known) >= LEAST_ROWS and known[0] >= 0 and (steps > 0).all() and known[-1] <= LARGEST_PER_ROW * len(known):
        return f"{numbering}, some of which are not there"
    if not named:
        return ""
    distinct = len(np.unique(known))
    if len(known) <= 2 or distinct < DISTINCT_FRACTION * len(known):
        return ""
    nearly = "nearly " if distinct < len(known) else ""
    return f"by its name and its {nearly}distinct whole numbers it is an identifier"


def _is_named_identifier(name: str) -> bool:
    return bool(NAME_OF_IDENTIFIER.match(name) or NAME_OF_IDENTIFIER.match(name.lower()))
