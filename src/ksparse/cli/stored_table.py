"""Parquet files that ``ksparse fit`` reads in blocks: which ones, and their features and target."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..designs.blocked.disk_inputs import choose_memory_limit, find_machine_memory, open_blocks
from ..limits import describe_size
from .data import find_names
from .errors import InputError, escape_control, explain_read_errors, quote, quote_list, quote_path
from .reading import PARQUET
from .settings import Settings
from .target import Target

__all__ = ["StoredTable", "describe_reading", "find_stored_table", "open_features"]

NEEDS_DASK = '--scheduler needs Dask; install it with: pip install "dask[array,dataframe]" distributed'
#: Larger data are read in blocks without being asked to: this fraction of the memory of the machine.
MEMORY_FRACTION = 0.5
#: Parquet is rarely smaller than this fraction of the numbers in it; smaller files need not be opened to know.
LEAST_SIZE = 0.02


@dataclass(frozen=True)
class StoredTable:
    """Parquet files with the same columns."""

    source: str
    paths: tuple[str, ...]
    names: tuple[str, ...]
    rows: int
    #: Why they are read in blocks, in words.
    reason: str

    @property
    def nbytes(self) -> int:
        """Memory that the table takes as numbers."""
        return 8 * self.rows * len(self.names)

    def read_target(self, column: str) -> Target:
        """The column to predict, which must be there in all rows."""
        with explain_read_errors(self.source):
            cells = pd.concat([pd.read_parquet(path, columns=[column]) for path in self.paths], ignore_index=True)
        target = Target.of_column(column, cells[column])
        if missing := int((~target.known).sum()):
            raise InputError(
                f"the target {quote(column)} is missing in {missing} of {self.rows} rows; leave them out of files that "
                "are read in blocks"
            )
        return target


def find_stored_table(settings: Settings) -> StoredTable | None:
    """The files to read in blocks: if that was asked for, if they are several, or larger than half of the memory."""
    asked = settings.out_of_core or settings.scheduler is not None
    pattern = any(sign in settings.data for sign in "*?[") and not os.path.exists(settings.data)
    if not settings.data.lower().endswith(PARQUET):
        if asked or pattern:
            raise InputError(f"{quote_path(settings.data)} is not Parquet (.parquet), which alone is read in blocks")
        return None
    paths = sorted(glob.glob(settings.data)) if pattern else [settings.data]
    if not paths:
        raise InputError(f"no file matches {quote_path(settings.data)}; check the pattern")
    memory = find_machine_memory()
    if not (asked or pattern) and _find_size(settings.data) < LEAST_SIZE * MEMORY_FRACTION * memory:
        return None
    names, rows = _read_footers(paths)
    table = StoredTable(settings.data, tuple(paths), names, rows, "")
    if asked:
        return StoredTable(settings.data, tuple(paths), names, rows, "as you asked")
    if table.nbytes > MEMORY_FRACTION * memory:
        sizes = f"{describe_size(table.nbytes)}, more than half of the {describe_size(int(memory))} of memory"
        reason = f"since they take {sizes}"
        return StoredTable(settings.data, tuple(paths), names, rows, reason)
    return StoredTable(settings.data, tuple(paths), names, rows, "since they are several files") if pattern else None


def _find_size(path: str) -> int:
    """Bytes of a file; 0 if there is none."""
    return os.path.getsize(path) if os.path.isfile(path) else 0


def _read_footers(paths: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """The columns of the first file, and the rows of all."""
    try:
        from pyarrow import ArrowInvalid, parquet
    except ImportError as error:
        raise InputError("Parquet files need pyarrow; install it with: pip install pyarrow") from error
    rows, names = 0, tuple[str, ...]()
    for path in paths:
        with explain_read_errors(path):
            try:
                metadata = parquet.read_metadata(path)
                names = names or tuple(parquet.read_schema(path).names)
            except ArrowInvalid as error:
                raise InputError(f"{quote_path(path)} is not a Parquet file or is damaged; check the path") from error
        rows += metadata.num_rows
    return names, rows


def open_features(table: StoredTable, settings: Settings, target: str) -> Any:
    """The other columns, in blocks of this process or on the workers of a cluster."""
    dropped = find_names(settings.drop, table.names, "--drop", table.source)
    features = [name for name in table.names if name != target and name not in dropped]
    if not features:
        raise InputError(f"{quote_path(table.source)} has no columns besides the target; there is nothing to fit")
    _check_numbers(table, features)
    if settings.scheduler is None:
        with _explain(table):
            return open_blocks(list(table.paths), columns=features, memory_limit=settings.max_memory)
    try:
        import dask.dataframe as dd
    except ImportError as error:
        raise InputError(NEEDS_DASK) from error
    with _explain(table):
        return dd.read_parquet(list(table.paths), columns=features)


def describe_reading(table: StoredTable, settings: Settings) -> str:
    """That the files are read in blocks, and why."""
    files = "1 file is" if len(table.paths) == 1 else f"{len(table.paths)} files are"
    if settings.scheduler is not None:
        return f"{files} read by the workers of {escape_control(settings.scheduler)}, {table.reason}"
    limit = choose_memory_limit(settings.max_memory)
    return f"{files} read in blocks, within {describe_size(int(limit))} of memory, {table.reason}"


def _check_numbers(table: StoredTable, features: Sequence[str]) -> None:
    from pyarrow import parquet, types

    schema = parquet.read_schema(table.paths[0])
    kinds = (types.is_integer, types.is_floating, types.is_boolean)
    bad = [name for name in features if not any(is_kind(schema.field(name).type) for is_kind in kinds)]
    if bad:
        raise InputError(
            f"columns that are not numbers cannot be read in blocks: {quote_list(bad)}; leave them out by --drop"
        )


@contextmanager
def _explain(table: StoredTable) -> Iterator[None]:
    try:
        yield
    except (ValueError, OSError) as error:
        raise InputError(f"cannot read {quote_path(table.source)}: {escape_control(error)}") from error
