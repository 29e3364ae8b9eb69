"""Which chunks of Dask make a block, what one task does with them, and what those who watch the work see."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
import zarr
from dask.diagnostics import Callback, ProgressBar
from distributed import progress
from distributed.diagnostics.progress import AllProgress

from ksparse import SparseLinearRegression, SparseLogisticRegression, SparseLogisticRegressionCV
from ksparse.designs import as_design
from ksparse.designs.blocked import BlockedDesign, dask_runner
from ksparse.designs.blocked.dask_chunks import choose_block_count, group_chunks, make_readers
from ksparse.designs.blocked.dask_runner import DaskRunner
from ksparse.designs.blocked.dask_waiting import wait_for_futures
from tests.scaling.test_dask_arrays import MODELS, NOISE, SIGNAL, N, P, X, assert_same, in_chunks

LABELS = MODELS["logistic"][1]


def open_blocks_of(X: Any) -> BlockedDesign:
    design = as_design(X)
    assert isinstance(design, BlockedDesign)
    return design


class KeyRecorder(Callback):  # type: ignore[misc]
    """The names of the tasks that Dask runs."""

    def __init__(self) -> None:
        self.names: list[str] = []
        super().__init__(pretask=lambda key, *_: self.names.append(dask.utils.key_split(key)))


# --- blocks -----------------------------------------------------------------------------------------------------------


def test_small_chunks_lie_together() -> None:
    assert group_chunks([10, 10, 10], 4) == [[10], [10], [10]]
    assert group_chunks([10] * 8, 4) == [[10, 10]] * 4
    sizes = [1, 40, 3, 27, 11, 29, 2, 31, 19, 17, 13, 23, 5, 37, 7, 20, 15]
    groups = group_chunks(sizes, 5)
    assert [size for group in groups for size in group] == sizes
    assert len(groups) <= 5
    assert max(map(sum, groups)) < 2 * sum(sizes) / 5


def test_blocks_fit_into_a_worker() -> None:
    assert choose_block_count(10**6, 2, np.inf) == 8
    # 32 columns of all rows take 256 MB, and those of a block a sixteenth of 400 MB.
    assert choose_block_count(10**6, 2, 4e8) == 11


def test_many_chunks_take_few_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ksparse.designs.blocked.dask_runner._count_own_threads", lambda: 1)
    design = open_blocks_of(da.from_array(X, chunks=(7, P)))
    assert (len(design.rows.chunks), sum(map(len, design.rows.chunks))) == (4, -(-N // 7))
    with KeyRecorder() as recorder:
        SparseLogisticRegression(k=3, alpha=1e-3).fit(design, LABELS)
    tasks = [name for name in recorder.names if name.startswith("ksparse")]
    assert len(tasks) < 7 * design.counters.round_trips
    assert_same(
        SparseLogisticRegression(k=3, alpha=1e-3).fit(da.from_array(X, chunks=(7, P)), in_chunks(LABELS)),
        SparseLogisticRegression(k=3, alpha=1e-3).fit(X, LABELS),
    )


def test_what_chunks_have_in_common_is_not_computed_for_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    array: Any = zarr.open(str(tmp_path / "X.zarr"), mode="w", shape=X.shape, chunks=(30, P), dtype=float)
    array[...] = X
    stored = da.from_zarr(str(tmp_path / "X.zarr"))
    for alone in (stored, 2.0 * stored + 1.0, in_chunks(X, 17)):
        readers = make_readers(alone.to_delayed().ravel().tolist(), are_sent=True)
        assert readers is not None
        np.testing.assert_array_equal(np.concatenate([read() for read in readers]), alone.compute())
    np.save(tmp_path / "X.npy", np.tile(X, (10, 1)))
    mapped = da.from_array(np.load(tmp_path / "X.npy", mmap_mode="r"), chunks=(300, P)).to_delayed().ravel().tolist()
    for common in (stored - stored.mean(axis=0), stored.rechunk((45, P))):
        for are_sent in (True, False):
            assert make_readers(common.to_delayed().ravel().tolist(), are_sent=are_sent) is None
    with monkeypatch.context() as patch:
        patch.setattr("cloudpickle.dumps", lambda _: pytest.fail("a memory map was copied"))
        assert make_readers(mapped, are_sent=True) is None  # it would be sent whole
        assert make_readers(mapped, are_sent=False) is not None


@pytest.mark.parametrize("fits", [True, False])
@pytest.mark.parametrize("common", [True, False])
def test_blocks_of_several_chunks_give_the_same_answers(
    fits: bool, common: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ksparse.designs.blocked.dask_runner._count_own_threads", lambda: 1)
    monkeypatch.setattr("ksparse.designs.blocked.block_plan.ROWS_AT_ONCE", 50)
    if not fits:
        monkeypatch.setattr("ksparse.designs.blocked.dask_inputs.KEPT_FRACTION", 1e-9)
    blocks = in_chunks(X, 17)
    blocks = blocks - 0.0 * blocks.mean(axis=0) if common else blocks
    design = open_blocks_of(blocks)
    assert design.rows.in_memory == fits
    assert (len(design.rows.chunks) <= 4) == (fits or not common)
    here = SparseLogisticRegression(k=3, alpha=1e-3).fit(design, in_chunks(LABELS))
    assert_same(here, SparseLogisticRegression(k=3, alpha=1e-3).fit(X, LABELS))
    part = np.random.default_rng(3).permutation(N)[:200]
    rows = design.select_rows(part)
    np.testing.assert_array_equal(rows.collect_columns(np.arange(P)), X[part])


# --- watching ---------------------------------------------------------------------------------------------------------


def test_tasks_have_names_that_say_what_they_do() -> None:
    with KeyRecorder() as recorder:
        SparseLogisticRegression(k=3, alpha=1e-3).fit(in_chunks(X), in_chunks(LABELS))
    names = {name for name in recorder.names if name.startswith("ksparse")}
    assert {"ksparse-moments", "ksparse-gradient", "ksparse-refit", "ksparse-products"} <= names


def test_progress_bars_show_the_work() -> None:
    out = io.StringIO()
    with ProgressBar(out=out):
        SparseLinearRegression(k=3).fit(in_chunks(X), in_chunks(SIGNAL + NOISE))
    assert "100% Completed" in out.getvalue()


@pytest.mark.slow
def test_the_dashboard_of_a_cluster_shows_the_work(
    cluster: Any, client: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The bars of the dashboard, by the name of each task, and those of `distributed.progress`."""
    wait, bars, shown = wait_for_futures, AllProgress(cluster.scheduler), set[str]()

    def watch(futures: Any, limits: Any) -> None:
        if not shown:
            progress(futures, notebook=False)
        wait(futures, limits)
        shown.update(bars.all)

    monkeypatch.setattr(dask_runner, "wait_for_futures", watch)
    try:
        SparseLogisticRegression(k=3, alpha=1e-3).fit(in_chunks(X), in_chunks(LABELS))
    finally:
        cluster.scheduler.remove_plugin(name=bars.name)
    assert {"ksparse-moments", "ksparse-gradient", "ksparse-refit"} <= shown
    assert "100% Completed" in capsys.readouterr().out


# --- folds ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_folds_run_side_by_side_with_the_same_answers(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"ks": [2], "cv": 2, "alphas": 0.01, "refit_alphas": 0.01, "solver": "grahtp"}
    running, most, reduce = [0], [0], DaskRunner.reduce

    def watch(self: DaskRunner, *arguments: Any) -> Any:
        running[0] += 1
        most[0] = max(most[0], running[0])
        try:
            return reduce(self, *arguments)
        finally:
            running[0] -= 1

    monkeypatch.setattr(DaskRunner, "reduce", watch)
    together = SparseLogisticRegressionCV(**options).fit(in_chunks(X), in_chunks(LABELS))
    assert most[0] == 2
    alone = SparseLogisticRegressionCV(**options, n_jobs=1).fit(in_chunks(X), in_chunks(LABELS))
    np.testing.assert_array_equal(together.grid_scores_, alone.grid_scores_)
    np.testing.assert_array_equal(together.coef_, alone.coef_)
    assert_same(together, SparseLogisticRegressionCV(**options).fit(X, LABELS))
