"""y, weights and offsets that stay with the rows of X: what may be asked of them, as of an array in memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..._types import AnyArray, Array, IntArray
from .block_rows import StoredRows
from .blocked_design import BlockedDesign
from .runner import Blocks

__all__ = ["RowValues", "collect_values", "fill_rows", "map_values", "multiply_rows", "reduce_values"]


class RowValues:
    """A vector, or a matrix of few columns, with an entry for each row of a design, which stays where the rows are.

    Parameters
    ----------
    design : BlockedDesign
        X, in blocks of rows.
    blocks : Blocks
        The entries of each block.
    outputs : tuple of int
        The shape of the entry of a row.
    dtype : dtype
        The type of the entries.
    """

    def __init__(self, design: BlockedDesign, blocks: Blocks, outputs: tuple[int, ...] = (), dtype: Any = float):
        self.design, self.blocks, self.dtype = design, blocks, np.dtype(dtype)
        self.shape = (design.shape[0], *outputs)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @cached_property
    def rows(self) -> StoredRows:
        """The entries as a row vector of the design."""
        return StoredRows(self.blocks)

    def collect(self) -> AnyArray:
        """The entries in this process's memory."""
        return self.design.collect_rows(self.rows)


def map_values(function: Callable[..., Any], *values: Any, outputs: tuple[int, ...] = (), dtype: Any = float) -> Any:
    """A function that looks at each row for itself, of arrays, or of values that stay with the rows and then do too.

    `outputs` and `dtype` are those of the entries that it gives.
    """
    design = _find_design(values)
    if design is None:
        return function(*values)
    first, *others = (_find_blocks(design, value) for value in values)
    return RowValues(design, first.apply(function, *others), outputs, dtype)


def reduce_values(function: Callable[..., Any], *values: Any, combine: Callable[..., Any] = np.add) -> Any:
    """What a function gives for some rows, combined over all rows: of arrays, or of values that stay with the rows."""
    design = _find_design(values)
    if design is None:
        return function(*values)
    return design.reduce_rows(function, *(StoredRows(_find_blocks(design, value)) for value in values), combine=combine)


def collect_values(values: Any) -> Any:
    """Values that stay with the rows, in this process's memory; others as they are."""
    return values.collect() if isinstance(values, RowValues) else values


def multiply_rows(design: BlockedDesign, columns: IntArray, w: Array) -> RowValues:
    """Some columns of X times coefficients."""
    return RowValues(design, design.multiply(columns, w), w.shape[1:])


def fill_rows(design: BlockedDesign, value: float) -> RowValues:
    """The same number for each row."""
    return RowValues(design, design.rows.frame.apply(partial(_fill, value)))


def _fill(value: float, frame: AnyArray) -> AnyArray:
    return np.full(len(frame), value)


def _find_design(values: tuple[Any, ...]) -> BlockedDesign | None:
    return next((value.design for value in values if isinstance(value, RowValues)), None)


def _find_blocks(design: BlockedDesign, value: Any) -> Blocks:
    if isinstance(value, RowValues):
        return value.blocks
    return design.rows.runner.hold(design.rows.split(value))
