"""What effort buys: the objective against the time of the default solver, for each level of effort.

    python benchmarks/effort.py [--seeds 0 1 2 3 4] [--levels 0 1 2 3 4 5] [--figure effort.png] [--output effort.csv]

Three simulations whose neighbouring features are correlated: a linear model (n = 800, p = 1000, k = 25, correlation
0.9, noise with a third of the signal's standard deviation), a logistic model (n = 2000, p = 20000, k = 50, correlation
0.5), and the paper's (n = 500, p = 1000, k = 100, correlation 0.5); alpha = 1e-4 for the logistic ones. One thread,
after a warm-up; seconds are those of the processor, in which other programs do not count. The table has medians over
seeds, of the seconds and of ratios to effort 0 on the same data; --output writes every run to a CSV file, such as
benchmarks/results/effort.csv.
The figure needs matplotlib.
"""

from __future__ import annotations

import os

for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import argparse
import csv
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

import ksparse
from ksparse.datasets import make_logistic
from ksparse.objectives import LeastSquares, Logistic, Objective

ALPHA = 1e-4


def linear(seed: int) -> tuple[Objective, int]:
    X, _, coef = make_logistic(800, 1000, 25, correlation=0.9, random_state=seed)
    signal = X @ coef
    noise = np.random.default_rng(seed).standard_normal(len(signal))
    return LeastSquares(X, signal + signal.std() / 3 * noise), 25


def wide(seed: int) -> tuple[Objective, int]:
    X, y, _ = make_logistic(2000, 20_000, 50, random_state=seed)
    return Logistic(X, y, alpha=ALPHA), 50


def paper(seed: int) -> tuple[Objective, int]:
    X, y, _ = make_logistic(500, 1000, 100, random_state=seed)
    return Logistic(X, y, alpha=ALPHA), 100


CASES: dict[str, Callable[[int], tuple[Objective, int]]] = {
    "linear, p = 1000, k = 25, ρ = 0.9": linear,
    "logistic, p = 20000, k = 50, ρ = 0.5": wide,
    "the paper's logistic, p = 1000, k = 100": paper,
}


@dataclass(frozen=True)
class Run:
    """One fit, and what it took beside the fit with no effort."""

    case: str
    seed: int
    effort: int
    objective: float
    seconds: float
    passes: int
    objective_ratio: float
    seconds_ratio: float


def measured(case: str, seeds: Sequence[int], levels: Sequence[int]) -> list[Run]:
    """A run of each level on the data of each seed; level 0 comes first."""
    runs: list[Run] = []
    for seed in seeds:
        objective, k = CASES[case](seed)
        ksparse.minimize(objective, k)
        first: tuple[float, float] | None = None
        for effort in sorted({0, *levels}):
            began = time.process_time()
            result = ksparse.minimize(objective, k, effort=effort)
            seconds = time.process_time() - began
            first = first or (result.value, seconds)
            ratios = result.value / first[0], seconds / first[1]
            runs.append(Run(case, seed, effort, result.value, seconds, result.passes, *ratios))
    return runs


def medians(runs: list[Run], name: str) -> list[float]:
    """The median over seeds for each level."""
    levels = sorted({run.effort for run in runs})
    return [float(np.median([getattr(run, name) for run in runs if run.effort == level])) for level in levels]


def print_table(case: str, runs: list[Run]) -> None:
    print(f"\n{case}\n\n| effort | objective | of that at 0 | seconds | times those at 0 | passes |")
    print("|---" * 6 + "|")
    columns = [medians(runs, name) for name in ("objective", "objective_ratio", "seconds", "seconds_ratio", "passes")]
    for level, (value, share, seconds, times, passes) in zip(
        sorted({run.effort for run in runs}), zip(*columns, strict=True), strict=True
    ):
        print(
            f"| {level} | {value:.5g} | {100 * share:.2f} % | {seconds:.3f} | {times:.1f} | {passes:.0f} |", flush=True
        )


def write(runs: list[Run], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, [column.name for column in fields(Run)])
        table.writeheader()
        table.writerows(asdict(run) for run in runs)


def draw(runs: list[Run], path: Path) -> None:
    """A panel for each case: medians of the ratios, and each seed in grey."""
    import matplotlib.pyplot as plt

    cases = list(dict.fromkeys(run.case for run in runs))
    figure, panels = plt.subplots(1, len(cases), figsize=(3.6 * len(cases), 3.4), layout="constrained", squeeze=False)
    for ax, case in zip(panels[0], cases, strict=True):
        mine = [run for run in runs if run.case == case]
        for seed in sorted({run.seed for run in mine}):
            of_seed = [run for run in mine if run.seed == seed]
            shares = [100 * run.objective_ratio for run in of_seed]
            ax.plot([run.seconds_ratio for run in of_seed], shares, color="#c3c9d1", linewidth=1)
        times, shares = medians(mine, "seconds_ratio"), [100 * share for share in medians(mine, "objective_ratio")]
        ax.plot(times, shares, color="#3f5f8a", marker="o", linewidth=2)
        for level, x, y in zip(sorted({run.effort for run in mine}), times, shares, strict=True):
            ax.annotate(str(level), (x, y), xytext=(0, 7), textcoords="offset points", ha="center", color="#14305c")
        ax.set(xscale="log", title=case.replace(", p", "\np", 1), xlabel="time, as a multiple of effort 0")
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g} %")
        ax.margins(y=0.15)
        ax.spines[["top", "right"]].set_visible(False)
    panels[0][0].set_ylabel("objective, of that at effort 0")
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--levels", type=int, choices=range(6), nargs="+", default=[0, 1, 2, 3, 4, 5])
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    runs: list[Run] = []
    for case in CASES:
        mine = measured(case, options.seeds, options.levels)
        print_table(case, mine)
        runs += mine
        if options.output is not None:
            write(runs, options.output)
    if options.figure is not None:
        draw(runs, options.figure)


if __name__ == "__main__":
    main()
