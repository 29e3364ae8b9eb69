"""How far a run has come, and how long it will still take."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

__all__ = ["TimeLeft", "progress"]

#: Called after a task with the name of its experiment and the seconds of the processor that it took.
Advance = Callable[[str, float], None]


@dataclass
class TimeLeft:
    """An estimate from what the tasks of each experiment took so far.

    Attributes
    ----------
    totals : dict
        For each experiment how many tasks were done before, and how many there are.
    jobs : int
        Tasks at a time.

    Examples
    --------
    >>> left = TimeLeft({"short": (0, 11), "long": (1, 3)}, jobs=2)
    >>> left.add("short", 1.0)
    >>> left.words("short"), left.words("long")
    ('0:00:05', '?')
    >>> left.add("long", 100.0)
    >>> left.words("short"), left.words("long"), left.words()
    ('0:00:05', '0:00:50', '0:00:55')
    """

    totals: dict[str, tuple[int, int]]
    jobs: int
    done: dict[str, int] = field(init=False)
    seconds: dict[str, list[float]] = field(init=False)

    def __post_init__(self) -> None:
        self.done = {name: before for name, (before, _) in self.totals.items()}
        self.seconds = {name: [] for name in self.totals}

    def add(self, name: str, seconds: float) -> None:
        """A task was done."""
        self.done[name] += 1
        self.seconds[name].append(seconds)

    def words(self, name: str | None = None) -> str:
        """The time that is left for one experiment, if it had all processes, or for all; "?" where it is not known."""
        parts = [self._left(each) for each in ([name] if name else self.totals)]
        if None in parts:
            return "?"
        return str(timedelta(seconds=round(sum(part for part in parts if part is not None) / self.jobs)))

    def _left(self, name: str) -> float | None:
        """Seconds of the processor."""
        tasks, taken = self.totals[name][1] - self.done[name], self.seconds[name]
        if tasks == 0:
            return 0.0
        return tasks * sum(taken) / len(taken) if taken else None


@contextmanager
def progress(totals: dict[str, tuple[int, int]], jobs: int) -> Iterator[Advance]:
    """A bar for each experiment with the time left on a terminal; lines at each tenth elsewhere.

    The parameters are those of `TimeLeft`.
    """
    left = TimeLeft(totals, jobs)
    if not sys.stderr.isatty():
        yield _lines(left)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]} left", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True)) as shown:
        bars = {
            name: shown.add_task(name, total=total, completed=before, left=left.words(name))
            for name, (before, total) in totals.items()
        }
        done, tasks = (sum(pair[place] for pair in totals.values()) for place in (0, 1))
        whole = shown.add_task("in all", total=tasks, completed=done, left=left.words())

        def advance(name: str, seconds: float) -> None:
            left.add(name, seconds)
            shown.update(bars[name], advance=1, left=left.words(name))
            shown.update(whole, advance=1, left=left.words())

        yield advance


def _lines(left: TimeLeft) -> Advance:
    def advance(name: str, seconds: float) -> None:
        left.add(name, seconds)
        done, total = left.done[name], left.totals[name][1]
        if done * 10 // total > (done - 1) * 10 // total:
            known = f" (in all {left.words()} left)" if left.words() != "?" else ""
            print(f"{name}: {done} of {total}{known}", file=sys.stderr, flush=True)

    return advance
