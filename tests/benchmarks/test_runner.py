"""The runner reports the output of a method, an exception, the end of its process, or a timeout."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from suite.memory import STATUS
from suite.methods import Method
from suite.results import DONE, FAILED, TIMED_OUT
from suite.runner import WARM_UP_SEED, FitOutcome, run_method
from suite.tasks import Task

from . import methods

pytestmark = pytest.mark.slow  # each test starts a process


def collect(method: Method, folder: Path, threads: int = 1, time_limit: float = 30.0) -> list[FitOutcome]:
    rng = np.random.default_rng(0)
    folders = {}
    for seed, k in ((WARM_UP_SEED, 2), (0, 3), (1, 4)):
        folders[seed] = folder / str(seed)
        Task("linear", rng.standard_normal((6, 5)), rng.standard_normal(6), k).save(folders[seed])
    return list(run_method(method, None, threads, folders, time_limit))


def test_outputs_are_in_the_order_of_the_seeds(tmp_path: Path) -> None:
    found = collect(methods.FIRST, tmp_path)
    assert [outcome.seed for outcome in found] == [WARM_UP_SEED, 0, 1]
    assert [outcome.output.tolist() for outcome in found] == [[0, 1], [0, 1, 2], [0, 1, 2, 3]]
    assert {outcome.status for outcome in found} == {DONE}
    assert all(0 < outcome.seconds < 30 for outcome in found)


def test_an_exception_is_reported_and_the_next_seed_is_run(tmp_path: Path) -> None:
    found = collect(methods.SOMETIMES_RAISING, tmp_path)
    assert [outcome.status for outcome in found] == [DONE, FAILED, DONE]
    assert found[1].detail == "ValueError: no model with 3 features"
    always = collect(methods.RAISING, tmp_path / "again")
    assert [outcome.detail for outcome in always] == [f"ValueError: no model with {k} features" for k in (2, 3, 4)]


def test_the_end_of_a_process_is_reported_for_all_seeds(tmp_path: Path) -> None:
    found = collect(methods.EXITING, tmp_path)
    assert [(outcome.seed, outcome.status) for outcome in found] == [(WARM_UP_SEED, FAILED), (0, FAILED), (1, FAILED)]
    assert found[0].detail == "its process ended with code 7"


def test_a_method_that_hangs_times_out(tmp_path: Path) -> None:
    found = collect(methods.HANGING, tmp_path, time_limit=0.5)
    assert [(outcome.seed, outcome.status) for outcome in found] == [
        (WARM_UP_SEED, DONE),
        (0, TIMED_OUT),
        (1, TIMED_OUT),
    ]
    assert found[1].detail == "> 0.5 s"


def test_threads_are_set_before_the_method_is_imported(tmp_path: Path) -> None:
    found = collect(methods.THREADS, tmp_path, threads=3)
    assert [outcome.output.tolist() for outcome in found] == [[3]] * 3


@pytest.mark.skipif(not STATUS.exists(), reason="needs /proc/self/status")
def test_peak_memory_is_that_of_the_fit(tmp_path: Path) -> None:
    large = collect(methods.MEMORY, tmp_path / "large")
    small = collect(methods.FIRST, tmp_path / "small")
    assert all(140 < outcome.megabytes < 250 for outcome in large)  # 20 million float64
    assert all(outcome.megabytes < 20 for outcome in small)
