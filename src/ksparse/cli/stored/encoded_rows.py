"""Features of a table in blocks: its encoder, and designs of encoded rows."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..._types import AnyArray, Array, IntArray
from ...tables import TableEncoder, refit_by_columns
from ...tables.encoding import Encoding, RowEncoder
from ...tables.unknown import ignore_unknown
from .engines import EncodeFrame, Engine
from .feature_file import DTYPE, FeatureFile
from .parquet_files import measure_largest_group
from .table import StoredTable
from .work_folder import check_room

__all__ = ["EncodedRows", "read_by_columns", "refit_to_rows"]


def read_by_columns(table: StoredTable, names: Sequence[str], rows: IntArray | None = None) -> Iterator[pd.DataFrame]:
    """All cells of some columns at a time, of all rows or of some."""
    for group in table.group(names):
        part = table.read(group)
        yield part if rows is None else part.iloc[rows]


def refit_to_rows(encoder: TableEncoder, table: StoredTable, y: AnyArray, rows: IntArray) -> TableEncoder:
    """The encoder with the medians and categories of some rows, of which y is the target."""
    return refit_by_columns(encoder, read_by_columns(table, encoder.columns_.tolist(), rows), y)


@dataclass(frozen=True, eq=False)
class StoredEncoding(Encoding):
    """Rows of a table that is not in memory: folds encode their own rows in files beside those of the other rows."""

    blocks: EncodedRows
    rows: IntArray

    def select_rows(self, rows: Any) -> StoredEncoding:
        return replace(self, rows=self.rows[rows])

    def refit(self, y: Any) -> RowEncoder:
        return refit_to_rows(self.encoder, self.table, y, self.rows)

    def encode(self) -> Any:
        return self.blocks.open_beside(self.encoder, self.rows)


@dataclass
class EncodedRows:
    """Opens designs of the encoded rows of a table.

    Numbers of Parquet files are read from these in each pass. Other features are made once, and written to a file of a
    temporary folder, or are made by the workers of a cluster that have no such folder.

    Parameters
    ----------
    table : StoredTable
        The table.
    engine : Engine
        What reads blocks.
    folder : Path
        Where a file may be written.
    in_place : bool
        Whether the files of the table are the user's, and Parquet.
    """

    table: StoredTable
    engine: Engine
    folder: Path
    in_place: bool
    _paths: list[Path] = field(default_factory=list)

    def open(self, encoder: TableEncoder, rows: IntArray) -> Any:
        """The features of some rows, in their order; what was opened before is no longer there."""
        self.close()
        design = self.open_beside(encoder, rows)
        encoding = StoredEncoding(self.table, encoder, self, rows)
        design.encoding = encoding if encoding.depends_on_rows else None
        return design

    def open_beside(self, encoder: TableEncoder, rows: IntArray) -> Any:
        """The features of some rows; their file is there as long as they are."""
        names = encoder.columns_.tolist()
        plain = self.in_place and not encoder.features_ and not self.table.na and self._has_small_parts(len(names))
        if plain or not self.engine.reads_temporary_files:
            text = [name for name in self.table.converted if not pd.api.types.is_numeric_dtype(self.table[name])]
            encode = None if plain else EncodeFrame(encoder, text, self.table.na)
            design = self.engine.open_files(self.table.paths, names, encode)
            kept = np.arange(design.shape[0]) if self.table.kept is None else np.flatnonzero(self.table.kept)
            design = design if len(rows) == design.shape[0] else design.select_rows(kept[rows])
        else:
            width = encoder.n_features_out_
            check_room(self.folder, len(rows) * width * DTYPE.itemsize, "a fit in blocks of these data")
            path = self.folder / f"features-{len(self._paths)}.numbers"
            self._paths.append(path)
            design = self.engine.open_features(FeatureFile.write(path, width, self._encode(encoder, rows)))
            weakref.finalize(design.rows.X, path.unlink, missing_ok=True)  # the files of all folds might fill a disk
        design.column_names = encoder.get_feature_names_out()
        design.table_columns = encoder.feature_columns_
        return design

    def _has_small_parts(self, width: int) -> bool:
        """Whether parts of the files can be read at once."""
        return measure_largest_group(self.table.paths, width) <= self.engine.largest_part

    def close(self) -> None:
        """Remove the files of features."""
        for path in self._paths:
            path.unlink(missing_ok=True)

    def _encode(self, encoder: TableEncoder, rows: IntArray) -> Iterator[Array]:
        """The features of some rows, block by block."""
        names, start = encoder.columns_.tolist(), 0
        step = self.table.choose_step(len(names) + encoder.n_features_out_)
        for frame in self.table.iterate(names, step):
            first, last = np.searchsorted(rows, [start, start + len(frame)])
            part = frame.iloc[rows[first:last] - start]
            start += len(frame)
            if len(part):
                with ignore_unknown():
                    yield encoder.transform(part).to_numpy()
