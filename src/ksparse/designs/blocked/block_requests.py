"""What a task computes of one block: sums of row vectors, and products of them with columns.

Everything here is sent to where the blocks are. A request refers to the stored blocks by their positions among the
arguments of the task.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite

from ..._types import AnyArray, Array, IntArray, Matrix
from ..base import ColumnBlock, CrossProducts
from ..centering import subtract_shift
from ..conversion import as_design
from ..dense import DenseBlock, DenseDesign
from ..memory import InMemoryDesign
from ..sparse import SparseBlock, SparseDesign
from .block_moments import BlockMoments
from .block_rows import compute_rows
from .second_moments import add_second_moments

__all__ = [
    "BlockRequest",
    "BlockSum",
    "BlockTask",
    "CollectedRows",
    "ColumnProducts",
    "Columns",
    "GatherColumns",
    "GatheredPart",
    "MomentsOfBlock",
    "MultiplyBlock",
    "RowSum",
    "TransposedProduct",
    "WeightedGram",
    "copy_rows",
    "open_block",
    "prepare_block",
    "require_finite",
    "scale_block",
]


@dataclass(frozen=True)
class GatheredPart:
    """Columns that were gathered together, and which of them are meant."""

    argument: int
    index: IntArray | None


@dataclass(frozen=True)
class Columns:
    """Columns of a block: gathered ones, or of the whole of X."""

    #: Where they were gathered; empty for columns of X.
    parts: tuple[GatheredPart, ...]
    #: How to arrange the columns of all parts; None if they are in order.
    order: IntArray | None
    #: What is subtracted from each.
    shift: Array | None
    #: X, unless they were gathered.
    whole: int = -1
    #: Which columns of X; None for all.
    index: IntArray | None = None

    def open(self, arguments: Sequence[Any], known: dict[Any, Any]) -> ColumnBlock:
        """The columns of one block."""
        if id(self) not in known:
            known[id(self)] = self._open(arguments, known)
        block: ColumnBlock = known[id(self)]
        return block

    def _open(self, arguments: Sequence[Any], known: dict[Any, Any]) -> ColumnBlock:
        if self.parts:
            values = [_pick(arguments[part.argument], part.index) for part in self.parts]
            return _assemble(values, self.order, self.shift)
        design = open_block(arguments[self.whole], self.shift)
        return design.select_all() if self.index is None else design.gather_block(self.index)


def _pick(values: Matrix, index: IntArray | None) -> Matrix:
    return values if index is None else values[:, index]


def _assemble(values: Sequence[Matrix], order: IntArray | None, shift: Array | None) -> ColumnBlock:
    """Gathered columns side by side: sparse ones stay so if all are."""
    if all(sparse.issparse(part) for part in values):
        together: Any = values[0] if len(values) == 1 else sparse.hstack(values, format="csc")
        together = _pick(together, order)
        return SparseBlock(together, shift, SparseDesign(together, shift))
    if any(sparse.issparse(part) for part in values):
        starts = np.cumsum([0, *(part.shape[1] for part in values)])
        places = np.arange(starts[-1]) if order is None else np.argsort(order)
        values = [
            subtract_shift(part.toarray(order="F"), None if shift is None else shift[places[a : a + part.shape[1]]])
            if sparse.issparse(part)
            else part
            for part, a in zip(values, starts, strict=False)
        ]
    dense: Array = np.asarray(values[0]) if len(values) == 1 else np.hstack([np.asarray(part) for part in values])
    dense = np.asarray(_pick(dense, order))
    return DenseBlock(dense, DenseDesign(dense), np.arange(dense.shape[1]))


def prepare_block(values: Any) -> Matrix:
    """A block as designs in memory have it: float64 or float32, dense or CSC."""
    if not sparse.issparse(values) and hasattr(values, "to_scipy_sparse"):  # of the package `sparse`
        values = values.to_scipy_sparse()
    design = as_design(values, "X")
    assert isinstance(design, InMemoryDesign)
    return design.matrix


def require_finite(matrix: Matrix) -> Matrix:
    """The block, or the error of arrays in memory if it has NaN or infinite values."""
    assert_all_finite(matrix, input_name="X")
    return matrix


def open_block(matrix: Matrix, shift: Array | None) -> InMemoryDesign:
    """A block as a design in memory."""
    return SparseDesign(matrix, shift) if sparse.issparse(matrix) else DenseDesign(matrix, shift)


@dataclass(frozen=True)
class GatherColumns:
    """Gathers columns of a block: dense and centred, or sparse and as they are where few entries are not zero."""

    columns: IntArray
    #: What is subtracted from each of them.
    shift: Array | None

    def __call__(self, matrix: Matrix) -> Matrix:
        shift = None
        if self.shift is not None:
            shift = np.zeros(matrix.shape[1])
            shift[self.columns] = self.shift
        block = open_block(matrix, shift).gather_block(self.columns)
        if isinstance(block, SparseBlock):
            return block.matrix
        assert isinstance(block, DenseBlock)
        return block.values


@dataclass(frozen=True)
class MultiplyBlock:
    """Xw of one block."""

    columns: Columns
    w: Array

    def __call__(self, *arguments: Any) -> Array:
        return np.asarray(self.columns.open(arguments, {}).matvec(self.w))


class BlockRequest(ABC):
    """Something that is computed of each block, and combined over blocks."""

    #: What those who watch the work see of a round trip, if this is the largest part of it.
    name: ClassVar[str] = "sum"

    @abstractmethod
    def compute(self, arguments: Sequence[Any], known: dict[Any, Any]) -> Any:
        """What it is for one block that has rows."""

    def combine(self, parts: Sequence[Any]) -> Any:
        """What it is for several blocks: the sum, by default."""
        return reduce(np.add, parts)


@dataclass(frozen=True)
class RowSum(BlockRequest):
    """A function of row vectors, combined over rows."""

    function: Callable[..., Any]
    rows: tuple[Any, ...]
    combination: Callable[..., Any] = np.add

    def compute(self, arguments: Sequence[Any], known: dict[Any, Any]) -> Any:
        return self.function(*(compute_rows(rows, arguments, known) for rows in self.rows))

    def combine(self, parts: Sequence[Any]) -> Any:
        return reduce(self.combination, parts)


@dataclass(frozen=True)
class CollectedRows(BlockRequest):
    """The entries of a row vector, in the order of the blocks."""

    name = "collect"

    rows: Any

    def compute(self, arguments: Sequence[Any], known: dict[Any, Any]) -> Any:
        return compute_rows(self.rows, arguments, known)

    def combine(self, parts: Sequence[Any]) -> Any:
        return np.concatenate(parts)


@dataclass(frozen=True)
class TransposedProduct(BlockRequest):
    """Xᵀr for some columns."""

    name = "gradient"

    columns: Columns
    rows: Any

    def compute(self, arguments: Sequence[Any], known: dict[Any, Any]) -> Any:
        return self.columns.open(arguments, known).rmatvec(compute_rows(self.rows, arguments, known))


@dataclass(frozen=True)
class WeightedGram(BlockRequest):
    """Xᵀ diag(weights) X of some columns."""

    name = "hessian"

    columns: Columns
    weights: Any

    def compute(self, arguments: Sequence[Any], known: dict[Any, Any]) -> Any:
        return self.columns.open(arguments, known).gram(compute_rows(self.weights, arguments, known))


@dataclass(frozen=True)
class ColumnProducts(BlockRequest):
    """Products of some columns with others."""

    name = "products"

    columns: Columns
    others: Columns
    weights: Any

    def compute(self, arguments: Sequence[Any], known: dict[Any, Any]) -> Any:
        weights = compute_rows(self.weights, arguments, known)
        block, others = (columns.open(arguments, known) for columns in (self.columns, self.others))
        return multiply_blocks(block, others, weights)

    def combine(self, parts: Sequence[Any]) -> Any:
        return CrossProducts(*(reduce(np.add, terms) for terms in zip(*parts, strict=True)))


def multiply_blocks(block: ColumnBlock, others: ColumnBlock, weights: Array) -> CrossProducts:
    """The products of two blocks of columns of the same rows."""
    if isinstance(block, SparseBlock) and isinstance(others, SparseBlock):
        cross = block.cross_sparse(others, weights)
    elif isinstance(block, SparseBlock):
        cross = block.rmatvec(others.collect() * weights[:, None])
    else:
        cross = others.rmatvec(block.collect() * weights[:, None]).T
    return CrossProducts(cross, others.rmatvec(weights), others.squares(weights))


@dataclass(frozen=True)
class MomentsOfBlock(BlockRequest):
    """The moments of all columns of X, and whether they are finite."""

    name = "moments"

    whole: int
    weights: Any

    def compute(self, arguments: Sequence[Any], known: dict[Any, Any]) -> Any:
        return BlockMoments.from_block(arguments[self.whole], compute_rows(self.weights, arguments, known))

    def combine(self, parts: Sequence[Any]) -> Any:
        return reduce(BlockMoments.add, parts)


@dataclass(frozen=True)
class BlockSum(BlockRequest):
    """The second moments of a block and of row vectors beside it."""

    name = "moments"

    function: Callable[..., Any]
    whole: int
    rows: tuple[Any, ...]

    def compute(self, arguments: Sequence[Any], known: dict[Any, Any]) -> Any:
        return self.function(arguments[self.whole], *(compute_rows(rows, arguments, known) for rows in self.rows))

    def combine(self, parts: Sequence[Any]) -> Any:
        return reduce(add_second_moments, parts)


@dataclass(frozen=True)
class BlockTask:
    """Some requests for one block; nothing for a block without rows."""

    requests: tuple[BlockRequest, ...]
    #: The position of an argument with an entry for each row.
    rows: int

    def __call__(self, *arguments: Any) -> list[Any] | None:
        if arguments[self.rows].shape[0] == 0:
            return None
        known: dict[Any, Any] = {}
        return [request.compute(arguments, known) for request in self.requests]

    @property
    def name(self) -> str:
        """The work in a word."""
        names = {request.name for request in self.requests}
        if len(names) > 1:
            names.discard("sum")
        return "refit" if len(names) > 1 else names.pop()

    def combine(self, parts: Sequence[list[Any] | None]) -> list[Any] | None:
        """What the requests give for several blocks."""
        there = [part for part in parts if part is not None]
        if not there:
            return None
        return [request.combine(terms) for request, terms in zip(self.requests, zip(*there, strict=True), strict=True)]


def copy_rows(matrix: AnyArray, rows: IntArray) -> AnyArray:
    """Some rows of a block or of a row vector; of CSC, as CSC."""
    part: Any = matrix[rows]
    return part.tocsc() if sparse.issparse(part) else part


def scale_block(factors: Array, matrix: Matrix) -> Matrix:
    """The columns of a block times some factors, in the block's precision."""
    factors = factors.astype(matrix.dtype)
    return (matrix @ sparse.diags_array(factors)).tocsc() if sparse.issparse(matrix) else matrix * factors
