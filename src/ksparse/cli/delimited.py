"""CSV and its relatives: a fast reader for good files, and a slow scan that explains what is wrong with others."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from .._types import AnyArray, Array
from .errors import InputError, listed, quoted, whole
from .source import MISSING, bad_cell, check_finite, is_number, open_bytes, reading

__all__ = ["Delimited"]

#: In this order where several would do.
SEPARATORS = "\t;,"
BOOLEANS = {"true": 1.0, "false": 0.0}
#: So much of a file is looked at to see whether it is text.
GLANCE = 4096


class Delimited:
    """A file of rows with a separator (comma, tab or semicolon) and a header.

    Parameters
    ----------
    path : Path
        The file; ``.gz`` and ``.bz2`` are unpacked.
    """

    #: Whether a column may be left out: not one that a saved model needs.
    optional = True

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, str(path)
        with reading(path):
            self._check_text()
            self._separator = self._find_separator()
            self._read_header()
        self._check_header()

    def _open(self) -> TextIO:
        # The csv module wants line ends as they are.
        return io.TextIOWrapper(open_bytes(self.path), encoding="utf-8-sig", newline="")

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """The number of the line on which it starts, and the cells, of each row that is not blank."""
        with self._open() as file:
            reader = csv.reader(file, delimiter=self._separator, skipinitialspace=True)
            before = 0
            for cells in reader:
                if cells:
                    yield before + 1, cells
                before = reader.line_num

    # --- the header -------------------------------------------------------------------------------------------------

    def _check_text(self) -> None:
        with open_bytes(self.path) as file:
            start = file.read(GLANCE)
        if not start.strip():
            raise InputError(f"{whole(self.path)} is empty; expected a line of column names, then rows of numbers")
        if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise InputError(f"{whole(self.path)} is UTF-16 text; save it as UTF-8")
        if b"\0" in start:
            raise InputError(f"{whole(self.path)} is a binary file, not text; expected CSV with a line of column names")

    def _find_separator(self) -> str:
        """The separator that most often stands in the header, and as often in the next line if one does."""
        with self._open() as file:
            lines = list(islice((line for line in file if line.strip()), 2))
        counts = [{mark: _outside_quotes(line, mark) for mark in SEPARATORS} for line in lines]
        alike = [mark for mark in SEPARATORS if all(count[mark] == counts[0][mark] > 0 for count in counts)]
        return max(alike or SEPARATORS, key=lambda mark: (counts[0][mark], mark != ","))

    def _read_header(self) -> None:
        rows = self._rows()
        _, header = next(rows)
        self.names = [cell.strip() for cell in header]
        self._first_line, self._first = next(rows, (0, []))

    def _check_header(self) -> None:
        name = whole(self.path)
        if all(is_number(cell) for cell in self.names):
            raise InputError(
                f"the first row of {name} is all numbers ({listed(self.names, 3)}); add a line with the names of the"
                " columns above it"
            )
        seen: set[str] = set()
        for column in filter(None, self.names):
            if column in seen:
                raise InputError(f"{name} has two columns called {quoted(column)}; rename one of them")
            seen.add(column)
        if not self._first:
            raise InputError(f"{name} has a header but no rows; add rows of data")
        self._check_length(self._first_line, self._first)

    def _check_length(self, line: int, cells: list[str]) -> None:
        if len(cells) == len(self.names):
            return
        advice = "check that line's separators and quotes"
        if len(cells) == len(self.names) + 1 and line == self._first_line:
            advice = "if the first cells are names of rows, give their column a name too"
        raise InputError(
            f"line {line} of {whole(self.path)} has {len(cells)} cells, but the header has {len(self.names)}; {advice}"
        )

    # --- the rows ---------------------------------------------------------------------------------------------------

    def read(self, features: list[int], target: int | None) -> tuple[Array, AnyArray | None]:
        """The feature columns as numbers, and the target's cells as text."""
        booleans = [column for column in features if self._first[column].strip().lower() in BOOLEANS]
        with reading(self.path):
            try:
                table = self._parse(features, booleans, target)
                X = self._numbers(table, features, booleans)
            except UnicodeDecodeError:
                raise
            except ValueError:
                self._explain(features, target, booleans)
                # Nothing is wrong with the cells: a slower reader understands them, such as quotes after a space.
                table = self._parse_slowly(features, booleans, target)
                X = self._numbers(table, features, booleans)
            cells = None if target is None else np.array([cell.strip() for cell in table[f"c{target}"]], dtype=object)
            if cells is not None and MISSING.intersection(cell.lower() for cell in set(cells)):
                self._explain(features, target, booleans)
        check_finite(self, X, [self.names[column] for column in features])
        return X, cells

    def _parse(self, features: list[int], booleans: list[int], target: int | None) -> AnyArray:
        """All rows, by NumPy's reader in C: numbers, text where it is wanted, one letter of what is not."""
        row = self._row(features, booleans, target)
        with self._open() as file, warnings.catch_warnings():
            file.reconfigure(newline=None)  # type: ignore[attr-defined]
            for _ in range(self._first_line - 1):
                next(file)
            warnings.simplefilter("error")
            return np.atleast_1d(np.loadtxt(file, dtype=row, delimiter=self._separator, comments=None, quotechar='"'))

    def _parse_slowly(self, features: list[int], booleans: list[int], target: int | None) -> AnyArray:
        """The same by Python's reader, for files whose cells are all in order."""
        row = self._row(features, booleans, target)
        return np.array([tuple(cells) for _, cells in islice(self._rows(), 1, None)], dtype=row)

    def _row(self, features: list[int], booleans: list[int], target: int | None) -> Any:
        """What a row is made of."""
        kinds = ["U1"] * len(self.names)
        for column in features:
            kinds[column] = "f8"
        for column in [*booleans, *([] if target is None else [target])]:
            kinds[column] = "O"
        return np.dtype([(f"c{column}", kind) for column, kind in enumerate(kinds)])

    @staticmethod
    def _numbers(table: AnyArray, features: list[int], booleans: list[int]) -> Array:
        X = np.empty((len(table), len(features)))
        as_text = set(booleans)
        for position, column in enumerate(features):
            cells = table[f"c{column}"]
            X[:, position] = [_boolean(cell.strip()) for cell in cells] if column in as_text else cells
        return X

    def place(self, row: int) -> str:
        """The line of a row, counted from 0; with its number in the data where the two differ by more than a header."""
        line, _ = next(islice(self._rows(), row + 1, None))
        return f"line {line}"

    def _explain(self, features: list[int], target: int | None, booleans: list[int]) -> None:
        """Raise for the first row that is too long or short, or has a cell that is not what it should be."""
        as_boolean = set(booleans)
        for number, (line, cells) in enumerate(islice(self._rows(), 1, None)):
            self._check_length(line, cells)
            wrong = [
                column
                for column in features
                if not is_number(cell := cells[column].strip())
                and not (column in as_boolean and cell.lower() in BOOLEANS)
            ]
            if wrong:
                first, *others = wrong
                missing = cells[first].strip().lower() in MISSING
                also = [self.names[j] for j in others if (cells[j].strip().lower() in MISSING) == missing]
                raise bad_cell(self, self.names[first], cells[first], number, also)
            if target is not None and cells[target].strip().lower() in MISSING:
                raise InputError(
                    f"the target {quoted(self.names[target])} is missing on line {line} of {whole(self.path)};"
                    " remove the row or fill it in"
                )


def _outside_quotes(line: str, mark: str) -> int:
    """How often a mark stands in a line, not counting quoted parts."""
    return sum(part.count(mark) for part in line.split('"')[::2])


def _boolean(cell: str) -> float:
    """True, false or a number among them."""
    return BOOLEANS[cell.lower()] if cell.lower() in BOOLEANS else float(cell)
