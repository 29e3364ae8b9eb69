"""The process in which one method runs: it loads tasks, warms up, and sends back answers, seconds and memory."""

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

__all__ = ["READY", "environment", "serve"]

#: A fit that takes less than so many seconds is repeated, so many times in all, and its median taken.
QUICK, REPEATS = 0.3, 3
#: What is sent when the data are loaded and prepared, and the clock begins.
READY = "ready"


def environment(threads: int) -> dict[str, str]:
    """Variables that must be set before a worker starts, for libraries that read them when they load."""
    variables = {f"{library}_NUM_THREADS": str(threads) for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    variables["JAX_PLATFORMS"] = "cpu"
    if threads == 1:
        variables["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    return variables


def serve(pipe: Connection, method: Method, setting: Any, threads: int, folders: dict[int, Path]) -> None:
    """Run a method on the tasks in these folders: send READY, then what `_fit` gives, or what is wrong."""
    with _silence():
        for folder in folders.values():
            try:
                run = method.prepare(Task.load(folder), threads, setting)
                pipe.send(READY)
                pipe.send(_fit(run))
            except Exception as error:  # a peer may fail in any way
                pipe.send(f"{type(error).__name__}: {error}")
    pipe.close()


def _fit(run: Run) -> tuple[Any, float, float, float]:
    """The answer of a method, its median seconds by the clock and of processors, and the memory of its first run."""
    seconds: list[float] = []
    processors: list[float] = []
    memory = PeakMemory()
    while not seconds or (len(seconds) < REPEATS and seconds[0] < QUICK):
        with contextlib.nullcontext() if seconds else memory:
            began, busy = time.perf_counter(), time.process_time()
            answer = run()
            seconds.append(time.perf_counter() - began)
            processors.append(time.process_time() - busy)
    return answer, float(np.median(seconds)), float(np.median(processors)), memory.megabytes


@contextlib.contextmanager
def _silence() -> Any:
    """Nothing that a package prints or warns of reaches the terminal."""
    warnings.simplefilter("ignore")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    yield
