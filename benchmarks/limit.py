"""How close fits are to the limit of this machine: reading X once for each pass.

    python benchmarks/limit.py [--quick] [--largest-gb 8]

A pass is Xᵀr: by BLAS for dense X, by SciPy for sparse X as CSC. For each fit: its passes (`result_.passes`), its
seconds, and seconds ÷ (passes × seconds of a pass), medians of a few of each in turn; of the processor with one thread,
of the clock with all of them. Each line is measured in a process of its own, after a fit to small data of the same
kind, which loads and compiles what is needed.

Memory is (X + what the process has at its peak during the first fit to X − what it has before), divided by X: X is
counted as it was given, a CSR matrix with its indices. It needs Linux; elsewhere it is not a number.

With KSPARSE_DATA set, rcv1 is measured too. Tables are written as CSV, from which docs/limit.md is made.
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
from suite.limits import FEATURES_OF_SCALING, LARGE, MEMORY_TARGETS, START_TARGET, TARGETS, limit_page, slope
from suite.results import write_machine

#: Numbers that are drawn at a time, so that X is the only large array.
DRAWN = 1_000_000


@dataclass(frozen=True)
class Case:
    """What one process measures."""

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


# --- in the process of a case -----------------------------------------------------------------------------------------


def dense_data(case: Case) -> tuple[Any, Any]:
    """Standard normal X, drawn in place, and a response that k of its columns give."""
    rng = np.random.default_rng(0)
    X = np.empty((case.n, case.p), dtype=case.dtype, order="F" if case.order == "F" else "C")
    by_line = X.T if case.order == "F" else X
    lines = max(1, DRAWN // by_line.shape[1])
    for i in range(0, by_line.shape[0], lines):
        block = by_line[i : i + lines]
        rng.standard_normal(out=block, dtype=block.dtype)
    chosen = np.sort(rng.choice(case.p, case.k, replace=False))
    signal = X[:, chosen].astype(np.float64) @ rng.choice([-1.0, 1.0], case.k)
    noisy = signal + 0.5 * rng.standard_normal(case.n)
    return X, noisy if case.model == "linear" else noisy > 0


def sparse_data(case: Case) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = sparse.random_array((case.n, case.p), density=0.05, format="csr", rng=rng, dtype=np.dtype(case.dtype))
    noisy = X[:, : case.k].sum(axis=1) + 0.1 * rng.standard_normal(case.n)
    return X, noisy if case.model == "linear" else noisy > np.median(noisy)


def data_of(case: Case) -> tuple[Any, Any]:
    if case.kind == "rcv1":
        from ksparse.datasets import load_real

        X, y = load_real("rcv1")
        return X, y
    return dense_data(case) if case.kind == "dense" else sparse_data(case)


def model_of(case: Case) -> Any:
    from ksparse import SparseLinearRegression, SparseLogisticRegression

    return SparseLinearRegression(case.k) if case.model == "linear" else SparseLogisticRegression(case.k)


def bytes_of(X: Any) -> int:
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sparse.issparse(X) else X.nbytes)


def status(field: str) -> float:
    """A number of bytes from /proc/self/status; not a number where there is none."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return float("nan")
    return float(next(line for line in lines if line.startswith(field)).split()[1]) * 1024


def peak_during(work: Callable[[], Any]) -> float:
    """How many bytes the process had at its peak during some work, beyond those before it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak is now what there is
    except OSError:
        work()
        return float("nan")
    before = status("VmRSS")
    work()
    return status("VmHWM") - before


def seconds_of(work: Callable[[], Any], threads: int) -> float:
    clock = time.process_time if threads == 1 else time.perf_counter
    began = clock()
    work()
    return clock() - began


def warm_up(case: Case) -> None:
    if case.kind == "dense":
        small = Case("dense", case.model, 1000, 400, 5, case.dtype, case.order)
    else:
        small = Case("sparse", case.model, 2000, 5000, 100, case.dtype)
    model_of(small).fit(*data_of(small))


def measure(case: Case) -> dict[str, Any]:
    warm_up(case)
    X, y = data_of(case)
    model = model_of(case)
    more = peak_during(lambda: model.fit(X, y))
    columns = X.tocsc() if sparse.issparse(X) else X
    residuals = np.random.default_rng(1).standard_normal(X.shape[0]).astype(X.dtype)
    passes, fits = [], []
    for _ in range(case.repeats):
        passes += [seconds_of(lambda: columns.T @ residuals, case.threads) for _ in range(3)]
        fits.append(seconds_of(lambda: model.fit(X, y), case.threads))
    of_pass, of_fit = float(np.median(passes)), float(np.median(fits))
    size = bytes_of(X)
    return {
        "megabytes": size / 1e6,
        "pass_seconds": of_pass,
        "gigabytes_per_second": size / of_pass / 1e9,
        "passes": model.result_.passes,
        "seconds": of_fit,
        "ratio": of_fit / (model.result_.passes * of_pass),
        "memory": 1.0 + more / size,
    }


def measure_start(case: Case) -> dict[str, Any]:
    """Seconds of the processor for the first and the second fit of a process."""
    X, y = data_of(case)
    model = model_of(case)
    first, second = (seconds_of(lambda: model.fit(X, y), threads=1) for _ in range(2))
    return {"first": first, "second": second, "more": first - second}


# --- in the process that asks -----------------------------------------------------------------------------------------


def in_a_process(task: str, case: Case, **environment: str) -> dict[str, Any]:
    threads = {f"{name}_NUM_THREADS": str(case.threads) for name in ("OMP", "OPENBLAS", "MKL")}
    command = [sys.executable, __file__, "--task", task, json.dumps(asdict(case))]
    run = subprocess.run(
        command, env={**os.environ, **threads, **environment}, capture_output=True, text=True, check=False
    )
    if run.returncode != 0:
        raise RuntimeError(f"{case.name} failed:\n{run.stderr}")
    return json.loads(run.stdout)


def verdict(value: float, target: float) -> str:
    return "met" if value <= target else "MISSED"


def table_of_fits(cases: list[Case]) -> list[dict[str, Any]]:
    print(f"{'X':>14s} {'':8s} {'':3s} {'model':9s} {'':6s} T |   MB  GB/s   pass ms | passes  seconds  ratio | memory")
    rows = []
    for case in cases:
        if case.kind == "rcv1" and "KSPARSE_DATA" not in os.environ:
            print(f"{case.name} | skipped: KSPARSE_DATA is not set")
            continue
        row = in_a_process("fit", case)
        kind = "dense" if case.kind == "dense" else "sparse"
        print(
            f"{case.name} |"
            f" {row['megabytes']:5.0f} {row['gigabytes_per_second']:4.1f} {1e3 * row['pass_seconds']:9.2f} |"
            f" {row['passes']:6d} {row['seconds']:8.3f} {row['ratio']:6.2f} {verdict(row['ratio'], TARGETS[kind]):6s} |"
            f" {row['memory']:5.2f} {verdict(row['memory'], MEMORY_TARGETS[kind])}",
            flush=True,
        )
        rows.append({**asdict(case), **row})
    return rows


def table_of_starts() -> list[dict[str, Any]]:
    print("\nThe first and the second fit of a process, seconds of the processor; a cold cache has nothing compiled")
    rows = []
    for case in (Case("dense", "logistic", 1000, 2000, 10), Case("sparse", "logistic", 2000, 5000, 100)):
        with tempfile.TemporaryDirectory() as folder:
            for cache in ("cold", "warm"):
                row = in_a_process("start", case, NUMBA_CACHE_DIR=folder)
                print(
                    f"{case.name} {cache} cache: {row['first']:6.2f} s, then {row['second']:6.2f} s: "
                    f"{row['more']:5.2f} s more, {verdict(row['more'], START_TARGET)}",
                    flush=True,
                )
                rows.append({**asdict(case), "cache": cache, **row})
    return rows


def scaling(largest: float, threads: int) -> list[dict[str, Any]]:
    """Fits of the same k to X from 8 MB to `largest` bytes, ten times as many columns as rows."""
    print(f"\nSeconds over the size of X, k = {FEATURES_OF_SCALING}, {threads} thread(s)")
    rows = []
    for dtype in ("float64", "float32"):
        steps = np.arange(0, 2 * np.log10(largest / 8e6) + 1e-9) / 2
        for size in 8e6 * 10.0**steps:
            n = round(np.sqrt(size / np.dtype(dtype).itemsize / 10))
            case = Case("dense", "linear", n, 10 * n, FEATURES_OF_SCALING, dtype, "C", threads, 5 if size < 1e9 else 2)
            row = in_a_process("fit", case)
            print(
                f"{case.name} | {row['megabytes']:6.0f} MB {row['passes']:3d} passes {row['seconds']:8.3f} s, "
                f"ratio {row['ratio']:5.2f}, memory {row['memory']:5.2f}",
                flush=True,
            )
            rows.append({**asdict(case), **row})
        own = [row for row in rows if row["dtype"] == dtype]
        large = [row for row in own if row["megabytes"] >= LARGE]
        from_large = f", from {LARGE} MB on as (n·p)^{slope(large):.2f}" if len(large) > 1 else ""
        print(f"{dtype}: seconds grow as (n·p)^{slope(own):.2f}{from_large}")
    return rows


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.8, 5.2), layout="constrained")
    axes = figure.add_subplot()
    for dtype, colour in (("float64", "C0"), ("float32", "C1")):
        chosen = [row for row in rows if row["dtype"] == dtype]
        sizes = np.array([row["megabytes"] for row in chosen])
        seconds = np.array([row["seconds"] for row in chosen])
        large = [row for row in chosen if row["megabytes"] >= LARGE]
        label = f"a fit, {dtype}: slope {slope(chosen):.2f}"
        label += f", from {LARGE} MB on {slope(large):.2f}" if len(large) > 1 else ""
        axes.loglog(sizes, seconds, "o-", color=colour, label=label)
        axes.loglog(sizes, [row["pass_seconds"] for row in chosen], "x:", color=colour, label=f"one pass, {dtype}")
        if dtype == "float64":
            axes.loglog(sizes, seconds[-1] * sizes / sizes[-1], "--", color="grey", label="slope 1")
    axes.set_xlabel("size of X in megabytes")
    axes.set_ylabel("seconds")
    axes.set_title(f"Time grows with the size of X (k = {FEATURES_OF_SCALING})")
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def write(rows: list[dict[str, Any]], path: Path) -> None:
    if not rows:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def cases_of_fits(quick: bool) -> list[Case]:
    threads = [1] if quick or os.cpu_count() == 1 else [1, os.cpu_count() or 1]
    dense = [
        Case("dense", model, n, 10_000, 50, dtype, order, count)
        for count in threads
        for n in ((1000,) if quick else (1000, 5000))
        for dtype in ("float64", "float32")
        for order in ("C", "F")
        for model in ("linear", "logistic")
    ]
    return dense + [Case("rcv1", "logistic", 0, 0, 200, threads=count) for count in threads]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="How close fits are to the limit of this machine")
    parser.add_argument("--quick", action="store_true", help="smaller X, one thread")
    parser.add_argument("--largest-gb", type=float, default=8.0, help="largest X of the scaling plot; 0 leaves it out")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"), help="folder of the tables")
    parser.add_argument("--image", type=Path, default=Path("docs/images/limit.png"), help="file of the plot")
    parser.add_argument("--page", type=Path, default=Path("docs/limit.md"), help="file of the page; none if quick")
    parser.add_argument("--task", nargs=2, metavar=("TASK", "CASE"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.task is not None:
        task, case = options.task[0], Case(**json.loads(options.task[1]))
        print(json.dumps(measure(case) if task == "fit" else measure_start(case)))
        return
    if options.quick:
        print("Small X: this shows that everything runs; the targets are those of the full run.")
        with tempfile.TemporaryDirectory() as folder:
            measure_all(True, 0.08, Path(folder), Path(folder) / "limit.png")
        return
    measure_all(False, options.largest_gb, options.out, options.image)
    write_machine(options.out)
    options.page.write_text(limit_page(options.out), encoding="utf-8")


def measure_all(quick: bool, largest: float, out: Path, image: Path) -> None:
    """Measure, print and write all tables, and the plot."""
    print("ratio = seconds ÷ (passes × seconds of a pass); T = threads")
    write(table_of_starts(), out / "limit_start.csv")
    print()
    write(table_of_fits(cases_of_fits(quick)), out / "limit_fits.csv")
    if largest > 0:
        rows = scaling(1e9 * largest, 1)
        write(rows, out / "limit_scaling.csv")
        draw(rows, image)


if __name__ == "__main__":
    main()
