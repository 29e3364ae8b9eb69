"""Running tasks in parallel, each on one thread; finished tasks are kept in files, so that a run can be resumed."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError
from threadpoolctl import threadpool_limits

from .base import Experiment, Row, Settings, Task

__all__ = ["OtherSettingsError", "TaskResult", "TaskStore", "Work", "run_all"]

KILLED = "a worker process was killed, perhaps for lack of memory; use fewer --jobs"


class OtherSettingsError(ValueError):
    """The folder has results of other settings or another version."""


class TaskResult(NamedTuple):
    """The rows of a finished task, when it finished, and its CPU seconds."""

    rows: list[Row]
    finished: datetime
    seconds: float


@dataclass(frozen=True)
class TaskStore:
    """The finished tasks of one experiment: a folder with a JSON file for each.

    Attributes
    ----------
    folder : Path
        Where the files are; it is made with the first result.
    settings : Settings
        The settings they belong to.
    """

    folder: Path
    settings: Settings

    def write(self, task: Task, rows: list[Row], seconds: float) -> None:
        """Keep the rows of a finished task; its file is complete or absent at any time."""
        entry = {
            **self._make_stamp(),
            "task": task.key,
            "finished": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "seconds": round(seconds, 3),
            "rows": [{**task.key, **row} for row in rows],
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = self.folder / f"{task.name}.{os.getpid()}.partial"
        partial.write_text(json.dumps(entry), encoding="utf-8")
        partial.replace(self._make_path(task))

    def read(self, tasks: list[Task]) -> dict[str, TaskResult]:
        """The finished tasks among these, by name; damaged files are skipped, and their tasks run again.

        Raises
        ------
        OtherSettingsError
            If the folder has results of other settings or another version.
        """
        found = {}
        for path in self.folder.glob("*.json"):
            entry = _read_entry(path)
            differences = [
                f"{name} {entry[name]} (this run: {value})"
                for name, value in self._make_stamp().items()
                if entry.get(name, value) != value
            ]
            if differences:
                raise OtherSettingsError(
                    f"{path} has results of {' and '.join(differences)}; the settings depend on --quick, --full and the"
                    " data. Use another folder for --out, or delete this one to discard its results"
                )
            found[path.name] = entry
        complete = {task.name: found[f"{task.name}.json"] for task in tasks if found.get(f"{task.name}.json")}
        return {
            name: TaskResult(entry["rows"], datetime.fromisoformat(entry["finished"]), entry["seconds"])
            for name, entry in complete.items()
        }

    def _make_stamp(self) -> dict[str, str]:
        return {"settings": self.settings.compute_fingerprint(), "version": version("ksparse")}

    def _make_path(self, task: Task) -> Path:
        return self.folder / f"{task.name}.json"


def _read_entry(path: Path) -> dict[str, Any]:
    """The content of a file; empty if it is damaged."""
    try:
        entry = json.loads(path.read_text(encoding="utf-8"))
        complete = {"rows", "finished", "seconds", "settings", "version"} <= entry.keys()
    except (ValueError, AttributeError):
        return {}
    return entry if complete else {}


class Work(NamedTuple):
    """A task of an experiment, and where its result goes."""

    experiment: Experiment
    settings: Any
    task: Task
    store: TaskStore


def run_all(work: list[Work], jobs: int, done: Callable[[Work], None]) -> list[str]:
    """Run tasks and keep their results; a failing task does not stop the others.

    Parameters
    ----------
    work : list of Work
        The tasks.
    jobs : int
        Number of processes; with 1 everything runs in this process.
    done : callable
        Called after each task.

    Returns
    -------
    list of str
        A message for each task that failed.
    """
    failures = []
    try:
        for item, error in zip(work, _run_parallel(work, jobs), strict=True):
            done(item)
            if error:
                failures.append(f"{item.experiment.name} {item.task.name}: {error}")
    except TerminatedWorkerError:
        failures.append(KILLED)
    return failures


def _run_parallel(work: list[Work], jobs: int) -> Iterator[str]:
    # Libraries that a worker loads start with one thread: several would compete for the cores and distort times.
    with parallel_config("loky", inner_max_num_threads=1) if jobs > 1 else nullcontext():
        yield from Parallel(n_jobs=jobs, return_as="generator", batch_size=1, pre_dispatch="2*n_jobs")(
            delayed(_run_task)(*item) for item in work
        )


def _run_task(experiment: Experiment, settings: Any, task: Task, store: TaskStore) -> str:
    """Run a task and keep its result; returns the error, if any."""
    start = time.process_time()
    try:
        # In this process too: passes over large data would otherwise use all threads.
        with threadpool_limits(1):
            rows = experiment.run(settings, task)
    except Exception as error:  # the other tasks continue
        return f"{type(error).__name__}: {error}"
    store.write(task, rows, time.process_time() - start)
    return ""
