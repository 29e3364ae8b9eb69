"""Workers that die, a scheduler that is gone, and Ctrl-C: the same answer, or an error that says what to do."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ksparse import SparseLogisticRegression
from ksparse._types import Array
from ksparse.designs.blocked import dask_waiting
from ksparse.designs.blocked.dask_runner import DaskRunner
from tests.scaling.conftest import wait_for_release
from tests.scaling.test_dask_arrays import MODELS, X, assert_same, in_chunks

pytestmark = pytest.mark.slow

LABELS = MODELS["logistic"][1]


def act_before(monkeypatch: pytest.MonkeyPatch, round_trip: int, act: Callable[[], Any]) -> None:
    """Do something before one of the round trips of a fit."""
    reduce, count = DaskRunner.reduce, [0]

    def watched(self: DaskRunner, *arguments: Any) -> Any:
        count[0] += 1
        if count[0] == round_trip:
            act()
        return reduce(self, *arguments)

    monkeypatch.setattr(DaskRunner, "reduce", watched)


def fit() -> SparseLogisticRegression:
    return SparseLogisticRegression(k=3, alpha=1e-3).fit(in_chunks(X), LABELS)


def test_a_worker_is_killed_during_the_fit(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pids = list(client.run(os.getpid).values())
    act_before(monkeypatch, 8, lambda: os.kill(pids[0], signal.SIGKILL))
    assert_same(fit(), SparseLogisticRegression(k=3, alpha=1e-3).fit(X, LABELS))
    client.wait_for_workers(2)
    assert pids[0] not in client.run(os.getpid).values()


def test_a_worker_with_labels_is_killed_during_the_fit(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pids = list(client.run(os.getpid).values())
    act_before(monkeypatch, 12, lambda: os.kill(pids[0], signal.SIGKILL))
    here = SparseLogisticRegression(k=3, alpha=1e-3).fit(in_chunks(X, 17), in_chunks(LABELS))
    assert_same(here, SparseLogisticRegression(k=3, alpha=1e-3).fit(X, LABELS))
    client.wait_for_workers(2)


def test_the_scheduler_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import Client, LocalCluster

    options: dict[str, Any] = {"processes": False, "dashboard_address": ":0"}
    with LocalCluster(n_workers=1, threads_per_worker=1, **options) as cluster, Client(cluster):
        act_before(monkeypatch, 8, cluster.close)
        with pytest.raises(ConnectionError, match="connection to the scheduler of Dask was lost"):
            fit()


def test_blocks_that_no_worker_can_hold_are_refused(client: Any) -> None:
    import dask.array as da

    large = da.zeros((50_000, 1000), chunks=(50_000, 1000))
    with pytest.raises(ValueError, match="takes 400 MB, too much for workers with a memory limit of 600 MB"):
        SparseLogisticRegression(k=3).fit(large, np.arange(50_000) % 2)


class Dying:
    """Ends the process of the worker that computes a block."""

    def __call__(self, block: Array) -> Array:
        os._exit(1)


def test_workers_that_die_again_and_again(cluster: Any, client: Any) -> None:
    cluster.scheduler.allowed_failures, usual = 0, cluster.scheduler.allowed_failures
    try:
        blocks = in_chunks(X, 1).map_blocks(Dying(), meta=np.empty((0, 0)))
        with pytest.raises(MemoryError, match="memory limit of a worker, 600 MB: use smaller chunks"):
            SparseLogisticRegression(k=3).fit(blocks, LABELS)
    finally:
        cluster.scheduler.allowed_failures = usual
    client.wait_for_workers(2)


def describe_workers(*states: tuple[str, int]) -> dict[str, Any]:
    return {
        "workers": {
            str(i): {"status": status, "metrics": {"task_counts": {"executing": executing, "ready": 1}}}
            for i, (status, executing) in enumerate(states)
        }
    }


@pytest.mark.parametrize(
    ("states", "said"),
    [
        ([("paused", 0), ("running", 0)], "1 of 2 workers are paused"),
        ([], "all workers are gone"),
        ([("paused", 0), ("running", 1)], None),
        ([("running", 0), ("running", 0)], None),
    ],
)
def test_workers_that_do_nothing_end_the_fit(
    states: list[tuple[str, int]], said: str | None, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(client, "scheduler_info", lambda **_: describe_workers(*states))
    monkeypatch.setattr(client, "run", lambda function, workers, **_: asked.append((function, workers)))
    monkeypatch.setattr(dask_waiting, "CHECK_SECONDS", 0.01)
    monkeypatch.setattr(dask_waiting, "STANDSTILL_SECONDS", 0.05)
    waits = client.submit(abs, -1, workers=["tcp://127.0.0.1:1"], allow_other_workers=False)
    try:
        if said is None:
            threading.Timer(0.3, waits.cancel).start()
            dask_waiting.wait_for_futures([waits], [10**9])
        else:
            with pytest.raises(MemoryError, match=f"computed for 0.05 seconds: {said}.*1 GB: use smaller chunks"):
                dask_waiting.wait_for_futures([waits], [10**9])
    finally:
        waits.cancel()
    is_paused = said is not None and "paused" in said
    assert ({workers[0] for _, workers in asked} == {"0"}) == is_paused
    assert all(function is dask_waiting.give_memory_back for function, _ in asked)


def test_freed_memory_is_given_back() -> None:
    dask_waiting.give_memory_back()


class Sleeping:
    """Waits before a block is there."""

    def __call__(self, block: Array) -> Array:
        threading.Event().wait(20)
        return block


def test_an_interrupt_leaves_nothing_behind(caplog: pytest.LogCaptureFixture) -> None:
    """On a cluster of its own, since the sleeping tasks would hold up the tests that follow."""
    from distributed import Client, LocalCluster

    options: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(n_workers=1, **options) as cluster, Client(cluster) as client:
        blocks = in_chunks(X).map_blocks(Sleeping(), meta=np.empty((0, 0)))
        timer = threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        try:
            with pytest.raises(KeyboardInterrupt):
                SparseLogisticRegression(k=3, alpha=1e-3).fit(blocks, LABELS)
        finally:
            timer.cancel()
        gc.collect()
        assert "never retrieved" not in caplog.text
        wait_for_release(client)
