"""Any function: ksparse beside skscope on the models of skscope's README, paper and gallery, in its sizes.

    pip install ".[bench,jax]" && python benchmarks/functions.py     # measures, and writes results/functions.csv
    python benchmarks/functions.py --report                          # prints the tables of docs/functions.md
    python benchmarks/functions.py --costs                           # prints what columns save (needs PyTorch, too)
    python benchmarks/functions.py --problems Ising linear --seeds 0 # a part, which is only printed

Both minimize the same function in JAX, and ksparse also the same one of columns and its own objective of the model.
Methods take turns on the same data in one process, on one thread; seconds are CPU seconds of a second run, when all is
compiled, and what the first run took longer is the time of compiling. f is that of an evaluator, which minimizes on the
selected support by code of its own. skscope computes in float32, as JAX does unless told otherwise; ksparse in float64.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

from suite.environment import use_one_thread

use_one_thread()

import numpy as np
import pandas as pd
from function_suite.problems_in_jax import MAKERS, JaxProblem
from function_suite.solvers_in_jax import SOLVERS, Timed, run_ksparse, run_own, run_skscope

RESULTS = Path(__file__).parent / "results" / "functions.csv"
SEEDS = range(3)
OWN_METHODS = {
    "from_jax": lambda problem: run_ksparse(problem, columns=False),
    "from_jax, columns": lambda problem: run_ksparse(problem, columns=True),
    "own objective": run_own,
}
#: In the place of a method: the support with which the data were drawn.
TRUTH = "true support"
#: What all methods do once before they are timed: libraries load and compile parts of their own.
WARM_UP = "linear, gallery"


def measure(name: str, seed: int) -> list[dict[str, Any]]:
    """All methods on one data set; of the step sizes of HTP and IHT the best."""
    make, sizes = MAKERS[name]
    problem = make(*sizes, np.random.default_rng([seed, len(name)]))
    rows = [_describe(problem, method, [run(problem)]) for method, run in OWN_METHODS.items()]
    for solver, step_sizes in SOLVERS.items():
        runs = [timed for step in step_sizes if (timed := _try_skscope(problem, solver, step)) is not None]
        if runs:
            rows.append(_describe(problem, solver.removesuffix("Solver"), runs))
    if problem.truth is not None:
        rows.append({"method": TRUTH, "objective": problem.refit(problem.truth), "recall": 1.0})
    return [{"problem": name, "n": sizes[0], "p": sizes[1], "k": sizes[2], "seed": seed, **row} for row in rows]


def _try_skscope(problem: JaxProblem, solver: str, step_size: float | None) -> Timed | None:
    """None where a step is so long that f overflows, which skscope reports as an error."""
    try:
        return run_skscope(problem, solver, step_size)
    except ValueError:
        return None


def _describe(problem: JaxProblem, method: str, runs: list[Timed]) -> dict[str, Any]:
    """The best of some runs: that with the lowest f, and of several the fastest."""
    objectives = [problem.refit(selected) for selected, *_ in runs]
    best = min(range(len(runs)), key=lambda i: (round(objectives[i], 12), runs[i][1]))
    selected, seconds, first_seconds = runs[best]
    recall = np.nan if problem.truth is None else np.isin(problem.truth, selected).mean()
    return {
        "method": method,
        "objective": objectives[best],
        "recall": recall,
        "seconds": seconds,
        "compile_seconds": max(first_seconds - seconds, 0.0),
    }


def summarize(results: pd.DataFrame) -> pd.DataFrame:
    """Medians over seeds for each problem and method; `excess` is that of f over the lowest f that a method found."""
    found = results["objective"].where(results["method"] != TRUTH)
    lowest = found.groupby([results["problem"], results["seed"]]).transform("min")
    results = results.assign(excess=results["objective"] / lowest - 1)
    keys = ["problem", "n", "p", "k", "method"]
    return results.groupby(keys, sort=False)[["excess", "recall", "seconds", "compile_seconds"]].median().reset_index()


def render(results: pd.DataFrame) -> str:
    """The tables of docs/functions.md."""
    medians = summarize(results)
    methods = [method for method in dict.fromkeys(medians["method"]) if method != TRUTH]
    quality, times = _make_head([*methods, TRUTH]), _make_head(methods)
    for (name, n, p, k), part in medians.groupby(["problem", "n", "p", "k"], sort=False):
        cells = part.set_index("method").reindex(methods)
        start = f"| {name} | {n}, {p}, {k} | "
        true = part.loc[part["method"] == TRUTH, "excess"]
        last = "" if true.empty else f"{100 * true.iloc[0]:.3g} %"
        quality.append(start + " | ".join([*(_format_quality(row) for _, row in cells.iterrows()), last]) + " |")
        times.append(start + " | ".join(_format_times(row) for _, row in cells.iterrows()) + " |")
    return "\n".join([*quality, "", *times])


def _make_head(methods: list[str]) -> list[str]:
    return ["| problem | n, p, k | " + " | ".join(methods) + " |", "|---|---|" + "---|" * len(methods)]


def _format_quality(row: Any) -> str:
    recall = "" if np.isnan(row["recall"]) else f", {row['recall']:.2f}"
    return "failed" if np.isnan(row["excess"]) else f"{100 * row['excess']:.3g} %{recall}"


def _format_times(row: Any) -> str:
    return "" if np.isnan(row["seconds"]) else f"{row['seconds']:.3f} + {row['compile_seconds']:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", choices=list(MAKERS), default=list(MAKERS), metavar="PROBLEM")
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--report", action="store_true", help="only print the tables of the results")
    parser.add_argument("--costs", action="store_true", help="only measure what functions of columns save")
    options = parser.parse_args()
    if options.costs:
        from function_suite.column_costs import measure_costs

        print(measure_costs())
        return
    if not options.report:
        rows: list[dict[str, Any]] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            measure(WARM_UP, 0)
            for name in options.problems:
                for seed in options.seeds:
                    rows += measure(name, seed)
                    print(f"{name}, seed {seed}: {rows[-1]}", flush=True)
        results = pd.DataFrame(rows)
        if options.problems != list(MAKERS) or options.seeds != list(SEEDS):
            print(render(results))
            return
        results.to_csv(RESULTS, index=False, float_format="%.6g")
    print(render(pd.read_csv(RESULTS)))


if __name__ == "__main__":
    main()
