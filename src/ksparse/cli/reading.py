"""Tables of named columns: text and Parquet files read by pandas, and built-in data sets."""

from __future__ import annotations

import csv
import shlex
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes

from .._types import AnyArray, Array
from ..limits import BYTE_COST, CELL_COST, CHUNK, COLUMN_COST, LARGEST
from ..wording import LONGEST_CELL, escape_control
from .errors import InputError, check_memory, choose_limit, explain_read_errors, quote, quote_list, quote_path
from .limited_files import COMPRESSED, open_text, open_text_bytes
from .parquet import read_parquet

TEXT = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")
SVMLIGHT = (".svm", ".svmlight", ".libsvm")
#: Built-in data sets: the loader and the name of the target.
BUILT_IN: dict[str, tuple[Any, str]] = {
    "breast-cancer": (load_breast_cancer, "diagnosis"),
    "diabetes": (load_diabetes, "progression"),
}
#: Cells of text files that mean a missing value.
MISSING = ["", "NA", "na", "Na", "N/A", "n/a", "NaN", "nan", "NAN", "Nan", "null", "NULL", "Null", "<NA>", "<na>"]
#: Before version 3.1, pandas rounds the last digit unless asked not to; since then, this option is deprecated.
EXACT_NUMBERS: dict[str, Any] = (
    {"float_precision": "round_trip"} if tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1) else {}
)
#: Tried in this order.
SEPARATORS = "\t;,"
#: What may be wrong with a column, and what to do.
ADVICE = {
    "text": "encode text as numbers",
    "decimal commas": "write decimals with a point",
    "missing values": "fill in missing values, or remove their rows",
    "infinite or too large values": f"correct or rescale values beyond {LARGEST:g}",
}
#: Number of columns with problems that a message lists.
MOST_PROBLEMS = 8
#: What a blank line may have: to pandas, other white space is a cell.
BLANK = " \t"
#: Rows in which the header is looked for.
MOST_BLANK_ROWS = 10_000


def open_table(name: str, max_memory: int | None = None) -> Table:
    """The table in a file, or a built-in data set; `InputError` if there is none.

    Parameters
    ----------
    name : str
        The file, or the name of the data set.
    max_memory : int, optional
        Memory in bytes that the table may take; see `ksparse.limits` for the default.
    """
    path, known = Path(name), name.replace("_", "-")
    if known in BUILT_IN and not path.exists():
        return _load_built_in(known)
    if not path.exists():
        raise InputError(f"there is no file {quote_path(name)}; check the path, or try one of {', '.join(BUILT_IN)}")
    if path.suffix.lower() in PARQUET:
        frame = read_parquet(path, choose_limit(path, max_memory))
        return Table(str(path), [str(column) for column in frame.columns], frame)
    if find_suffix(path) in TEXT:
        return TextFile(path, choose_limit(path, max_memory))
    raise InputError(
        f"the format of {quote_path(name)} is unknown; expected a name that ends with"
        f" {', '.join((*TEXT, *PARQUET, *SVMLIGHT))}, for text files also with .gz or .bz2"
    )


def find_suffix(path: Path) -> str:
    """The ending of a file's name in lower case, without that of its compression."""
    return Path(path.stem if path.suffix.lower() in COMPRESSED else path.name).suffix.lower()


class Table:
    """A table of named columns with a default target or none."""

    notes: tuple[str, ...] = ()
    identifiers: pd.DataFrame | None = None

    def __init__(self, source: str, names: list[str], frame: Any = None, target: str | None = None) -> None:
        self.source, self.names, self._frame, self.target = source, names, frame, target
        for name, count in Counter(filter(None, names)).items():
            if count > 1:
                raise InputError(f"{quote_path(source)} has two columns called {quote(name)}; rename one of them")

    def read(self, target: int | None = None) -> pd.DataFrame:
        """All columns, in their order; the target of a text file as text."""
        return self._frame

    def locate(self, row: int) -> str:
        """Where to find a row, counted from 0."""
        return f"row {row + 1}"


class TextFile(Table):
    """A text file with a header and a separator: comma, tab or semicolon."""

    def __init__(self, path: Path, limit: int) -> None:
        self._path, self._limit = path, limit
        with explain_read_errors(path):
            self._separator = self._find_separator()
            self._header_row, _, header = next(self._rows(self._separator))
        super().__init__(str(path), [cell.strip() for cell in header])
        if np.isfinite(parse_numbers(pd.Series(self.names, dtype=object))).all():
            raise InputError(
                f"the first row of {quote_path(path)} is all numbers ({quote_list(self.names, 3)}); add a line with the"
                " names of the columns above it"
            )

    def _find_separator(self) -> str:
        """The most frequent separator of the header among those that are as frequent in the next row, if any is."""
        rows, problems = {}, []
        for mark in SEPARATORS:
            try:
                rows[mark] = [cells for _, _, cells in islice(self._rows(mark), 2)]
            except csv.Error as error:
                problems.append(error)
        if problems and all(len(cells) == 1 for found in rows.values() for cells in found):
            raise problems[-1]
        if not any(rows.values()):
            name = quote_path(self._path)
            raise InputError(f"{name} is empty; expected a line of column names, then rows of numbers")
        counts = {mark: [len(cells) - 1 for cells in found] for mark, found in rows.items()}
        # A quote inside a cell is more probably one of a text that was cut at the wrong mark.
        quotes = {mark: sum('"' in cell for cells in found for cell in cells) for mark, found in rows.items()}
        alike = [mark for mark, count in counts.items() if len(set(count)) == 1 and count[0] > 0]
        return max(alike or counts, key=lambda mark: (-quotes[mark], counts[mark][0], mark != ","))

    def _rows(self, separator: str) -> Iterator[tuple[int, int, list[str]]]:
        """Rows that are not blank: the number of the row, the line on which it starts, and its cells."""
        with open_text(self._path, self._limit) as file:
            reader, line, found = csv.reader(file, delimiter=separator, skipinitialspace=True), 1, False
            for row, cells in enumerate(reader):
                if len(cells) > 1 or "".join(cells).strip(BLANK):
                    found = True
                    yield row, line, cells
                if row > MOST_BLANK_ROWS and not found:
                    return
                line = reader.line_num + 1

    def _check_size(self) -> None:
        """Raise if the table would take too much memory, before it takes any."""
        width, size, marks, lines = len(self.names), 0, 0, 0
        with open_text_bytes(self._path, self._limit) as file:
            while chunk := file.read(CHUNK):
                size += len(chunk)
                marks += chunk.count(self._separator.encode())
                lines += max(chunk.count(b"\n"), chunk.count(b"\r"))
                needed = BYTE_COST * size + CELL_COST * (marks + lines) + COLUMN_COST * width
                check_memory(needed, self._limit, f"the table in {quote_path(self._path)}")
        if lines * width > 2 * (marks + lines):
            self._check_rows()  # pandas would fill rows that are too short

    def read(self, target: int | None = None) -> pd.DataFrame:
        with explain_read_errors(self._path):
            self._check_size()
            try:
                with open_text(self._path, self._limit) as file:
                    frame = self._parse(file, target)
            except pd.errors.EmptyDataError as error:
                raise InputError(f"{quote_path(self._path)} has a header but no rows; add rows of data") from error
            except pd.errors.ParserError as error:
                self._check_rows()
                raise csv.Error(str(error).strip()) from error
        if frame.shape[1] != len(self.names):
            self._check_rows()
            raise InputError(f"{quote_path(self._path)} has rows that do not end; check that all quotes are closed")
        return frame

    def _parse(self, file: TextIO, target: int | None) -> pd.DataFrame:
        return pd.read_csv(
            file,
            sep=self._separator,
            header=None,
            skiprows=self._header_row + 1,
            dtype=None if target is None else {target: str},
            na_values=MISSING,
            keep_default_na=False,
            skipinitialspace=True,
            low_memory=False,
            **EXACT_NUMBERS,
        )

    def locate(self, row: int) -> str:
        # pandas and Python may count a damaged last row differently.
        return f"line {self._lines[row]}" if row < len(self._lines) else super().locate(row)

    def _check_rows(self) -> None:
        """Raise for the first row that has another number of cells than the header."""
        _ = self._lines

    @cached_property
    def _lines(self) -> list[int]:
        """The line on which each row starts; raises for a row that is too long or too short."""
        lines: list[int] = []
        with explain_read_errors(self._path):
            for _, line, cells in islice(self._rows(self._separator), 1, None):
                if len(cells) != len(self.names):
                    advice = "check the separators and quotes of this line"
                    if not lines and len(cells) == len(self.names) + 1:
                        advice = "if the first cells are names of rows, give this column a name too"
                    raise InputError(
                        f"line {line} of {quote_path(self._path)} has {len(cells)} cells, but the header has"
                        f" {len(self.names)}; {advice}"
                    )
                lines.append(line)
        return lines


def _load_built_in(name: str) -> Table:
    """A data set of scikit-learn, with its columns in their own units."""
    load, target = BUILT_IN[name]
    bunch = load(as_frame=True, **({"scaled": False} if load is load_diabetes else {}))
    frame = bunch.frame
    if "target_names" in bunch:
        frame = frame.assign(target=bunch.target_names[bunch.target])
    return Table(name, [*map(str, bunch.feature_names), target], frame, target)


# --- columns as arrays ----------------------------------------------------------------------------------------------


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
