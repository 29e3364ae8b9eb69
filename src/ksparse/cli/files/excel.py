"""Sheets of Excel files as tables, if their parts take no more memory than a limit."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterator
from typing import Any, BinaryIO

import pandas as pd

from ...limits import BYTE_COST, CELL_COST, CELL_ELEMENT_COST, CHUNK, COLUMN_COST, ELEMENT_COST, MAX_SHEET_ROWS
from ..errors import InputError, check_memory, quote, quote_path
from .base import Table, count_titles, describe_titles, make_table
from .options import ReadingOptions
from .sources import COMPRESSION_METHODS, FileSource, open_for_package

#: Where cells and their texts are.
CELLS = ("xl/worksheets/", "xl/sharedStrings")
#: Rows in which titles are looked for.
SAMPLE_ROWS = 100
#: What may define entities, which grow when they are read; no Excel file has one.
DEFINITIONS = (b"<!DOCTYPE", b"<!ENTITY")


def read_excel(source: FileSource, options: ReadingOptions, limit: int) -> Table:
    """The first sheet of an Excel file that has cells.

    Parameters
    ----------
    source : FileSource
        The file.
    options : ReadingOptions
        What the user says about it.
    limit : int
        Memory in bytes that the table may take.
    """
    name = quote_path(source.name)
    with open_for_package(source, limit, "Excel", "openpyxl") as file:
        title, others, rows, lines = _read_sheet(file, name, options.skip, limit)
    if not rows:
        raise InputError(f"{name} is empty; expected a row of column names, then rows of cells")
    titles = count_titles([[_write_cell(value) for value in row] for row in rows[:SAMPLE_ROWS]])
    header, *cells = rows[titles:]
    width = max(map(len, rows))
    check_memory(CELL_COST * width * len(rows) + COLUMN_COST * width, limit, f"the table in {name}")
    columns = [_write_cell(value) for value in header] + [""] * (width - len(header))
    if sum(map(bool, columns)) * 2 < width:
        raise InputError(
            f"row {lines[titles]} of {name} has names for {sum(map(bool, columns))} of {width} columns; if the names"
            " are on a later row, skip those before it with --skip N"
        )
    frame = pd.DataFrame(
        {
            place: pd.Series([row[place] if place < len(row) else None for row in cells], dtype=object)
            for place in range(width)
        }
    )
    left = f"Read the sheet {quote(title)}; sheets that were left out: {others}" if others else ""
    notes = tuple(filter(None, (left, describe_titles(titles))))
    return make_table(
        source.name, columns, frame, options, notes=notes, locate=lambda row: f"row {lines[titles + row + 1]}"
    )


def _write_cell(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _read_sheet(file: BinaryIO, name: str, skip: int, limit: int) -> tuple[str, int, list[list[Any]], list[int]]:
    """The title of the first sheet with cells, how many others have some, its rows, and where they are."""
    from openpyxl import load_workbook

    _check_parts(file, name, limit)
    file.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on styles and other things that do not matter here
        book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
        try:
            sheets = [sheet for sheet in book.worksheets if any(True for _ in _list_rows(sheet, name, limit))]
            if not sheets:
                return "", 0, [], []
            found = [(line, row) for line, row in _list_rows(sheets[0], name, limit) if line > skip]
            return sheets[0].title, len(sheets) - 1, [row for _, row in found], [line for line, _ in found]
        finally:
            book.close()


def _list_rows(sheet: Any, name: str, limit: int) -> Iterator[tuple[int, list[Any]]]:
    """The rows of a sheet that are not empty, with their numbers; raises where they take more memory than a limit."""
    sheet.reset_dimensions()  # what it says about its size
    needed = 0
    for line, row in enumerate(sheet.iter_rows(values_only=True), 1):
        if line > MAX_SHEET_ROWS:
            raise InputError(f"{name} has more rows than a sheet may have; make or download it again")
        cells = list(row)
        needed += CELL_COST * len(cells) + sum(BYTE_COST * len(cell) for cell in cells if isinstance(cell, str))
        check_memory(needed, limit, f"the table in {name}")
        while cells and cells[-1] is None:
            cells.pop()
        if cells:
            yield line, cells


def _check_parts(file: BinaryIO, name: str, limit: int) -> None:
    """Raise if the parts of an Excel file would take too much memory: by what they say, then by what they have."""
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        what = f"the content of {name}"
        check_memory(BYTE_COST * sum(member.file_size for member in members), limit, what)
        needed = 0
        for member in members:
            if member.compress_type not in COMPRESSION_METHODS:
                raise InputError(f"{name} is compressed in an unusual way; save it again")
            cost = CELL_ELEMENT_COST if member.filename.startswith(CELLS) else ELEMENT_COST
            end = b""
            with archive.open(member) as part:
                while chunk := part.read(CHUNK):
                    text = chunk.replace(b"\0", b"")  # of UTF-16
                    needed += BYTE_COST * len(chunk) + cost * (text.count(b"<") - text.count(b"</"))
                    check_memory(needed, limit, what)
                    if any(mark in end + text for mark in DEFINITIONS):
                        raise InputError(f"{name} defines entities, as no Excel file does; make or download it again")
                    end = text[-len(DEFINITIONS[0]) :]
