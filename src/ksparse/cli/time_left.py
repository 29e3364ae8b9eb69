"""How long a run will still take."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

__all__ = ["TimeLeft"]


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
