"""Results as they come, in a file that a run which was interrupted goes on with."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from importlib import import_module
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from .base import Settings, Task
from .tables import Row, Table

__all__ = ["DamagedError", "InUseError", "Journal", "JournalError", "Mark", "OtherSettingsError", "alone"]

#: Locks of files; Windows has others.
fcntl: Any = import_module("fcntl") if find_spec("fcntl") else None


class JournalError(ValueError):
    """A folder with results cannot be gone on with."""


class OtherSettingsError(JournalError):
    """It holds results of other settings."""


class DamagedError(JournalError):
    """What its results belong to cannot be read."""


class InUseError(JournalError):
    """Another run writes to it."""


class Mark(NamedTuple):
    """When a task was done, and the seconds of the processor that it took."""

    when: datetime
    seconds: float


class Journal:
    """One line for each task that was done, under a line that says with which settings.

    A line that was cut off when a run ended is ignored, and its task is done again; so are lines that are damaged.

    Parameters
    ----------
    path : Path
        The file; it is made with the first result.
    settings : Settings
        What the results belong to.
    version : str
        Version of the package.

    Attributes
    ----------
    skipped : int
        How many lines were damaged. They stay where they are.
    """

    def __init__(self, path: Path, settings: Settings, version: str) -> None:
        self._path = path
        self._head = {"settings": settings.fingerprint(), "version": version}
        self._done: dict[str, list[Row]] = {}
        self._marks: dict[str, Mark] = {}
        self._size = 0
        self.skipped = 0
        if path.exists():
            self._read()

    def __len__(self) -> int:
        return len(self._done)

    def left(self, tasks: list[Task]) -> list[Task]:
        """The tasks that have not been done."""
        return [task for task in tasks if task.key not in self._done]

    def add(self, task: Task, rows: list[Row], seconds: float) -> None:
        """Write the results of a task, so that they are there whatever happens next.

        Parameters
        ----------
        task : Task
            Which one.
        rows : list of dict
            Its results.
        seconds : float
            Of the processor, for all of it.
        """
        complete = [{**task.place, **row} for row in rows]
        mark = Mark(datetime.now(timezone.utc).replace(microsecond=0), round(seconds, 3))
        if not self._path.exists():
            self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("r+b" if self._path.exists() else "w+b") as file:
            file.truncate(self._size)  # what was cut off goes
            file.seek(self._size)
            if self._size == 0:
                file.write(_line(self._head))
            named = {"when": mark.when.isoformat(), "seconds": mark.seconds}
            file.write(_line({"task": task.key, "rows": complete, **named}))
            file.flush()
            os.fsync(file.fileno())
            self._size = file.tell()
        self._done[task.key] = complete
        self._marks[task.key] = mark

    def table(self, tasks: list[Task]) -> Table:
        """The results of these tasks, in their order, as far as they were done."""
        return Table(row for task in tasks for row in self._done.get(task.key, []))

    def marks(self, tasks: list[Task]) -> list[Mark | None]:
        """When each of these tasks that was done was so, if its line says it."""
        return [self._marks.get(task.key) for task in tasks if task.key in self._done]

    def _read(self) -> None:
        whole = self._path.read_bytes()
        *lines, unfinished = whole.split(b"\n")
        if not lines:
            if not _line(self._head).startswith(unfinished):
                raise self._damaged()
            return
        self._check(_entry(lines[0]))
        for line in lines[1:]:
            entry = _entry(line)
            if not _holds_results(entry):
                self.skipped += 1
                continue
            self._done[entry["task"]] = entry["rows"]
            self._marks.pop(entry["task"], None)
            if (mark := _mark(entry)) is not None:
                self._marks[entry["task"]] = mark
        self._size = len(whole) - len(unfinished)

    def _check(self, head: dict[str, Any]) -> None:
        if not self._head.keys() <= head.keys():
            raise self._damaged()
        differs = [
            words
            for name, words in (
                ("settings", "other settings (another scale, such as --quick, or other data)"),
                ("version", f"another version ({head['version']}; this is {self._head['version']})"),
            )
            if head[name] != self._head[name]
        ]
        if differs:
            raise OtherSettingsError(
                f"{self._path} holds results of {' and of '.join(differs)}; give --out another folder (to delete the"
                " file would be to lose these results)"
            )

    def _damaged(self) -> DamagedError:
        return DamagedError(
            f"the first line of {self._path} does not say to which settings its results belong, so that nothing can be"
            " added to them; give --out another folder, or put the file elsewhere"
        )


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep other runs out of a folder of journals, which is made if need be; the system lets go of it at the latest.

    Where there are no locks, nothing is done.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if fcntl is None:
        yield
        return
    with (folder / "lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InUseError(_in_use(file.name, folder)) from error
        except OSError:
            pass  # a file system without locks
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def _in_use(lock: str, folder: Path) -> str:
    process = Path(lock).read_text(encoding="utf-8").strip()
    who = f" (process {process})" if process.isdecimal() else ""
    return f"another run{who} writes to {folder}; wait for its end, or give --out another folder"


def _line(entry: object) -> bytes:
    return json.dumps(entry).encode() + b"\n"


def _entry(line: bytes) -> dict[str, Any]:
    """What a line says; nothing if it is damaged."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}


def _holds_results(entry: dict[str, Any]) -> bool:
    task, rows = entry.get("task"), entry.get("rows")
    if not isinstance(task, str) or not isinstance(rows, list) or not rows:
        return False
    place = _entry(task.encode())
    return all(isinstance(row, dict) and place.items() <= row.items() for row in rows)


def _mark(entry: dict[str, Any]) -> Mark | None:
    """When a task was done; lines of former versions do not say it."""
    try:
        mark = Mark(datetime.fromisoformat(entry["when"]), float(entry["seconds"]))
    except (KeyError, TypeError, ValueError):
        return None
    # A time without a zone cannot be compared with the others.
    return mark if isfinite(mark.seconds) and mark.when.tzinfo is not None else None
