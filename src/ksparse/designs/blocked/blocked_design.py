"""X in blocks of rows, wherever they are: all that leaves them are sums over rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from itertools import count
from typing import Any

import numpy as np

from ..._types import Array, IntArray, Matrix
from ...counters import Counters
from ..base import ColumnBlock, CrossProducts, Design, Moments, RowVector
from .block_moments import BlockMoments, measure_memory
from .block_requests import (
    BlockRequest,
    BlockSum,
    BlockTask,
    CollectedRows,
    ColumnProducts,
    Columns,
    MomentsOfBlock,
    MultiplyBlock,
    RowSum,
    TransposedProduct,
    WeightedGram,
    prepare_block,
    require_finite,
    scale_block,
)
from .block_rows import BlockRows, MappedRows, ProductRows, SlotNumbers, SourceRows, StoredRows
from .gathered_columns import ColumnParts, GatheredColumns
from .row_layout import RowLayout
from .runner import Blocks, Runner
from .second_moments import SecondMoments, sum_second_moments

__all__ = ["BlockedDesign"]

#: The Hessian of a support is computed ahead, in the round trip that evaluates f, if it takes no more multiplications.
MAX_AHEAD = 50_000_000

_block_numbers = count()


class BlockedDesign(Design):
    """X − 1·shiftᵀ in blocks of rows.

    Margins, slopes and weights stay with the blocks, and so do the columns that supports have used. What a method
    returns took one round trip, unless it was computed ahead.

    Parameters
    ----------
    rows : RowLayout
        The rows.
    width : int
        Number of columns.
    nbytes : int
        Memory that X takes.
    shift : ndarray, optional
        What is subtracted from each column.
    moments : dict, optional
        Moments that are known, by the key of their weights.
    counters : Counters, optional
        Where work is counted.
    most_gathered : float
        Bytes that the columns of supports may take.
    """

    is_local = False

    def __init__(
        self,
        rows: RowLayout,
        width: int,
        nbytes: int,
        shift: Array | None = None,
        moments: dict[Hashable, BlockMoments] | None = None,
        counters: Counters | None = None,
        most_gathered: float = np.inf,
    ) -> None:
        self.rows, self.shift, self._nbytes, self._most_gathered = rows, shift, nbytes, most_gathered
        self.shape = (rows.count, width)
        self.counters = Counters() if counters is None else counters
        self._moments: dict[Hashable, BlockMoments] = {} if moments is None else moments
        self._gathered = GatheredColumns(rows.X, rows.count, nbytes, shift, most_gathered)
        self._recorded: list[tuple[Hashable, SourceRows, Callable[[SlotNumbers], BlockRequest]]] | None = None

    @classmethod
    def of_blocks(cls, runner: Runner, blocks: Sequence[Matrix]) -> BlockedDesign:
        """A design of blocks in this process's memory."""
        matrices = [prepare_block(block) for block in blocks]
        rows = RowLayout.of_blocks(runner, runner.hold(matrices), [matrix.shape[0] for matrix in matrices])
        return cls(rows, matrices[0].shape[1], sum(map(measure_memory, matrices)))

    def __reduce__(self) -> Any:
        raise TypeError("a design in blocks stays where it is; pass what a function needs as its arguments")

    # --- round trips ----------------------------------------------------------------------------------------------

    def _ask(
        self, key: Hashable, latest: SourceRows, make: Callable[[SlotNumbers], BlockRequest], placeholder: Any = 0.0
    ) -> Any:
        """The answer to a request, which may have been computed ahead."""
        if self._recorded is not None:
            if key not in latest.answers:
                self._recorded.append((key, latest, make))
            return placeholder
        return latest.answers.pop(key) if key in latest.answers else self._run([make])[0]

    def _run(self, makers: Sequence[Callable[[SlotNumbers], BlockRequest]]) -> list[Any]:
        """The answers to some requests: one round trip."""
        slots = SlotNumbers()
        frame = slots.find(self.rows.frame)
        task = BlockTask(tuple(make(slots) for make in makers), frame)
        self.counters.round_trips += 1
        answers: list[Any] | None = self.rows.runner.reduce(task, slots.blocks, task.combine, task.name)
        if answers is None:
            raise ValueError("X has no rows; pass at least one")
        return answers

    @contextmanager
    def _record(self) -> Iterator[list[Any]]:
        recorded: list[Any] = []
        self._recorded = recorded
        try:
            yield recorded
        finally:
            self._recorded = None

    def anticipate(self, calls: Sequence[Callable[[], Any]]) -> None:
        if self._recorded is not None:
            return  # within another hint, which lists the same calls
        with self._record() as recorded:
            for call in calls:
                call()
        if not recorded:
            return
        answers = self._run([make for _, _, make in recorded])
        for (key, latest, _), answer in zip(recorded, answers, strict=True):
            latest.answers[key] = answer

    def can_anticipate(self, width: int) -> bool:
        return self.shape[0] * width * width <= MAX_AHEAD

    # --- products ---------------------------------------------------------------------------------------------------

    def select(self, columns: IntArray) -> BlockedColumns:
        if not self._gathered.has_room_for(columns):
            return self._open(columns)
        parts, new = self._gathered.take(columns)
        self.counters.columns += new
        if new and not self.rows.in_memory:
            self.counters.passes += 1  # they are read with the next round trip
        return BlockedColumns(self, columns, parts)

    def select_all(self) -> BlockedColumns:
        return BlockedColumns(self, None, None)

    def _open(self, columns: IntArray | None) -> BlockedColumns:
        """Columns that are used once: gathered if they are known already."""
        known = columns is not None and self._gathered.covers(columns)
        parts = self._gathered.take(columns)[0] if known and columns is not None else None
        return BlockedColumns(self, columns, parts)

    def matvec(self, columns: IntArray | None, w: Array) -> BlockRows:
        if columns is None:
            columns = np.flatnonzero(w if w.ndim == 1 else w.any(axis=1))
            w = w[columns]
        return self._open(columns).matvec(w)

    def rmatvec(self, rows: BlockRows, columns: IntArray | None = None) -> Array:
        return self._open(columns).rmatvec(rows)

    def gram(self, columns: IntArray, weights: BlockRows) -> Array:
        return self.select(columns).gram(weights)

    def cross(self, columns: IntArray, others: IntArray, weights: BlockRows) -> CrossProducts:
        return self.select(columns).cross(others, weights)

    def collect_columns(self, columns: IntArray) -> Array:
        return self.collect_rows(StoredRows(self.multiply(columns, np.eye(columns.size))))

    def multiply(self, columns: IntArray, w: Array) -> Blocks:
        """Some columns times coefficients, for each block."""
        return self._open(columns).apply(MultiplyBlock, w)

    # --- moments ----------------------------------------------------------------------------------------------------

    def moments(self, weights: BlockRows) -> Moments:
        moments = self._sum_moments(weights)
        means = moments.means - (0.0 if self.shift is None else self.shift)
        return Moments(means, moments.compute_squares(self.shift))

    def check_finite(self, weights: BlockRows) -> None:
        self._sum_moments(weights)

    def with_finite_blocks(self) -> BlockedDesign:
        """The same X, of which each block is refused that has NaN or infinite values: a check without a pass."""
        X = self.rows.X
        rows = replace(self.rows, X=X.apply(require_finite, keep=False, in_chunks=X.in_chunks))
        limits = self.counters, self._most_gathered
        return BlockedDesign(rows, self.shape[1], self._nbytes, self.shift, self._moments, *limits)

    def _sum_moments(self, weights: BlockRows) -> BlockMoments:
        if weights.key not in self._moments:
            X = self.rows.X
            found: BlockMoments = self._run([lambda slots: MomentsOfBlock(slots.find(X), weights.translate(slots))])[0]
            found.check()
            self._moments[weights.key] = found
        return self._moments[weights.key]

    def sum_moments(self, others: Any, weights: Any, labels: Any, count: int) -> list[SecondMoments]:
        """Means and products of all columns and others beside them, for the rows of each label: one pass."""
        self.counters.passes += 1
        X, rows = self.rows.X, [self.to_rows(others), self.to_rows(weights), self.to_rows(labels)]
        function = partial(sum_second_moments, count=count)
        found: list[SecondMoments] = self._run(
            [lambda slots: BlockSum(function, slots.find(X), tuple(part.translate(slots) for part in rows))]
        )[0]
        return found

    @cached_property
    def second_moments(self) -> SecondMoments:
        """Means and products of all columns, each row with weight 1: one pass."""
        n = self.shape[0]
        return self.sum_moments(np.empty((n, 0)), np.ones(n), np.zeros(n, dtype=np.intp), 1)[0]

    # --- the same data, otherwise -------------------------------------------------------------------------------------

    def _with(self, shift: Array | None) -> BlockedDesign:
        known = self._moments, self.counters, self._most_gathered
        return BlockedDesign(self.rows, self.shape[1], self._nbytes, shift, *known)

    def with_own_cache(self) -> BlockedDesign:
        return self._with(self.shift)

    def center(self, weights: BlockRows) -> BlockedDesign:
        return self._with(self._sum_moments(weights).means)

    def select_rows(self, index: IntArray) -> BlockedDesign:
        rows = self.rows.select(np.asarray(index))
        nbytes = int(self._nbytes * (len(index) / max(self.shape[0], 1)))
        limits = self.counters, self._most_gathered
        return BlockedDesign(rows, self.shape[1], nbytes, self.shift, None, *limits)

    def scale_columns(self, factors: Array) -> BlockedDesign:
        X = self.rows.X
        rows = replace(self.rows, X=X.apply(partial(scale_block, factors), keep=False, in_chunks=X.in_chunks))
        return BlockedDesign(rows, self.shape[1], self._nbytes, None, None, self.counters, self._most_gathered)

    # --- row vectors --------------------------------------------------------------------------------------------------

    def to_rows(self, values: Any) -> BlockRows:
        if not isinstance(values, np.ndarray):
            rows: BlockRows = values.rows  # they are with the blocks already
            return rows
        if values.ndim == 1 and values.size and (values == values[0]).all():
            return StoredRows(self.rows.frame.apply(partial(_fill, values[0])))
        return StoredRows(self.rows.runner.hold(self.rows.split(values)))

    def collect_rows(self, rows: BlockRows) -> Array:
        collected: Array = self._run([lambda slots: CollectedRows(rows.translate(slots))])[0]
        return self.rows.arrange(collected)

    def map_rows(self, function: Callable[..., Array], *rows: BlockRows) -> BlockRows:
        return MappedRows(function, rows)

    def reduce_rows(self, function: Callable[..., Any], *rows: BlockRows, combine: Callable[..., Any] = np.add) -> Any:
        latest = max((part.find_latest() for part in rows), key=lambda part: part.number)
        key = ("sum", function, combine, *(part.key for part in rows))
        return self._ask(
            key, latest, lambda slots: RowSum(function, tuple(part.translate(slots) for part in rows), combine)
        )


def _fill(value: float, frame: Array) -> Array:
    return np.full(len(frame), value)


class BlockedColumns(ColumnBlock):
    """Some columns of a design in blocks: gathered where the blocks are, or read from X in each product."""

    def __init__(self, design: BlockedDesign, columns: IntArray | None, parts: ColumnParts | None) -> None:
        self.design, self.columns, self.parts = design, columns, parts
        self._number = next(_block_numbers)

    @property
    def width(self) -> int:  # type: ignore[override]
        """Number of columns."""
        return self.design.shape[1] if self.columns is None else self.columns.size

    def translate(self, slots: SlotNumbers) -> Columns:
        """As a task sees them."""
        if self.parts is not None:
            return self.parts.translate(slots, self.design.rows.frame)
        return Columns((), None, self.design.shift, slots.find(self.design.rows.X), self.columns)

    def apply(self, kind: Callable[[Columns, Array], Callable[..., Array]], w: Array) -> Blocks:
        """A function of the columns and a matrix, for each block."""
        slots = SlotNumbers()
        function = kind(self.translate(slots), w)
        return Blocks(None, function, slots.blocks)

    def count_pass(self) -> None:
        """Count a product with all columns, or one that reads X from where it is stored."""
        reads = self.parts is None and (self.columns is None or not self.design.rows.in_memory)
        self.design.counters.passes += reads and self.design._recorded is None

    def matvec(self, w: Array) -> BlockRows:
        if self.columns is None:
            return self.design.matvec(None, w)
        if self.parts is not None:
            return ProductRows(self.translate, w)
        self.count_pass()
        return StoredRows(self.apply(MultiplyBlock, w))

    def rmatvec(self, rows: RowVector) -> Array:
        self.count_pass()
        key = ("rmatvec", self._number, rows.key)
        product: Array = self.design._ask(
            key,
            rows.find_latest(),
            lambda slots: TransposedProduct(self.translate(slots), rows.translate(slots)),
            np.zeros(self.width),
        )
        return product

    def gram(self, weights: RowVector) -> Array:
        self.design.counters.products += self.width**2 if self.design._recorded is None else 0
        self.count_pass()
        key = ("gram", self._number, weights.key)
        gram: Array = self.design._ask(
            key,
            weights.find_latest(),
            lambda slots: WeightedGram(self.translate(slots), weights.translate(slots)),
            np.zeros((self.width, self.width)),
        )
        return gram

    def cross(self, others: IntArray, weights: RowVector) -> CrossProducts:
        design = self.design
        design.counters.products += self.width * others.size
        # Columns that are read from disk are kept: trial supports are made of them.
        fits = others.size + self.width <= design._gathered.room
        block = design.select(others) if fits and not design.rows.in_memory else design._open(others)
        block.count_pass()
        products: CrossProducts = design._run(
            [lambda slots: ColumnProducts(self.translate(slots), block.translate(slots), weights.translate(slots))]
        )[0]
        return products

    def squares(self, weights: RowVector) -> Array:
        if self.columns is None:
            return self.design.moments(weights).squares
        return self.gram(weights).diagonal()

    def collect(self) -> Array:
        return self.design.collect_columns(np.arange(self.width) if self.columns is None else self.columns)
