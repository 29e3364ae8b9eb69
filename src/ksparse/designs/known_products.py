"""Dense columns all of whose products are known: supports look them up, and are gathered only for their margins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from .._types import Array, IntArray
from .base import ColumnBlock, CrossProducts

__all__ = ["KnownBlock", "KnownProducts"]


class KnownProducts(NamedTuple):
    """Products of all columns of a design with each other, for some row weights."""

    weights: Array
    #: Xᵀ diag(weights) X.
    gram: Array
    #: Xᵀ weights.
    sums: Array


class _GathersColumns(Protocol):
    def gather(self, columns: IntArray) -> ColumnBlock: ...


@dataclass(frozen=True)
class KnownBlock(ColumnBlock):
    """Some columns of a design whose products are known; they are gathered when a vector is multiplied by them."""

    design: _GathersColumns
    columns: IntArray
    products: KnownProducts

    @property
    def width(self) -> int:  # type: ignore[override]
        """Number of columns."""
        return self.columns.size

    @cached_property
    def _gathered(self) -> ColumnBlock:
        return self.design.gather(self.columns)

    def _knows(self, weights: Array) -> bool:
        return weights is self.products.weights

    def matvec(self, w: Array) -> Array:
        return np.asarray(self._gathered.matvec(w))

    def rmatvec(self, rows: Array) -> Array:
        return self._gathered.rmatvec(rows)

    def gram(self, weights: Array) -> Array:
        if not self._knows(weights):
            return self._gathered.gram(weights)
        return self.products.gram[self.columns[:, None], self.columns]

    def cross(self, others: IntArray, weights: Array) -> CrossProducts:
        if not self._knows(weights):
            return self._gathered.cross(others, weights)
        gram, sums = self.products.gram, self.products.sums
        return CrossProducts(gram[self.columns[:, None], others], sums[others], gram.diagonal()[others])

    def squares(self, weights: Array) -> Array:
        if not self._knows(weights):
            return self._gathered.squares(weights)
        return self.products.gram.diagonal()[self.columns]

    def collect(self) -> Array:
        return self._gathered.collect()
