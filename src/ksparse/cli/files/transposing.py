"""Tables with features in rows and samples in columns, as those of genes often are."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...limits import CELL_COST, COLUMN_COST
from ...tables.kinds import write_value
from ..errors import InputError, check_memory, quote, quote_path
from .base import Table, describe_header
from .cells import convert_values


def transpose(table: Table, limit: int) -> Table:
    """A table with a column for each row of another one; the first column there has their names.

    Parameters
    ----------
    table : Table
        Features in rows: their names, then a column for each sample.
    limit : int
        Memory in bytes that the table may take.
    """
    frame, source = table.read(), table.source
    first = frame.iloc[:, 0] if table.identifiers is None else table.identifiers.iloc[:, 0]
    cells = frame.iloc[:, 1:] if table.identifiers is None else frame
    if not cells.shape[1]:
        raise InputError(f"{quote_path(source)} has one column only; expected names of features, then samples")
    check_memory(COLUMN_COST * len(cells) + CELL_COST * cells.size, limit, f"the table in {quote_path(source)}")
    named = first.notna().to_numpy(dtype=bool)
    names = [write_value(value) for value in first[named]]
    if problems := describe_header(source, names, axis="rows"):
        raise InputError(problems[0])
    samples = [str(name) for name in cells.columns]
    left = int((~named).sum())
    notes = [note for note in table.notes if "no name" not in note]
    if left:
        notes.append(f"{left} row{'s' * (left > 1)} without a name {'were' if left > 1 else 'was'} left out")
    return Table(
        source,
        names,
        _turn(cells.loc[named]).set_axis(names, axis=1),
        identifiers=pd.DataFrame({"sample": samples}),
        notes=tuple(notes),
        locate=lambda row: f"column {quote(samples[row])}",
    )


def _turn(cells: pd.DataFrame) -> pd.DataFrame:
    """A data frame with rows and columns exchanged; each column gets its own type."""
    kinds = set(cells.dtypes)
    if all(isinstance(kind, np.dtype) and kind.kind in "iuf" for kind in kinds):
        return pd.DataFrame(cells.to_numpy().T)
    columns = cells.astype(object).to_numpy().T
    mixed = [convert_values(_write_numbers(pd.Series(columns[:, place]))) for place in range(columns.shape[1])]
    return pd.concat(mixed, axis=1)


def _write_numbers(column: pd.Series) -> pd.Series:
    """A column of text if it has any, since one of its cells may be a number only because of what is around it."""
    if not any(isinstance(cell, str) for cell in column):
        return column
    return column.map(lambda cell: cell if isinstance(cell, str) or pd.isna(cell) else write_value(cell))
