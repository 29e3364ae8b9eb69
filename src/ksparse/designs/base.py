"""The interface of a design: X, wherever it is stored.

A `Design` is the only way in which objectives touch X. Products are addressed by column index. Vectors with an entry
for each row (margins, slopes, weights) are *row vectors*, which only the design opens: a NumPy array for data in
memory, perhaps a list of blocks for data elsewhere. An objective works on a `ColumnBlock`: some columns of a design.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from .._types import AnyArray, Array, IntArray
from ..counters import Counters

__all__ = ["ColumnBlock", "CrossProducts", "Design", "Moments", "RowVector", "SelectedColumns"]

#: One entry (or one row of entries) for each row of X, stored as the design likes.
RowVector: TypeAlias = Any


class Moments(NamedTuple):
    """Weighted first and second moments of the columns of a design."""

    #: Σᵢ wᵢ x_ij / Σᵢ wᵢ.
    means: Array
    #: Σᵢ wᵢ x_ij².
    squares: Array


class CrossProducts(NamedTuple):
    """Weighted products between the columns of a block and other columns of the design."""

    #: X_Fᵀ diag(w) X_C.
    cross: Array
    #: X_Cᵀ w.
    sums: Array
    #: The diagonal of X_Cᵀ diag(w) X_C.
    squares: Array


class ColumnBlock(ABC):
    """Some columns of a design: what an objective on a support works on."""

    #: Number of columns.
    width: int

    @abstractmethod
    def matvec(self, w: Array) -> RowVector:
        """X_F w, for one vector or for the columns of a matrix."""

    @abstractmethod
    def rmatvec(self, rows: RowVector) -> Array:
        """X_Fᵀ r, for one row vector or several side by side."""

    @abstractmethod
    def gram(self, weights: RowVector) -> Array:
        """X_Fᵀ diag(weights) X_F."""

    @abstractmethod
    def cross(self, others: IntArray, weights: RowVector) -> CrossProducts:
        """Products with other columns of the same design."""

    @abstractmethod
    def squares(self, weights: RowVector) -> Array:
        """The diagonal of X_Fᵀ diag(weights) X_F."""

    @abstractmethod
    def collect(self) -> Array:
        """The columns as one dense array of shape (n, k) in this process's memory."""


class Design(ABC):
    """X, of shape (n, p), with products addressed by column index.

    The abstract methods are all that a new kind of storage has to give. `select` may be overridden by a design that
    keeps the columns it has gathered, and the methods on rows by one whose row vectors are not NumPy arrays.
    """

    #: Whether row vectors and columns may be collected in this process; otherwise sums over rows are all that may.
    is_local: ClassVar[bool] = True
    #: (n, p).
    shape: tuple[int, int]
    #: The names of the columns, if they have any.
    column_names: AnyArray | None = None
    #: What is subtracted from each column without being stored: the means of a centred design.
    shift: Array | None = None

    @property
    def is_double(self) -> bool:
        """Whether products are computed in double precision throughout."""
        return True

    @cached_property
    def counters(self) -> Counters:
        """Where passes over X, gathered columns and products are counted; its own, unless it was given others."""
        return Counters()

    @abstractmethod
    def matvec(self, columns: IntArray | None, w: Array) -> RowVector:
        """X[:, columns] @ w; all columns for None, most of whose entries of w may be zero."""

    @abstractmethod
    def rmatvec(self, rows: RowVector, columns: IntArray | None = None) -> Array:
        """X[:, columns]ᵀ r; all columns for None, to be counted as a pass (``self.counters.passes += 1``)."""

    @abstractmethod
    def gram(self, columns: IntArray, weights: RowVector) -> Array:
        """X_Fᵀ diag(weights) X_F."""

    @abstractmethod
    def cross(self, columns: IntArray, others: IntArray, weights: RowVector) -> CrossProducts:
        """X_Fᵀ diag(weights) X_C, with the sums and squares of the other columns C."""

    @abstractmethod
    def moments(self, weights: RowVector) -> Moments:
        """Weighted moments of all columns; a ValueError if X has NaN or infinite values."""

    @abstractmethod
    def center(self, weights: RowVector) -> Design:
        """X − 1·x̄ᵀ with the weighted means x̄, without storing it."""

    @abstractmethod
    def select_rows(self, index: IntArray) -> Design:
        """Some rows, for folds and subsamples."""

    def scale_columns(self, factors: Array) -> Design:
        """The columns times some factors."""
        raise NotImplementedError(f"{type(self).__name__} cannot scale columns; scale them before, or leave them")

    @abstractmethod
    def collect_columns(self, columns: IntArray) -> Array:
        """Some columns as one dense float64 array in this process's memory."""

    def select(self, columns: IntArray) -> ColumnBlock:
        """Some columns as a block; by default each product is addressed by index again."""
        return SelectedColumns(self, columns)

    def select_all(self) -> ColumnBlock:
        """All columns as a block."""
        return SelectedColumns(self, None)

    def with_own_cache(self) -> Design:
        """The same data for one search; what the search gathers is not seen by others. By default itself."""
        return self

    def check_finite(self, weights: RowVector) -> None:
        """Refuse NaN and infinite values by a ValueError, in the pass that gives the moments for these weights."""
        self.moments(weights)

    def normalize(self, weights: RowVector) -> tuple[Design, float]:
        """The design times a power of two, if its squares would overflow or underflow, and that power.

        By default the design itself, and 1.
        """
        return self, 1.0

    def anticipate(self, calls: Sequence[Callable[[], Any]]) -> None:  # noqa: B027 - a hint may be ignored
        """A hint that all of these products and sums will be asked for: they may be computed together now.

        By default nothing happens, and each is computed when it is asked for. What the calls return during this method
        is of the right shape, but has no meaning.
        """

    def know_products(self, weights: RowVector) -> None:  # noqa: B027 - most designs gain nothing
        """Compute the products of all columns with each other now, since the whole Gram matrix will be needed.

        By default nothing happens.
        """

    def can_anticipate(self, width: int) -> bool:
        """Whether it saves time to compute the Gram matrix of so many columns before it is known to be needed."""
        return False

    # --- row vectors --------------------------------------------------------------------------------------------

    def to_rows(self, values: AnyArray) -> RowVector:
        """A NumPy array with an entry for each row as a row vector."""
        return values

    def collect_rows(self, rows: RowVector) -> Array:
        """A row vector as one NumPy array."""
        array: Array = rows
        return array

    def map_rows(self, function: Callable[..., Array], *rows: RowVector) -> RowVector:
        """The row vector that a function gives, which looks at each row for itself."""
        return function(*rows)

    def reduce_rows(self, function: Callable[..., Any], *rows: RowVector, combine: Callable[..., Any] = np.add) -> Any:
        """What a function gives for some rows, combined over all rows (added up, by default)."""
        return function(*rows)


@dataclass(frozen=True)
class SelectedColumns(ColumnBlock):
    """Columns of a design, addressed by index in each product; nothing is gathered."""

    design: Design
    columns: IntArray | None

    @property
    def width(self) -> int:  # type: ignore[override]
        """Number of columns."""
        return self.design.shape[1] if self.columns is None else self.columns.size

    @property
    def _index(self) -> IntArray:
        return np.arange(self.width) if self.columns is None else self.columns

    def matvec(self, w: Array) -> RowVector:
        return self.design.matvec(self.columns, w)

    def rmatvec(self, rows: RowVector) -> Array:
        return self.design.rmatvec(rows, self.columns)

    def gram(self, weights: RowVector) -> Array:
        return self.design.gram(self._index, weights)

    def cross(self, others: IntArray, weights: RowVector) -> CrossProducts:
        return self.design.cross(self._index, others, weights)

    def squares(self, weights: RowVector) -> Array:
        if self.columns is None:
            return self.design.moments(weights).squares
        return self.gram(weights).diagonal()

    def collect(self) -> Array:
        return self.design.collect_columns(self._index)
