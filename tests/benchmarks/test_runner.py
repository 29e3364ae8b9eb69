"""The runner shows what a method does: answers, exceptions, an end without one, and no end at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from suite.memory import STATUS
from suite.methods import Method
from suite.results import DONE, FAILED, LATE
from suite.runner import WARM_UP, Outcome, run_method
from suite.tasks import Task

from . import methods


def outcomes(method: Method, folder: Path, threads: int = 1, patience: float = 30.0) -> list[Outcome]:
    rng = np.random.default_rng(0)
    folders = {}
    for seed, k in ((WARM_UP, 2), (0, 3), (1, 4)):
        folders[seed] = folder / str(seed)
        Task("linear", rng.standard_normal((6, 5)), rng.standard_normal(6), k).save(folders[seed])
    return list(run_method(method, None, threads, folders, patience))


def test_answers_come_in_the_order_of_the_seeds(tmp_path: Path) -> None:
    found = outcomes(methods.FIRST, tmp_path)
    assert [outcome.seed for outcome in found] == [WARM_UP, 0, 1]
    assert [outcome.answer.tolist() for outcome in found] == [[0, 1], [0, 1, 2], [0, 1, 2, 3]]
    assert {outcome.status for outcome in found} == {DONE}
    assert all(0 < outcome.seconds < 30 for outcome in found)


def test_an_exception_is_shown_and_the_next_seed_is_tried(tmp_path: Path) -> None:
    found = outcomes(methods.SOMETIMES, tmp_path)
    assert [outcome.status for outcome in found] == [DONE, FAILED, DONE]
    assert found[1].detail == "ValueError: no model with 3 features"
    always = outcomes(methods.RAISES, tmp_path / "again")
    assert [outcome.detail for outcome in always] == [f"ValueError: no model with {k} features" for k in (2, 3, 4)]


def test_a_process_that_ends_is_shown_for_all_seeds(tmp_path: Path) -> None:
    found = outcomes(methods.DIES, tmp_path)
    assert [(outcome.seed, outcome.status) for outcome in found] == [(WARM_UP, FAILED), (0, FAILED), (1, FAILED)]
    assert found[0].detail == "its process ended with code 7"


def test_a_method_without_an_end_is_given_up(tmp_path: Path) -> None:
    found = outcomes(methods.HANGS, tmp_path, patience=0.5)
    assert [(outcome.seed, outcome.status) for outcome in found] == [(WARM_UP, DONE), (0, LATE), (1, LATE)]
    assert found[1].detail == "> 0.5 s"


def test_threads_are_set_before_the_method_loads(tmp_path: Path) -> None:
    found = outcomes(methods.THREADS, tmp_path, threads=3)
    assert [outcome.answer.tolist() for outcome in found] == [[3]] * 3


@pytest.mark.skipif(not STATUS.exists(), reason="this system does not tell the memory of a process")
def test_peak_memory_is_that_of_the_fit(tmp_path: Path) -> None:
    greedy = outcomes(methods.MEMORY, tmp_path / "greedy")
    modest = outcomes(methods.FIRST, tmp_path / "modest")
    assert all(140 < outcome.megabytes < 250 for outcome in greedy)  # 20 million numbers
    assert all(outcome.megabytes < 20 for outcome in modest)
