"""Results that are written as they come, and a run that goes on where it stopped."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from ksparse.experiments import Settings, Task
from ksparse.experiments.journal import Journal, OtherSettingsError


@dataclass(frozen=True)
class Sizes(Settings):
    n: int = 3
    ks: tuple[int, ...] = (1, 2)
    replications: int = 2


TASKS = [Task({"n": n, "replication": r}) for r in range(2) for n in (10, 20)]


def filled(path: Path, count: int = 2) -> Journal:
    journal = Journal(path, Sizes(), "1.0")
    for task in TASKS[:count]:
        journal.add(task, [{"method": "GraHTP", "error": 0.1}, {"method": "FBS", "error": 1 / 3}])
    return journal


def test_what_was_done_is_there_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "journal.jsonl"
    assert filled(path).left(TASKS) == TASKS[2:]
    again = Journal(path, Sizes(), "1.0")
    assert len(again) == 2
    assert again.left(TASKS) == TASKS[2:]
    assert again.table(TASKS).rows == filled(tmp_path / "other.jsonl").table(TASKS).rows
    assert again.table(TASKS).rows[1] == {"n": 10, "replication": 0, "method": "FBS", "error": 1 / 3}


@pytest.mark.parametrize("cut", [1, 10, 60])
def test_a_line_that_was_cut_off_is_done_again(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "journal.jsonl"
    filled(path)
    path.write_bytes(path.read_bytes()[:-cut])
    again = Journal(path, Sizes(), "1.0")
    assert again.left(TASKS) == TASKS[1:]
    again.add(TASKS[1], [{"error": 2.0}])
    assert Journal(path, Sizes(), "1.0").left(TASKS) == TASKS[2:]
    assert Journal(path, Sizes(), "1.0").table(TASKS).values("error", n=20).tolist() == [2.0]


def test_results_are_in_the_order_of_the_tasks(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl", Sizes(), "1.0")
    for task in reversed(TASKS):
        journal.add(task, [{"error": 0.0}])
    assert [row["n"] for row in journal.table(TASKS).rows] == [10, 20, 10, 20]


@pytest.mark.parametrize(("settings", "version"), [(Sizes(n=4), "1.0"), (Sizes(ks=(1,)), "1.0"), (Sizes(), "1.1")])
def test_results_of_other_settings_are_refused(tmp_path: Path, settings: Sizes, version: str) -> None:
    filled(tmp_path / "journal.jsonl")
    with pytest.raises(OtherSettingsError, match="give --out another folder"):
        Journal(tmp_path / "journal.jsonl", settings, version)


def test_more_replications_go_on_with_those_that_were_done(tmp_path: Path) -> None:
    filled(tmp_path / "journal.jsonl")
    assert len(Journal(tmp_path / "journal.jsonl", Sizes(replications=5), "1.0")) == 2
