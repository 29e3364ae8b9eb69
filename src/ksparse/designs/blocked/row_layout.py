"""How the rows of X lie in blocks, and those of a part of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from ..._types import AnyArray, Array, IntArray
from .block_requests import copy_rows
from .runner import Blocks, Runner

__all__ = ["RowLayout"]


@dataclass(frozen=True)
class RowLayout:
    """The rows of X as they lie in blocks.

    A block is what one task computes with. Where X is in many small chunks, or in chunks that are read one after the
    other, it is a list of several.
    """

    runner: Runner
    #: X as it is stored.
    X: Blocks
    #: Number of rows of each chunk of each block.
    chunks: tuple[tuple[int, ...], ...]
    #: An array with the rows of each block, and no columns.
    frame: Blocks
    #: Row vectors have the entries of these rows, one after the other; None if that is the order of the rows.
    order: IntArray | None = None
    #: Whether the blocks are in memory, so that reading them costs little.
    in_memory: bool = True
    #: Whether parts of X, for folds, may be kept in memory beside it.
    keeps_parts: bool = True

    @classmethod
    def of_blocks(
        cls,
        runner: Runner,
        X: Blocks,
        sizes: Sequence[int | Sequence[int]],
        in_memory: bool = True,
        keeps_parts: bool = True,
        frame: Blocks | None = None,
        beside: Blocks | None = None,
    ) -> RowLayout:
        """Rows in the order of their blocks, whose sizes are given, or those of their chunks.

        What belongs to the rows will be where the frame is, which is made `beside` some blocks.
        """
        chunks = tuple((size,) if isinstance(size, int) else tuple(size) for size in sizes)
        if frame is None:
            frame = runner.hold([np.empty((sum(rows), 0)) for rows in chunks], beside)
        return cls(runner, X, chunks, frame, None, in_memory, keeps_parts)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of rows of each block."""
        return tuple(map(sum, self.chunks))

    @property
    def count(self) -> int:
        """Number of rows."""
        return sum(self.sizes)

    def select(self, index: IntArray) -> RowLayout:
        """Some of the rows, which stay in their chunks."""
        edges = np.cumsum([0, *(size for block in self.chunks for size in block)])
        index = index if self.order is None else self.order[index]
        owners = np.searchsorted(edges, index, side="right") - 1
        order = np.argsort(owners, kind="stable")
        found = np.split(index[order], np.cumsum(np.bincount(owners, minlength=len(edges) - 1))[:-1])
        parts = self.group([part - edge for part, edge in zip(found, edges[:-1], strict=True)])
        keep = self.in_memory and self.keeps_parts
        held = self.runner.hold(parts if self.X.in_chunks else [part[0] for part in parts], self.frame)
        X = self.X.apply(copy_rows, held, keep=keep, in_chunks=self.X.in_chunks)
        sizes = [[rows.size for rows in part] for part in parts]
        rows = self.of_blocks(self.runner, X, sizes, self.in_memory, self.keeps_parts, beside=self.frame)
        return rows if (order == np.arange(index.size)).all() else replace(rows, order=order)

    def group(self, values: Sequence[Any]) -> list[list[Any]]:
        """Values of all chunks, those of a block together."""
        edges = [0, *accumulate(len(block) for block in self.chunks)]
        return [list(values[a:b]) for a, b in pairwise(edges)]

    def split(self, values: AnyArray) -> list[AnyArray]:
        """An array with an entry for each row, in the blocks."""
        values = values if self.order is None else values[self.order]
        return np.split(values, np.cumsum(self.sizes)[:-1])

    def arrange(self, values: Array) -> Array:
        """The entries of all blocks, in the order of the rows."""
        if self.order is None:
            return values
        arranged = np.empty_like(values)
        arranged[self.order] = values
        return arranged
