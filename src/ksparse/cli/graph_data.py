"""From a table to the variables of a graph: which columns and rows are left out is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from .._types import Array
from ..estimators.variables import looks_like_covariance
from ..limits import LARGEST, PAIR_COST
from ..tables import KindOfColumn
from ..tables.kinds import infer_kind, read_values
from ..tables.unused import find_unused
from .data import split_names
from .errors import InputError, check_memory, choose_limit, quote, quote_list, quote_path
from .files.sources import is_pattern
from .graph_settings import GraphSettings
from .reading import SVMLIGHT, ReadingOptions, find_suffix, open_table

#: A column with a larger fraction of missing values is left out.
MOST_MISSING = 0.5
#: Rows with missing values are left out if they are at most this fraction of the rows; otherwise gaps are filled.
FEW_ROWS = 0.05
#: A graph of fewer rows means nothing.
FEWEST_ROWS = 4


@dataclass(frozen=True)
class GraphData:
    """The variables of a graph."""

    source: str
    frame: pd.DataFrame  # finite numbers
    notes: tuple[str, ...] = ()
    groups: list[str] | None = None  # of each variable; empty for one that has none

    @property
    def names(self) -> list[str]:
        """The variables."""
        return [str(name) for name in self.frame.columns]


def load_graph_data(settings: GraphSettings) -> GraphData:
    """The numeric columns of a table, without gaps, and their groups."""
    frame, read = _read_frame(settings.data, settings.reading, settings.max_memory)
    source = quote_path(settings.data)
    names = [str(name) for name in frame.columns]
    dropped = split_names(settings.drop, names)
    if unknown := [name for name in dropped if name not in names]:
        raise InputError(
            f"{source} has no column {quote(unknown[0])}, which --drop names; there are {quote_list(names)}"
        )
    kept, notes = _choose_columns(frame.drop(columns=dropped))
    notes = read + notes
    if kept.shape[1] < 2:
        said = f": {'; '.join(notes)}" if notes else ""
        raise InputError(f"{source} has {_count(kept.shape[1], 'variable')}, and a graph needs two at least{said}")
    kept, more = _fill_gaps(kept)
    kept, constant = _leave_out_constants(kept)
    notes += more + constant
    rows, variables = kept.shape
    if rows < FEWEST_ROWS or variables < 2:
        raise InputError(
            f"{source} leaves {_count(rows, 'row')} and {_count(variables, 'variable')} for a graph; expected at least"
            f" {FEWEST_ROWS} rows and 2 variables that are not constant"
        )
    if looks_like_covariance(kept.to_numpy()):
        raise InputError(
            f"{source} is square and symmetric, as tables of covariances or correlations are; give the measurements"
            ' that it was computed from, or use ksparse.SparsePrecision(covariance="precomputed") in Python'
        )
    limit = choose_limit(Path(settings.data), settings.max_memory)
    check_memory(PAIR_COST * variables**2, limit, f"a graph of the {variables} variables of {source}")
    groups = None
    if settings.groups is not None:
        groups, about_groups = _load_groups(settings.groups, [str(name) for name in kept.columns], settings.max_memory)
        notes += about_groups
    return GraphData(settings.data, kept, tuple(notes), groups)


def _read_frame(name: str, reading: ReadingOptions | None, max_memory: int | None) -> tuple[pd.DataFrame, list[str]]:
    """All columns of a table with their names; and what a user should know of how it was read."""
    if find_suffix(Path(name)) in SVMLIGHT:
        raise InputError(f"{quote_path(name)} has no names of columns, which a graph needs; give a CSV or Parquet file")
    if is_pattern(name):
        raise InputError(
            f"{quote_path(name)} is a pattern of several files, which ksparse fit and predict read; a graph needs one"
            " file, so join them first"
        )
    table = open_table(name, reading, max_memory)
    return table.read(), list(table.notes)


def _choose_columns(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The columns of numbers that are variables; and a line for each reason to leave others out."""
    columns: dict[str, Array] = {}
    left: dict[str, list[str]] = {}
    kinds = {name: infer_kind(frame[name]) for name in frame.columns}
    unused = find_unused(frame, kinds)
    for name, kind in kinds.items():
        if name in unused:
            left.setdefault(unused[name].reason, []).append(name)
        elif kind.kind in (KindOfColumn.CATEGORY, KindOfColumn.DATE):
            left.setdefault("text or dates", []).append(name)
        else:
            numbers = read_values(frame[name], kind)
            if reason := _find_reason(numbers):
                left.setdefault(reason, []).append(name)
            else:
                columns[name] = numbers
    notes = [f"Left out ({reason}): {quote_list(names)}" for reason, names in left.items()]
    return pd.DataFrame(columns, columns=pd.Index(list(columns), dtype=object)), notes


def _find_reason(numbers: Array) -> str:
    """Why a column of numbers is not a variable; empty if it is."""
    known = numbers[~np.isnan(numbers)]
    if (np.abs(known) > LARGEST).any():
        return f"with infinite values or values beyond {LARGEST:g}"
    if np.isnan(numbers).mean() > MOST_MISSING:
        return "with more than half of the values missing"
    return ""


def _fill_gaps(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The table without the rows that have gaps, if they are few; otherwise with medians in the gaps."""
    gaps = frame.isna()
    rows, cells = int(gaps.any(axis=1).sum()), int(gaps.to_numpy().sum())
    if not rows:
        return frame, []
    columns = frame.columns[gaps.any()].tolist()
    where = f"in {quote_list(columns)}"
    if rows <= FEW_ROWS * len(frame):
        return frame[~gaps.any(axis=1)], [f"Left out {rows} of {len(frame)} rows, which have missing values ({where})"]
    return frame.fillna(frame.median()), [
        f"Filled {cells} missing values by the medians of their columns ({where}; {rows} of {len(frame)} rows have"
        " some): this weakens edges"
    ]


def _leave_out_constants(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    constant = (
        (frame == frame.iloc[0]).all().to_numpy(dtype=bool) if len(frame) else np.ones(frame.shape[1], dtype=bool)
    )
    if not constant.any():
        return frame, []
    return frame.loc[:, ~constant], [f"Left out (constant): {quote_list(frame.columns[constant].tolist())}"]


def _load_groups(path: Path, names: Sequence[str], max_memory: int | None) -> tuple[list[str], list[str]]:
    """The group of each variable, from the first two columns of a table; and what a user should know of them."""
    frame, _ = _read_frame(str(path), None, max_memory)
    if frame.shape[1] < 2:
        raise InputError(f"{quote_path(path)} has one column; expected the names of variables and their groups")
    first, second = (["" if gap else str(cell).strip() for cell, gap in zip(cells, cells.isna(), strict=True)]
                     for cells in (frame.iloc[:, 0], frame.iloc[:, 1]))  # fmt: skip
    groups = dict(zip(first, second, strict=True))
    found = [groups.get(name, "") for name in names]
    without = [name for name, group in zip(names, found, strict=True) if not group]
    if len(without) == len(names):
        raise InputError(
            f"{quote_path(path)} has no group for any variable; its first column should have names such as"
            f" {quote_list(list(names), 3)}, and has {quote_list(first, 3)}"
        )
    return found, [f"No group for {_count(len(without), 'variable')}: {quote_list(without)}"] if without else []


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
