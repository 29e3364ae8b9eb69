"""Features in a file of numbers, row after row, which is read in blocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..._types import Array

__all__ = ["FeatureFile"]

DTYPE: np.dtype[Any] = np.dtype(np.float64)


@dataclass(frozen=True)
class FeatureFile:
    """A matrix in a file, of which rows are read when they are asked for.

    It is what `open_blocks` and Dask take as an array. Unlike a memory map, what was read does not count as memory of
    this process.
    """

    path: str
    shape: tuple[int, int]
    dtype: Any = DTYPE
    ndim: int = 2

    @classmethod
    def write(cls, path: Path, width: int, blocks: Iterable[Array]) -> FeatureFile:
        """Write blocks of rows, which are made one after the other."""
        rows = 0
        with path.open("wb") as file:
            for block in blocks:
                file.write(np.ascontiguousarray(block, dtype=DTYPE).data)  # `tofile` hides that a disk is full
                rows += len(block)
        return cls(str(path), (rows, width))

    def __getitem__(self, index: Any) -> Array:
        """Some rows: a slice of them, and, as Dask asks for it, a slice of columns that is all of them."""
        rows, columns = index if isinstance(index, tuple) else (index, slice(None))
        start, stop, _ = rows.indices(self.shape[0])
        width = self.shape[1]
        values = np.fromfile(
            self.path, DTYPE, max(stop - start, 0) * width, offset=start * width * DTYPE.itemsize
        ).reshape(-1, width)
        return values[:, columns]
