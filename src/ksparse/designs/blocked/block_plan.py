"""What one task computes of a block of rows: what is missing there, then a function of it; perhaps chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["BlockPlan", "PlanStep"]

#: Rows of gathered columns, margins and the like that are computed with at once: 64 columns of them take 64 MB.
ROWS_AT_ONCE = 2**17


@dataclass(frozen=True)
class PlanStep:
    """A missing value of a block, as a function of others."""

    function: Callable[..., Any]
    #: Positions of what it takes: known values come first, then the steps.
    parents: tuple[int, ...]
    #: Whether the value is kept where the block is.
    keep: bool
    #: Whether there is one value for each chunk, where a parent has one for each; otherwise they are joined.
    in_chunks: bool


@dataclass(frozen=True)
class BlockPlan:
    """The work of a round trip for one block.

    A known value that is a list has one entry for each chunk of the block: some rows of X, or a call that reads them.
    Chunks are computed with one after the other, beside the same rows of the other values, so that a block may be
    larger than memory.
    """

    n_known: int
    steps: tuple[PlanStep, ...]
    #: Positions of what the function takes.
    wanted: tuple[int, ...]
    function: Callable[..., Any]
    combine: Callable[[Sequence[Any]], Any]

    def run(self, known: Sequence[Any]) -> tuple[list[Any], Any]:
        """The values that are kept, in the order of the steps, and the function of those that are wanted."""
        values = dict(enumerate(known))
        chunked = {i for i, value in values.items() if isinstance(value, list)}
        late = list[int]()
        for i, step in enumerate(self.steps, self.n_known):
            if chunked.isdisjoint(step.parents) and set(late).isdisjoint(step.parents):
                values[i] = step.function(*(values[parent] for parent in step.parents))
                continue
            late.append(i)
            if step.in_chunks:
                chunked.add(i)
        parts = self._run_chunks(values, chunked, late) if chunked else self._run_rows(values)
        kept = [values[i] for i, step in enumerate(self.steps, self.n_known) if step.keep]
        return kept, parts[0] if len(parts) == 1 else self.combine(parts)

    def _run_rows(self, values: dict[int, Any]) -> list[Any]:
        """The function of some rows after others, so that what it makes of them takes little memory."""
        arguments = [values[i] for i in self.wanted]
        if not all(isinstance(value, np.ndarray) or sparse.issparse(value) for value in arguments):
            return [self.function(*arguments)]
        edges = [*range(0, max(arguments[0].shape[0], 1), ROWS_AT_ONCE), arguments[0].shape[0]]
        parts = ([_slice_rows(value, *rows) for value in arguments] for rows in pairwise(edges))
        return [self.function(*part) for part in parts]

    def _run_chunks(self, values: dict[int, Any], chunked: set[int], late: list[int]) -> list[Any]:
        """The function of each chunk, or of the whole block if it does not look at chunks; sets the `late` values."""
        sources = [i for i in values if i in chunked]
        collected: dict[int, list[Any]] = {i: [] for i in late if self.steps[i - self.n_known].keep or i not in chunked}
        looks_at_chunks = not chunked.isdisjoint(self.wanted)
        parts, starts = list[Any](), dict.fromkeys((*sources, *late), 0)
        for chunk in zip(*(values[i] for i in sources), strict=True):
            local = {i: value() if callable(value) else value for i, value in zip(sources, chunk, strict=True)}
            for i in late:
                step = self.steps[i - self.n_known]
                local[i] = step.function(*_take_rows(step.parents, local, values, starts))
                if i in collected:
                    collected[i].append(local[i])
            if looks_at_chunks:
                parts.append(self.function(*_take_rows(self.wanted, local, values, starts)))
            starts.update({i: starts[i] + value.shape[0] for i, value in local.items()})
            del local  # before the next chunk is read
        values.update({i: found if i in chunked else _join(found) for i, found in collected.items()})
        return parts if looks_at_chunks else self._run_rows(values)


def _take_rows(
    wanted: Sequence[int], local: dict[int, Any], values: dict[int, Any], starts: dict[int, int]
) -> list[Any]:
    """Values of one chunk; what is known of the whole block is cut to the rows that the others have."""
    first = next(i for i in wanted if i in local)
    start, stop = starts[first], starts[first] + local[first].shape[0]
    return [local[i] if i in local else _slice_rows(values[i], start, stop) for i in wanted]


def _slice_rows(value: Any, start: int, stop: int) -> Any:
    return value if start == 0 and stop >= value.shape[0] else value[start:stop]


def _join(parts: list[Any]) -> Any:
    """The rows of all chunks: sparse ones stay so if all are."""
    if len(parts) == 1:
        return parts[0]
    if all(sparse.issparse(part) for part in parts):
        return sparse.vstack(parts, format="csc")
    return np.concatenate([part.toarray() if sparse.issparse(part) else part for part in parts])
