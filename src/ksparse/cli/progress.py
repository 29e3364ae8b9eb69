"""What is shown while one waits: a spinner with the time, on a terminal only, or how far many tasks have come."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .errors import clean
from .time_left import TimeLeft

__all__ = ["bars", "working"]

#: Called after a task with the name of its experiment and the seconds of the processor that it took.
Advance = Callable[[str, float], None]


class _Latest(logging.Handler):
    """Passes each message of the library on."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__(logging.INFO)
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        """Show a record."""
        self._show(record.getMessage())


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show that something is under way, and the library's last message, until the block ends."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    logger = logging.getLogger("ksparse")
    level = logger.level
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        line = progress.add_task(clean(what), total=None)
        handler = _Latest(lambda message: progress.update(line, description=f"{clean(what)}: {clean(message)}"))
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        try:
            yield
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)


@contextmanager
def bars(totals: dict[str, tuple[int, int]], jobs: int) -> Iterator[Advance]:
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
        lines = {
            name: shown.add_task(name, total=total, completed=before, left=left.words(name))
            for name, (before, total) in totals.items()
        }
        done, tasks = (sum(pair[place] for pair in totals.values()) for place in (0, 1))
        whole = shown.add_task("in all", total=tasks, completed=done, left=left.words())

        def advance(name: str, seconds: float) -> None:
            left.add(name, seconds)
            shown.update(lines[name], advance=1, left=left.words(name))
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
