"""Parquet files as data frames, if what they say about their size is acceptable."""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from ...designs.blocked.parquet_index import INDEX_NAME
from ...limits import BYTE_COST, CELL_COST, COLUMN_COST
from ..errors import InputError, check_memory, quote_list, quote_path
from .base import Table, make_table
from .cells import convert_values
from .options import ReadingOptions
from .sources import FileSource, open_for_package

#: Types of Arrow whose values are bytes.
TEXT_TYPES = {"string", "large_string", "binary", "large_binary"}


def read_parquet(source: FileSource, options: ReadingOptions, limit: int) -> Table:
    """The columns of a Parquet file; those of pandas' index are identifiers, not features.

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
    with open_for_package(source, limit, "Parquet", "pyarrow") as file:
        frame = _read(file, name, limit)
    if not len(frame):
        raise InputError(f"{name} has columns but no rows; add rows of data")
    frame, index = _split_index(frame)
    notes = () if index is None else (f"The index of the data frame ({quote_list(index.columns)}) was left out",)
    names = [str(column) for column in frame.columns]
    return make_table(source.name, names, frame, options, identifiers=index, notes=notes)


def _split_index(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """The columns that are no index of pandas, and those that are one, also if pandas did not write the file."""
    index: dict[str, Any] = {}
    if not isinstance(frame.index, pd.RangeIndex) or frame.index.name is not None:
        for level, name in enumerate(frame.index.names):
            index["index" if name is None else str(name)] = frame.index.get_level_values(level)
    hidden = [INDEX_NAME.fullmatch(str(column)) is not None for column in frame.columns]
    index |= {str(frame.columns[place]): frame.iloc[:, place] for place in np.flatnonzero(hidden)}
    kept = frame.loc[:, [not found for found in hidden]].reset_index(drop=True)
    if not index:
        return kept, None
    levels = {name: convert_values(pd.Series(np.asarray(values, dtype=object))) for name, values in index.items()}
    return kept, pd.DataFrame(levels)


def _read(opened: BinaryIO, name: str, limit: int) -> pd.DataFrame:
    from pyarrow import concat_tables, parquet

    with parquet.ParquetFile(opened) as file:
        columns = [file.schema.column(place) for place in range(len(file.schema))]
        for group in range(file.num_row_groups):
            # What the description says of a column may end the process if it is damaged; reading a row raises instead.
            next(file.iter_batches(batch_size=1, row_groups=[group], use_threads=False), None)
        check_memory(estimate_parquet_memory(file.metadata), limit, f"the table in {name}")
    # Equal texts are read once: thousands of rows may refer to one text of a million letters.
    texts = [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]
    opened.seek(0)
    with parquet.ParquetFile(opened, read_dictionary=texts) as file:
        parts, size = [], 0
        for group in range(file.num_row_groups):
            parts.append(file.read_row_group(group, use_pandas_metadata=True))
            size += parts[-1].nbytes + sum(_count_letters(column) for column in parts[-1].columns)
            check_memory(BYTE_COST * size, limit, f"the table in {name}")
        table = concat_tables(parts) if parts else file.read(use_pandas_metadata=True)
    return table.to_pandas()


def estimate_parquet_memory(metadata: Any) -> int:
    """Memory in bytes that reading a whole file would take, by what it says about itself."""
    groups = [metadata.row_group(place) for place in range(metadata.num_row_groups)]
    columns = [group.column(place) for group in groups for place in range(metadata.num_columns)]
    cells = sum(column.num_values for column in columns)
    size = sum(column.total_uncompressed_size for column in columns)
    cells = max(cells, metadata.num_rows * metadata.num_columns)
    return int(BYTE_COST * size + CELL_COST * cells + COLUMN_COST * metadata.num_columns)


def _count_letters(column: Any) -> int:
    """Bytes of the texts of a column if each row had its own."""
    from pyarrow import DictionaryArray, compute

    chunks = [chunk for chunk in column.chunks if isinstance(chunk, DictionaryArray)]
    chunks = [chunk for chunk in chunks if str(chunk.type.value_type) in TEXT_TYPES]
    lengths = (compute.take(compute.binary_length(chunk.dictionary), chunk.indices) for chunk in chunks)
    return sum(compute.sum(length).as_py() or 0 for length in lengths)
