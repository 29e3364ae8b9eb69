"""Results as they come, in a file that a run which was interrupted goes on with."""

from __future__ import annotations

import json
import os
from pathlib import Path

from .base import Settings, Task
from .tables import Row, Table

__all__ = ["Journal", "OtherSettingsError"]


class OtherSettingsError(ValueError):
    """A folder holds results of other settings."""


class Journal:
    """One line for each task that was done, under a line that says with which settings.

    A line that was cut off when a run ended is ignored, and its task is done again.

    Parameters
    ----------
    path : Path
        The file; it is made with the first result.
    settings : Settings
        What the results belong to.
    version : str
        Version of the package.
    """

    def __init__(self, path: Path, settings: Settings, version: str) -> None:
        self._path = path
        self._head = {"settings": settings.fingerprint(), "version": version}
        self._done: dict[str, list[Row]] = {}
        self._size = 0
        if path.exists():
            self._read()

    def __len__(self) -> int:
        return len(self._done)

    def left(self, tasks: list[Task]) -> list[Task]:
        """The tasks that have not been done."""
        return [task for task in tasks if task.key not in self._done]

    def add(self, task: Task, rows: list[Row]) -> None:
        """Write the results of a task, so that they are there whatever happens next."""
        complete = [{**task.place, **row} for row in rows]
        if not self._path.exists():
            self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("r+b" if self._path.exists() else "w+b") as file:
            file.truncate(self._size)  # what was cut off goes
            file.seek(self._size)
            if self._size == 0:
                file.write(_line(self._head))
            file.write(_line({"task": task.key, "rows": complete}))
            file.flush()
            os.fsync(file.fileno())
            self._size = file.tell()
        self._done[task.key] = complete

    def table(self, tasks: list[Task]) -> Table:
        """The results of these tasks, in their order, as far as they were done."""
        return Table(row for task in tasks for row in self._done.get(task.key, []))

    def _read(self) -> None:
        whole = self._path.read_bytes()
        lines = whole[: whole.rfind(b"\n") + 1].splitlines(keepends=True)
        for number, line in enumerate(lines):
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                break
            if number == 0:
                self._check(entry)
            else:
                self._done[entry["task"]] = entry["rows"]
            self._size += len(line)

    def _check(self, head: object) -> None:
        if head != self._head:
            raise OtherSettingsError(
                f"{self._path} holds results of other settings or of another version; give --out another folder, or"
                " delete it"
            )


def _line(entry: object) -> bytes:
    return json.dumps(entry).encode() + b"\n"
