"""Time and memory of fits relative to reading X once per pass.

    python benchmarks/limit.py [--quick] [--largest-gb 8]
    python benchmarks/limit.py --report     # only the page and its figure, from existing results

A pass is Xᵀr: by BLAS for dense X, by SciPy for sparse X in CSC format. Measured are the passes of a fit
(`result_.passes`), its seconds, and its relative time, seconds ÷ (passes × seconds of a pass): medians of a few
alternating runs, in CPU seconds on one thread and wall-clock seconds on several. Each row is measured in a separate
process, after a fit to small data of the same kind, which loads and compiles the code.

Relative memory is (X + the peak memory that the first fit adds) ÷ X, where X is counted in its given format, CSR with
its indices. It needs Linux and is NaN elsewhere.

With KSPARSE_DATA set, rcv1 is measured too. Tables are written as CSV, from which docs/limit.md is rendered.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from suite.environment import make_environment
from suite.limit_page import (
    LARGE_MEGABYTES,
    MEMORY_TARGETS,
    SCALING_K,
    START_TARGET,
    TIME_TARGETS,
    fit_exponent,
    read_table,
    render_limit_page,
)
from suite.memory import PeakMemory
from suite.results import write_machine

#: Number of random values drawn at a time, so that X is the only large array.
BLOCK_SIZE = 1_000_000


@dataclass(frozen=True)
class FitCase:
    """The fit that one process measures."""

    kind: str  # dense, sparse (random), rcv1
    model: str  # linear, logistic
    n: int
    p: int
    k: int
    dtype: str = "float64"
    order: str = "C"
    threads: int = 1
    repeats: int = 5

    @property
    def name(self) -> str:
        size = "rcv1" if self.kind == "rcv1" else f"{self.n} x {self.p}"
        layout = "CSR" if self.kind != "dense" else self.order
        return f"{size:>14s} {self.dtype:8s} {layout:3s} {self.model:9s} k={self.k:<4d} {self.threads}"


# --- in the measuring process -----------------------------------------------------------------------------------------


def make_dense(case: FitCase) -> tuple[Any, Any]:
    """Draw standard normal X in place, and a response that depends on k of its columns."""
    rng = np.random.default_rng(0)
    X = np.empty((case.n, case.p), dtype=case.dtype, order="F" if case.order == "F" else "C")
    contiguous = X.T if case.order == "F" else X
    height = max(1, BLOCK_SIZE // contiguous.shape[1])
    for i in range(0, contiguous.shape[0], height):
        block = contiguous[i : i + height]
        rng.standard_normal(out=block, dtype=block.dtype)
    relevant = np.sort(rng.choice(case.p, case.k, replace=False))
    signal = X[:, relevant].astype(np.float64) @ rng.choice([-1.0, 1.0], case.k)
    noisy = signal + 0.5 * rng.standard_normal(case.n)
    return X, noisy if case.model == "linear" else noisy > 0


def make_sparse(case: FitCase) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = sparse.random_array((case.n, case.p), density=0.05, format="csr", rng=rng, dtype=np.dtype(case.dtype))
    noisy = X[:, : case.k].sum(axis=1) + 0.1 * rng.standard_normal(case.n)
    return X, noisy if case.model == "linear" else noisy > np.median(noisy)


def load_case(case: FitCase) -> tuple[Any, Any]:
    if case.kind == "rcv1":
        from ksparse.datasets import load_real

        X, y = load_real("rcv1")
        return X, y
    return make_dense(case) if case.kind == "dense" else make_sparse(case)


def make_case_model(case: FitCase) -> Any:
    from ksparse import SparseLinearRegression, SparseLogisticRegression

    return SparseLinearRegression(case.k) if case.model == "linear" else SparseLogisticRegression(case.k)


def count_bytes(X: Any) -> int:
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sparse.issparse(X) else X.nbytes)


def time_call(work: Callable[[], Any], threads: int) -> float:
    clock = time.process_time if threads == 1 else time.perf_counter
    start = clock()
    work()
    return clock() - start


def warm_up(case: FitCase) -> None:
    if case.kind == "dense":
        small = FitCase("dense", case.model, 1000, 400, 5, case.dtype, case.order)
    else:
        small = FitCase("sparse", case.model, 2000, 5000, 100, case.dtype)
    make_case_model(small).fit(*load_case(small))


def measure_fit(case: FitCase) -> dict[str, Any]:
    warm_up(case)
    X, y = load_case(case)
    model = make_case_model(case)
    with PeakMemory() as memory:
        model.fit(X, y)
    columns = X.tocsc() if sparse.issparse(X) else X
    residuals = np.random.default_rng(1).standard_normal(X.shape[0]).astype(X.dtype)
    passes, fits = [], []
    for _ in range(case.repeats):
        passes += [time_call(lambda: columns.T @ residuals, case.threads) for _ in range(3)]
        fits.append(time_call(lambda: model.fit(X, y), case.threads))
    pass_seconds, fit_seconds = float(np.median(passes)), float(np.median(fits))
    size = count_bytes(X)
    return {
        "megabytes": size / 1e6,
        "pass_seconds": pass_seconds,
        "gigabytes_per_second": size / pass_seconds / 1e9,
        "passes": model.result_.passes,
        "seconds": fit_seconds,
        "ratio": fit_seconds / (model.result_.passes * pass_seconds),
        "memory": 1.0 + memory.megabytes * 2**20 / size,
    }


def measure_start(case: FitCase) -> dict[str, Any]:
    """Measure the CPU seconds of the first and the second fit in a process."""
    X, y = load_case(case)
    model = make_case_model(case)
    first, second = (time_call(lambda: model.fit(X, y), threads=1) for _ in range(2))
    return {"first": first, "second": second, "more": first - second}


# --- in the main process -----------------------------------------------------------------------------------------


def measure_in_process(task: str, case: FitCase, **variables: str) -> dict[str, Any]:
    environment = {**os.environ, **make_environment(case.threads), **variables}
    command = [sys.executable, __file__, "--task", task, json.dumps(asdict(case))]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise RuntimeError(f"{case.name} failed:\n{run.stderr}")
    return json.loads(run.stdout)


def judge(value: float, target: float) -> str:
    return "met" if value <= target else "MISSED"


def measure_fits(cases: list[FitCase]) -> list[dict[str, Any]]:
    print(f"{'X':>14s} {'':8s} {'':3s} {'model':9s} {'':6s} T |   MB  GB/s   pass ms | passes  seconds  ratio | memory")
    rows = []
    for case in cases:
        if case.kind == "rcv1" and "KSPARSE_DATA" not in os.environ:
            print(f"{case.name} | skipped: KSPARSE_DATA is not set")
            continue
        row = measure_in_process("fit", case)
        kind = "dense" if case.kind == "dense" else "sparse"
        print(
            f"{case.name} |"
            f" {row['megabytes']:5.0f} {row['gigabytes_per_second']:4.1f} {1e3 * row['pass_seconds']:9.2f} |"
            f" {row['passes']:6d} {row['seconds']:8.3f} {row['ratio']:6.2f}"
            f" {judge(row['ratio'], TIME_TARGETS[kind]):6s} |"
            f" {row['memory']:5.2f} {judge(row['memory'], MEMORY_TARGETS[kind])}",
            flush=True,
        )
        rows.append({**asdict(case), **row})
    return rows


def measure_starts() -> list[dict[str, Any]]:
    print("\nCPU seconds of the first and the second fit in a process; a cold cache is empty")
    rows = []
    for case in (FitCase("dense", "logistic", 1000, 2000, 10), FitCase("sparse", "logistic", 2000, 5000, 100)):
        with tempfile.TemporaryDirectory() as folder:
            for cache in ("cold", "warm"):
                row = measure_in_process("start", case, NUMBA_CACHE_DIR=folder)
                print(
                    f"{case.name} {cache} cache: first {row['first']:6.2f} s, second {row['second']:6.2f} s, "
                    f"difference {row['more']:5.2f} s, {judge(row['more'], START_TARGET)}",
                    flush=True,
                )
                rows.append({**asdict(case), "cache": cache, **row})
    return rows


def measure_scaling(largest: float, threads: int) -> list[dict[str, Any]]:
    """Measure fits with the same k to X of 8 MB to `largest` bytes, with ten times as many columns as rows."""
    print(f"\nSeconds against the size of X, k = {SCALING_K}, {threads} thread(s)")
    rows = []
    for dtype in ("float64", "float32"):
        steps = np.arange(0, 2 * np.log10(largest / 8e6) + 1e-9) / 2
        for size in 8e6 * 10.0**steps:
            n = round(np.sqrt(size / np.dtype(dtype).itemsize / 10))
            case = FitCase("dense", "linear", n, 10 * n, SCALING_K, dtype, "C", threads, 5 if size < 1e9 else 2)
            row = measure_in_process("fit", case)
            print(
                f"{case.name} | {row['megabytes']:6.0f} MB {row['passes']:3d} passes {row['seconds']:8.3f} s, "
                f"ratio {row['ratio']:5.2f}, memory {row['memory']:5.2f}",
                flush=True,
            )
            rows.append({**asdict(case), **row})
        own = [row for row in rows if row["dtype"] == dtype]
        large = [row for row in own if float(row["megabytes"]) >= LARGE_MEGABYTES]
        from_large = f", from {LARGE_MEGABYTES} MB ∝ (n·p)^{fit_exponent(large):.2f}" if len(large) > 1 else ""
        print(f"{dtype}: seconds ∝ (n·p)^{fit_exponent(own):.2f}{from_large}")
    return rows


def draw_limit(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw the seconds of fits and passes against the size of X; rows are measured or read from a table."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.8, 5.2), layout="constrained")
    axes = figure.add_subplot()
    for dtype, colour in (("float64", "C0"), ("float32", "C1")):
        own = [row for row in rows if row["dtype"] == dtype]
        sizes = np.array([float(row["megabytes"]) for row in own])
        seconds = np.array([float(row["seconds"]) for row in own])
        large = [row for row in own if float(row["megabytes"]) >= LARGE_MEGABYTES]
        label = f"fit, {dtype}: slope {fit_exponent(own):.2f}"
        label += f", from {LARGE_MEGABYTES} MB {fit_exponent(large):.2f}" if len(large) > 1 else ""
        axes.loglog(sizes, seconds, "o-", color=colour, label=label)
        axes.loglog(sizes, [float(row["pass_seconds"]) for row in own], "x:", color=colour, label=f"pass, {dtype}")
        if dtype == "float64":
            axes.loglog(sizes, seconds[-1] * sizes / sizes[-1], "--", color="grey", label="slope 1")
    axes.set_xlabel("size of X, MB")
    axes.set_ylabel("seconds")
    axes.set_title(f"Time against the size of X (k = {SCALING_K})")
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def write_table(rows: list[dict[str, Any]], path: Path) -> None:
    if not rows:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def list_cases(quick: bool) -> list[FitCase]:
    threads = [1] if quick or os.cpu_count() == 1 else [1, os.cpu_count() or 1]
    dense = [
        FitCase("dense", model, n, 10_000, 50, dtype, order, count)
        for count in threads
        for n in ((1000,) if quick else (1000, 5000))
        for dtype in ("float64", "float32")
        for order in ("C", "F")
        for model in ("linear", "logistic")
    ]
    return dense + [FitCase("rcv1", "logistic", 0, 0, 200, threads=count) for count in threads]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Time and memory of fits relative to reading X")
    parser.add_argument("--quick", action="store_true", help="smaller X, one thread")
    parser.add_argument("--largest-gb", type=float, default=8.0, help="largest X of the scaling plot; 0 omits it")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"), help="folder for the tables")
    parser.add_argument("--image", type=Path, default=Path("docs/images/limit.png"), help="file for the plot")
    parser.add_argument("--page", type=Path, default=Path("docs/limit.md"), help="file for the page")
    parser.add_argument("--report", action="store_true", help="only render the page and plot from existing results")
    parser.add_argument("--task", nargs=2, metavar=("TASK", "CASE"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.task is not None:
        task, case = options.task[0], FitCase(**json.loads(options.task[1]))
        print(json.dumps(measure_fit(case) if task == "fit" else measure_start(case)))
        return
    if options.quick:
        print("Small X, to check that everything runs; the targets apply to the full run.")
        with tempfile.TemporaryDirectory() as folder:
            measure_all(True, 0.08, Path(folder), Path(folder) / "limit.png")
        return
    if not options.report:
        measure_all(False, options.largest_gb, options.out, options.image)
        write_machine(options.out)
    elif scaling := read_table(options.out / "limit_scaling.csv"):
        draw_limit(scaling, options.image)
    options.page.write_text(render_limit_page(options.out), encoding="utf-8")


def measure_all(quick: bool, largest: float, out: Path, image: Path) -> None:
    """Measure and print everything, and write the tables and the plot."""
    print("ratio = relative time, seconds ÷ (passes × seconds of a pass); memory = relative memory; T = threads")
    write_table(measure_starts(), out / "limit_start.csv")
    print()
    write_table(measure_fits(list_cases(quick)), out / "limit_fits.csv")
    if largest > 0:
        rows = measure_scaling(1e9 * largest, 1)
        write_table(rows, out / "limit_scaling.csv")
        draw_limit(rows, image)


if __name__ == "__main__":
    main()
