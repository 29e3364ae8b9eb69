"""Selections, means and standard errors of results, which are DataFrames whose kinds of rows have different columns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

__all__ = [
    "count_runs",
    "describe_count",
    "format_mean",
    "mean",
    "mean_table",
    "read_csv",
    "select_rows",
    "split_rows",
    "summarize",
    "to_csv",
    "unique",
]


def select_rows(frame: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """The rows with these values; none if a column is missing.

    Examples
    --------
    >>> frame = pd.DataFrame([{"method": "FBS", "n": 1}, {"method": "GraHTP", "n": 2}])
    >>> len(select_rows(frame, method="FBS")), len(select_rows(frame, kind="step"))
    (1, 0)
    """
    for name, value in values.items():
        if name not in frame:
            return frame.iloc[:0]
        frame = frame[frame[name] == value]
    return frame


def split_rows(frame: pd.DataFrame, name: str) -> dict[Any, pd.DataFrame]:
    """The rows of each value of a column, in order of appearance."""
    return dict(iter(frame.groupby(name, sort=False))) if name in frame else {}


def unique(frame: pd.DataFrame, name: str) -> list[Any]:
    """The distinct values of a column, in order of appearance."""
    return frame[name].dropna().unique().tolist() if name in frame else []


def mean(frame: pd.DataFrame, name: Hashable, **values: Any) -> float:
    """Mean of a column over the rows with these values; NaN if there are none."""
    rows = select_rows(frame, **values)
    return float(rows[name].mean()) if name in rows else float("nan")


def mean_table(frame: pd.DataFrame, measure: str, over: str, methods: Iterable[str]) -> pd.DataFrame:
    """Means of a measure: a row for each value of `over`, and a column for each method, NaN where there are none.

    Examples
    --------
    >>> frame = pd.DataFrame({"n": [1, 1, 2], "method": ["A", "A", "B"], "error": [1.0, 3.0, 2.0]})
    >>> mean_table(frame, "error", "n", ["A", "B"]).to_numpy().tolist()
    [[2.0, nan], [nan, 2.0]]
    """
    if not {measure, over, "method"} <= set(frame):
        return pd.DataFrame(columns=list(methods), dtype=float)
    return frame.groupby([over, "method"], sort=False)[measure].mean().unstack().reindex(columns=list(methods))


def summarize(frame: pd.DataFrame, x: str, y: str, **values: Any) -> pd.DataFrame:
    """Columns ``mean`` and ``sem`` of y for each value of x, in increasing order, over the rows with these values.

    Examples
    --------
    >>> frame = pd.DataFrame({"n": [1, 1, 2, 2], "error": [1.0, 3.0, 2.0, 4.0]})
    >>> summarize(frame, "n", "error")["mean"].tolist()
    [2.0, 3.0]
    """
    rows = select_rows(frame, **values)
    if x not in rows or y not in rows:
        return pd.DataFrame(columns=["mean", "sem"], dtype=float)
    return rows.dropna(subset=[y]).groupby(x)[y].agg(["mean", "sem"])


def format_mean(frame: pd.DataFrame, name: str, digits: int) -> str:
    """Mean ± standard error, the latter where it is known.

    Examples
    --------
    >>> format_mean(pd.DataFrame({"x": [1.0, 2.0]}), "x", 2)
    '1.50 ± 0.50'
    """
    text, error = f"{mean(frame, name):.{digits}f}", frame[name].sem()
    return text if pd.isna(error) else f"{text} ± {error:.{digits}f}"


def count_runs(frame: pd.DataFrame, what: str = "replication") -> str:
    """The number of replications in words; settings of an incomplete run may have fewer."""
    count = len(unique(frame, "replication"))
    return describe_count(count, what) + (" (no spread)" if count == 1 else "")


def describe_count(count: int, what: str) -> str:
    """A number of things.

    Examples
    --------
    >>> describe_count(1, "problem"), describe_count(2, "problem")
    ('1 problem', '2 problems')
    """
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def to_csv(frame: pd.DataFrame) -> str:
    """CSV with eight significant digits: all of them would double the size of the files."""
    return str(frame.to_csv(index=False, float_format="%.8g", lineterminator="\n"))


def read_csv(path: Path) -> pd.DataFrame:
    """What `to_csv` wrote."""
    # The digits of "found" are flags, not a number.
    return pd.read_csv(path, dtype={"found": str})
