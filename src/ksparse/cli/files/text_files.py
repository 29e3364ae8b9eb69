"""Text files with a header and a separator, read by pandas."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import islice
from typing import Any, TextIO

import pandas as pd

from ...limits import BYTE_COST, CELL_COST, COLUMN_COST
from ..errors import InputError, check_memory, explain_read_errors, quote, quote_path
from .base import Table, describe_header, distinguish_names, find_identifiers
from .cells import MINUS, MISSING, PLUS, convert_text, has_decimal_points
from .dialects import SPACES, find_dialect, split_rows
from .limited_files import open_text
from .options import ReadingOptions
from .sources import FileSource
from .surveys import survey_text

#: Before version 3.1, pandas rounds the last digit unless asked not to; since then, this option is deprecated.
EXACT_NUMBERS: dict[str, Any] = (
    {"float_precision": "round_trip"} if tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1) else {}
)
#: Numbers of cells of rows that a message lists.
MOST_WIDTHS = 3


class RowsError(InputError):
    """Rows have another number of cells than the header; the others can be read."""


class TextFile(Table):
    """A text file with a header and a separator.

    Parameters
    ----------
    source : FileSource
        The file.
    options : ReadingOptions
        What the user says about it.
    limit : int
        Memory in bytes that the table may take.
    """

    def __init__(self, source: FileSource, options: ReadingOptions, limit: int) -> None:
        self._source, self._options, self._limit = source, options, limit
        with explain_read_errors(source.name):
            self._survey = survey_text(source, limit, options.encoding)
            with self._open() as file:
                self._dialect = find_dialect(file, source.name, options)
        columns = self._dialect.columns
        problems = describe_header(source.name, columns, numbers=options.transpose)
        notes = (*self._survey.notes, *self._dialect.notes)
        names = distinguish_names([name for name in columns if name])
        super().__init__(source.name, names, notes=notes, problems=problems)

    @property
    def decimal(self) -> str:
        """The decimal mark of the file."""
        return self._dialect.decimal

    @property
    def identifiers(self) -> pd.DataFrame | None:
        unnamed = [place for place, name in enumerate(self._dialect.columns) if not name]
        return find_identifiers(self._columns.iloc[:, unnamed]) if unnamed else None

    def read_right_rows(self) -> tuple[pd.DataFrame, list[str]]:
        try:
            columns, problems = self._columns, self.problems
        except RowsError as error:
            columns, problems = self._read_right_cells(), [*self.problems, str(error)]
        named = [place for place, name in enumerate(self._dialect.columns) if name]
        return columns.iloc[:, named].set_axis(self.names, axis=1), problems

    def _read_right_cells(self) -> pd.DataFrame:
        """All columns of the rows that have as many cells as the header."""
        width = len(self._dialect.columns)
        with explain_read_errors(self._source.name):
            rows = [cells for _, cells in islice(self._rows(), 1, None) if len(cells) == width]
        text = pd.DataFrame(rows, columns=range(width), dtype=object)
        return pd.DataFrame({place: convert_text(text[place], self.decimal) for place in range(width)})

    def locate(self, row: int) -> str:
        # pandas and Python may count a damaged last row differently.
        return f"line {self._lines[row]}" if row < len(self._lines) else super().locate(row)

    def _open(self) -> TextIO:
        return open_text(self._source, self._limit, self._survey.encoding)

    @cached_property
    def _columns(self) -> pd.DataFrame:
        """All columns, numbered."""
        width = len(self._dialect.columns)
        with explain_read_errors(self._source.name):
            self._check_size(width)
            with self._explain_parsing():
                frame = self._parse()
            self._check_widths(len(frame), frame.shape[1], has_gaps=bool(frame.iloc[:, -1].isna().any()))
            return self._convert(frame)

    @property
    def columns(self) -> list[str]:
        """The names of all columns; empty for one without a name."""
        return self._dialect.columns

    def estimate_memory(self) -> int:
        """Memory in bytes that reading the whole table would take."""
        width = len(self._dialect.columns)
        return BYTE_COST * self._survey.size + CELL_COST * self._count_ends() + COLUMN_COST * width

    def _count_ends(self) -> int:
        """Separators and lines: how many cells the text ends."""
        survey, separator = self._survey, self._dialect.separator
        marks = survey.marks.get(separator, survey.size)
        if separator == SPACES:
            marks += survey.marks["\t"]
        return marks + survey.lines

    def read_pieces(
        self, rows: int, text: Collection[int] = (), columns: list[int] | None = None
    ) -> Iterator[pd.DataFrame]:
        """The columns in pieces of so many rows, as pandas reads each; for files that are larger than memory.

        Parameters
        ----------
        rows : int
            Rows of a piece.
        text : collection of int
            The columns, by number, that are read as text; a minus is a cell of them, not a gap.
        columns : list of int, optional
            The columns to read; all by default.
        """
        width, count, has_gaps = len(self._dialect.columns), 0, False
        with explain_read_errors(self._source.name), self._explain_parsing():
            with self._open() as file, self._start_parser(file, text, columns, chunksize=rows) as pieces:
                for piece in pieces:
                    found = piece.shape[1] if columns is None else width
                    if found != width:
                        self._check_widths(count, found, has_gaps=False)
                    count, has_gaps = count + len(piece), has_gaps or bool(piece.iloc[:, -1].isna().any())
                    yield piece
            if columns is None:
                self._check_widths(count, width, has_gaps=has_gaps)

    def convert_column(self, text: pd.Series, name: str) -> pd.Series:
        """All cells of a column that was read as text, as `read` gives them."""
        if (text == PLUS).any():  # beside a plus, a minus is a value
            return text
        found = convert_text(text.mask(text == MINUS), self.decimal)
        if self.decimal == "," and pd.api.types.is_float_dtype(found):
            self._note_points(name, text)
        return found

    @contextmanager
    def _explain_parsing(self) -> Iterator[None]:
        try:
            yield
        except pd.errors.EmptyDataError as error:
            raise InputError(f"{quote_path(self.source)} has a header but no rows; add rows of data") from error
        except pd.errors.ParserError as error:
            self._check_rows()
            raise csv.Error(str(error).strip()) from error

    def _check_widths(self, rows: int, width: int, *, has_gaps: bool) -> None:
        """Raise if rows have another number of cells than the header; pandas fills those that are too short."""
        expected = len(self._dialect.columns)
        if width != expected or (self._may_be_short(rows, width) and has_gaps):
            self._check_rows()
        if width != expected:
            raise InputError(f"{quote_path(self.source)} has rows that do not end; check that all quotes are closed")

    def _check_size(self, width: int) -> None:
        """Raise if the table would take too much memory, before it takes any."""
        check_memory(self.estimate_memory(), self._limit, f"the table in {quote_path(self.source)}")
        if self._survey.lines * width > 2 * self._count_ends():
            self._check_rows()  # pandas would fill rows that are too short

    def _may_be_short(self, rows: int, width: int) -> bool:
        """Whether rows may have fewer cells than the header: without quotes, separators tell."""
        survey, separator = self._survey, self._dialect.separator
        if survey.quotes or self._dialect.before or separator not in survey.marks or separator == SPACES:
            return True
        return survey.marks[separator] != (rows + 1) * (width - 1)

    def _parse(self, columns: list[int] | None = None, missing: tuple[str, ...] = MISSING) -> pd.DataFrame:
        """Some columns or all, as pandas reads them; those that are chosen as text."""
        with self._open() as file:
            return self._start_parser(file, columns or (), columns, missing)

    def _start_parser(
        self,
        file: TextIO,
        text: Collection[int],
        columns: list[int] | None,
        missing: tuple[str, ...] = MISSING,
        chunksize: int | None = None,
    ) -> Any:
        """What pandas reads; with `chunksize`, an iterator in which only numbers have a minus for a gap."""
        for _ in range(self._dialect.before):
            file.readline()
        marks: Any = [*missing, *self._options.na]
        if chunksize is not None and text:
            values = [mark for mark in marks if mark != MINUS]
            marks = {place: values if place in set(text) else marks for place in range(len(self.columns))}
        return pd.read_csv(
            file,
            sep=r"\s+" if self._dialect.separator == SPACES else self._dialect.separator,
            decimal=self._dialect.decimal,
            header=None,
            skiprows=1,
            usecols=columns,
            dtype=dict.fromkeys(text, str) if text else None,
            na_values=marks,
            keep_default_na=False,
            skipinitialspace=True,
            low_memory=False,
            chunksize=chunksize,
            **EXACT_NUMBERS,
        )

    def _convert(self, frame: pd.DataFrame) -> pd.DataFrame:
        """What pandas could not read as numbers, as numbers with commas, truth values or text."""
        others = [place for place, kind in enumerate(frame.dtypes) if not pd.api.types.is_numeric_dtype(kind)]
        signs = [place for place in others if (frame[place] == PLUS).any()]
        if signs:  # beside a plus, a minus is a value
            again = self._parse(signs, tuple(cell for cell in MISSING if cell != MINUS))
        for place in others:
            if place in signs:
                frame[place] = again[place]
            else:
                text, frame[place] = frame[place], convert_text(frame[place], self._dialect.decimal)
                if self.decimal == "," and pd.api.types.is_float_dtype(frame[place]):
                    self._note_points(self._dialect.columns[place], text)
        return frame

    def _note_points(self, name: str, text: pd.Series) -> None:
        """Say so if a column of a file with decimal commas has decimal points."""
        if has_decimal_points(str(cell).strip() for cell in text.dropna()):
            self.notes += (f"{quote(name)} has decimal points, although other numbers of the file have decimal commas",)

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """The line on which each row starts, and its cells; the first is the header."""
        with self._open() as file:
            for _ in range(self._dialect.before):
                file.readline()
            for line, cells in split_rows(file, self._dialect.separator):
                yield line + self._dialect.before, cells

    @cached_property
    def _lines(self) -> list[int]:
        """The line on which each row starts."""
        with explain_read_errors(self._source.name):
            return [line for line, _ in islice(self._rows(), 1, None)]

    def _check_rows(self) -> None:
        """Raise if rows have another number of cells than the header."""
        if problem := self._describe_rows():
            raise RowsError(problem)

    def _describe_rows(self) -> str:
        """What is wrong with rows that have another number of cells than the header; empty if all are right."""
        width, rows = len(self._dialect.columns), 0
        found, first = Counter[int](), dict[int, int]()
        for line, cells in islice(self._rows(), 1, None):
            rows += 1
            if len(cells) != width:
                found[len(cells)] += 1
                first.setdefault(len(cells), line)
        if not found:
            return ""
        name, wrong = quote_path(self._source.name), found.total()
        advice = "check the separators and quotes there"
        if wrong > rows / 2:
            ((most, _),) = found.most_common(1)
            advice = (
                f"if the names of the columns are on line {first[most]}, skip what is before with --skip"
                f" {first[most] - 1}; if cells have another separator, name it with --sep"
            )
        if wrong == 1:
            ((count, line),) = first.items()
            return f"line {line} of {name} has {count} cell{'s' * (count != 1)}, but the header has {width}; {advice}"
        listed = [
            f"{count} {'have' if count > 1 else 'has'} {cells} (first on line {first[cells]})"
            for cells, count in found.most_common(MOST_WIDTHS)
        ]
        more = ", and so on" if len(found) > MOST_WIDTHS else ""
        return (
            f"{wrong} of {rows} rows of {name} do not have as many cells as the header, which has {width}:"
            f" {', '.join(listed)}{more}; {advice}"
        )
