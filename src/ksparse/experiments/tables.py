"""Results of an experiment: rows of named values, with means and standard errors over replications."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._types import Array

__all__ = ["Row", "Series", "Table", "counted"]

#: Names and values of one result: numbers and words only, so that it can be written as text.
Row = dict[str, Any]


class Series(NamedTuple):
    """Means over replications, with their standard errors, for each value of a variable."""

    x: Array
    mean: Array
    error: Array


class Table:
    """Rows of results.

    Parameters
    ----------
    rows : iterable of dict
        The rows; some may lack some names.

    Examples
    --------
    >>> rows = [{"method": "GraHTP", "n": n, "error": n + r} for n in (1, 2) for r in (0.0, 2.0)]
    >>> Table(rows).series("n", "error", method="GraHTP").mean
    array([2., 3.])
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)

    def __len__(self) -> int:
        return len(self.rows)

    def where(self, **values: Any) -> Table:
        """The rows that have these values."""
        rows = self.rows
        for name, value in values.items():
            rows = [row for row in rows if row.get(name) == value]
        return Table(rows)

    def parts(self, name: str) -> dict[Any, Table]:
        """The rows of each value of a name, in the order in which the values come; in one pass."""
        found: dict[Any, list[Row]] = {}
        for row in self.rows:
            if name in row:
                found.setdefault(row[name], []).append(row)
        return {value: Table(rows) for value, rows in found.items()}

    def distinct(self, name: str) -> list[Any]:
        """The values of a name, each once, in the order in which they come."""
        return list(dict.fromkeys(row[name] for row in self.rows if name in row))

    def values(self, name: str, **values: Any) -> Array:
        """The numbers of a name in the rows that have these values."""
        return np.array([row[name] for row in self.where(**values).rows if name in row], dtype=np.float64)

    def mean(self, name: str, **values: Any) -> float:
        """Mean of a name over the rows that have these values; NaN if there is none."""
        numbers = self.values(name, **values)
        return float(numbers.mean()) if numbers.size else np.nan

    def deviation(self, name: str, **values: Any) -> float:
        """Standard deviation over those rows; NaN for fewer than two."""
        numbers = self.values(name, **values)
        return float(numbers.std(ddof=1)) if numbers.size > 1 else np.nan

    def error(self, name: str, **values: Any) -> float:
        """Standard error of the mean over those rows; NaN for fewer than two."""
        return self.deviation(name, **values) / float(np.sqrt(max(self.values(name, **values).size, 1)))

    def with_error(self, name: str, digits: int) -> str:
        """Mean and standard error in words, the latter as far as it is known.

        Examples
        --------
        >>> Table([{"x": 1.0}, {"x": 2.0}]).with_error("x", 2)
        '1.50 ± 0.50'
        """
        mean, error = f"{self.mean(name):.{digits}f}", self.error(name)
        return mean if np.isnan(error) else f"{mean} ± {error:.{digits}f}"

    def series(self, x: str, y: str, **values: Any) -> Series:
        """Means of y for each value of x, in increasing order."""
        parts = sorted(self.where(**values).parts(x).items())
        places = np.array([place for place, _ in parts], dtype=np.float64)
        return Series(
            places, np.array([part.mean(y) for _, part in parts]), np.array([part.error(y) for _, part in parts])
        )

    def repeats(self, what: str = "replication") -> str:
        """How many replications there are, in words; if a run was not finished, some settings may have fewer."""
        count = len(self.distinct("replication"))
        return counted(count, what) + (" (no spread)" if count == 1 else "")

    def csv(self, columns: Sequence[str] | None = None) -> str:
        """All rows as CSV, numbers with eight digits; the columns are those of the rows, in the order they come in."""
        names = list(dict.fromkeys(name for row in self.rows for name in row)) if columns is None else list(columns)
        text = io.StringIO()
        writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _written(value) for name, value in row.items()} for row in self.rows)
        return text.getvalue()


def counted(count: int, what: str) -> str:
    """A number of things, in words.

    Examples
    --------
    >>> counted(1, "problem"), counted(2, "problem")
    ('1 problem', '2 problems')
    """
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _written(value: Any) -> Any:
    """A number with the digits that a reader may use: all of them would double the size of the files."""
    return f"{value:.8g}" if isinstance(value, float) else value
