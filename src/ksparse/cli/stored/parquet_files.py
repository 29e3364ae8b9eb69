"""Parquet files that are read where they are, but for columns that are no plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from ...designs.blocked.parquet_index import INDEX_NAME, find_index_columns
from ..errors import InputError, explain_read_errors, quote_path
from ..files.base import describe_header
from ..files.cells import convert_values, hide_missing
from ..files.options import ReadingOptions
from .table import NUMBER_SIZE, FindUnneeded, StoredTable
from .text_pieces import check_columns

__all__ = ["measure_largest_group", "open_parquet_table", "read_footer"]


def read_footer(path: str) -> tuple[Any, Any]:
    """The schema of a Parquet file, and what it says of its rows and columns."""
    try:
        from pyarrow import ArrowInvalid, parquet
    except ImportError as error:
        raise InputError("Parquet files need pyarrow; install it with: pip install pyarrow") from error
    with explain_read_errors(path):
        try:
            with parquet.ParquetFile(path) as file:
                return file.schema_arrow, file.metadata
        except (ArrowInvalid, OSError) as error:
            if isinstance(error, OSError) and error.errno:
                raise
            raise InputError(f"{quote_path(path)} is not a Parquet file or is damaged; check the path") from error


def measure_largest_group(paths: Sequence[str], width: int) -> int:
    """Memory of the rows that are stored together, with so many columns, where they are most."""
    from pyarrow import parquet

    largest = 0
    for path in paths:
        with parquet.ParquetFile(path) as file:
            groups = (file.metadata.row_group(place).num_rows for place in range(file.num_row_groups))
            largest = max(largest, *groups, 0)
    return NUMBER_SIZE * largest * width


def open_parquet_table(
    source: str, paths: Sequence[str], options: ReadingOptions, folder: Path, limit: float, find_unneeded: FindUnneeded
) -> StoredTable:
    """The rows of Parquet files with the same columns."""
    schemas, sizes = [], []
    for path in paths:
        schema, metadata = read_footer(path)
        schemas.append(schema)
        sizes.append(int(metadata.num_rows))
        check_columns(path, schema.names, paths[0], schemas[0].names)
    if not sum(sizes):
        raise InputError(f"{quote_path(source)} has columns but no rows; add rows of data")
    index = find_index_columns(schemas[0])
    names = [name for name in schemas[0].names if name not in index]
    if problems := describe_header(source, names):
        raise InputError(problems[0])
    hidden = {("index" if INDEX_NAME.fullmatch(name) else name): name for name in index}
    notes = () if not index else (f"The index of the data frame ({', '.join(map(repr, hidden))}) was left out",)
    keys = {name: name for name in names}
    table = StoredTable(source, keys, list(paths), sizes, folder, limit, hidden, options.na, notes)
    unneeded = set(find_unneeded(names))
    for name in [name for name in names if name not in unneeded]:
        if not all(_is_plain(schema.field(name).type) for schema in schemas):
            table.convert(name, paths, partial(_convert, na=options.na))
    return table


def _convert(cells: pd.Series, na: tuple[str, ...]) -> pd.Series:
    return hide_missing(convert_values(cells), na)


def _is_plain(kind: Any) -> bool:
    from pyarrow import types

    return any(check(kind) for check in (types.is_integer, types.is_floating, types.is_boolean))
