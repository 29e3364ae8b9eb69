"""Where blocks of rows are computed with: the one interface, and the runner within this process.

A `Blocks` is one value for each block of rows, which stays where the block is. `Runner.reduce` is one round trip: it
computes a function of the values of each block, and combines what it gives for all blocks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

__all__ = ["Blocks", "LocalRunner", "Runner", "combine_in_tree", "find_missing"]

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
    """

    def __init__(
        self,
        values: list[Any] | None = None,
        function: Callable[..., Any] | None = None,
        parents: Sequence[Blocks] = (),
        keep: bool = True,
    ) -> None:
        self.values, self.function, self.parents, self.keep = values, function, tuple(parents), keep

    def apply(self, function: Callable[..., Any], *others: Blocks, keep: bool = True) -> Blocks:
        """A function of the values of each block, computed when it is needed."""
        return Blocks(None, function, (self, *others), keep)


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


def combine_in_tree(parts: Sequence[Any], combine: Combine, fan_in: int = FAN_IN) -> Any:
    """The combination of parts in a tree whose shape depends on their number only, so that sums are reproducible."""
    level = list(parts)
    while len(level) > 1:
        groups = (level[i : i + fan_in] for i in range(0, len(level), fan_in))
        level = [group[0] if len(group) == 1 else combine(group) for group in groups]
    return level[0]


class Runner(ABC):
    """What computes with blocks of rows."""

    @abstractmethod
    def hold(self, parts: Sequence[Any]) -> Blocks:
        """Values of this process, one for each block, sent to where the blocks are."""

    @abstractmethod
    def reduce(self, function: Callable[..., Any], wanted: Sequence[Blocks], combine: Combine) -> Any:
        """A function of the values of each block, combined over all blocks: one round trip.

        What is missing is computed on the way, and kept if it says so.
        """


class LocalRunner(Runner):
    """Blocks one after the other in this process; the next one is read from disk while this one is computed with.

    A value that is callable is a block on disk, which the call reads.
    """

    def hold(self, parts: Sequence[Any]) -> Blocks:
        return Blocks(list(parts))

    def reduce(self, function: Callable[..., Any], wanted: Sequence[Blocks], combine: Combine) -> Any:
        missing = find_missing(wanted)
        computed: dict[int, list[Any]] = {id(blocks): [] for blocks in missing if blocks.keep}
        parts = []
        for known in self._read(_find_known(wanted, missing)):
            values = dict(known)
            for blocks in missing:
                assert blocks.function is not None
                value = blocks.function(*(values[id(parent)] for parent in blocks.parents))
                values[id(blocks)] = value
                if blocks.keep:
                    computed[id(blocks)].append(value)
            parts.append(function(*(values[id(blocks)] for blocks in wanted)))
            if len(parts) == FAN_IN:
                parts = [combine(parts)]
        for blocks in missing:
            if blocks.keep:
                blocks.values = computed[id(blocks)]
        return parts[0] if len(parts) == 1 else combine(parts)

    def _read(self, known: Sequence[Blocks]) -> Iterator[dict[int, Any]]:
        """The known values of each block; those on disk are read by a thread, one block ahead."""
        columns = [blocks.values or [] for blocks in known]
        count = len(columns[0])

        def load(i: int) -> dict[int, Any]:
            values = (column[i] for column in columns)
            loaded = (value() if callable(value) else value for value in values)
            return dict(zip(map(id, known), loaded, strict=True))

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


def _find_known(wanted: Sequence[Blocks], missing: Sequence[Blocks]) -> list[Blocks]:
    """The blocks with values that some wanted ones are, or that missing ones depend on."""
    needed = [*wanted, *(parent for blocks in missing for parent in blocks.parents)]
    return list({id(blocks): blocks for blocks in needed if blocks.values is not None}.values())
