"""The formulas of the plan in docs/scaling.md: they agree with counts of fits and with a simulated scheduler."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import dask.array as da
import numpy as np
import pytest
from scaling_plan import DENSE_PLAN, FAN_IN, SPARSE_PLAN, Cluster, Fit, render_plan, simulate_round_trip

from ksparse.designs.blocked import runner
from ksparse.designs.blocked.dask_chunks import BLOCKS_PER_THREAD, choose_block_count
from ksparse.objectives import Logistic

ROOT = Path(__file__).parents[2]
rng = np.random.default_rng(0)


@pytest.mark.parametrize(("blocks", "k"), [(3, 5), (8, 20), (20, 20), (70, 3)])
def test_bytes_are_those_that_are_counted(blocks: int, k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ksparse.designs.blocked.dask_runner._count_own_threads", lambda: 18)
    features, rows = 400, 4 * blocks
    X, y = rng.standard_normal((rows, features)), np.arange(rows) % 2
    f = Logistic(da.from_array(X, chunks=(4, features)), y, fit_intercept=True, alpha=0.1)
    support = np.arange(features + 1) >= features - k
    restricted, plan = f.restrict(support), Fit(rows, features, k, blocks)
    point = restricted.evaluate(np.full(k + 1, 0.01))
    _ = point.gradient
    before = f.counters.bytes_received
    trial = restricted.evaluate(np.full(k + 1, 0.02))
    received = f.counters.bytes_received - before
    assert received == pytest.approx(plan.count_received(plan.count_refit_numbers()), rel=0.25)
    before = f.counters.bytes_received
    _ = trial.extend(f, support).gradient
    received = f.counters.bytes_received - before
    assert received == pytest.approx(plan.count_received(plan.count_gradient_numbers()), rel=0.25)


def test_blocks_of_many_chunks_are_those_of_the_plan() -> None:
    for fit, cluster in (SPARSE_PLAN, DENSE_PLAN):
        assert fit.blocks >= BLOCKS_PER_THREAD * cluster.workers
        memory = fit.find_worker_memory(cluster, 2 * fit.k, in_memory=fit.chunks == 0)
        assert fit.blocks >= choose_block_count(int(fit.rows), cluster.workers, memory)


def test_tasks_and_levels_are_those_of_the_tree() -> None:
    assert FAN_IN == runner.FAN_IN
    for blocks, tasks, depth, left in [
        (1, 1, 1, 1),
        (8, 8, 1, 8),
        (9, 11, 2, 2),
        (64, 72, 2, 8),
        (65, 65 + 9 + 2, 3, 2),
    ]:
        fit = Fit(1e6, 10, 2, blocks)
        assert (fit.tasks, fit.depth, fit.parts_for_client) == (tasks, depth, left)


@pytest.mark.parametrize("blocks", [8, 64, 100, 1000, 5000])
@pytest.mark.parametrize("workers", [2, 100])
@pytest.mark.parametrize("seconds_of_block", [1e-4, 1e-2, 1.0])
def test_seconds_are_those_of_a_simulated_scheduler(blocks: int, workers: int, seconds_of_block: float) -> None:
    fit, cluster = Fit(1e9, 100_000, 100, blocks), Cluster(workers)
    for numbers in (fit.count_refit_numbers(), fit.count_gradient_numbers()):
        seconds = simulate_round_trip(fit, cluster, numbers, seconds_of_block)
        assert fit.find_round_trip_seconds(cluster, numbers, seconds_of_block) == pytest.approx(seconds, rel=0.3)


def test_more_of_each_means_more_of_it() -> None:
    plans = [Fit(1e8, 1000, k, 100) for k in (10, 20, 40)]
    for small, large in pairwise(plans):
        assert large.count_received(large.count_refit_numbers()) > small.count_received(small.count_refit_numbers())
    many, few = Cluster(100), Cluster(10)
    assert plans[0].find_worker_memory(few) == pytest.approx(10 * plans[0].find_worker_memory(many))


def test_the_plan_in_the_docs_is_what_the_formulas_give() -> None:
    page = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")
    assert render_plan() in page
