"""What every table offers, whatever file it is from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from ...wording import MOST_NAMES
from ..errors import InputError, join_problems, quote, quote_list, quote_path
from .cells import convert_values, hide_missing, is_number
from .options import ReadingOptions

#: A file has genes in rows if it has so many times as many rows as columns.
TALL = 3


class Table:
    """A table of named columns.

    Parameters
    ----------
    source : str
        What messages call it.
    names : list of str
        The names of the columns; those without a name are not among them.
    frame : DataFrame, optional
        The columns, if they are known.
    target : str, optional
        The column that is predicted unless the user chooses another one.
    identifiers : DataFrame, optional
        Columns that name the rows, and are no features.
    notes : tuple of str
        What was assumed, for the user.
    locate : callable, optional
        Says where to find a row, counted from 0.
    problems : sequence of str
        What is wrong with the names of the columns, which are distinct all the same.
    """

    def __init__(
        self,
        source: str,
        names: list[str],
        frame: pd.DataFrame | None = None,
        target: str | None = None,
        *,
        identifiers: pd.DataFrame | None = None,
        notes: tuple[str, ...] = (),
        locate: Callable[[int], str] | None = None,
        problems: Sequence[str] = (),
    ) -> None:
        self.source, self.names, self.target, self.notes, self.problems = source, names, target, notes, list(problems)
        self._frame, self._identifiers, self._locate = frame, identifiers, locate

    @property
    def identifiers(self) -> pd.DataFrame | None:
        """Columns that name the rows, such as the index of a data frame."""
        return self._identifiers

    def read(self) -> pd.DataFrame:
        """All named columns, in their order: numbers, truth values, dates, or text with gaps; all rows are right."""
        frame, problems = self.read_right_rows()
        if problems:
            raise join_problems(problems)
        return frame

    def read_right_rows(self) -> tuple[pd.DataFrame, list[str]]:
        """The same for the rows that can be read; and what is wrong with the names of columns and with other rows."""
        assert self._frame is not None
        return self._frame, self.problems

    def list_problems(self) -> list[str]:
        """What is wrong with the names of columns and with rows, as far as the table can be read."""
        try:
            return self.read_right_rows()[1]
        except InputError:
            return self.problems

    def locate(self, row: int) -> str:
        """Where to find a row, counted from 0."""
        return f"row {row + 1}" if self._locate is None else self._locate(row)

    @property
    def decimal(self) -> str:
        """The decimal mark of numbers in its text."""
        return "."

    def suggest_transpose(self, target: str) -> str:
        """Advice if the target that is not there may be in a row, with the features; empty otherwise."""
        try:
            frame = self.read()
        except InputError:
            return ""
        first = frame.iloc[:, 0] if self.identifiers is None else self.identifiers.iloc[:, 0]
        rest = frame.iloc[:, 1:] if self.identifiers is None else frame
        if target in set(first):
            return "it is the name of a row, so give --transpose if features are in rows, and samples in columns"
        numeric = all(pd.api.types.is_numeric_dtype(kind) for kind in rest.dtypes)
        tall = len(frame) > TALL * frame.shape[1] and frame.shape[1] > 1
        if tall and numeric and not pd.api.types.is_numeric_dtype(first) and first.is_unique:
            return "if features are in rows, and samples in columns, give --transpose and --labels FILE"
        return ""


def describe_header(source: str, names: Sequence[str], axis: str = "columns", *, numbers: bool = False) -> list[str]:
    """What is wrong with the names of columns, or of rows; those of columns that are all numbers are data, as a rule.

    Parameters
    ----------
    source : str
        The file.
    names : sequence of str
        The names; empty ones do not matter.
    axis : {"columns", "rows"}
        What is named.
    numbers : bool
        Whether all may be numbers.
    """
    problems, named = [], [name for name in names if name]
    twice = [name for name, count in Counter(named).items() if count > 1]
    if len(twice) == 1:
        times = "two" if named.count(twice[0]) == 2 else str(named.count(twice[0]))
        problems.append(f"{quote_path(source)} has {times} {axis} called {quote(twice[0])}; rename one of them")
    elif twice:
        problems.append(
            f"{quote_path(source)} has {len(twice)} names that several {axis} have ({quote_list(twice)}); rename them"
        )
    if not numbers and axis == "columns" and named and all(map(is_number, named)):
        problems.append(
            f"the first row of {quote_path(source)} is all numbers ({quote_list(named, 3)}); add a line with the names"
            " of the columns above it"
        )
    return problems


def distinguish_names(names: Sequence[str]) -> list[str]:
    """The names, of which later ones that are the same get a number, so that a wrong table can be looked at."""
    seen, distinct = Counter[str](), list[str]()
    for name in names:
        seen[name] += 1
        distinct.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return distinct


def count_titles(rows: Sequence[Sequence[str]]) -> int:
    """How many rows at the start are titles: one cell of text, where most rows have more, and names follow."""
    filled = [sum(bool(cell.strip()) for cell in cells) for cells in rows]
    count = next((place for place, cells in enumerate(filled) if cells != 1), len(rows))
    later = sorted(filled[count:])
    if not count or len(later) < 2 or later[len(later) // 2] < 2:
        return 0
    names_follow = not any(map(is_number, rows[count]))
    return count if names_follow and all(cells[0].strip() for cells in rows[:count]) else 0


def describe_titles(count: int) -> str:
    """A note on titles."""
    if count > 1:
        return f"{count} lines of titles above the names of the columns were skipped"
    return "A title above the names of the columns was skipped" if count else ""


def describe_unnamed(names: Sequence[str]) -> tuple[str, ...]:
    """A note on columns without a name, which are left out."""
    numbers = [place + 1 for place, name in enumerate(names) if not name]
    if not numbers:
        return ()
    more = f", … and {len(numbers) - MOST_NAMES:,} more" if len(numbers) > MOST_NAMES else ""
    listed = ", ".join(map(str, numbers[:MOST_NAMES])) + more
    if len(numbers) > 1:
        return (f"Columns {listed} have no name and were left out",)
    return (f"Column {listed} has no name and was left out",)


def find_identifiers(unnamed: pd.DataFrame) -> pd.DataFrame | None:
    """The columns without a name that are not empty."""
    kept = unnamed.loc[:, unnamed.notna().any()]
    if not kept.shape[1]:
        return None
    return kept.set_axis(["index", *(f"index {place + 1}" for place in range(1, kept.shape[1]))], axis=1)


def make_table(
    source: str, columns: Sequence[str], frame: pd.DataFrame, options: ReadingOptions, **others: Any
) -> Table:
    """A table from a data frame of values of any type, with the names of its columns; empty for those without a name.

    Parameters
    ----------
    source : str
        What messages call it.
    columns : sequence of str
        The names.
    frame : DataFrame
        The columns.
    options : ReadingOptions
        What the user says about the file.
    **others
        More parameters of `Table`; ``identifiers`` and ``notes`` are added to what is found here.
    """
    problems = describe_header(source, columns, numbers=options.transpose)
    if not len(frame):
        raise InputError(f"{quote_path(source)} has a header but no rows; add rows of data")
    converted = [hide_missing(convert_values(frame.iloc[:, place]), options.na) for place in range(frame.shape[1])]
    named = [place for place, name in enumerate(columns) if name]
    names = distinguish_names([columns[place] for place in named])
    found = find_identifiers(pd.DataFrame({place: converted[place] for place, name in enumerate(columns) if not name}))
    identifiers = others.pop("identifiers", None)
    if identifiers is None:
        identifiers = found
    notes = (*others.pop("notes", ()), *describe_unnamed(columns))
    kept = pd.DataFrame({place: converted[place] for place in named}, index=frame.index)
    frame = kept.set_axis(names, axis=1)
    return Table(source, names, frame, identifiers=identifiers, notes=notes, problems=problems, **others)
