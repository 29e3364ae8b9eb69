"""What was declared of the chunks of X, y and weights, and compared with them when they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from .runner import Blocks

__all__ = ["DeclaredChunk", "check_array_chunks", "check_chunk", "declare_chunks"]


@dataclass(frozen=True)
class DeclaredChunk:
    """The shape that a chunk should have."""

    name: str
    number: int
    shape: tuple[int, ...]


def declare_chunks(name: str, groups: Sequence[Sequence[int]], outputs: tuple[int, ...]) -> Blocks:
    """The shapes of the chunks of each block, of which the numbers of rows are given."""
    numbers = count()
    values = [[DeclaredChunk(name, next(numbers), (int(size), *outputs)) for size in group] for group in groups]
    return Blocks(values, in_chunks=True)


def check_chunk(chunk: Any, declared: DeclaredChunk) -> Any:
    """The chunk, or a ValueError if it has another shape: its rows would be taken for those of other samples."""
    found = tuple(chunk.shape) if hasattr(chunk, "shape") else np.shape(chunk)
    if found != declared.shape:
        raise ValueError(
            f"block {declared.number} of {declared.name} has the shape {found}, but {declared.shape} was declared; "
            f"where the function of map_blocks or a filter changes the rows, call {declared.name}.compute_chunk_sizes()"
        )
    return chunk


def check_array_chunks(array: Any, name: str) -> Any:
    """An array of Dask whose chunks are compared with their declared shapes, before they are cut into others."""
    return array.map_blocks(_check_array_chunk, called=name, dtype=array.dtype, meta=array._meta)


def _check_array_chunk(chunk: Any, called: str, block_info: Any = None) -> Any:
    if not block_info:  # Dask looks at what this gives for an empty array
        return chunk
    place = block_info[0]
    location = place["chunk-location"]
    number = int(np.ravel_multi_index(location, place["num-chunks"]))
    shape = tuple(int(stop - start) for start, stop in place["array-location"])
    return check_chunk(chunk, DeclaredChunk(called, number, shape))
