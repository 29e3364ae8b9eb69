"""What blocks of rows cost: round trips, X in memory on two workers, X on disk beyond their memory, and other packages.

    python benchmarks/scaling.py overhead
    python benchmarks/scaling.py memory [--gigabytes 2]
    python benchmarks/scaling.py disk [--gigabytes 12] [--limit 1.5GB] [--folder FOLDER]
    python benchmarks/scaling.py peers [--gigabytes 0.2]       # needs dask-ml

Each prints a table for `docs/scaling.md`. The clusters have two worker processes of one thread each. Of 100 standard
normal features ten matter; the model is a logistic regression with k = 10.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster, wait

from ksparse import SparseLogisticRegression
from ksparse._types import Array
from ksparse.designs import BlockedDesign, as_design
from ksparse.objectives import Logistic

FEATURES, SELECTED, BLOCKS = 100, 10, 16
#: What Dask sets for its workers makes the allocator give memory back after each array, which costs more time than the
#: arithmetic.
ALLOCATOR = {"MALLOC_TRIM_THRESHOLD_": 2**28, "MALLOC_MMAP_THRESHOLD_": 2**28}
NAME = "distributed.nanny.pre-spawn-environ"


@contextmanager
def start_cluster(limit: str = "auto", tuned: bool = True) -> Iterator[Client]:
    """Two worker processes of one thread each."""
    environment = {**dask.config.get(NAME), **(ALLOCATOR if tuned else {})}
    with dask.config.set({NAME: environment}):
        options: dict[str, Any] = {"memory_limit": limit, "dashboard_address": ":0"}
        with LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster, Client(cluster) as client:
            yield client


def draw_block(number: int, rows: int) -> Array:
    """Rows of X."""
    return np.random.default_rng(number).standard_normal((rows, FEATURES))


def draw_labels(blocks: int, rows: int) -> Array:
    """Labels of all rows, from the ten columns that matter."""
    parts = [draw_block(i, rows)[:, :: FEATURES // SELECTED].sum(axis=1) for i in range(blocks)]
    noise = np.random.default_rng(10**6).standard_normal(blocks * rows)
    return (np.concatenate(parts) + noise > 0).astype(int)


def make_array(read: Callable[..., Any], blocks: int, rows: int, *arguments: Any) -> Any:
    """An array of Dask whose blocks a function makes."""
    parts = [
        da.from_delayed(dask.delayed(read)(i, rows, *arguments), (rows, FEATURES), np.float64) for i in range(blocks)
    ]
    return da.concatenate(parts)


def make_model() -> SparseLogisticRegression:
    """The model of all cases."""
    return SparseLogisticRegression(k=SELECTED, alpha=1e-3)


def measure(function: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of a call, and what it returns."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def show(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    """Print a table."""
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")


def run_overhead() -> None:
    """Seconds of a round trip without arithmetic, over block counts."""
    rows = []
    for name in ("threads", "two processes"):
        for blocks in (1, 4, 16, 64, 256):
            X, y = draw_block(0, 10 * blocks), 1.0 * (np.arange(10 * blocks) % 2)

            def fit(X: Any = X, y: Any = y) -> list[float]:
                f = Logistic(da.from_array(X, chunks=(10, FEATURES)), y, alpha=0.1)
                restricted = f.restrict(np.arange(FEATURES) < SELECTED)
                points = np.random.default_rng(0).standard_normal((21, SELECTED))
                return [measure(partial(restricted.evaluate, x))[0] for x in points][1:]

            if name == "threads":
                seconds = fit()
            else:
                with start_cluster():
                    seconds = fit()
            rows.append((name, blocks, f"{1e3 * np.median(seconds):.1f}", f"{1e3 * np.median(seconds) / blocks:.2f}"))
    show(("scheduler", "blocks", "ms of a round trip", "ms for each block"), rows)


def _fit_here(n: int, y: Array) -> tuple[float, Any]:
    X = np.concatenate([draw_block(i, n) for i in range(BLOCKS)])
    make_model().fit(X[:5000], y[:5000])
    return measure(lambda: make_model().fit(X, y))


def run_memory(gigabytes: float) -> None:
    """X in memory: a fit in this process, and on two workers."""
    n = int(gigabytes * 1e9 / 8 / FEATURES / BLOCKS)
    y = draw_labels(BLOCKS, n)
    rows: list[tuple[Any, ...]] = []
    seconds, here = _fit_here(n, y)
    rows.append(("this process, one thread", f"{seconds:.1f}", "1", here.result_.passes, "-", "0"))
    for tuned in (True, False):
        with start_cluster(tuned=tuned):
            blocks = make_array(draw_block, BLOCKS, n).persist()
            wait(blocks)
            make_model().fit(blocks[:n], y[:n])
            design = as_design(blocks)
            time_there, there = measure(partial(make_model().fit, design, y))
            name = "two workers" + ("" if tuned else ", Dask's allocator settings")
            difference = f"{np.abs(there.coef_ - here.coef_).max():.1g}"
            trips = design.counters.round_trips
            rows.append(
                (name, f"{time_there:.1f}", f"{time_there / seconds:.2f}", there.result_.passes, trips, difference)
            )
    show(("where", "seconds", "relative", "passes", "round trips", "difference of coefficients"), rows)


def read_block(number: int, rows: int, folder: str) -> Array:
    """A block of X on disk, which does not stay in the page cache."""
    with open(f"{folder}/{number}.bin", "rb") as file:
        values = np.fromfile(file).reshape(rows, FEATURES)
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return values


def write_block(number: int, rows: int, folder: str) -> int:
    """Write a block of X."""
    with open(f"{folder}/{number}.bin", "wb") as file:
        draw_block(number, rows).tofile(file)
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return 0


def find_peak() -> float:
    """Peak memory of this process in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def run_disk(gigabytes: float, limit: str, folder: str | None) -> None:
    """X on disk, larger than the memory of the workers: seconds of a pass beside those of reading alone."""
    rows_of_block = 64 * 10**6 // 8 // FEATURES
    blocks = max(int(gigabytes * 1e9 / 64e6), 1)
    place = tempfile.mkdtemp(dir=folder)
    try:
        with start_cluster(limit) as client:
            wait([client.submit(write_block, i, rows_of_block, place, pure=False) for i in range(blocks)])
            y = draw_labels(blocks, rows_of_block)
            X = make_array(read_block, blocks, rows_of_block, place)
            reading, _ = measure(
                lambda: client.gather(
                    [client.submit(_read_only, i, rows_of_block, place, pure=False) for i in range(blocks)]
                )
            )
            design = as_design(X)
            assert isinstance(design, BlockedDesign)
            assert not design.rows.in_memory
            f = Logistic(design, y, alpha=1e-3)
            start = f.evaluate(f.start)
            one_pass, _ = measure(lambda: start.gradient)
            seconds, model = measure(lambda: make_model().fit(as_design(X), y))
            peaks = client.run(find_peak).values()
            found = int(model.support_[:: FEATURES // SELECTED].sum())
        show(
            (
                "X",
                "limit",
                "reading",
                "a pass",
                "relative",
                "fit",
                "passes",
                "right features",
                "peak memory of a worker",
            ),
            [
                (
                    f"{blocks * 0.064:.3g} GB",
                    f"2 × {limit}",
                    f"{reading:.1f} s",
                    f"{one_pass:.1f} s",
                    f"{one_pass / reading:.2f}",
                    f"{seconds:.0f} s",
                    model.result_.passes,
                    f"{found} of {SELECTED}",
                    f"{max(peaks):.2f} GB",
                )
            ],
        )
    finally:
        shutil.rmtree(Path(place))


def _read_only(number: int, rows: int, folder: str) -> float:
    return float(read_block(number, rows, folder)[0, 0])


def run_peers(gigabytes: float) -> None:
    """Seconds until the mean loss of a model with all features, of other packages, is reached."""
    from dask_ml.linear_model import LogisticRegression
    from sklearn.linear_model import SGDClassifier

    n = int(gigabytes * 1e9 / 8 / FEATURES / BLOCKS)
    y, whole = draw_labels(BLOCKS, n), np.concatenate([draw_block(i, n) for i in range(BLOCKS)])

    def loss(margins: Array) -> float:
        return float(np.logaddexp(0.0, -(2 * y - 1) * margins).mean())

    rows: list[tuple[Any, ...]] = []
    with start_cluster():
        X = make_array(draw_block, BLOCKS, n).persist()
        labels = da.from_array(y, chunks=n).persist()
        wait([X, labels])
        make_model().fit(X[:n], y[:n])
        seconds, model = measure(lambda: make_model().fit(X, y))
        rows.append(("ksparse, k = 10", f"{seconds:.1f}", f"{loss(whole @ model.coef_[0] + model.intercept_):.5f}"))
        for solver in ("lbfgs", "admm"):
            other = LogisticRegression(solver=solver, C=1.0)
            seconds, _ = measure(partial(other.fit, X, labels))
            margins = whole @ np.ravel(other.coef_) + float(np.ravel(other.intercept_)[0])
            rows.append((f"dask-ml LogisticRegression({solver})", f"{seconds:.1f}", f"{loss(margins):.5f}"))
    descent, begin = SGDClassifier(loss="log_loss", alpha=1e-6, random_state=0), time.perf_counter()
    for epoch in range(1, 6):
        for i in range(BLOCKS):
            descent.partial_fit(draw_block(i, n), y[i * n : (i + 1) * n], classes=[0, 1])
        margins = whole @ descent.coef_[0] + descent.intercept_[0]
        seconds = time.perf_counter() - begin
        rows.append((f"SGDClassifier.partial_fit, {epoch} passes", f"{seconds:.1f}", f"{loss(margins):.5f}"))
    show(("method", "seconds", "mean loss"), rows)


def main() -> None:
    """Run one of the cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=["overhead", "memory", "disk", "peers"])
    parser.add_argument("--gigabytes", type=float, help="size of X")
    parser.add_argument("--limit", default="1.5GB", help="memory of each worker, for X on disk")
    parser.add_argument("--folder", help="where to write X, for X on disk")
    options = parser.parse_args()
    if options.case == "overhead":
        run_overhead()
    elif options.case == "memory":
        run_memory(options.gigabytes or 2.0)
    elif options.case == "disk":
        run_disk(options.gigabytes or 12.0, options.limit, options.folder)
    else:
        run_peers(options.gigabytes or 0.2)


if __name__ == "__main__":
    main()
