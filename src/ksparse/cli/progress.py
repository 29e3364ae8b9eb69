"""Progress on a terminal: a spinner, the time, and the last message of the library."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .errors import escape_control

__all__ = ["show_progress"]


class _Listener(logging.Handler):
    """Passes each message of the library to a function."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__(logging.INFO)
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        self._show(record.getMessage())


@contextmanager
def show_progress(what: str) -> Iterator[None]:
    """Show what is being done until the block ends; nothing if standard error is not a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    logger, title = logging.getLogger("ksparse"), escape_control(what)
    level = logger.level
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        line = progress.add_task(title, total=None)
        listener = _Listener(lambda text: progress.update(line, description=f"{title}: {escape_control(text)}"))
        logger.addHandler(listener)
        logger.setLevel(logging.INFO)
        try:
            yield
        finally:
            logger.removeHandler(listener)
            logger.setLevel(level)
