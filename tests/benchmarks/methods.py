"""Methods for tests of the runner, in a module that a spawned process can import."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from suite.methods import Method
from suite.tasks import Task


def _select_first(task: Task) -> Any:
    return np.arange(task.k)


def _raise(task: Task) -> Any:
    raise ValueError(f"no model with {task.k} features")


def _hang_on_odd_k(task: Task) -> Any:
    if task.k % 2:
        time.sleep(600)
    return _select_first(task)


def _exit(task: Task) -> Any:
    os._exit(7)


def _raise_on_odd_k(task: Task) -> Any:
    return _raise(task) if task.k % 2 else _select_first(task)


def _return_threads(task: Task) -> Any:
    return np.array([int(os.environ["OMP_NUM_THREADS"])])


def _allocate_memory(task: Task) -> Any:
    return np.arange(int(np.ones(20_000_000).sum() > 0))


def _prepare(select: Callable[[Task], Any], task: Task, threads: int, setting: Any) -> Callable[[], Any]:
    return partial(select, task)


FIRST, RAISING, HANGING, EXITING, SOMETIMES_RAISING, THREADS, MEMORY = (
    Method(partial(_prepare, select))
    for select in (
        _select_first,
        _raise,
        _hang_on_odd_k,
        _exit,
        _raise_on_odd_k,
        _return_threads,
        _allocate_memory,
    )
)
