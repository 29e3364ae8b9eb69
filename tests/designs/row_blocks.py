"""X as a list of row blocks, as an extension for data on disk or on other machines would write it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import numpy as np
from scipy import sparse

from ksparse._types import Array, IntArray
from ksparse.counters import Counters
from ksparse.designs import CrossProducts, Design, Moments


class Rows:
    """A row vector in blocks, which only the design opens: everything else that is asked of it fails."""

    def __init__(self, blocks: list[Array]) -> None:
        self._blocks = blocks

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"only the design may look into a row vector; {name} was asked for")

    def __array__(self, *_: Any, **__: Any) -> Array:
        raise AssertionError("a row vector was converted to an array")


class RowBlocks(Design):
    """X − 1·shiftᵀ for a list of row blocks X."""

    def __init__(self, blocks: list[Array], shift: Array | None = None, counters: Counters | None = None) -> None:
        self._X = blocks
        self._edges = np.cumsum([0, *(len(block) for block in blocks)])
        self.shape = (int(self._edges[-1]), blocks[0].shape[1])
        self.shift = shift
        self.counters = Counters() if counters is None else counters

    def _read(self, columns: IntArray | None) -> Iterator[Array]:
        """The centred columns, block by block."""
        part: Any = slice(None) if columns is None else columns
        for block in self._X:
            yield block[:, part] if self.shift is None else block[:, part] - self.shift[part]

    def _sum(self, function: Callable[..., Any], columns: IntArray | None, *rows: Rows) -> Any:
        parts = zip(self._read(columns), *(r._blocks for r in rows), strict=True)
        return sum(function(*part) for part in parts)

    # --- products -----------------------------------------------------------------------------------------------

    def matvec(self, columns: IntArray | None, w: Array) -> Rows:
        self.counters.passes += columns is None
        return Rows([block @ w for block in self._read(columns)])

    def rmatvec(self, rows: Rows, columns: IntArray | None = None) -> Array:
        self.counters.passes += columns is None
        return np.asarray(self._sum(lambda X, r: X.T @ r, columns, rows))

    def gram(self, columns: IntArray, weights: Rows) -> Array:
        self.counters.products += columns.size**2
        return np.asarray(self._sum(lambda X, s: (X.T * s) @ X, columns, weights))

    def cross(self, columns: IntArray, others: IntArray, weights: Rows) -> CrossProducts:
        self.counters.products += columns.size * others.size
        k, both = columns.size, np.append(columns, others)
        return CrossProducts(
            self._sum(lambda X, s: (X[:, :k].T * s) @ X[:, k:], both, weights),
            self._sum(lambda X, s: X.T @ s, others, weights),
            self._sum(lambda X, s: s @ np.square(X), others, weights),
        )

    def moments(self, weights: Rows) -> Moments:
        if not np.isfinite(self._sum(lambda X: X.sum(), None)):
            raise ValueError("X has NaN or infinite values; remove or impute them")
        means = self._sum(lambda X, s: s @ X, None, weights) / self.reduce_rows(np.sum, weights)
        return Moments(means, self._sum(lambda X, s: s @ np.square(X), None, weights))

    # --- the same data, otherwise -------------------------------------------------------------------------------

    def center(self, weights: Rows) -> RowBlocks:
        plain = RowBlocks(self._X)
        return RowBlocks(self._X, plain.moments(weights).means, self.counters)

    def select_rows(self, index: IntArray) -> RowBlocks:
        owners = np.searchsorted(self._edges, index, side="right") - 1
        runs = np.split(np.arange(index.size), np.flatnonzero(np.diff(owners)) + 1)
        blocks = [self._X[owners[run[0]]][index[run] - self._edges[owners[run[0]]]] for run in runs]
        return RowBlocks(blocks, self.shift, self.counters)

    def collect_columns(self, columns: IntArray) -> Array:
        return np.concatenate(list(self._read(columns)))

    # --- row vectors --------------------------------------------------------------------------------------------

    def to_rows(self, values: Array) -> Rows:
        return Rows(np.split(values, self._edges[1:-1]))

    def collect_rows(self, rows: Rows) -> Array:
        return np.concatenate(rows._blocks)

    def map_rows(self, function: Callable[..., Array], *rows: Rows) -> Rows:
        return Rows([function(*part) for part in zip(*(r._blocks for r in rows), strict=True)])

    def reduce_rows(self, function: Callable[..., Any], *rows: Rows, combine: Callable[..., Any] = np.add) -> Any:
        return reduce(combine, self.map_rows(function, *rows)._blocks)


#: Forms of the same data.
FORMS: dict[str, Any] = {
    "dense": np.asarray,
    "sparse": sparse.csc_array,
    "row blocks": lambda X: RowBlocks(np.split(X, [3, 20])),
}
