"""Tasks in one process and in several: on one thread, with results that survive whatever happens to other tasks."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from reproduction.base import Experiment, Picture, Row, Settings, Task
from reproduction.experiments.logistic import LogisticSettings
from reproduction.tasks import KILLED, OtherSettingsError, TaskStore, Work, run_all


@dataclass(frozen=True)
class Actions(Settings):
    """What the tasks do."""

    actions: tuple[str, ...] = ("count", "count")
    replications: int = 1


class Probe(Experiment):
    """An experiment whose tasks do what the settings say."""

    name, title, paper, text = "probe", "A probe", "Figure 0", "Nothing is done."

    def make_settings(self, scale: Any) -> Actions:
        return Actions()

    def list_tasks(self, settings: Actions) -> list[Task]:
        return [Task({"number": number}) for number in range(len(settings.actions))]

    def run(self, settings: Actions, task: Task) -> list[Row]:
        action = settings.actions[task.key["number"]]
        if action == "fail":
            raise ArithmeticError("no luck")
        if action == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        return [{"process": os.getpid(), "threads": max(each["num_threads"] for each in threadpool_info())}]

    def draw_pictures(self, settings: Actions, frame: pd.DataFrame) -> list[Picture]:
        return []


def run(folder: Path, jobs: int, *actions: str) -> tuple[list[Row], list[str], int]:
    """The rows, the failures, and how many tasks were reported as done."""
    settings = Actions(actions)
    store = TaskStore(folder, settings)
    tasks = Probe().list_tasks(settings)
    done: list[Work] = []
    failures = run_all([Work(Probe(), settings, task, store) for task in tasks], jobs, done.append)
    found = store.read(tasks)
    return [row for task in tasks if task.name in found for row in found[task.name].rows], failures, len(done)


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_each_task_runs_on_one_thread(tmp_path: Path, jobs: int) -> None:
    with threadpool_limits(2):
        rows, failures, done = run(tmp_path, jobs, "count", "count", "count")
    assert [row["number"] for row in rows] == [0, 1, 2]
    assert {row["threads"] for row in rows} == {1}
    assert (os.getpid() in {row["process"] for row in rows}) == (jobs == 1)
    assert (failures, done) == ([], 3)


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_failing_task_does_not_stop_the_others(tmp_path: Path, jobs: int) -> None:
    rows, failures, done = run(tmp_path, jobs, "count", "fail", "count")
    assert [row["number"] for row in rows] == [0, 2]
    assert failures == ["probe number=1: ArithmeticError: no luck"]
    assert done == 3


@pytest.mark.slow
def test_a_killed_process_is_reported_and_finished_tasks_are_kept(tmp_path: Path) -> None:
    run(tmp_path, 2, "count")
    settings = Actions(("count", "die", "count"))
    store = TaskStore(tmp_path / "other", settings)
    tasks = Probe().list_tasks(settings)
    assert run_all([Work(Probe(), settings, task, store) for task in tasks], 2, lambda _: None) == [KILLED]
    store.write(tasks[2], [{"process": 1}], 0.5)
    assert "number=2" in store.read(tasks)


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    store = TaskStore(tmp_path / "probe", Actions())
    tasks = Probe().list_tasks(Actions())
    assert store.read(tasks) == {}
    store.write(tasks[0], [{"error": 0.1 + 0.2, "status": "ok"}, {"error": float("inf")}], 1.23456)
    (result,) = store.read(tasks).values()
    assert result.rows == [{"number": 0, "error": 0.1 + 0.2, "status": "ok"}, {"number": 0, "error": float("inf")}]
    assert result.seconds == 1.235
    assert result.finished.tzinfo is not None
    assert [path.name for path in (tmp_path / "probe").iterdir()] == ["number=0.json"]
    # Tasks that are not asked for are left out.
    assert store.read(tasks[1:]) == {}


def test_an_interrupted_write_leaves_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = TaskStore(tmp_path, Actions())
    (task, _) = Probe().list_tasks(Actions())
    store.write(task, [{"error": 1.0}], 1.0)

    def interrupt(self: Path, *_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            store.write(task, [{"error": 2.0}], 1.0)
    # The former result is complete, and the partial file does not count.
    assert store.read([task])[task.name].rows == [{"number": 0, "error": 1.0}]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"rows": []}', '"text"'])
def test_damaged_files_are_run_again(tmp_path: Path, content: str) -> None:
    store = TaskStore(tmp_path, Actions())
    tasks = Probe().list_tasks(Actions())
    store.write(tasks[0], [{"error": 1.0}], 1.0)
    (tmp_path / "number=1.json").write_text(content)
    assert list(store.read(tasks)) == ["number=0"]


def test_results_of_other_settings_or_versions_are_refused(tmp_path: Path) -> None:
    tasks = Probe().list_tasks(Actions())
    TaskStore(tmp_path, Actions()).write(tasks[0], [{"error": 1.0}], 1.0)
    with pytest.raises(OtherSettingsError, match=r"number=0\.json has results of settings .* Use another folder"):
        TaskStore(tmp_path, Actions(("fail",))).read(tasks)
    # More replications continue the same run.
    assert TaskStore(tmp_path, Actions(replications=9)).read(tasks)
    path = tmp_path / "number=0.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": "0.0.0"}))
    with pytest.raises(OtherSettingsError, match=r"results of version 0\.0\.0"):
        TaskStore(tmp_path, Actions()).read(tasks)


def test_every_setting_but_the_replications_counts() -> None:
    settings = LogisticSettings(((100, 5),), 3, ())
    assert settings.compute_fingerprint() == replace(settings, replications=5).compute_fingerprint()
    others = [
        replace(settings, sizes=((100, 6),)),
        replace(settings, steps_at=(100,)),
        replace(settings, multiple=8.0),
        replace(settings, alpha=1e-3),
    ]
    assert len({each.compute_fingerprint() for each in (settings, *others)}) == 5


def test_names_of_files_differ() -> None:
    tasks = [Task({"a": 1, "b": "x y"}), Task({"a": 1, "b": "x"}), Task({"a": 0.5}), Task({"a": 5})]
    assert [task.name for task in tasks] == ["a=1,b=x_y", "a=1,b=x", "a=0.5", "a=5"]
