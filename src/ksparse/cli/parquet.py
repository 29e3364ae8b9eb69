"""Parquet files as data frames, if what they say about their size is acceptable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from ..limits import BYTE_COST, CELL_COST, COLUMN_COST
from .errors import InputError, check_memory, explain_read_errors, quote_path

#: Types of Arrow whose values are bytes.
TEXT_TYPES = {"string", "large_string", "binary", "large_binary"}


def read_parquet(path: Path, limit: int) -> pd.DataFrame:
    """All columns of a Parquet file, that of a named index too; `limit` is on the memory that they take."""
    name = quote_path(path)
    with explain_read_errors(path):
        path.open("rb").close()  # reports a file that cannot be opened better than pyarrow does
        try:
            frame = _read(path, limit)
        except ImportError as error:
            advice = 'install it with: pip install "ksparse[parquet]"'
            raise InputError(f"Parquet files need pyarrow; {advice}") from error
        except (InputError, MemoryError):
            raise
        except Exception as error:  # damaged files raise many kinds, without a common base
            raise InputError(f"{name} is not a Parquet file or is damaged; make or download it again") from error
    if any(level is not None for level in frame.index.names):
        frame = frame.reset_index()
    if not len(frame):
        raise InputError(f"{name} has columns but no rows; add rows of data")
    return frame


def _read(path: Path, limit: int) -> pd.DataFrame:
    from pyarrow import concat_tables, parquet

    with path.open("rb") as opened, parquet.ParquetFile(opened) as file:
        columns = [file.schema.column(place) for place in range(len(file.schema))]
        for group in range(file.num_row_groups):
            # What the description says of a column may end the process if it is damaged; reading a row raises instead.
            next(file.iter_batches(batch_size=1, row_groups=[group], use_threads=False), None)
        _check_description(file.metadata, path, limit)
    # Equal texts are read once: thousands of rows may refer to one text of a million letters.
    texts = [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]
    with path.open("rb") as opened, parquet.ParquetFile(opened, read_dictionary=texts) as file:
        parts, size = [], 0
        for group in range(file.num_row_groups):
            parts.append(file.read_row_group(group, use_pandas_metadata=True))
            size += parts[-1].nbytes + sum(_count_letters(column) for column in parts[-1].columns)
            check_memory(BYTE_COST * size, limit, f"the table in {quote_path(path)}")
        table = concat_tables(parts) if parts else file.read(use_pandas_metadata=True)
    return table.to_pandas()


def _check_description(metadata: Any, path: Path, limit: int) -> None:
    """Raise if the table would take too much memory, by what the file says about itself."""
    groups = [metadata.row_group(place) for place in range(metadata.num_row_groups)]
    columns = [group.column(place) for group in groups for place in range(metadata.num_columns)]
    cells = sum(column.num_values for column in columns)
    size = sum(column.total_uncompressed_size for column in columns)
    cells = max(cells, metadata.num_rows * metadata.num_columns)
    needed = BYTE_COST * size + CELL_COST * cells + COLUMN_COST * metadata.num_columns
    check_memory(needed, limit, f"the table in {quote_path(path)}")


def _count_letters(column: Any) -> int:
    """Bytes of the texts of a column if each row had its own."""
    from pyarrow import DictionaryArray, compute

    chunks = [chunk for chunk in column.chunks if isinstance(chunk, DictionaryArray)]
    chunks = [chunk for chunk in chunks if str(chunk.type.value_type) in TEXT_TYPES]
    lengths = (compute.take(compute.binary_length(chunk.dictionary), chunk.indices) for chunk in chunks)
    return sum(compute.sum(length).as_py() or 0 for length in lengths)
