"""Compare the methods on the paper's logistic simulation: objective, cost and status.

    python examples/methods_compared.py [--samples 500] [--figure methods.png]

Prints the objective, iterations, passes over the data and seconds of each method. With --figure, draws the objective
against time.
"""

from __future__ import annotations

import argparse
import time
import warnings

import ksparse
from ksparse.datasets import make_logistic
from ksparse.objectives import Logistic
from ksparse.solvers import Lipschitz, Result, Solver

METHODS: dict[str, Solver] = {
    "FGraHTP, step 1/L": ksparse.FGraHTP(step=Lipschitz(), max_iter=200),
    "GraHTP, step 1/L": ksparse.GraHTP(step=Lipschitz()),
    "GraHTP, step 16/L": ksparse.GraHTP(step=Lipschitz(16.0)),
    "GraSP": ksparse.GraSP(max_iter=30),
    "FBS": ksparse.FBS(),
    "ksparse default": ksparse.SwapGraHTP(),
}


def run(samples: int, features: int, k: int) -> dict[str, Result]:
    X, y, _ = make_logistic(samples, features, k)
    results = {}
    print(f"{'method':20s} {'objective':>10s} {'iterations':>11s} {'passes':>7s} {'seconds':>8s}  status")
    for name, solver in METHODS.items():
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ksparse.ConvergenceWarning)  # the table shows the status
            result = ksparse.minimize(Logistic(X, y, alpha=1e-4), k=k, solver=solver)
        seconds = time.perf_counter() - start
        print(
            f"{name:20s} {result.value:10.5f} {result.n_iter:11d} {result.passes:7d} {seconds:8.3f}  {result.status}",
            flush=True,
        )
        results[name] = result
    return results


def draw(results: dict[str, Result], title: str, path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(9.0, 4.2), layout="constrained")
    colours = ["#9aa5b1", "#6b7f99", "#3f5f8a", "#b5893a", "#7a9a4f", "#c0392b"]
    for (name, result), colour in zip(results.items(), colours, strict=True):
        ours = name == "ksparse default"
        axes.plot(
            result.history["seconds"],
            result.history["value"],
            color=colour,
            linewidth=2.6 if ours else 1.5,
            marker="o",
            markersize=4 if ours else 2.5,
            label=f"{name} ({result.value:.4f})",
            zorder=3 if ours else 2,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("seconds")
    axes.set_ylabel("objective f(x)")
    axes.set_title(title, fontsize=11)
    axes.grid(alpha=0.25, which="both")
    figure.legend(fontsize=9, loc="outside right center", title="method (objective reached)", title_fontsize=9)
    figure.savefig(path, dpi=150)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Compare the methods of the paper")
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--features", type=int, default=1000)
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--figure", help="where to write the figure, for example methods.png")
    options = parser.parse_args(arguments)
    results = run(options.samples, options.features, options.k)
    if options.figure:
        title = f"Logistic regression, n = {options.samples}, p = {options.features}, k = {options.k}, alpha = 1e-4"
        draw(results, title, options.figure)


if __name__ == "__main__":
    main()
