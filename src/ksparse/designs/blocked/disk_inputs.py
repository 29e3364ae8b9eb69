"""X on disk, read in blocks of rows within a limit of memory: `open_blocks`, and `as_design` of what others opened."""

from __future__ import annotations

import os
from abc import ABC
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from ..._types import AnyArray
from ...limits import describe_size, parse_size
from ...validation import check_positive_number
from ..conversion import as_design
from .block_requests import prepare_block
from .blocked_design import BlockedDesign
from .dask_inputs import DaskCollection, require_distinct_names
from .declared_chunks import DeclaredChunk, check_chunk
from .disk_paths import find_files, find_partition_names, name_damaged_file, open_array_file
from .machine_memory import find_machine_memory
from .parquet_index import find_index_columns
from .row_layout import RowLayout
from .runner import Blocks, LocalRunner

__all__ = ["DiskArray", "choose_memory_limit", "find_machine_memory", "open_blocks"]

#: A block takes no more than this fraction of the limit: one is computed with while the next is read, and both may be
#: converted.
BLOCK_FRACTION = 1 / 8
#: Larger blocks save nothing: reading them takes longer than what is done once for each block.
LARGEST_BLOCK = 2**26
#: The columns of supports take no more than this fraction of the limit.
GATHERED_FRACTION = 1 / 4
#: Row vectors that a fit has at a time: y, weights, an offset, and what is made of them.
ROW_VECTORS = 6


class DiskArray(ABC):  # noqa: B024 - its hook says what belongs to it
    """An array of Zarr or a data set of HDF5; known without importing either."""

    @classmethod
    def __subclasshook__(cls, kind: type) -> bool:
        return any(base.__module__.partition(".")[0] in ("zarr", "h5py") for base in kind.__mro__)


def open_blocks(source: Any, *, memory_limit: float | str | None = None, columns: Sequence[str] | None = None) -> Any:
    """X on disk for any estimator of linear models or graphs, read in blocks of rows.

    While a block is computed with, a thread reads the next one. The columns that supports use stay in memory, and so do
    vectors with an entry for each row.

    Parameters
    ----------
    source : ndarray, zarr.Array, h5py.Dataset, str, path or list of these
        An array on disk of shape (n, p), such as ``numpy.load(file, mmap_mode="r")``, or the path of one (``.npy``, or
        ``.h5`` and ``.zarr`` with one such array); or Parquet files: a folder, or a pattern such as
        ``"data/*.parquet"``, of which part.2 is before part.10, or a list, in the order of their rows.
    memory_limit : float or str, optional
        Bytes that the fit may take, such as ``"2GB"``; by default half of the memory of the machine.
    columns : sequence of str, optional
        The columns of Parquet files to take; by default all but the index of a data frame.

    Returns
    -------
    BlockedDesign
        What estimators take as X. For Parquet files, its ``column_names`` are the names of the features.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from ksparse import SparseLinearRegression, open_blocks
    >>> X = np.random.default_rng(0).standard_normal((1000, 5))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/X.npy", X)
    ...     on_disk = np.load(f"{folder}/X.npy", mmap_mode="r")
    ...     model = SparseLinearRegression(k=1).fit(open_blocks(on_disk, memory_limit="10MB"), X[:, 2])
    >>> model.get_support(indices=True)
    array([2])
    """
    limit = choose_memory_limit(memory_limit)
    path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else None
    array = source if path is None else open_array_file(path)
    is_list = isinstance(source, (list, tuple)) and all(isinstance(part, (str, os.PathLike)) for part in source)
    if (path is not None and array is None) or (is_list and source):
        files = find_files(source)
        if columns is None:
            _refuse_partitions(find_partition_names(files, path if path is not None and os.path.isdir(path) else None))
        return _open_parquet(files, limit, columns)
    if columns is not None:
        raise ValueError("columns is for Parquet files, whose columns have names; leave it out for arrays")
    return _open_array(array, limit)


def _open_array(source: Any, limit: float) -> BlockedDesign:
    _refuse_other_arrays(source)
    shape, dtype = tuple(getattr(source, "shape", ())), np.dtype(getattr(source, "dtype", object))
    if len(shape) != 2:
        raise ValueError(f"X has shape {shape}; expected (n, p). One feature is an array of shape (n, 1)")
    if dtype.kind not in "biuf":
        raise ValueError(f"X has the type {dtype}; expected numbers")
    row_bytes = shape[1] * max(dtype.itemsize, 4)
    step = _choose_rows(row_bytes, _count_chunk_rows(source), limit)
    edges = [*range(0, shape[0], step), shape[0]] if shape[0] else [0]
    readers = [
        partial(_read_rows, source, start, DeclaredChunk("X", i, (stop - start, shape[1])))
        for i, (start, stop) in enumerate(pairwise(edges))
    ]
    return _make_design(readers, np.diff(edges).tolist(), shape[1], row_bytes, limit)


@as_design.register(DiskArray)
def _(X: Any, name: str = "a design") -> BlockedDesign:  # noqa: ARG001 - one signature for all kinds
    design: BlockedDesign = open_blocks(X)
    return design


def _refuse_other_arrays(source: Any) -> None:
    """Refuse what is not on disk or no array at all, and files that are closed."""
    _require_open(source)
    kind = (
        "of Dask"
        if issubclass(type(source), DaskCollection)
        else "a sparse matrix"
        if sparse.issparse(source)
        else None
        if hasattr(source, "shape") and hasattr(source, "dtype")
        else f"of type {type(source).__name__}"
    )
    if kind is not None:
        raise TypeError(
            f"X is {kind}, which goes to fit and predict as it is; open_blocks is for arrays on disk, and "
            "for paths of them or of Parquet files"
        )


def _require_open(source: Any) -> None:
    if not getattr(getattr(source, "id", None), "valid", True):
        raise ValueError("the HDF5 file of X is closed; open it again, and close it after the fit")


def _read_rows(source: Any, start: int, declared: DeclaredChunk) -> Any:
    _require_open(source)
    return prepare_block(check_chunk(np.asarray(source[start : start + declared.shape[0]]), declared))


def _count_chunk_rows(source: Any) -> int:
    """Rows that are read together in any case."""
    chunks = getattr(source, "chunks", None)
    return int(chunks[0]) if isinstance(chunks, tuple) and chunks else 1


def _choose_rows(row_bytes: int, together: int, limit: float) -> int:
    """Rows of a block, a multiple of those that are stored together."""
    most = int(min(BLOCK_FRACTION * limit, LARGEST_BLOCK) / max(row_bytes, 1))
    if together * row_bytes > BLOCK_FRACTION * limit or most == 0:
        raise ValueError(
            f"X is stored in parts of {describe_size(max(together, 1) * row_bytes)}, and two of them are in memory at "
            f"a time with what is made of them: the memory limit of {describe_size(int(limit))} is too small; raise it "
            "or store X in smaller parts"
        )
    return max(most // together, 1) * together


def _make_design(
    readers: Sequence[Callable[[], Any]], sizes: Sequence[int], width: int, row_bytes: int, limit: float
) -> BlockedDesign:
    if not sizes:
        raise ValueError("X has no rows; pass at least one")
    n = sum(sizes)
    if 8 * ROW_VECTORS * n > limit / 2:
        raise ValueError(
            f"vectors with an entry for each of {n} rows take {describe_size(8 * ROW_VECTORS * n)}, but no more than "
            f"half of the memory limit of {describe_size(int(limit))} is for them; raise it, or use a cluster of Dask"
        )
    rows = RowLayout.of_blocks(LocalRunner(), Blocks(list(readers)), sizes, in_memory=False)
    return BlockedDesign(rows, width, n * row_bytes, most_gathered=GATHERED_FRACTION * limit)


# --- Parquet ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowGroups:
    """Row groups of one Parquet file, which are read together."""

    path: str
    groups: list[int]
    columns: list[str]
    dtype: Any
    #: Rows of the file, and of these groups, when it was opened.
    file_rows: int
    size: int

    def __call__(self) -> AnyArray:
        """The rows as one array."""
        from pyarrow import parquet

        with name_damaged_file(self.path), parquet.ParquetFile(self.path) as file:
            found = file.metadata.num_rows
            same = found == self.file_rows and max(self.groups) < file.num_row_groups
            table = file.read_row_groups(self.groups, columns=self.columns, use_threads=False) if same else None
        if table is None or table.num_rows != self.size:
            raise ValueError(
                f"{self.path!r} has changed: it has {found} rows, and had {self.file_rows} when open_blocks opened it; "
                "call open_blocks again"
            )
        values = np.empty((table.num_rows, len(self.columns)), dtype=self.dtype, order="F")
        for j, name in enumerate(self.columns):
            values[:, j] = table.column(name).to_numpy()
        return values


@dataclass
class ParquetRows:
    """The rows of some Parquet files."""

    columns: list[str]
    dtype: Any
    readers: list[RowGroups] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def add(self, path: str, row_bytes: int, limit: float) -> None:
        """Add the row groups of a file in blocks."""
        from pyarrow import parquet

        with name_damaged_file(path), parquet.ParquetFile(path) as file:
            counts = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
        most = _choose_rows(row_bytes, max(counts, default=1), limit)
        groups: list[int] = []
        for i, count in enumerate(counts):
            if groups and sum(counts[g] for g in groups) + count > most:
                self._close(path, groups, counts)
                groups = []
            groups.append(i)
        self._close(path, groups, counts)

    def _close(self, path: str, groups: list[int], counts: list[int]) -> None:
        if size := sum(counts[group] for group in groups):
            self.readers.append(RowGroups(path, groups, self.columns, self.dtype, sum(counts), size))
            self.sizes.append(size)


def _open_parquet(paths: Sequence[str], limit: float, columns: Sequence[str] | None) -> BlockedDesign:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(
            "Parquet files need pyarrow, which is not installed; install it with: pip install pyarrow"
        ) from error
    schemas = []
    for path in paths:
        with name_damaged_file(path):
            schemas.append(parquet.read_schema(path))
    schema = schemas[0]
    names = _choose_columns(schema, columns)
    for path, own in zip(paths, schemas, strict=True):
        _check_columns(path, own, names)
    single = all(str(schema.field(name).type) == "float" for name in names)
    dtype = np.dtype(np.float32 if single else np.float64)
    rows = ParquetRows(names, dtype)
    for path in paths:
        rows.add(path, len(names) * dtype.itemsize, limit)
    design = _make_design(rows.readers, rows.sizes, len(names), len(names) * dtype.itemsize, limit)
    design.column_names = np.array(names, dtype=object)
    return design


def _choose_columns(schema: Any, columns: Sequence[str] | None) -> list[str]:
    if isinstance(columns, str):
        raise TypeError(f"columns is the text {columns!r}; expected names in a list, such as [{columns!r}]")
    index = find_index_columns(schema)
    names = [name for name in schema.names if name not in index] if columns is None else list(columns)
    if not names:
        raise ValueError(
            "columns names no column; name at least one, or leave columns out for all"
            if columns is not None
            else "the Parquet files have no columns but an index"
        )
    require_distinct_names(names)
    return names


def _refuse_partitions(names: Sequence[str]) -> None:
    """Refuse files in folders such as town=Ulm: a column would be lost without a word."""
    if names:
        raise ValueError(
            f"the columns {list(names)} are in the names of folders ({names[0]}=...) and not in the files, so they "
            "would be lost; write the table without partitions, read it by dask.dataframe.read_parquet, or name the "
            "other columns by columns="
        )


def _check_columns(path: str, schema: Any, names: Sequence[str]) -> None:
    """Refuse a file that lacks a column, or has other values than numbers in it."""
    from pyarrow import types

    missing = [name for name in names if name not in schema.names]
    if missing:
        raise ValueError(f"{path!r} has no column {missing[0]!r}; all files must have the same columns")
    kinds = (types.is_integer, types.is_floating, types.is_boolean)
    bad = [name for name in names if not any(is_kind(schema.field(name).type) for is_kind in kinds)]
    if bad:
        raise ValueError(f"the columns {bad[:5]} of {path!r} are not numbers; encode them, or leave them out")


# --- memory -----------------------------------------------------------------------------------------------------------


def choose_memory_limit(limit: float | str | None) -> float:
    """A limit in bytes; half of the memory of the machine by default."""
    if limit is None:
        return find_machine_memory() / 2
    return float(parse_size(limit)) if isinstance(limit, str) else check_positive_number(limit, "memory_limit")
