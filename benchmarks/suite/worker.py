"""The process in which a method runs: it loads tasks, warms up, and sends back outputs, times and memory."""

from __future__ import annotations

import contextlib
import os
import time
import warnings
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from .memory import PeakMemory
from .methods import Method, Run
from .tasks import Task

__all__ = ["READY", "serve", "silence_output"]

#: A fit that takes less than QUICK seconds is run REPEATS times, and the median time is reported.
QUICK, REPEATS = 0.3, 3
#: Message sent when the data are loaded and prepared, just before the timed run.
READY = "ready"


def serve(pipe: Connection, method: Method, setting: Any, threads: int, folders: dict[int, Path]) -> None:
    """Run a method on the tasks in these folders: send READY, then the result of `_time_run` or an error message."""
    silence_output()
    for folder in folders.values():
        try:
            run = method.prepare(Task.load(folder), threads, setting)
            pipe.send(READY)
            pipe.send(_time_run(run))
        except Exception as error:  # a package may fail in any way
            pipe.send(f"{type(error).__name__}: {error}")
    pipe.close()


def silence_output() -> None:
    """Discard all warnings and everything this process writes to stdout and stderr."""
    warnings.simplefilter("ignore")
    discard = os.open(os.devnull, os.O_WRONLY)
    os.dup2(discard, 1)
    os.dup2(discard, 2)


def _time_run(run: Run) -> tuple[Any, float, float, float]:
    """Return the output of a method, its median wall-clock and CPU seconds, and the peak memory of its first run."""
    seconds: list[float] = []
    cpu_seconds: list[float] = []
    memory = PeakMemory()
    while not seconds or (len(seconds) < REPEATS and seconds[0] < QUICK):
        with contextlib.nullcontext() if seconds else memory:
            start, cpu_start = time.perf_counter(), time.process_time()
            output = run()
            seconds.append(time.perf_counter() - start)
            cpu_seconds.append(time.process_time() - cpu_start)
    return output, float(np.median(seconds)), float(np.median(cpu_seconds)), memory.megabytes
