"""What is shown while one waits: a spinner with the time, on a terminal only."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .errors import clean

__all__ = ["working"]


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
