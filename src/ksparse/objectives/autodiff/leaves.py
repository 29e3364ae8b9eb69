"""How the parameters of a function, one array or several, lie in the flat vector that solvers see."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..._types import IntArray, Mask

__all__ = ["Layout", "Leaf", "Window", "fill_columns"]


@dataclass(frozen=True)
class Leaf:
    """One array of parameters: where it is in the flat vector, and whether k limits its entries."""

    name: str
    shape: tuple[int, ...]
    offset: int = 0
    sparse: bool = True
    #: The axis along which columns are counted.
    axis: int = 0

    @property
    def size(self) -> int:
        """Number of entries."""
        return math.prod(self.shape)

    @property
    def place(self) -> slice:
        """Where its entries are in the flat vector."""
        return slice(self.offset, self.offset + self.size)

    def with_columns(self, count: int) -> Leaf:
        """The same leaf with this many columns."""
        return replace(self, shape=(*self.shape[: self.axis], count, *self.shape[self.axis + 1 :]))


@dataclass(frozen=True)
class Window:
    """Some columns of the flat vector with all free entries, which a function of columns takes; and a support in it."""

    #: The columns; None for all.
    columns: IntArray | None
    #: Which entries of the flat vector these are.
    entries: IntArray | slice
    #: Where among them the coordinates of the support are.
    positions: IntArray | slice
    #: The coordinates of the support in the flat vector.
    coordinates: IntArray | slice


@dataclass(frozen=True)
class Layout:
    """Leaves in the order of the user's parameters; in the flat vector, those with sparse entries come first."""

    leaves: tuple[Leaf, ...]
    #: Whether k counts columns, the slices along the axis, rather than entries.
    counts_columns: bool = False

    @classmethod
    def from_shapes(cls, shapes: Mapping[str, tuple[int, ...]], sparse: Any) -> Layout:
        """The layout of named arrays, of which `sparse` names those with sparse entries, or maps them to an axis."""
        chosen = _read_sparse(sparse, shapes)
        counts_columns = isinstance(sparse, Mapping)
        leaves = [Leaf(name, shape, 0, name in chosen, chosen.get(name, 0)) for name, shape in shapes.items()]
        if counts_columns:
            counts = {leaf.name: leaf.shape[leaf.axis] for leaf in leaves if leaf.sparse}
            if len(set(counts.values())) > 1:
                raise ValueError(
                    f"the arrays of sparse have different numbers of slices along their axes: {counts}; slices with "
                    "the same index are one unit, so there must be as many in each"
                )
        return cls(_place(leaves), counts_columns)

    @property
    def size(self) -> int:
        """Number of entries."""
        return sum(leaf.size for leaf in self.leaves)

    @cached_property
    def free(self) -> Mask:
        """The entries that k does not limit."""
        free = np.zeros(self.size, dtype=bool)
        for leaf in self.leaves:
            free[leaf.place] = not leaf.sparse
        return free

    @cached_property
    def column_of(self) -> IntArray:
        """Column of each entry; -1 for free ones."""
        columns = np.full(self.size, -1)
        for leaf in self.leaves:
            if leaf.sparse and leaf.shape:
                along = np.arange(leaf.shape[leaf.axis]).reshape([-1] + [1] * (len(leaf.shape) - leaf.axis - 1))
                columns[leaf.place] = np.broadcast_to(along, leaf.shape).ravel()
        return columns

    @property
    def n_columns(self) -> int:
        """Number of columns, which all sparse leaves have in common."""
        return next(leaf.shape[leaf.axis] for leaf in self.leaves if leaf.sparse)

    def check_columns(self) -> None:
        """Columns can be gathered only where all sparse leaves have the same ones."""
        counts = {leaf.name: leaf.shape[leaf.axis] if leaf.shape else None for leaf in self.leaves if leaf.sparse}
        if len(set(counts.values())) > 1 or None in counts.values():
            raise ValueError(
                f"columns=True gathers the same columns of all sparse arrays, but their numbers differ: {counts}; "
                "leave columns out"
            )

    def split(self, flat: Any) -> Iterator[Any]:
        """The arrays of the leaves in a flat vector of any package."""
        for leaf in self.leaves:
            yield flat[leaf.place].reshape(leaf.shape)

    def with_columns(self, count: int | None) -> Layout:
        """The layout of some columns; None for all."""
        if count is None:
            return self
        return replace(self, leaves=_place([leaf.with_columns(count) if leaf.sparse else leaf for leaf in self.leaves]))

    def find_columns(self, coordinates: IntArray) -> IntArray:
        """The columns in which some coordinates are."""
        columns = np.unique(self.column_of[coordinates])
        return columns[columns >= 0]

    def make_window(self, columns: IntArray, coordinates: IntArray) -> Window:
        """The entries of some columns and all free ones, and the places of some coordinates among them."""
        part = self.with_columns(columns.size)
        entries = np.empty(part.size, dtype=np.intp)
        for leaf, inner in zip(self.leaves, part.leaves, strict=True):
            numbers = self._numbers[leaf.place].reshape(leaf.shape)
            entries[inner.place] = (np.take(numbers, columns, leaf.axis) if leaf.sparse else numbers).ravel()
        order = np.argsort(entries)
        return Window(columns, entries, order[np.searchsorted(entries[order], coordinates)], coordinates)

    @cached_property
    def _numbers(self) -> IntArray:
        return np.arange(self.size)


def fill_columns(columns: IntArray, count: int) -> IntArray:
    """The columns with others, so that there are `count` of them; in increasing order."""
    others = np.setdiff1d(np.arange(count), columns)[: count - columns.size]
    return np.sort(np.concatenate([columns, others]))


def _place(leaves: list[Leaf]) -> tuple[Leaf, ...]:
    """The leaves with their offsets, the sparse ones first."""
    placed, offset = list(leaves), 0
    for i in sorted(range(len(leaves)), key=lambda i: not leaves[i].sparse):
        placed[i] = replace(leaves[i], offset=offset)
        offset += leaves[i].size
    return tuple(placed)


def _read_sparse(sparse: Any, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
    """The names of the sparse arrays with their axes."""
    if sparse is None:
        sparse = list(shapes)
    if isinstance(sparse, str):
        sparse = [sparse]
    if not isinstance(sparse, (Mapping, Sequence)) or not all(isinstance(name, str) for name in sparse):
        raise TypeError(
            "sparse must be names of parameters, as text, or a dict of names and axes; "
            f"the parameters are {', '.join(map(repr, shapes))}; got {sparse!r}"
        )
    unknown = [name for name in sparse if name not in shapes]
    if unknown or not sparse:
        raise ValueError(f"sparse names {unknown or 'nothing'}; the parameters are {', '.join(map(repr, shapes))}")
    axes = dict(sparse) if isinstance(sparse, Mapping) else dict.fromkeys(sparse, 0)
    for name, axis in axes.items():
        dimension = len(shapes[name])
        if isinstance(sparse, Mapping) and (
            not isinstance(axis, (int, np.integer)) or not -dimension <= axis < dimension
        ):
            raise ValueError(f"sparse gives the axis {axis!r} of {name!r}, which has the shape {shapes[name]}")
        axes[name] = int(axis) % dimension if dimension else 0
    return axes
