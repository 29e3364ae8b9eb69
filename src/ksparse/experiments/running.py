"""Tasks side by side, each on one thread, with their results written as they come."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Thread, current_thread, main_thread
from types import FrameType
from typing import Any

from threadpoolctl import threadpool_limits

from .base import Task
from .journal import Journal
from .registry import experiment_named
from .tables import Row

__all__ = ["KILLED", "Work", "run_all"]

#: Libraries that would otherwise start a thread for each core in each process.
THREADED = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

#: What is said of a task whose process ended, or may have been the one that did.
KILLED = "a process was killed while this task was under way (was there not enough memory?)"
#: So many pools that end without a result are enough to give up.
PATIENCE = 3

#: Experiment, settings and task.
Work = tuple[str, Any, Task]


@dataclass(frozen=True)
class _Outcome:
    """What became of a task: its rows, or why there are none."""

    rows: list[Row] = field(default_factory=list)
    seconds: float = 0.0
    error: str | None = None


def run_all(
    work: list[Work],
    journals: dict[str, Journal],
    jobs: int,
    done: Callable[[Work, float], None],
    failed: Callable[[Work, str], None],
) -> None:
    """Do the tasks, and write the results of each to the journal of its experiment.

    A task that fails does not keep the others from being done, unless processes are killed again and again.

    Parameters
    ----------
    work : list of tuple
        Names of experiments, their settings, and tasks.
    journals : dict
        The journal of each experiment.
    jobs : int
        How many at a time; with 1 they are done in this process.
    done : callable
        Called after each task, with the seconds of the processor that it took.
    failed : callable
        Called in its place for a task that failed, with the error.
    """
    jobs = min(jobs, len(work))
    with _one_thread_for_what_is_started():
        for item, outcome in _in_turn(work) if jobs <= 1 else _side_by_side(work, jobs):
            if outcome.error is not None:
                failed(item, outcome.error)
                continue
            journals[item[0]].add(item[2], outcome.rows, outcome.seconds)
            done(item, outcome.seconds)


def _do(item: Work) -> _Outcome:
    name, settings, task = item
    began = time.process_time()
    try:
        # The limit of `ksparse.threads` would give large data the caller's threads again: the caller has one here.
        with threadpool_limits(1):
            rows = experiment_named(name).run(settings, task)
    except Exception as error:  # whatever it is, other tasks may do
        return _Outcome(error=f"{type(error).__name__}: {error}")
    return _Outcome(rows, time.process_time() - began)


def _in_turn(work: list[Work]) -> Iterator[tuple[Work, _Outcome]]:
    for item in work:
        yield item, _do(item)


def _side_by_side(work: list[Work], jobs: int) -> Iterator[tuple[Work, _Outcome]]:
    """Results in any order; where a process is killed, new ones go on with the tasks that were not under way."""
    waiting = deque(work)
    in_vain = 0
    while waiting and in_vain < PATIENCE:
        in_vain += 1
        for item, outcome in _by_a_pool(waiting, jobs):
            if outcome.error != KILLED:
                in_vain = 0
            yield item, outcome


def _by_a_pool(waiting: deque[Work], jobs: int) -> Iterator[tuple[Work, _Outcome]]:
    """Take tasks until there are no more, or the pool is broken; only few at a time, so that an interrupt is heeded."""
    # A fork would share the state of threads that libraries have started.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_serve)
    others = multiprocessing.active_children()
    running: dict[Future[_Outcome], Work] = {}
    broken = False
    try:
        while True:
            while waiting and len(running) <= jobs and not broken:
                try:
                    with _uninterrupted():
                        running[pool.submit(_do, waiting[0])] = waiting[0]
                except BrokenProcessPool:
                    broken = True
                else:
                    waiting.popleft()
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), _outcome(future)
    finally:
        # After an interrupt they are at work, and would go on.
        for process in multiprocessing.active_children():
            if process not in others:
                process.terminate()
        pool.shutdown(wait=False, cancel_futures=True)


def _outcome(future: Future[_Outcome]) -> _Outcome:
    try:
        return future.result()
    except BrokenProcessPool:
        return _Outcome(error=KILLED)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Processes that are started here do not hear of an interrupt while they import; this one does, but later."""
    if not hasattr(signal, "pthread_sigmask"):  # not on Windows
        yield
        return
    with _later():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _later() -> Iterator[None]:
    """What an interrupt does is done at the end: a mask is one thread's, and another thread may hear the signal."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or current_thread() is not main_thread():
        yield
        return
    heard: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: heard.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if heard:
            handler(*heard[0])


def _serve() -> None:
    """What a process does first.

    An interrupt is for its parent, which ends it; and a process whose parent was killed would otherwise wait for tasks
    for ever.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        Thread(target=_outlive, args=(parent.join,), daemon=True).start()


def _outlive(join: Callable[[], None]) -> None:
    join()
    os._exit(1)


@contextmanager
def _one_thread_for_what_is_started() -> Iterator[None]:
    """Environment variables that processes inherit, and that libraries heed which a task is the first to load."""
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
