"""Columns of tables as arrays of finite numbers, and the target."""

from __future__ import annotations

import shlex

import numpy as np
import pandas as pd

from .._types import AnyArray, Array
from ..limits import LARGEST
from ..wording import LONGEST_CELL, escape_control
from .errors import InputError, quote, quote_path
from .files.base import Table

#: What may be wrong with a column, and what to do.
ADVICE = {
    "text": "encode text as numbers",
    "decimal commas": "write decimals with a point",
    "missing values": "fill in missing values, or remove their rows",
    "infinite or too large values": f"correct or rescale values beyond {LARGEST:g}",
}
#: Number of columns with problems that a message lists.
MOST_PROBLEMS = 8


def parse_numbers(column: pd.Series) -> Array:
    """A column as numbers, NaN where it has none."""
    if pd.api.types.is_numeric_dtype(column):
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(pd.to_numeric(column.astype(str).str.strip(), errors="coerce"), dtype=np.float64)


def read_numbers(table: Table, frame: pd.DataFrame, columns: list[int], *, advise_drop: bool) -> Array:
    """Columns as a matrix of finite numbers; true is 1, false is 0. Reports all problems at once."""
    plain = _read_plain_numbers(frame.iloc[:, columns])
    if plain is not None:
        return plain
    X = np.empty((len(frame), len(columns)), order="F")
    problems: dict[str, dict[str, str]] = {}
    for place, column in enumerate(columns):
        cells = frame.iloc[:, column]
        numbers = parse_numbers(cells)
        if not (np.abs(numbers) <= LARGEST).all():
            truth = cells.astype(str).str.strip().str.lower().map({"true": 1.0, "false": 0.0})
            numbers = np.where(np.isnan(numbers), truth.to_numpy(dtype=np.float64), numbers)
            if found := _describe_problems(table, cells, numbers):
                problems[table.names[column]] = found
        X[:, place] = numbers
    if problems:
        raise _not_numeric(table, problems, advise_drop=advise_drop)
    return X


def _read_plain_numbers(frame: pd.DataFrame) -> Array | None:
    """All columns at once, which is much faster for thousands of them; None unless each has finite numbers only."""
    if not all(isinstance(kind, np.dtype) and kind.kind in "biuf" for kind in set(frame.dtypes)):
        return None
    X = np.asfortranarray(frame.to_numpy(dtype=np.float64))
    return X if X.size and max(X.max(), -X.min()) <= LARGEST else None


def _describe_problems(table: Table, cells: pd.Series, numbers: Array) -> dict[str, str]:
    """What is wrong with a column, by the kinds in `ADVICE`: each with its count and the first place."""
    missing = cells.isna().to_numpy(dtype=bool)
    commas = cells.astype(str).str.fullmatch(r"\s*[+-]?\d+,\d+\s*").to_numpy(dtype=bool)
    kinds = (np.isnan(numbers) & ~missing & ~commas, commas, missing, np.abs(numbers) > LARGEST)
    found = {}
    for what, rows in zip(ADVICE, kinds, strict=True):
        if rows.any():
            first, count = int(np.argmax(rows)), int(rows.sum())
            value = "" if missing[first] else f"{quote(str(cells.iloc[first]).strip())} "
            found[what] = f"has {what} in {count} row{'s' * (count > 1)} (first {value}on {table.locate(first)})"
    return found


def _not_numeric(table: Table, problems: dict[str, dict[str, str]], *, advise_drop: bool) -> InputError:
    described = [f"column {quote(name)} {' and '.join(found.values())}" for name, found in problems.items()]
    more = f"; and {len(described) - MOST_PROBLEMS} more columns" if len(described) > MOST_PROBLEMS else ""
    advice = [text for what, text in ADVICE.items() if any(what in found for found in problems.values())]
    if advise_drop:
        advice.append(f"or leave columns out with --drop {_list_for_shell(list(problems))}")
    return InputError(
        f"features must be finite numbers, but in {quote_path(table.source)}"
        f" {'; '.join(described[:MOST_PROBLEMS])}{more}. To fix this: {'; '.join(advice)}"
    )


def _list_for_shell(names: list[str]) -> str:
    """The first of some columns as an argument of the command."""
    text = escape_control(",".join(names[:MOST_PROBLEMS]))
    more = ",…" if len(names) > MOST_PROBLEMS else ""
    return shlex.quote(text) + more if len(text) <= LONGEST_CELL else "COL,COL"


def read_target(table: Table, frame: pd.DataFrame, target: int) -> AnyArray:
    """The target as numbers, booleans or text."""
    cells, name = frame.iloc[:, target], quote(table.names[target])
    missing = cells.isna().to_numpy(dtype=bool)
    if missing.any():
        raise InputError(
            f"the target {name} is missing in {missing.sum()} of {len(missing)} rows of {quote_path(table.source)}"
            f" (first on {table.locate(int(np.argmax(missing)))}); fill in the target, or remove the rows without one"
        )
    if pd.api.types.is_bool_dtype(cells):
        return np.asarray(cells, dtype=bool)
    if pd.api.types.is_numeric_dtype(cells):
        return parse_numbers(cells)
    return np.array([str(value).strip() for value in cells], dtype=object)
