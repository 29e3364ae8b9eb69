"""A second table with the target of the samples, joined by their names or by position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InputError, quote, quote_list, quote_path
from .base import Table


@dataclass(frozen=True)
class Key:
    """A column that may name the samples, as text; whether it is an identifier of its table, and was of numbers."""

    name: str
    cells: pd.Series
    is_identifier: bool
    is_numeric: bool


def join_labels(table: Table, labels: Table) -> Table:
    """A table with the columns of another one, for the same samples.

    Rows are joined by the column of the labels that names most samples of the table; by position if no name is in
    both, and the tables have as many rows.

    Parameters
    ----------
    table : Table
        The samples.
    labels : Table
        Their labels.
    """
    frame, others = table.read(), labels.read()
    pair = _find_keys(table, labels)
    if pair is None and len(frame) != len(others):
        raise InputError(_explain_no_match(table, labels))
    identifiers = table.identifiers
    if pair is None:
        rows = places = np.arange(len(frame))
        if others.shape[1] > 1 and not pd.api.types.is_numeric_dtype(others.iloc[:, 0]) and others.iloc[:, 0].is_unique:
            others = others.iloc[:, 1:]  # names that the other file does not have
        notes = [
            f"No names of samples are in both files, so rows of {quote_path(labels.source)} were taken in their order"
        ]
    else:
        key, other = pair
        position = pd.Series(np.arange(len(others)), index=other.cells.to_numpy())
        found = key.cells.map(position[position.index.notna()])
        rows = np.flatnonzero(found.notna())
        places = found.iloc[rows].to_numpy(dtype=int)
        notes = _describe_join(table, labels, pair, rows, places)
        if not other.is_identifier:
            others = others.drop(columns=other.name)
        if not key.is_identifier:
            identifiers = (
                pd.concat([identifiers, frame[[key.name]]], axis=1) if identifiers is not None else frame[[key.name]]
            )
            frame = frame.drop(columns=key.name)
    if not others.shape[1]:
        raise InputError(f"{quote_path(labels.source)} has names of samples but no labels; add a column with them")
    if both := [name for name in others.columns if name in set(frame.columns)]:
        raise InputError(
            f"{quote_path(table.source)} and {quote_path(labels.source)} both have {quote_list(both)}; rename or remove"
            " these columns in one of them"
        )
    joined = pd.concat([_take(frame, rows), _take(others, places)], axis=1)
    return Table(
        table.source,
        list(joined.columns),
        joined,
        others.columns[0] if others.shape[1] == 1 else None,
        identifiers=None if identifiers is None else _take(identifiers, rows),
        notes=(*table.notes, *labels.notes, *notes),
        locate=lambda row: table.locate(int(rows[row])),
    )


def _take(frame: pd.DataFrame, rows: Any) -> pd.DataFrame:
    return frame.iloc[rows].reset_index(drop=True)


def _list_keys(table: Table) -> list[Key]:
    """The columns that may name samples: identifiers, then the others."""
    found = []
    for frame, is_identifier in ((table.identifiers, True), (table.read(), False)):
        if frame is not None:
            for name in frame.columns:
                is_numeric = pd.api.types.is_numeric_dtype(frame[name])
                found.append(Key(name, _write_names(frame[name]), is_identifier, is_numeric))
    return found


def _write_names(cells: pd.Series) -> pd.Series:
    """Names of samples as text; whole numbers without decimals, and gaps as None."""
    if pd.api.types.is_float_dtype(cells):
        whole = cells.dropna()
        if not ((whole % 1 == 0) & (whole.abs() < 2**53)).all():
            return pd.Series(None, index=cells.index, dtype=object)  # measurements name nothing
        cells = cells.astype("Int64")
    return cells.astype(object).map(lambda cell: None if pd.isna(cell) else str(cell).strip())


def _find_keys(table: Table, labels: Table) -> tuple[Key, Key] | None:
    """The columns of both tables that name the same samples; None if no name is in both."""
    shared = set(labels.names) & set(table.names)
    keys = [key for key in _list_keys(table) if key.is_identifier or key.name in shared]
    found = _list_keys(labels)
    others = [key for key in found if key is found[0] or key.name in shared or not key.is_numeric]
    least = 1
    if not keys:  # the first column may name samples; numbers there may be measurements, unless they name all
        keys = [key for key in _list_keys(table)[:1] if key.cells.is_unique]
        least = len(keys[0].cells) if keys and keys[0].is_numeric else 1
    pairs = [(key, other) for key in keys for other in others]
    counts = [int(key.cells.dropna().isin(set(other.cells.dropna())).sum()) for key, other in pairs]
    if max(counts, default=0) < least:
        return None
    best = pairs[int(np.argmax(counts))]
    named = best[1].cells.dropna()
    twice = named[named.duplicated()].unique()
    if len(twice):
        raise InputError(
            f"{quote_path(labels.source)} names {len(twice)} samples more than once in the column {quote(best[1].name)}"
            f" ({quote_list(list(twice), 3)}); leave one row for each"
        )
    return best


def _describe_join(table: Table, labels: Table, pair: tuple[Key, Key], rows: Any, places: Any) -> list[str]:
    """How tables were joined, and how much of each has no partner in the other."""
    key, other = pair
    source, second = quote_path(table.source), quote_path(labels.source)
    lost = key.cells[~np.isin(np.arange(len(key.cells)), rows)]
    spare = other.cells[~np.isin(np.arange(len(other.cells)), places)]
    notes = [f"Labels of {len(rows)} of {len(key.cells)} samples are in {second}, by {quote(other.name)}"]
    if len(lost):
        notes.append(f"Samples of {source} without a label were left out ({len(lost)}): {_list_names(lost)}")
    if len(spare):
        notes.append(f"Labels of no sample of {source} ({len(spare)}): {_list_names(spare)}")
    return notes


def _list_names(cells: pd.Series) -> str:
    return quote_list(list(cells.dropna()), 3) or "they have no name"


def _explain_no_match(table: Table, labels: Table) -> str:
    """Why tables cannot be joined, with examples of names."""
    examples = []
    for part in (table, labels):
        key = _list_keys(part)[0]
        examples.append(
            f"{quote_path(part.source)} has {len(key.cells)} rows ({quote_list(list(key.cells.dropna()), 3)})"
        )
    return (
        f"no sample of {quote_path(table.source)} is named in {quote_path(labels.source)}, and they have different"
        f" numbers of rows: {' and '.join(examples)}; correct the names of the samples in one of them"
    )
