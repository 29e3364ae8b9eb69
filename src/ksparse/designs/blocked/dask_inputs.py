"""`as_design` of arrays and data frames of Dask, and what of them is refused before any work."""

from __future__ import annotations

import warnings
from abc import ABC
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..._types import AnyArray
from ...counters import Counters
from ...limits import describe_size
from ..conversion import as_design
from .block_requests import prepare_block
from .blocked_design import BlockedDesign
from .dask_chunks import choose_block_count, group_chunks, make_readers
from .dask_runner import DaskRunner, find_futures, find_own_client
from .dask_waiting import SMALLER_CHUNKS, describe_smallest_limit
from .declared_chunks import check_array_chunks, check_chunk, declare_chunks
from .machine_memory import find_machine_memory
from .row_layout import RowLayout
from .runner import Blocks

__all__ = [
    "DaskCollection",
    "collect_if_dask",
    "count_rows",
    "find_column_names",
    "join_lists",
    "require_distinct_names",
]

#: X is kept in memory if it takes no more than this fraction of what the workers have.
KEPT_FRACTION = 0.5
#: Larger blocks, as a fraction of the memory of a worker, end its process: it also holds what is made of them.
LARGEST_BLOCK_FRACTION = 0.5
#: The training parts of five folds, with X itself.
PARTS_OF_X = 5


class DaskCollection(ABC):  # noqa: B024 - its hook says what belongs to it
    """Any array, data frame or series of Dask; known without importing Dask."""

    @classmethod
    def __subclasshook__(cls, kind: type) -> bool:
        return any(base.__module__.partition(".")[0] == "dask" for base in kind.__mro__) and hasattr(
            kind, "__dask_graph__"
        )


def collect_if_dask(values: Any) -> Any:
    """A vector of Dask as an array in memory; anything else as it is."""
    if not issubclass(type(values), DaskCollection):
        return values
    collection: Any = values
    client = find_own_client([collection])
    return np.asarray(collection.compute() if client is None else client.compute(collection).result())


def find_column_names(X: Any) -> AnyArray | None:
    """The names of the columns of a data frame, if they are text."""
    columns = getattr(X, "column_names", getattr(X, "columns", None))
    if columns is None:
        return None
    names = np.asarray(columns, dtype=object)
    return names if all(isinstance(name, str) for name in names) else None


def require_distinct_names(names: Sequence[Any]) -> None:
    """Refuse columns with the same name, of which none could be told from the others."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"X has several columns with the name {twice[0]!r}; give each its own, or take it once")


@as_design.register(DaskCollection)
def _(X: Any, name: str = "a design") -> BlockedDesign:
    if hasattr(X, "to_dask_array"):
        return _open_frame(X, name)
    array = X
    if array.ndim != 2:
        raise ValueError(f"X has shape {array.shape}; expected (n, p). One feature is X.reshape(-1, 1)")
    if array.dtype.kind not in "biuf":
        raise ValueError(f"X has the type {array.dtype}; {name} needs numbers: encode or drop the other columns")
    n, p = array.shape
    if np.isnan(p):
        raise ValueError("the number of columns of X is not known; call X.compute_chunk_sizes() before")
    if np.isnan(n):
        raise ValueError("the sizes of the chunks of X are not known; call X.compute_chunk_sizes() before")
    if array.shape[0] == 0:
        raise ValueError("X has no rows; pass at least one")
    if array.numblocks[1] > 1:
        array = _join_column_chunks(check_array_chunks(array, "X"))
    sizes = [int(size) for size in array.chunks[0]]
    # What is on the workers already would be lost from a graph that is optimized.
    parts = array.to_delayed(optimize_graph=not find_futures([array])).ravel().tolist()
    return _make_design(parts, prepare_block, sizes, int(p), array.dtype, Counters())


def _make_design(
    parts: list[Any], prepare: Callable[[Any], Any], sizes: list[int], p: int, dtype: Any, counters: Counters
) -> BlockedDesign:
    nbytes = sum(sizes) * p * max(dtype.itemsize, 4)
    runner = DaskRunner(counters, find_own_client(parts[:1]))
    limits = runner.memory_limits
    _check_block_size(nbytes * max(sizes) / sum(sizes), limits)
    memory = sum(limits) if all(limits) else np.inf  # no limit is 0
    room = KEPT_FRACTION * (memory if limits else find_machine_memory())
    fits = nbytes <= room
    count = choose_block_count(sum(sizes), runner.n_threads, min(limits) if memory < np.inf and limits else np.inf)
    chunks, groups = _arrange_chunks(parts, sizes, count, fits, 2 * nbytes <= room, runner.client is not None)
    source = Blocks(chunks, in_chunks=True).apply(
        check_chunk, declare_chunks("X", groups, (p,)), keep=False, in_chunks=True
    )
    # What is on the workers already decides where the rest will be.
    frame = source.apply(_drop_columns) if find_futures(parts[:1]) else None
    X = source.apply(prepare, keep=fits, in_chunks=True)
    rows = RowLayout.of_blocks(runner, X, groups, fits, PARTS_OF_X * nbytes <= room, frame)
    # What models of many columns would need besides X is read again each time.
    return BlockedDesign(rows, p, nbytes, counters=counters, most_gathered=np.inf if fits else room)


def _arrange_chunks(
    parts: list[Any], sizes: list[int], count: int, fits: bool, may_move: bool, are_sent: bool
) -> tuple[list[list[Any]], list[list[int]]]:
    """The chunks of each block, and their sizes.

    What a task reads by itself can be as long as it likes; chunks that others make must be in memory together.
    """
    readers = make_readers(parts, are_sent=are_sent) if len(sizes) > count or not fits else None
    is_there = bool(find_futures(parts[:1]))
    merges = readers is not None or (may_move if is_there else fits)
    groups = group_chunks(sizes, count) if merges else [[size] for size in sizes]
    chunks = iter(parts if readers is None else readers)
    return [[next(chunks) for _ in group] for group in groups], groups


def _drop_columns(chunk: Any) -> AnyArray:
    return np.empty((chunk.shape[0], 0))


def _open_frame(X: Any, name: str) -> BlockedDesign:
    """A data frame, which is read once for the sizes of its partitions."""
    if X.ndim != 2:
        raise ValueError("X is a series of Dask; expected (n, p). One feature is X.to_frame()")
    require_distinct_names(list(X.columns))
    bad = [column for column, dtype in X.dtypes.items() if not _is_number(dtype)]
    if bad:
        raise ValueError(f"the columns {bad[:5]} of X are not numbers; {name} needs numbers: encode or drop them")
    dtype = np.dtype(np.float32 if all(dtype == np.float32 for dtype in X.dtypes) else np.float64)
    counters, parts = Counters(), X.to_delayed()
    sizes = DaskRunner(counters, find_own_client(parts[:1])).reduce(count_rows, [Blocks(parts)], join_lists)
    if sum(sizes) == 0:
        raise ValueError("X has no rows; pass at least one")
    return _make_design(parts, partial(_convert_frame, dtype), sizes, X.shape[1], dtype, counters)


def count_rows(frame: Any) -> list[int]:
    """The number of rows of a partition."""
    return [len(frame)]


def join_lists(parts: Sequence[list[int]]) -> list[int]:
    """What is known of several partitions."""
    return [size for part in parts for size in part]


def _convert_frame(dtype: Any, frame: Any) -> AnyArray:
    values: AnyArray = frame.to_numpy(dtype=dtype)
    return values


def _is_number(dtype: Any) -> bool:
    return getattr(dtype, "kind", "O") in "biuf"


def _join_column_chunks(array: Any) -> Any:
    warnings.warn(
        f"X is in {array.numblocks[1]} chunks along its columns, but a block must have whole rows: X is rechunked, "
        f"which moves up to {array.nbytes / 1e9:.2g} GB between workers; X.rechunk({{1: -1}}) does it once",
        UserWarning,
        stacklevel=2,
    )
    return array.rechunk({1: -1})


def _check_block_size(nbytes: float, limits: Sequence[int]) -> None:
    """Refuse blocks that no worker can hold, before they are read."""
    if limits and 0 < LARGEST_BLOCK_FRACTION * min(limits) < nbytes:
        raise ValueError(
            f"a block of X takes {describe_size(int(nbytes), base=1000)}, too much for workers with a memory limit of "
            f"{describe_smallest_limit(limits)}; {SMALLER_CHUNKS}"
        )
