"""Chunks of Dask collections as blocks of rows: which are computed with by one task, and which a task reads itself."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from .dask_runner import find_futures

__all__ = ["ChunkReader", "choose_block_count", "group_chunks", "make_readers"]

log = logging.getLogger(__name__)

#: So many blocks for each thread: fewer would leave threads idle at the end, more cost a task each.
BLOCKS_PER_THREAD = 4
#: The columns of supports in a block, which are gathered in one piece, take about this fraction of the memory of a
#: worker, if there are 32 of them.
CHUNK_FRACTION, CHUNK_ROW_BYTES = 1 / 16, 32 * 8
#: Larger objects that several chunks have in common, such as an array in this process, are not sent with each of them.
LARGEST_COMMON = 100_000


@dataclass(frozen=True)
class ChunkReader:
    """The tasks that make a chunk, done within another task: it may read many chunks one after the other."""

    tasks: dict[Any, Any]
    key: Any

    def __call__(self) -> Any:
        """The chunk."""
        import dask

        return dask.get(self.tasks, self.key)


def make_readers(parts: Sequence[Any], *, are_sent: bool) -> list[ChunkReader] | None:
    """What makes each chunk, if they have no work in common; None otherwise, or if they are on the workers already.

    Readers that are sent to workers must have no large data in common either.
    """
    from dask.optimization import cull

    if len(parts) == 1 or find_futures(parts[:1]):
        return None
    readers, uses = list[ChunkReader](), Counter[Any]()
    graphs: dict[int, tuple[Any, dict[Any, Any]]] = {}
    for part in parts:
        graph = part.__dask_graph__()  # of all parts, usually
        if id(graph) not in graphs:
            graphs[id(graph)] = graph, dict(graph)
        tasks, _ = cull(graphs[id(graph)][1], [part.key])
        readers.append(ChunkReader(tasks, part.key))
        uses.update(tasks.keys())
    common = {key: reader.tasks[key] for reader in readers for key in reader.tasks if uses[key] > 1}
    known = all(_is_datum(task) and (not are_sent or _is_small(task)) for task in common.values())
    return readers if known else None


def _is_datum(task: Any) -> bool:
    """Whether this is no task but data, such as an open array of Zarr."""
    try:
        from dask._task_spec import DataNode
    except ImportError:  # it is private: without it, chunks stay alone
        return False
    return isinstance(task, DataNode)


def _is_small(task: Any) -> bool:
    """Whether a datum costs little to send."""
    import cloudpickle

    value = task()
    if isinstance(value, np.ndarray):  # a memory map need not fit into memory
        return value.nbytes <= LARGEST_COMMON
    try:
        return len(cloudpickle.dumps(task)) <= LARGEST_COMMON
    except Exception:  # objects of any package, which raise what they like
        return False


def choose_block_count(n_rows: int, n_threads: int, memory_limit: float) -> int:
    """How many blocks are enough for so many threads, and small enough for the memory of a worker."""
    most_rows = CHUNK_FRACTION * memory_limit / CHUNK_ROW_BYTES
    return max(BLOCKS_PER_THREAD * n_threads, int(np.ceil(n_rows / most_rows)))


def group_chunks(sizes: Sequence[int], count: int) -> list[list[int]]:
    """The sizes of chunks in about so many blocks, of about as many rows each."""
    total = max(sum(sizes), 1)
    if len(sizes) <= count:
        return [[size] for size in sizes]
    groups: dict[int, list[int]] = {}
    for size, end in zip(sizes, accumulate(sizes), strict=True):
        groups.setdefault(int((end - 0.5 * size) * count / total), []).append(size)
    log.info("%d chunks of X are computed with in %d blocks", len(sizes), len(groups))
    return list(groups.values())
