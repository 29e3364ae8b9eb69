"""Tasks side by side, each on one thread, with their results written as they come."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

from ..threads import one_thread
from .base import Task
from .journal import Journal
from .registry import experiment_named
from .tables import Row

__all__ = ["Work", "run_all"]

#: Libraries that would otherwise start a thread for each core in each process.
THREADED = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

#: Experiment, settings and task.
Work = tuple[str, Any, Task]


def run_all(work: list[Work], journals: dict[str, Journal], jobs: int, done: Callable[[Work], None]) -> None:
    """Do the tasks, and write the results of each to the journal of its experiment.

    Parameters
    ----------
    work : list of tuple
        Names of experiments, their settings, and tasks.
    journals : dict
        The journal of each experiment.
    jobs : int
        How many at a time; with 1 they are done in this process.
    done : callable
        Called after each task.
    """
    for item, rows in _in_turn(work) if jobs == 1 else _side_by_side(work, jobs):
        journals[item[0]].add(item[2], rows)
        done(item)


def _do(item: Work) -> list[Row]:
    name, settings, task = item
    with one_thread():
        return experiment_named(name).run(settings, task)


def _in_turn(work: list[Work]) -> Iterator[tuple[Work, list[Row]]]:
    for item in work:
        yield item, _do(item)


def _side_by_side(work: list[Work], jobs: int) -> Iterator[tuple[Work, list[Row]]]:
    # A fork would share the state of threads that libraries have started.
    context = multiprocessing.get_context("spawn")
    with _one_thread_for_children():
        pool = ProcessPoolExecutor(jobs, mp_context=context)
        try:
            yield from _as_they_come(pool, work, jobs)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _as_they_come(pool: ProcessPoolExecutor, work: list[Work], jobs: int) -> Iterator[tuple[Work, list[Row]]]:
    """Results in any order; only a few tasks wait at a time, so that an interrupt is heeded soon."""
    waiting = iter(work)
    running: dict[Future[list[Row]], Work] = {}
    for item in waiting:
        running[pool.submit(_do, item)] = item
        if len(running) >= jobs + 1:
            break
    while running:
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in finished:
            item = running.pop(future)
            following = next(waiting, None)
            if following is not None:
                running[pool.submit(_do, following)] = following
            yield item, future.result()


@contextmanager
def _one_thread_for_children() -> Iterator[None]:
    """Environment variables that a process which is started now inherits."""
    before = {name: os.environ.get(name) for name in THREADED}
    os.environ.update(dict.fromkeys(THREADED, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
