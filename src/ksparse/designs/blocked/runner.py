"""Where blocks of rows are computed with: the one interface, and the runner within this process.

A `Blocks` is one value for each block of rows, which stays where the block is. `Runner.reduce` is one round trip: it
computes a function of the values of each block, and combines what it gives for all blocks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

from .block_plan import BlockPlan, PlanStep

__all__ = ["Blocks", "LocalRunner", "Runner", "find_known", "find_missing", "make_plan"]

#: So many parts are combined at once.
FAN_IN = 8

Combine = Callable[[Sequence[Any]], Any]


class Blocks:
    """One value for each block of rows: known, or a function of others that is computed when it is needed.

    Parameters
    ----------
    values : list, optional
        The values, as the runner stores them.
    function : callable, optional
        What makes the value of a block from those of `parents`.
    parents : sequence of Blocks
        What the function takes.
    keep : bool
        Whether values are kept once they have been computed; otherwise they are computed again each time.
    in_chunks : bool
        Whether a value may be a list, with an entry for each chunk of the block, as those of X are.
    """

    def __init__(
        self,
        values: list[Any] | None = None,
        function: Callable[..., Any] | None = None,
        parents: Sequence[Blocks] = (),
        keep: bool = True,
        in_chunks: bool = False,
    ) -> None:
        self.values, self.function, self.parents = values, function, tuple(parents)
        self.keep, self.in_chunks = keep, in_chunks

    def apply(
        self, function: Callable[..., Any], *others: Blocks, keep: bool = True, in_chunks: bool = False
    ) -> Blocks:
        """A function of the values of each block, computed when it is needed."""
        return Blocks(None, function, (self, *others), keep, in_chunks)


def find_missing(wanted: Sequence[Blocks]) -> list[Blocks]:
    """What has to be computed for some blocks, each after what it depends on."""
    found: dict[int, Blocks] = {}
    for blocks in wanted:
        _add_missing(blocks, found)
    return list(found.values())


def _add_missing(blocks: Blocks, found: dict[int, Blocks]) -> None:
    # A function within `find_missing` would refer to itself, and keep the blocks until garbage is collected.
    if blocks.values is None and id(blocks) not in found:
        for parent in blocks.parents:
            _add_missing(parent, found)
        found[id(blocks)] = blocks


def find_known(wanted: Sequence[Blocks], missing: Sequence[Blocks]) -> list[Blocks]:
    """The blocks with values that some wanted ones are, or that missing ones depend on."""
    needed = [*wanted, *(parent for blocks in missing for parent in blocks.parents)]
    return list({id(blocks): blocks for blocks in needed if blocks.values is not None}.values())


def make_plan(
    known: Sequence[Blocks],
    missing: Sequence[Blocks],
    wanted: Sequence[Blocks],
    function: Callable[..., Any],
    combine: Combine,
) -> BlockPlan:
    """What has to be done for each block, without the values."""
    place = {id(blocks): i for i, blocks in enumerate([*known, *missing])}
    steps = list[PlanStep]()
    for blocks in missing:
        assert blocks.function is not None
        parents = tuple(place[id(parent)] for parent in blocks.parents)
        steps.append(PlanStep(blocks.function, parents, blocks.keep, blocks.in_chunks))
    return BlockPlan(len(known), tuple(steps), tuple(place[id(blocks)] for blocks in wanted), function, combine)


class Runner(ABC):
    """What computes with blocks of rows."""

    #: Whether others do the work, so that several searches may wait for it side by side.
    is_elsewhere: ClassVar[bool] = False

    @abstractmethod
    def hold(self, parts: Sequence[Any], beside: Blocks | None = None) -> Blocks:
        """Values of this process, one for each block, sent to where the blocks are: `beside` others."""

    @abstractmethod
    def reduce(
        self, function: Callable[..., Any], wanted: Sequence[Blocks], combine: Combine, name: str = "sum"
    ) -> Any:
        """A function of the values of each block, combined over all blocks: one round trip.

        What is missing is computed on the way, and kept if it says so. The name is for those who watch.
        """


class LocalRunner(Runner):
    """Blocks one after the other in this process; the next one is read from disk while this one is computed with.

    A value that is callable is a block on disk, which the call reads.
    """

    def hold(self, parts: Sequence[Any], beside: Blocks | None = None) -> Blocks:
        return Blocks(list(parts))

    def reduce(
        self, function: Callable[..., Any], wanted: Sequence[Blocks], combine: Combine, name: str = "sum"
    ) -> Any:
        missing = find_missing(wanted)
        known = find_known(wanted, missing)
        plan = make_plan(known, missing, wanted, function, combine)
        computed: list[list[Any]] = [[] for blocks in missing if blocks.keep]
        parts = []
        for values in self._read(known):
            kept, part = plan.run(values)
            for column, value in zip(computed, kept, strict=True):
                column.append(value)
            parts.append(part)
            if len(parts) == FAN_IN:
                parts = [combine(parts)]
        for blocks, column in zip((blocks for blocks in missing if blocks.keep), computed, strict=True):
            blocks.values = column
        return parts[0] if len(parts) == 1 else combine(parts)

    def _read(self, known: Sequence[Blocks]) -> Iterator[list[Any]]:
        """The known values of each block; those on disk are read by a thread, one block ahead."""
        columns = [blocks.values or [] for blocks in known]
        count = len(columns[0])

        def load(i: int) -> list[Any]:
            values = (column[i] for column in columns)
            return [value() if callable(value) else value for value in values]

        if not any(callable(column[0]) for column in columns):
            yield from map(load, range(count))
            return
        with ThreadPoolExecutor(1) as reader:
            ahead = reader.submit(load, 0)
            for i in range(count):
                current = ahead.result()
                if i + 1 < count:
                    ahead = reader.submit(load, i + 1)
                yield current
                del current
