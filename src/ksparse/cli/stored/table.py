"""A table in Parquet files, of which whole columns or blocks of rows are in memory at a time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..._types import AnyArray, Mask
from ...limits import describe_size
from ..errors import InputError, quote, quote_path
from ..files.cells import hide_missing

log = logging.getLogger(__name__)

__all__ = ["FindUnneeded", "StoredTable"]

#: A column of text takes no more than this fraction of the limit, since all its cells are looked at together.
TEXT_FRACTION = 0.5
#: Rows and columns in memory at a time take no more than these fractions of it.
ROWS_FRACTION, COLUMNS_FRACTION = 1 / 32, 1 / 8
#: Bytes of a number, and rows that are read at least at once.
NUMBER_SIZE, LEAST_BLOCK_ROWS = 8, 100
#: Letters that are read from a file at once.
BUFFER = 2**20


#: Gives the columns that are not used, by the names of all.
FindUnneeded = Callable[[Sequence[str]], Collection[str]]


@dataclass
class StoredTable:
    """A table whose cells are what the usual reader makes of them, but which is not in memory.

    Parameters
    ----------
    source : str
        What messages call it.
    keys : dict of str to str
        What the files call each named column.
    paths : list of str
        Parquet files with the rows, in their order.
    sizes : list of int
        The rows of each.
    folder : Path
        Where columns can be written.
    limit : float
        Memory in bytes.
    index : dict of str to str
        Columns that name the rows, and are no features, in the same way as `keys`.
    na : tuple of str
        Cells that the user calls missing, besides the usual ones.
    notes : tuple of str
        What was assumed, for the user.
    """

    source: str
    keys: dict[str, str]
    paths: list[str]
    sizes: list[int]
    folder: Path
    limit: float
    index: dict[str, str] = field(default_factory=dict)
    na: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    #: The rows to use; all without it.
    kept: Mask | None = None
    #: Columns that are files of their own, by name: those that were not numbers in the others.
    _converted: dict[str, Path] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The named columns."""
        return list(self.keys)

    @property
    def rows(self) -> int:
        """Number of rows that are used."""
        return sum(self.sizes) if self.kept is None else int(self.kept.sum())

    def choose_step(self, width: int) -> int:
        """Rows of a block with so many columns."""
        return max(int(ROWS_FRACTION * self.limit / (NUMBER_SIZE * max(width, 1))), LEAST_BLOCK_ROWS)

    def group(self, names: Sequence[str]) -> Iterator[list[str]]:
        """Columns that are in memory at a time."""
        most = max(int(COLUMNS_FRACTION * self.limit / (NUMBER_SIZE * max(self.rows, 1))), 1)
        yield from (list(names[start : start + most]) for start in range(0, len(names), most))

    def convert(self, name: str, paths: Sequence[str], how: Callable[[pd.Series], pd.Series]) -> None:
        """Let all cells of a column that is no plain numbers be what `how` makes of them; the files have it as text."""
        first = _read_cells(paths[:1], self._find_key(name))
        size = int(first.memory_usage(index=False, deep=True) * self.rows / max(len(first), 1))
        if size > TEXT_FRACTION * self.limit:
            raise InputError(
                f"the text in the column {quote(name)} takes {describe_size(size)}, more than half of the"
                f" {describe_size(int(self.limit))} that are allowed; leave it out by --drop, or allow more by"
                " --max-memory"
            )
        cells = how(_read_cells(paths, self._find_key(name)))
        path = self.folder / f"column-{len(self._converted)}.parquet"
        cells.rename("cells").to_frame().to_parquet(path, index=False, row_group_size=self.choose_step(1))
        self._converted[name] = path

    def __getitem__(self, name: str) -> pd.Series:
        """All cells of a column."""
        if name in self._converted:
            cells = pd.read_parquet(self._converted[name])["cells"].rename(name)
        else:
            cells = hide_missing(_read_cells(self.paths, self._find_key(name)).rename(name), self.na)
        return cells if self.kept is None else cells[self.kept].reset_index(drop=True)

    def read(self, names: Sequence[str]) -> pd.DataFrame:
        """All cells of some columns."""
        return pd.DataFrame({name: self[name] for name in names})

    def read_index(self, rows: AnyArray) -> pd.DataFrame | None:
        """The columns that name rows, for some of them; None if there are no such columns."""
        if not self.index:
            return None
        return pd.DataFrame({name: self[name].iloc[rows] for name in self.index})

    def iterate(self, names: Sequence[str], step: int) -> Iterator[pd.DataFrame]:
        """Blocks of rows with some columns, one after the other."""
        start = 0
        for frame in self._iterate_all(names, step):
            stop = start + len(frame)
            part = frame if self.kept is None else frame[self.kept[start:stop]]
            start = stop
            log.info("%d of %d rows", stop, sum(self.sizes))
            if len(part):
                yield part

    def _iterate_all(self, names: Sequence[str], step: int) -> Iterator[pd.DataFrame]:
        from pyarrow import parquet

        plain = {self._find_key(name): name for name in names if name not in self._converted}
        others = {name: _ColumnReader(self._converted[name], step) for name in names if name in self._converted}
        for path, size in zip(self.paths, self.sizes, strict=True):
            if not plain:
                yield from (_take(others, names, count) for count in _split(size, step))
                continue
            with parquet.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER) as file:
                for batch in file.iter_batches(step, columns=list(plain), use_threads=False):
                    frame = batch.to_pandas(ignore_metadata=True).rename(columns=plain)
                    for name in plain.values() if self.na else ():
                        frame[name] = hide_missing(frame[name], self.na)
                    for name, reader in others.items():
                        frame[name] = reader.take(len(frame))
                    yield frame[list(names)]

    def read_rows(self, rows: AnyArray, names: Sequence[str]) -> pd.DataFrame:
        """Some rows, in their order."""
        parts, start = [], 0
        for frame in self.iterate(names, self.choose_step(len(names))):
            first, last = np.searchsorted(rows, [start, start + len(frame)])
            parts.append(frame.iloc[rows[first:last] - start])
            start += len(frame)
        return pd.concat(parts, ignore_index=True)

    @property
    def converted(self) -> list[str]:
        """The columns that were no plain numbers."""
        return list(self._converted)

    def _find_key(self, name: str) -> str:
        return self.keys[name] if name in self.keys else self.index[name]


def _split(size: int, step: int) -> list[int]:
    return [min(step, size - start) for start in range(0, size, step)]


def _take(readers: dict[str, _ColumnReader], names: Sequence[str], count: int) -> pd.DataFrame:
    return pd.DataFrame({name: readers[name].take(count) for name in names})


def _read_cells(paths: Sequence[str], key: str) -> pd.Series:
    """A column of some files."""
    from pyarrow import ArrowInvalid, parquet

    parts = []
    for path in paths:
        try:
            with parquet.ParquetFile(path) as file:
                parts.append(file.read(columns=[key], use_threads=False).to_pandas(ignore_metadata=True)[key])
        except (ArrowInvalid, OSError) as error:
            raise InputError(f"{quote_path(path)} is damaged; make or download it again") from error
    are_truths = [pd.api.types.is_bool_dtype(part) for part in parts]
    # Beside parts without cells, old versions of pandas make numbers of true and false.
    if any(are_truths) and not all(are_truths):
        parts = [part.astype(object) for part in parts]
    return pd.concat(parts, ignore_index=True)


class _ColumnReader:
    """The cells of a converted column, in blocks of any sizes."""

    def __init__(self, path: Path, step: int) -> None:
        self._batches, self._rest = self._read(path, step), pd.Series(dtype=object)

    @staticmethod
    def _read(path: Path, step: int) -> Iterator[pd.Series]:
        from pyarrow import parquet

        with parquet.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER) as file:
            for batch in file.iter_batches(step, use_threads=False):
                yield batch.to_pandas()["cells"]

    def take(self, count: int) -> Any:
        """The next cells, without an index."""
        parts, there = ([self._rest], len(self._rest)) if len(self._rest) else ([], 0)
        while there < count:
            parts.append(next(self._batches))
            there += len(parts[-1])
        cells = pd.concat(parts, ignore_index=True) if len(parts) != 1 else parts[0].reset_index(drop=True)
        self._rest = cells.iloc[count:]
        return cells.iloc[:count]
