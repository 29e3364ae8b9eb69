"""Methods for the runner's tests, in a module that a spawned process can import."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from suite.methods import Method
from suite.tasks import Task


def _first(task: Task) -> Any:
    return np.arange(task.k)


def _raises(task: Task) -> Any:
    raise ValueError(f"no model with {task.k} features")


def _hangs_on_odd_k(task: Task) -> Any:
    if task.k % 2:
        time.sleep(600)
    return _first(task)


def _dies(task: Task) -> Any:
    os._exit(7)


def _raises_on_odd_k(task: Task) -> Any:
    return _raises(task) if task.k % 2 else _first(task)


def _threads(task: Task) -> Any:
    return np.array([int(os.environ["OMP_NUM_THREADS"])])


def _greedy_of_memory(task: Task) -> Any:
    return np.arange(int(np.ones(20_000_000).sum() > 0))


def _prepare(select: Callable[[Task], Any], task: Task, threads: int, setting: Any) -> Callable[[], Any]:
    return partial(select, task)


FIRST, RAISES, HANGS, DIES, SOMETIMES, THREADS, MEMORY = (
    Method(partial(_prepare, select))
    for select in (_first, _raises, _hangs_on_odd_k, _dies, _raises_on_odd_k, _threads, _greedy_of_memory)
)
