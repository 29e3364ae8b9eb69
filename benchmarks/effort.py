"""Objective and time of the default solver for each level of effort.

    python benchmarks/effort.py [--seeds 0 1 2 3 4] [--levels 0 1 2 3 4 5] [--figure effort.png] [--output effort.csv]

Three simulations with correlated neighbouring features: a linear model (n = 800, p = 1000, k = 25, correlation 0.9,
noise with a third of the standard deviation of the signal), a logistic model (n = 2000, p = 20000, k = 50, correlation
0.5), and the paper's logistic model (n = 500, p = 1000, k = 100, correlation 0.5); alpha = 1e-4 for logistic models.
Times are CPU seconds on one thread, after a warm-up. The table shows medians over seeds, also of the ratios to effort 0
on the same data; --output writes every run to a CSV file, such as benchmarks/results/effort.csv.
"""

from __future__ import annotations

from suite.environment import use_one_thread

use_one_thread()

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


def simulate_linear(seed: int) -> tuple[Objective, int]:
    X, _, coef = make_logistic(800, 1000, 25, correlation=0.9, random_state=seed)
    signal = X @ coef
    noise = np.random.default_rng(seed).standard_normal(len(signal))
    return LeastSquares(X, signal + signal.std() / 3 * noise), 25


def simulate_wide(seed: int) -> tuple[Objective, int]:
    X, y, _ = make_logistic(2000, 20_000, 50, random_state=seed)
    return Logistic(X, y, alpha=ALPHA), 50


def simulate_paper_logistic(seed: int) -> tuple[Objective, int]:
    X, y, _ = make_logistic(500, 1000, 100, random_state=seed)
    return Logistic(X, y, alpha=ALPHA), 100


PROBLEMS: dict[str, Callable[[int], tuple[Objective, int]]] = {
    "linear, p = 1000, k = 25, ρ = 0.9": simulate_linear,
    "logistic, p = 20000, k = 50, ρ = 0.5": simulate_wide,
    "the paper's logistic, p = 1000, k = 100": simulate_paper_logistic,
}


@dataclass(frozen=True)
class EffortRun:
    """One fit, and its ratios to the fit with effort 0."""

    case: str
    seed: int
    effort: int
    objective: float
    seconds: float
    passes: int
    objective_ratio: float
    seconds_ratio: float


def measure_effort(case: str, seeds: Sequence[int], levels: Sequence[int]) -> list[EffortRun]:
    """Run each level of effort on the data of each seed, level 0 first."""
    runs: list[EffortRun] = []
    for seed in seeds:
        objective, k = PROBLEMS[case](seed)
        ksparse.minimize(objective, k)
        first: tuple[float, float] | None = None
        for effort in sorted({0, *levels}):
            start = time.process_time()
            result = ksparse.minimize(objective, k, effort=effort)
            seconds = time.process_time() - start
            first = first or (result.value, seconds)
            ratios = result.value / first[0], seconds / first[1]
            runs.append(EffortRun(case, seed, effort, result.value, seconds, result.passes, *ratios))
    return runs


def compute_medians(runs: list[EffortRun], name: str) -> list[float]:
    """Return the median over seeds for each level."""
    levels = sorted({run.effort for run in runs})
    return [float(np.median([getattr(run, name) for run in runs if run.effort == level])) for level in levels]


def print_table(case: str, runs: list[EffortRun]) -> None:
    print(f"\n{case}\n\n| effort | objective | relative to effort 0 | seconds | relative to effort 0 | passes |")
    print("|---" * 6 + "|")
    columns = [
        compute_medians(runs, name) for name in ("objective", "objective_ratio", "seconds", "seconds_ratio", "passes")
    ]
    for level, (value, value_ratio, seconds, seconds_ratio, passes) in zip(
        sorted({run.effort for run in runs}), zip(*columns, strict=True), strict=True
    ):
        cells = f"{value:.5g} | {100 * value_ratio:.2f} % | {seconds:.3f} | {seconds_ratio:.1f}× | {passes:.0f}"
        print(f"| {level} | {cells} |", flush=True)


def write_runs(runs: list[EffortRun], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, [column.name for column in fields(EffortRun)])
        table.writeheader()
        table.writerows(asdict(run) for run in runs)


def draw_effort(runs: list[EffortRun], path: Path) -> None:
    """Draw one panel per case: the medians of the ratios, and each seed in grey."""
    import matplotlib.pyplot as plt

    cases = list(dict.fromkeys(run.case for run in runs))
    figure, panels = plt.subplots(1, len(cases), figsize=(3.6 * len(cases), 3.4), layout="constrained", squeeze=False)
    for ax, case in zip(panels[0], cases, strict=True):
        of_case = [run for run in runs if run.case == case]
        for seed in sorted({run.seed for run in of_case}):
            of_seed = [run for run in of_case if run.seed == seed]
            percentages = [100 * run.objective_ratio for run in of_seed]
            ax.plot([run.seconds_ratio for run in of_seed], percentages, color="#c3c9d1", linewidth=1)
        times = compute_medians(of_case, "seconds_ratio")
        percentages = [100 * ratio for ratio in compute_medians(of_case, "objective_ratio")]
        ax.plot(times, percentages, color="#3f5f8a", marker="o", linewidth=2)
        for level, x, y in zip(sorted({run.effort for run in of_case}), times, percentages, strict=True):
            ax.annotate(str(level), (x, y), xytext=(0, 7), textcoords="offset points", ha="center", color="#14305c")
        ax.set(xscale="log", title=case.replace(", p", "\np", 1), xlabel="time relative to effort 0")
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g} %")
        ax.margins(y=0.15)
        ax.spines[["top", "right"]].set_visible(False)
    panels[0][0].set_ylabel("objective relative to effort 0")
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--levels", type=int, choices=range(6), nargs="+", default=[0, 1, 2, 3, 4, 5])
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    runs: list[EffortRun] = []
    for case in PROBLEMS:
        of_case = measure_effort(case, options.seeds, options.levels)
        print_table(case, of_case)
        runs += of_case
        if options.output is not None:
            write_runs(runs, options.output)
    if options.figure is not None:
        draw_effort(runs, options.figure)


if __name__ == "__main__":
    main()
