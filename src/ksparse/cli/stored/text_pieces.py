"""Text files as Parquet files of a temporary folder, piece by piece within a limit of memory."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from pathlib import Path

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from ...limits import BYTE_COST, MAX_BYTES, SIZE_FACTOR
from ..errors import InputError, join_problems, quote_list, quote_path
from ..files.base import distinguish_names
from ..files.options import ReadingOptions
from ..files.sources import FileSource
from ..files.text_files import TextFile
from .table import FindUnneeded, StoredTable

log = logging.getLogger(__name__)

__all__ = ["open_large_text", "store_text"]

#: Memory that pandas takes for each cell of a piece: measured on numbers; pieces take no more than a part of the limit.
PIECE_COST, PIECE_FRACTION = 60, 1 / 6
#: Cells of a piece at most: larger ones save nothing.
MOST_CELLS = 2_000_000


def open_large_text(path: str, options: ReadingOptions) -> TextFile:
    """A text file that need not fit into memory; compressed ones may not grow more than those that are read whole."""
    found = Path(path)
    limit = max(MAX_BYTES, SIZE_FACTOR * found.stat().st_size)
    file = TextFile(FileSource(path, found), options, max(limit, BYTE_COST))
    if file.problems:
        raise join_problems(file.problems)
    return file


def store_text(
    source: str, files: Sequence[TextFile], folder: Path, limit: float, find_unneeded: FindUnneeded
) -> StoredTable:
    """The rows of text files with the same columns, as Parquet files in a folder.

    A column is numbers if it is so in all pieces; other columns are read as text, and converted as a whole.
    """
    first = files[0]
    places = [_find_places(file, first) for file in files]
    named = [place for place, name in enumerate(first.columns) if name]
    keys = {name: str(place) for name, place in zip(first.names, named, strict=True)}
    writer = _PieceWriter(folder, limit, {int(keys[name]) for name in find_unneeded(first.names)})
    for file, found in zip(files, places, strict=True):
        writer.add(file, found)
    keys = {name: key for name, key in keys.items() if int(key) not in writer.unneeded}
    unnamed = [place for place, name in enumerate(first.columns) if not name and place not in writer.empty]
    titles = ["index" if not i else f"index {i}" for i in range(len(unnamed))]
    distinct = distinguish_names([*keys, *titles])[len(keys) :]
    index = {name: str(place) for name, place in zip(distinct, unnamed, strict=True)}
    notes = tuple(dict.fromkeys(note for file in files for note in file.notes))
    table = StoredTable(source, keys, writer.paths, writer.sizes, folder, limit, index, (), notes)
    paths = writer.store_late()
    for name in [name for name, key in {**keys, **index}.items() if int(key) in writer.text]:
        place = int({**keys, **index}[name])
        table.convert(name, paths if place in writer.late else writer.paths, partial(first.convert_column, name=name))
    table.notes = tuple(dict.fromkeys((*notes, *first.notes)))
    return table


def check_columns(path: str, names: Sequence[str], first: str, expected: Sequence[str]) -> None:
    """Raise if a file has other columns than the first; their order may be another."""
    there, wanted = set(names), set(expected)
    if there == wanted:
        return
    lacking, more = [n for n in expected if n not in there], [n for n in names if n not in wanted]
    said = f"lacks {quote_list(lacking)}" if lacking else f"has {quote_list(more)} besides"
    raise InputError(
        f"{quote_path(path)} has not the same columns as {quote_path(first)}: it {said}; files of one table must have"
        " the same columns"
    )


def _find_places(file: TextFile, first: TextFile) -> dict[int, int]:
    """The number that each column of a file has in the first; those without a name are in their order."""
    check_columns(file.source, file.names, first.source, first.names)
    unnamed = [[place for place, name in enumerate(part.columns) if not name] for part in (file, first)]
    if len(unnamed[0]) != len(unnamed[1]):
        raise InputError(
            f"{quote_path(file.source)} has {len(unnamed[0])} columns without a name, but {quote_path(first.source)}"
            f" has {len(unnamed[1])}; files of one table must have the same columns"
        )
    named = [[place for place, name in enumerate(part.columns) if name] for part in (file, first)]
    theirs = dict(zip(first.names, named[1], strict=True))
    places = {place: theirs[name] for name, place in zip(file.names, named[0], strict=True)}
    return places | dict(zip(*unnamed, strict=True))


class _PieceWriter:
    """Writes pieces, and knows which columns are text."""

    def __init__(self, folder: Path, limit: float, unneeded: set[int]) -> None:
        self.folder, self.limit, self.unneeded = folder, limit, unneeded
        self.paths: list[str] = []
        self.sizes: list[int] = []
        #: Columns with cells that are no numbers; those that were taken for numbers first; those without cells so far.
        self.text: set[int] = set()
        self.late: set[int] = set()
        self.empty: set[int] = set()
        self._truth: dict[int, bool] = {}
        self._files: list[tuple[TextFile, dict[int, int], int]] = []

    def add(self, file: TextFile, places: dict[int, int]) -> None:
        """The rows of one file, whose columns have these numbers in the first."""
        width = len(file.columns)
        most = min(PIECE_FRACTION * self.limit / PIECE_COST, MOST_CELLS)
        rows = max(int(most / width), 1)
        self._files.append((file, places, rows))
        if not self.paths:
            piece = next(file.read_pieces(min(rows, 1000)))
            self.text |= {place for place in range(width) if not is_numeric_dtype(piece[place])}
            self.empty = set(range(width))
        for piece in _read_pieces(file, places, rows, self.text - self.late):
            self.empty -= {place for place in self.empty if piece[place].notna().any()}
            found = self._find_text(piece)
            found -= self.unneeded
            self.late |= found - self.text
            self.text |= found
            self._write(piece)
            log.info("%d rows", sum(self.sizes))

    def _find_text(self, piece: pd.DataFrame) -> set[int]:
        """Columns that are no numbers in this piece, or that are true and false in one and numbers in another."""
        found = set()
        for place in piece.columns:
            cells = piece[place]
            truth = is_bool_dtype(cells)
            known = self._truth.setdefault(place, truth) if cells.notna().any() else truth
            if not is_numeric_dtype(cells) or truth != known:
                found.add(place)
        return found

    def _write(self, piece: pd.DataFrame) -> None:
        path = str(self.folder / f"piece-{len(self.paths):06d}.parquet")
        kept = piece.drop(columns=[place for place in piece.columns if place in self.late | self.unneeded])
        if kept.shape[1]:
            kept.rename(columns=str).to_parquet(path, index=False, compression="lz4")
        self.paths.append(path)
        self.sizes.append(len(piece))

    def store_late(self) -> list[str]:
        """Read the columns as text that were taken for numbers first; the files with them."""
        if not self.late:
            return []
        paths, columns = list[str](), sorted(self.late)
        for file, places, rows in self._files:
            for piece in _read_pieces(file, places, rows, columns, columns):
                path = str(self.folder / f"late-{len(paths):06d}.parquet")
                piece.rename(columns=str).to_parquet(path, index=False, compression="lz4")
                paths.append(path)
        return paths


def _read_pieces(
    file: TextFile,
    places: dict[int, int],
    rows: int,
    text: Collection[int],
    columns: Collection[int] | None = None,
) -> Iterator[pd.DataFrame]:
    """Pieces of a file, in which columns have the numbers of the first file, by which some are chosen as text."""
    chosen, read = (
        None if some is None else [here for here, first in places.items() if first in set(some)]
        for some in (text, columns)
    )
    for piece in file.read_pieces(rows, chosen or (), read):
        yield piece.rename(columns=places)
