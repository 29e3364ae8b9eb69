"""Row vectors whose blocks stay with the blocks of X, and what a task makes of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from ..._types import Array
from .runner import Blocks

__all__ = ["BlockRows", "MappedRows", "ProductRows", "SlotNumbers", "SourceRows", "StoredRows", "compute_rows"]

_numbers = count()


class BlockRows(ABC):
    """A row vector, which only the design opens. Two of them with the same key have the same entries."""

    key: Hashable

    @abstractmethod
    def translate(self, slots: SlotNumbers) -> Any:
        """What a task computes it by: the position of an argument, or a formula."""

    @abstractmethod
    def find_latest(self) -> SourceRows:
        """The rows that were made last, among those that these are a function of."""

    def __reduce__(self) -> Any:
        raise TypeError("a row vector stays where its blocks are; pass what a function needs as its arguments")


class SourceRows(BlockRows):
    """Row vectors that are not functions of others."""

    def __init__(self) -> None:
        self.number = next(_numbers)
        self.key = self.number
        #: What was computed ahead for requests of which these are the latest rows.
        self.answers: dict[Hashable, Any] = {}

    def find_latest(self) -> SourceRows:
        return self


class StoredRows(SourceRows):
    """Entries that are kept with the blocks."""

    def __init__(self, blocks: Blocks) -> None:
        super().__init__()
        self._blocks = blocks

    def translate(self, slots: SlotNumbers) -> Any:
        return slots.find(self._blocks)


class ProductRows(SourceRows):
    """X_F w of gathered columns, which each task multiplies for itself: it takes less time than to keep the product."""

    def __init__(self, translate: Callable[[SlotNumbers], Any], w: Array) -> None:
        super().__init__()
        self._translate, self._w = translate, w

    def translate(self, slots: SlotNumbers) -> Any:
        return slots.remember(self.key, lambda: ProductFormula(self._translate(slots), self._w))


class MappedRows(BlockRows):
    """A function of other row vectors, which each task computes for itself."""

    def __init__(self, function: Callable[..., Array], inputs: Sequence[BlockRows]) -> None:
        self._function, self._inputs = function, tuple(inputs)
        self.key = (function, *(rows.key for rows in inputs))

    def translate(self, slots: SlotNumbers) -> Any:
        return slots.remember(
            self.key, lambda: MapFormula(self._function, tuple(rows.translate(slots) for rows in self._inputs))
        )

    def find_latest(self) -> SourceRows:
        return max((rows.find_latest() for rows in self._inputs), key=lambda rows: rows.number)


@dataclass(frozen=True, eq=False)
class MapFormula:
    """A function of row vectors, as a task computes it."""

    function: Callable[..., Array]
    #: Positions among the task's arguments, or formulas.
    inputs: tuple[Any, ...]

    def compute(self, arguments: Sequence[Any], known: dict[int, Any]) -> Any:
        """The entries in one block."""
        return self.function(*(compute_rows(part, arguments, known) for part in self.inputs))


@dataclass(frozen=True, eq=False)
class ProductFormula:
    """A product of columns, as a task computes it."""

    columns: Any
    w: Array

    def compute(self, arguments: Sequence[Any], known: dict[int, Any]) -> Any:
        """The entries in one block."""
        return self.columns.open(arguments, known).matvec(self.w)


class SlotNumbers:
    """Positions of stored blocks among the arguments of a task."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._formulas: dict[Hashable, Any] = {}
        #: The blocks, in the order of their positions.
        self.blocks: list[Blocks] = []

    def find(self, blocks: Blocks) -> int:
        """The position of some blocks, which become an argument if they are not one yet."""
        if id(blocks) not in self._numbers:
            self._numbers[id(blocks)] = len(self.blocks)
            self.blocks.append(blocks)
        return self._numbers[id(blocks)]

    def remember(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """A formula, made once for each key, so that a task computes it once."""
        if key not in self._formulas:
            self._formulas[key] = make()
        return self._formulas[key]


def compute_rows(expression: Any, arguments: Sequence[Any], known: dict[int, Any]) -> Any:
    """The entries of a row vector in one block; formulas that occur twice are computed once."""
    if isinstance(expression, int):
        return arguments[expression]
    if id(expression) not in known:
        known[id(expression)] = expression.compute(arguments, known)
    return known[id(expression)]
