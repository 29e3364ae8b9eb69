"""Tables of named columns: text and Parquet files read by pandas, and built-in data sets."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes

from .._types import AnyArray, Array
from .errors import InputError, escape_control, explain_read_errors, quote, quote_list, quote_path

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = ["BUILT_IN", "SVMLIGHT", "Table", "find_suffix", "open_table", "parse_numbers", "read_numbers", "read_target"]

TEXT = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")
SVMLIGHT = (".svm", ".svmlight", ".libsvm")
COMPRESSED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}
#: Built-in data sets: the loader, the name of the target, and a description.
BUILT_IN: dict[str, tuple[Any, str, str]] = {
    "breast-cancer": (load_breast_cancer, "diagnosis", "569 tumours, 30 features, malignant or benign"),
    "diabetes": (load_diabetes, "progression", "442 patients, 10 features, progression of the disease"),
}
#: Cells of text files that mean a missing value.
MISSING = ["", "NA", "na", "Na", "N/A", "n/a", "NaN", "nan", "NAN", "Nan", "null", "NULL", "Null", "<NA>", "<na>"]
#: Tried in this order.
SEPARATORS = "\t;,"
#: Number of bytes that show whether a file is text.
FIRST_BYTES = 4096
#: What may be wrong with a column, and what to do.
ADVICE = {
    "text": "encode text as numbers",
    "missing values": "fill in missing values, or remove their rows",
    "infinite values": "correct infinite values",
}
#: Number of problems that a message lists.
MOST_PROBLEMS = 8


def open_table(name: str) -> Table:
    """The table in a file, or a built-in data set."""
    path, known = Path(name), name.replace("_", "-")
    if known in BUILT_IN and not path.exists():
        return _load_built_in(known)
    if path.is_dir():
        raise InputError(f"{quote_path(name)} is a folder; give a file in it")
    if not path.exists():
        raise InputError(f"there is no file {quote_path(name)}; check the path, or try one of {', '.join(BUILT_IN)}")
    if path.suffix.lower() in PARQUET:
        return _open_parquet(path)
    if find_suffix(path) in TEXT:
        return TextFile(path)
    raise InputError(
        f"the format of {quote_path(name)} is unknown; expected a name that ends with"
        f" {', '.join((*TEXT, *PARQUET, *SVMLIGHT))}, for text files also with .gz or .bz2"
    )


def find_suffix(path: Path) -> str:
    """The ending of a file's name in lower case, without that of its compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


class Table:
    """A table of named columns with a default target or none."""

    def __init__(self, source: str, names: list[str], frame: Any = None, target: str | None = None) -> None:
        self.source, self.names, self._frame, self.target = source, names, frame, target
        for name, count in Counter(filter(None, names)).items():
            if count > 1:
                raise InputError(f"{quote_path(source)} has two columns called {quote(name)}; rename one of them")

    def read(self, target: int | None) -> DataFrame:
        """All columns, in their order; the target of a text file as text."""
        return self._frame

    def locate(self, row: int) -> str:
        """Where to find a row, counted from 0."""
        return f"row {row + 1}"


class TextFile(Table):
    """A text file with a header and a separator: comma, tab or semicolon."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with explain_read_errors(path):
            self._check_text()
            self._separator = self._find_separator()
            with self._open() as file:
                header_row, header = next(
                    (row, cells) for row, cells in enumerate(self._reader(file)) if not _is_blank(cells)
                )
        self._header_rows = header_row + 1
        super().__init__(str(path), [cell.strip() for cell in header])
        self._check_header()

    def _open(self) -> TextIO:
        opened = COMPRESSED.get(self._path.suffix.lower(), open)(self._path, "rb")
        return io.TextIOWrapper(opened, encoding="utf-8-sig", newline="")

    def _reader(self, file: TextIO) -> Any:
        return csv.reader(file, delimiter=self._separator, skipinitialspace=True)

    def _check_text(self) -> None:
        with COMPRESSED.get(self._path.suffix.lower(), open)(self._path, "rb") as file:
            start = file.read(FIRST_BYTES)
        name = quote_path(self._path)
        if not start.strip():
            raise InputError(f"{name} is empty; expected a line of column names, then rows of numbers")
        if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise InputError(f"{name} is UTF-16 text; save it as UTF-8")
        if b"\0" in start:
            raise InputError(f"{name} is a binary file, not text; expected CSV with a line of column names")

    def _find_separator(self) -> str:
        """The most frequent separator of the header among those that are as frequent in the next line, if any is."""
        with self._open() as file:
            lines = list(islice((line for line in file if line.strip()), 2))
        unquoted = ["".join(line.split('"')[::2]) for line in lines]
        counts = [{mark: line.count(mark) for mark in SEPARATORS} for line in unquoted]
        alike = [mark for mark in SEPARATORS if all(count[mark] == counts[0][mark] > 0 for count in counts)]
        return max(alike or SEPARATORS, key=lambda mark: (counts[0][mark], mark != ","))

    def _check_header(self) -> None:
        import pandas as pd

        if np.isfinite(parse_numbers(pd.Series(self.names, dtype=object))).all():
            raise InputError(
                f"the first row of {quote_path(self._path)} is all numbers ({quote_list(self.names, 3)}); add a line"
                " with the names of the columns above it"
            )

    def read(self, target: int | None) -> DataFrame:
        import pandas as pd

        with explain_read_errors(self._path):
            try:
                frame = pd.read_csv(
                    self._path,
                    sep=self._separator,
                    header=None,
                    skiprows=self._header_rows,
                    dtype=None if target is None else {target: str},
                    na_values=MISSING,
                    keep_default_na=False,
                    skipinitialspace=True,
                    encoding="utf-8-sig",
                    low_memory=False,
                )
            except pd.errors.EmptyDataError as error:
                raise InputError(f"{quote_path(self._path)} has a header but no rows; add rows of data") from error
            except pd.errors.ParserError as error:
                self._find_lines()
                raise csv.Error(str(error).strip()) from error
            if frame.shape[1] != len(self.names):
                self._find_lines()
        return frame

    def locate(self, row: int) -> str:
        return f"line {self._lines[row]}"

    @cached_property
    def _lines(self) -> list[int]:
        with explain_read_errors(self._path):
            return self._find_lines()

    def _find_lines(self) -> list[int]:
        """The line on which each row starts; raises for a row that is too long or too short."""
        lines: list[int] = []
        with self._open() as file:
            for line, cells in islice(_number_rows(self._reader(file)), 1, None):
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


def _open_parquet(path: Path) -> Table:
    import pandas as pd

    name = quote_path(path)
    with explain_read_errors(path):
        path.open("rb").close()  # reports a file that cannot be opened better than pyarrow does
        try:
            frame = pd.read_parquet(path, engine="pyarrow")
        except ImportError as error:
            advice = 'install it with: pip install "ksparse[parquet]"'
            raise InputError(f"Parquet files need pyarrow; {advice}") from error
        except MemoryError:
            raise
        except Exception as error:  # damaged files raise many kinds, without a common base
            raise InputError(f"{name} is not a Parquet file or is damaged; make or download it again") from error
    if any(level is not None for level in frame.index.names):
        frame = frame.reset_index()
    if not len(frame):
        raise InputError(f"{name} has columns but no rows; add rows of data")
    return Table(str(path), [str(column) for column in frame.columns], frame)


def _load_built_in(name: str) -> Table:
    """A data set of scikit-learn, with its columns in their own units."""
    load, target, _ = BUILT_IN[name]
    bunch = load(as_frame=True, **({"scaled": False} if load is load_diabetes else {}))
    frame = bunch.frame
    if "target_names" in bunch:
        frame = frame.assign(target=bunch.target_names[bunch.target])
    return Table(name, [*map(str, bunch.feature_names), target], frame, target)


def _number_rows(reader: Any) -> Iterator[tuple[int, list[str]]]:
    """The rows of a csv reader that are not blank, with the number of the line on which each starts."""
    before = 0
    for cells in reader:
        if not _is_blank(cells):
            yield before + 1, cells
        before = reader.line_num


def _is_blank(cells: list[str]) -> bool:
    return len(cells) <= 1 and not "".join(cells).strip()


# --- columns as arrays ----------------------------------------------------------------------------------------------


def parse_numbers(column: Series) -> Array:
    """A column as numbers, NaN where it has none."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(pd.to_numeric(column.astype(str).str.strip(), errors="coerce"), dtype=np.float64)


def read_numbers(table: Table, frame: DataFrame, columns: list[int], *, advise_drop: bool) -> Array:
    """Columns as a matrix of finite numbers; true is 1, false is 0. Reports all problems at once."""
    X = np.empty((len(frame), len(columns)), order="F")
    problems: dict[str, list[str]] = {}
    decimals = False
    for place, column in enumerate(columns):
        cells = frame.iloc[:, column]
        X[:, place] = parse_numbers(cells)
        unknown = ~np.isfinite(X[:, place])
        if not unknown.any():
            continue
        truth = cells.astype(str).str.strip().str.lower().map({"true": 1.0, "false": 0.0}).to_numpy(dtype=np.float64)
        X[unknown, place] = np.where(np.isnan(truth), X[:, place], truth)[unknown]
        found = _describe_problems(table, cells, X[:, place])
        if found:
            problems[table.names[column]] = found
            decimals |= bool(cells.astype(str).str.fullmatch(r"\s*[+-]?\d+,\d+\s*").any())
    if problems:
        raise _not_numeric(table, problems, decimals=decimals, advise_drop=advise_drop)
    return X


def _describe_problems(table: Table, cells: Series, numbers: Array) -> list[str]:
    """What is wrong with a column: text, missing and infinite values, each with its count and the first place."""
    missing = cells.isna().to_numpy(dtype=bool)
    found = []
    for what, rows in zip(ADVICE, (np.isnan(numbers) & ~missing, missing, np.isinf(numbers)), strict=True):
        if rows.any():
            first = int(np.argmax(rows))
            value = "" if missing[first] else f"{quote(str(cells.iloc[first]).strip())} "
            found.append(f"has {what} in {_count_rows(int(rows.sum()))} (first {value}on {table.locate(first)})")
    return found


def _count_rows(count: int) -> str:
    return f"{count} row{'s' if count > 1 else ''}"


def _not_numeric(table: Table, problems: dict[str, list[str]], *, decimals: bool, advise_drop: bool) -> InputError:
    described = [f"{quote(name)} {' and '.join(found)}" for name, found in problems.items()]
    more = f"; and {len(described) - MOST_PROBLEMS} more columns" if len(described) > MOST_PROBLEMS else ""
    joined = "; ".join(described)
    advice = "; ".join(text for what, text in ADVICE.items() if f" has {what} in " in joined)
    if decimals:
        advice = "write decimals with a point"
    if advise_drop:
        names = list(problems)
        advice += f"; or leave columns out with --drop {_quote_for_shell(names[:MOST_PROBLEMS])}"
        advice += ",…" if len(names) > MOST_PROBLEMS else ""
    return InputError(
        f"features must be finite numbers, but in {quote_path(table.source)} column"
        f" {'; column '.join(described[:MOST_PROBLEMS])}{more}. To fix this: {advice}"
    )


def _quote_for_shell(names: list[str]) -> str:
    text = escape_control(",".join(names))
    plain = all(letter.isalnum() or letter in "_.,:-/" for letter in text)
    return text if plain else "'" + text.replace("'", "'\\''") + "'"


def read_target(table: Table, frame: DataFrame, target: int) -> AnyArray:
    """The target as numbers, booleans or text."""
    import pandas as pd

    cells, name = frame.iloc[:, target], quote(table.names[target])
    missing = cells.isna().to_numpy(dtype=bool)
    if missing.any():
        raise InputError(
            f"the target {name} is missing in {_count_rows(int(missing.sum()))} of {quote_path(table.source)} (first on"
            f" {table.locate(int(np.argmax(missing)))}); fill in the target, or remove the rows without one"
        )
    if pd.api.types.is_bool_dtype(cells):
        return np.asarray(cells, dtype=bool)
    if pd.api.types.is_numeric_dtype(cells):
        return np.asarray(cells, dtype=np.float64)
    values = cells.tolist()
    if not all(isinstance(value, str) for value in values):
        numbers = parse_numbers(cells)
        if np.isfinite(numbers).all():  # decimal numbers of Parquet
            return numbers
        raise InputError(
            f"the target {name} of {quote_path(table.source)} has values such as {quote(values[0])}; expected numbers,"
            " booleans or text"
        )
    return np.array([value.strip() for value in values], dtype=object)
