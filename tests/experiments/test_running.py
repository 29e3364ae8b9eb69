"""Tasks one after the other and side by side: on one thread, and whatever becomes of some of them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from threadpoolctl import threadpool_limits

from ksparse.experiments import Experiment, Picture, Settings, Table, Task, registry, running
from ksparse.experiments.journal import Journal
from ksparse.experiments.running import KILLED, THREADED, run_all
from ksparse.threads import one_thread, thread_count


@dataclass(frozen=True)
class Deeds(Settings):
    """What the tasks do, in their order; being of this module, they bring it into other processes."""

    deeds: tuple[str, ...] = ("count", "count")


class StubbornError(Exception):
    """An error that cannot be handed from one process to another."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} and {other}")


class Probe(Experiment):
    """An experiment that does as it is told."""

    name, title, paper, text = "probe", "A probe", "Figure 0", "Nothing is done."

    def settings(self, scale: Any) -> Deeds:
        return Deeds()

    def tasks(self, settings: Deeds) -> list[Task]:
        return [Task({"place": place}) for place in range(len(settings.deeds))]

    def run(self, settings: Deeds, task: Task) -> list[dict[str, Any]]:
        deed = settings.deeds[task.place["place"]]
        if deed == "fail":
            raise StubbornError(1, 2)
        if deed == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if deed == "sleep":
            time.sleep(100)
        with one_thread():
            inner = thread_count(10**7)
        return [{"process": os.getpid(), "outer": thread_count(10**7), "inner": inner}]

    def pictures(self, settings: Deeds, table: Table) -> list[Picture]:
        return []


if multiprocessing.parent_process() is not None:  # a worker, which has this module from the settings
    registry.EXPERIMENTS = (Probe(),)


@pytest.fixture(autouse=True)
def _probe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "EXPERIMENTS", (Probe(),))


def run(folder: Path, jobs: int, *deeds: str) -> tuple[Table, list[int], dict[int, str]]:
    """The results, which tasks were said to be done, and what was said of those that failed."""
    settings = Deeds(deeds)
    tasks = Probe().tasks(settings)
    journal = Journal(folder / "probe.jsonl", settings, "1.0")
    done: list[int] = []
    failed: dict[int, str] = {}
    run_all(
        [("probe", settings, task) for task in journal.left(tasks)],
        {"probe": journal},
        jobs,
        lambda item, seconds: done.append(item[2].place["place"]),
        lambda item, error: failed.update({item[2].place["place"]: error}),
    )
    return journal.table(tasks), sorted(done), failed


def test_a_task_has_one_thread_for_large_data_too_and_may_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(THREADED[0], raising=False)
    with threadpool_limits(2, user_api="blas"):
        table, done, failed = run(tmp_path, 1, "count", "fail", "count")
        assert thread_count(10**7) == 2
    assert done == [0, 2]
    assert failed == {1: "StubbornError: 1 and 2"}
    assert table.distinct("outer") == table.distinct("inner") == [1]
    assert table.distinct("process") == [os.getpid()]
    assert THREADED[0] not in os.environ


def test_no_more_processes_than_tasks(tmp_path: Path) -> None:
    table, _, _ = run(tmp_path, 8, "count")
    assert table.distinct("process") == [os.getpid()]


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_side_by_side_the_same_and_a_killed_process_costs_the_tasks_under_way(tmp_path: Path) -> None:
    """A task that fails, and then one whose process is killed; processes have one thread as well."""
    table, done, failed = run(tmp_path, 2, "fail", "count", "count", "die", *["count"] * 4)
    assert failed.pop(0) == "StubbornError: 1 and 2"
    assert 3 in failed
    assert set(failed.values()) == {KILLED}
    assert len(failed) <= 3
    assert sorted([*done, *failed]) == list(range(1, 8))
    assert table.distinct("place") == done
    assert table.distinct("outer") == table.distinct("inner") == [1]
    assert os.getpid() not in table.distinct("process")


class Mortal:
    """A pool of this process: the first task that dies takes all that are under way, and the pool, with it."""

    pools = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        Mortal.pools += 1
        self.broken = False

    def submit(self, work: Any, item: running.Work) -> Future[Any]:
        if self.broken:
            raise BrokenProcessPool
        future: Future[Any] = Future()
        if item[1].deeds[item[2].place["place"]] == "die":
            self.broken = True
            future.set_exception(BrokenProcessPool())
        else:
            future.set_result(work(item))
        return future

    def shutdown(self, **_: Any) -> None:
        pass


def test_where_all_processes_are_killed_there_is_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "ProcessPoolExecutor", Mortal)
    monkeypatch.setattr(Mortal, "pools", 0)
    _, done, failed = run(tmp_path, 2, "die", "die", "count", *["die"] * 40)
    assert done == [2]
    assert Mortal.pools == 3 + running.PATIENCE
    assert failed == dict.fromkeys([0, 1, *range(3, 4 + running.PATIENCE)], KILLED)


ORPHANS = """
if __name__ == "__main__":
    import sys
    from pathlib import Path
    from ksparse.experiments import registry
    from tests.experiments.test_running import Probe, run

    registry.EXPERIMENTS = (Probe(),)
    run(Path(sys.argv[1]), 2, "count", "sleep", "sleep")
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_workers_end_with_a_parent_that_is_killed_and_its_results_are_kept(tmp_path: Path) -> None:
    parent = _started(tmp_path)
    try:
        path = tmp_path / "probe.jsonl"
        _until(lambda: _at_work(path))
        workers = _children(parent.pid)
        assert workers
    finally:
        parent.kill()
        parent.wait()
    _until(lambda: not any(_lives(worker) for worker in workers))
    settings = Deeds(("count", "sleep", "sleep"))
    assert len(Journal(path, settings, "1.0").left(Probe().tasks(settings))) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="needs masks of signals")
@pytest.mark.parametrize("heard_by_another", [False, True])
def test_an_interrupt_waits_while_a_process_is_started(heard_by_another: bool) -> None:
    """Whichever thread the system gives the signal to."""
    end = threading.Event()
    other = threading.Thread(target=end.wait)
    other.start()
    hears = other if heard_by_another else threading.main_thread()
    waited = False

    def start() -> None:
        nonlocal waited
        with running._uninterrupted():
            signal.pthread_kill(hears.ident or 0, signal.SIGINT)
            time.sleep(0.05)
            waited = True

    try:
        with pytest.raises(KeyboardInterrupt):
            start()
    finally:
        end.set()
        other.join()
    assert waited
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_is_for_the_parent() -> None:
    before = signal.getsignal(signal.SIGINT)
    try:
        running._serve()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("at_work", [False, True])
def test_an_interrupt_ends_the_workers_in_silence(tmp_path: Path, at_work: bool) -> None:
    """A terminal interrupts all processes: those that are still being started, too."""
    path = tmp_path / "probe.jsonl"
    with _started(tmp_path, start_new_session=True, stderr=subprocess.PIPE, text=True) as parent:
        try:
            # Beside its workers it has one process, which was there before them.
            _until(lambda: len(_children(parent.pid)) > 1 and (_at_work(path) or not at_work))
            workers = _children(parent.pid)
            os.killpg(parent.pid, signal.SIGINT)
            _, errors = parent.communicate(timeout=60)
        finally:
            parent.kill()
    assert errors.count("Traceback") == 1  # of the parent
    assert errors.endswith("KeyboardInterrupt\n")
    _until(lambda: not any(_lives(worker) for worker in workers))


def _at_work(journal: Path) -> bool:
    """The first of the tasks is done, and the others go on."""
    return journal.exists() and journal.read_bytes().count(b"\n") == 2


def _started(folder: Path, **options: Any) -> subprocess.Popen[Any]:
    script = folder / "orphans.py"
    script.write_text(ORPHANS)
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(["", *sys.path])}
    return subprocess.Popen([sys.executable, str(script), str(folder)], env=here, **options)


def _until(true: Any) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def _status(process: int) -> list[str]:
    """State and parent of a process, and more."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()


def _lives(process: int) -> bool:
    try:
        return _status(process)[0] != "Z"
    except OSError:
        return False


def _children(parent: int) -> list[int]:
    processes = [int(place.name) for place in Path("/proc").iterdir() if place.name.isdecimal()]
    return [each for each in processes if _lives(each) and _status(each)[1] == str(parent)]
