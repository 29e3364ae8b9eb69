"""What blocks of rows cost: round trips, X in memory on two workers, X on disk beyond their memory, and other packages.

    python benchmarks/scaling.py overhead
    python benchmarks/scaling.py memory [--gigabytes 2]
    python benchmarks/scaling.py disk [--gigabytes 12] [--limit 1.5GB] [--folder FOLDER]
    pip install dask-ml
    python benchmarks/scaling.py peers [--gigabytes 0.2] [--folder FOLDER]

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
from contextlib import contextmanager, nullcontext
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


def find_floor(client: Client | None, blocks: int) -> float:
    """Seconds of a round trip of Dask alone: a trivial function of values that are kept, and a tree of sums."""
    values = [dask.delayed(np.ones)(10) for _ in range(blocks)]
    held = dask.persist(*values)
    if client is not None:
        wait(held)
    seconds = []
    for _ in range(5):
        parts = [dask.delayed(np.sum, pure=False)(part) for part in held]
        while len(parts) > 8:
            parts = [dask.delayed(sum, pure=False)(parts[i : i + 8]) for i in range(0, len(parts), 8)]
        seconds.append(measure(partial(dask.compute, *parts))[0])
    return float(np.median(seconds))


def run_overhead() -> None:
    """Seconds of a round trip without arithmetic, over chunk counts, beside a trivial one of Dask alone."""
    rows = []
    for name in ("threads", "two processes"):
        with start_cluster() if name != "threads" else nullcontext() as client:
            for chunks in (1, 4, 16, 64, 256):
                blocks, seconds = _measure_round_trips(chunks)
                times = (seconds, find_floor(client, blocks), find_floor(client, chunks))
                rows.append((name, chunks, blocks, *(f"{1e3 * each:.1f}" for each in times)))
    head = ("scheduler", "chunks", "blocks", "ms of a round trip", "Dask alone, blocks", "Dask alone, chunks")
    show(head, rows)


def _measure_round_trips(chunks: int) -> tuple[int, float]:
    """Into how many blocks the chunks are put, and the median seconds of trial points."""
    X, y = draw_block(0, 10 * chunks), 1.0 * (np.arange(10 * chunks) % 2)
    design = as_design(da.from_array(X, chunks=(10, FEATURES)))
    assert isinstance(design, BlockedDesign)
    restricted = Logistic(design, y, alpha=0.1).restrict(np.arange(FEATURES) < SELECTED)
    points = np.random.default_rng(0).standard_normal((8, SELECTED))
    seconds = [measure(partial(restricted.evaluate, x))[0] for x in points][1:]
    return len(design.rows.sizes), float(np.median(seconds))


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
            blocks, labels = make_array(draw_block, BLOCKS, n).persist(), da.from_array(y, chunks=n).persist()
            wait([blocks, labels])
            make_model().fit(blocks[:n], labels[:n])
            design = as_design(blocks)
            time_there, there = measure(partial(make_model().fit, design, labels))
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


def read_labels(number: int, rows: int, folder: str) -> Array:
    """The labels of a block on disk."""
    labels: Array = np.load(f"{folder}/{number}.npy")
    assert len(labels) == rows
    return labels


def write_block(number: int, rows: int, folder: str) -> int:
    """Write a block of X, and its labels."""
    values = draw_block(number, rows)
    noise = np.random.default_rng(10**6 + number).standard_normal(rows)
    np.save(f"{folder}/{number}.npy", (values[:, :: FEATURES // SELECTED].sum(axis=1) + noise > 0).astype(np.int8))
    with open(f"{folder}/{number}.bin", "wb") as file:
        values.tofile(file)
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return 0


def open_labels(blocks: int, rows: int, folder: str) -> Any:
    """The labels of all blocks as an array of Dask."""
    read = dask.delayed(read_labels)
    return da.concatenate([da.from_delayed(read(i, rows, folder), (rows,), np.int8) for i in range(blocks)])


def find_peak() -> float:
    """Peak memory of this process in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def run_disk(gigabytes: float, limit: str, folder: str | None) -> None:
    """X on disk, larger than the memory of the workers: seconds of a pass beside those of reading alone."""
    rows_of_block = 64 * 10**6 // 8 // FEATURES
    chunks = max(int(gigabytes * 1e9 / 64e6), 1)
    place = tempfile.mkdtemp(dir=folder)
    try:
        with start_cluster(limit) as client:
            wait([client.submit(write_block, i, rows_of_block, place, pure=False) for i in range(chunks)])
            X, y = make_array(read_block, chunks, rows_of_block, place), open_labels(chunks, rows_of_block, place)
            reading, one_pass = np.inf, np.inf
            for _ in range(2):  # the better of two in turn, since the speed of disks varies
                reading = min(reading, measure(lambda: _read_all(client, chunks, rows_of_block, place))[0])
                design = as_design(X)
                assert isinstance(design, BlockedDesign)
                assert not design.rows.in_memory
                f = Logistic(design, y, alpha=1e-3)
                start = f.evaluate(f.start)
                one_pass = min(one_pass, measure(partial(getattr, start, "gradient"))[0])
                del f, start
            design = as_design(X)
            assert isinstance(design, BlockedDesign)
            seconds, model = measure(lambda: make_model().fit(design, y))
            peaks = client.run(find_peak).values()
            found = int(model.support_[:: FEATURES // SELECTED].sum())
        table = {
            "X": f"{chunks * 0.064:.3g} GB",
            "limit": f"2 × {limit}",
            "chunks": chunks,
            "blocks": len(design.rows.sizes),
            "reading": f"{reading:.1f} s",
            "a pass": f"{one_pass:.1f} s",
            "relative": f"{one_pass / reading:.2f}",
            "fit": f"{seconds:.0f} s",
            "passes": design.counters.passes,
            "round trips": design.counters.round_trips,
            "through the client": f"{(design.counters.bytes_sent + design.counters.bytes_received) / 1e6:.2f} MB",
            "right features": f"{found} of {SELECTED}",
            "peak of a worker": f"{max(peaks):.2f} GB",
        }
        show(tuple(table), [tuple(table.values())])
    finally:
        shutil.rmtree(Path(place))


def _read_all(client: Client, chunks: int, rows: int, folder: str) -> None:
    client.gather([client.submit(_read_only, i, rows, folder, pure=False) for i in range(chunks)])


def _read_only(number: int, rows: int, folder: str) -> float:
    return float(read_block(number, rows, folder)[0, 0])


#: The most passes of stochastic gradient descent.
MOST_EPOCHS = 10


def run_peers(gigabytes: float, folder: str | None) -> None:
    """Seconds from files on disk to a model, and the mean loss on rows that no method has seen."""
    from dask_ml.linear_model import LogisticRegression

    n = int(gigabytes * 1e9 / 8 / FEATURES / BLOCKS)
    place = tempfile.mkdtemp(dir=folder)
    unseen = draw_block(10**5, 200_000)
    noise = np.random.default_rng(10**7).standard_normal(len(unseen))
    signs = np.where(unseen[:, :: FEATURES // SELECTED].sum(axis=1) + noise > 0, 1.0, -1.0)

    def loss(coefficients: Any, intercept: Any) -> float:
        margins = unseen @ np.ravel(coefficients) + float(np.ravel(intercept)[0])
        return float(np.logaddexp(0.0, -signs * margins).mean())

    rows: list[tuple[Any, ...]] = []

    def add(name: str, seconds: float, model: Any) -> float:
        found = loss(model.coef_, model.intercept_)
        rows.append((name, f"{seconds:.1f}", f"{found:.5f}"))
        return found

    try:
        with start_cluster() as client:
            wait([client.submit(write_block, i, n, place, pure=False) for i in range(BLOCKS)])
            X, y = make_array(read_block, BLOCKS, n, place), open_labels(BLOCKS, n, place)
            make_model().fit(X[:n], y[:n])  # compile
            sparse = SparseLogisticRegression(k=SELECTED, alpha=0.0)
            seconds, model = measure(lambda: sparse.fit(X, y))
            ours = add("ksparse, k = 10", seconds, model)
            for solver in ("lbfgs", "newton"):
                other = LogisticRegression(solver=solver, C=1e4)
                seconds, _ = measure(partial(_fit_persisted, other, X, y))
                add(f"dask-ml LogisticRegression({solver})", seconds, other)
        for name, options in DESCENTS.items():
            seconds, epochs, model = _descend(options, n, place, ours, loss)
            add(f"SGDClassifier.partial_fit, {name}, {epochs} passes", seconds, model)
        show(("method", "seconds", "mean loss of unseen rows"), rows)
    finally:
        shutil.rmtree(Path(place))


#: Step sizes of stochastic gradient descent: its default, and two that suit standardized features.
DESCENTS: dict[str, dict[str, Any]] = {
    "default steps": {},
    "steps 0.1/√t, averaged": {"learning_rate": "invscaling", "eta0": 0.1, "power_t": 0.5, "average": True},
    "steps 1/√t, averaged": {"learning_rate": "invscaling", "eta0": 1.0, "power_t": 0.5, "average": True},
}


def _fit_persisted(model: Any, X: Any, y: Any) -> None:
    X, y = X.persist(), y.persist()
    model.fit(X, y)


def _descend(
    options: dict[str, Any], n: int, folder: str, target: float, loss: Callable[..., float]
) -> tuple[float, int, Any]:
    """Passes until the loss is that of the target, or ten; the evaluation is not timed."""
    from sklearn.linear_model import SGDClassifier

    model, seconds = SGDClassifier(loss="log_loss", alpha=1e-6, random_state=0, **options), 0.0
    for epoch in range(1, MOST_EPOCHS + 1):
        for i in np.random.default_rng(epoch).permutation(BLOCKS):
            begin = time.perf_counter()
            model.partial_fit(read_block(i, n, folder), read_labels(i, n, folder), classes=[0, 1])
            seconds += time.perf_counter() - begin
        if loss(model.coef_, model.intercept_) <= target:
            break
    return seconds, epoch, model


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
        run_peers(options.gigabytes or 0.2, options.folder)


if __name__ == "__main__":
    main()
