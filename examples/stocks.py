"""Which stocks are conditionally dependent? A graph of the S&P 500 with k edges, compared with the graphical lasso.

    KSPARSE_DATA=… python examples/stocks.py [--edges 1000] [--raw] [--held-out] [--out DIR]

Daily log-returns of 452 stocks. Their prices are not adjusted for splits: two stocks that split on the same day seem to
be dependent. Hence returns are replaced by normal scores of their ranks (the nonparanormal
of Liu, Lafferty and Wasserman, JMLR 10, 2009), unless --raw is given.

Prints, for each method, the objective −log det Ω + ⟨Σ, Ω⟩, the fraction of edges within a sector, compared with random
edges, and the number of stocks without edges. The edges of the graphical lasso are also refitted, since its penalty
shrinks them. With --held-out, prints the objective on the last third of the days for models fitted to the other days.
With --out, writes stocks_graph.png and stocks_support.png (needs networkx).
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import ksparse
from ksparse._types import AnyArray, Array, Mask
from ksparse.datasets import StockData, load_stocks
from ksparse.estimators.normal_scores import compute_normal_scores
from ksparse.objectives import LogDet
from ksparse.solvers import GLasso, Solver


def correlations(returns: Array) -> Array:
    return np.asarray(np.corrcoef(returns, rowvar=False))


def normal_scores(returns: Array) -> Array:
    """Quantiles of the normal distribution in place of the ranks of each stock's returns."""
    return compute_normal_scores(returns, np.sort(returns, axis=0))


def fit(covariance: Array, edges: int, solver: Solver | None = None) -> tuple[Array, float]:
    """The precision matrix with at most that many edges, and the time of the fit in seconds."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ksparse.ConvergenceWarning)  # the graphical lasso may end a few edges short
        result = ksparse.minimize(LogDet(covariance), k=edges, solver=solver)
    return result.x, time.perf_counter() - start


def refit(covariance: Array, support: Mask) -> Array:
    """The maximum-likelihood precision matrix with a given support."""
    f = LogDet(covariance)
    on_support = f.restrict(support)
    return on_support.matrix(ksparse.debias.Exact()(on_support, f.start[support]).point.x)


def fit_all(covariance: Array, edges: int) -> dict[str, tuple[Array, float]]:
    """Precision matrix and seconds of each method."""
    lasso, seconds = fit(covariance, edges, GLasso())
    return {
        "ksparse": fit(covariance, edges),
        "graphical lasso": (lasso, seconds),
        "its edges refitted": (refit(covariance, lasso != 0), np.nan),
    }


def objective(precision: Array, covariance: Array) -> float:
    return float(-np.linalg.slogdet(precision)[1] + np.sum(covariance * precision))


def fraction_within(precision: Array, sectors: AnyArray) -> float:
    """Fraction of the edges between stocks of the same sector."""
    rows, columns = np.nonzero(np.triu(precision, 1))
    return float(np.mean(sectors[rows] == sectors[columns]))


def print_table(data: StockData, what: str, edges: int) -> Array:
    """Print the comparison, and return the precision matrix of ksparse."""
    covariance = correlations(data.returns)
    fits = fit_all(covariance, edges)
    n, p = data.returns.shape
    print(f"{p} stocks, {n} days, {what}, at most {edges} edges")
    print(f"{'':20s} {'objective':>10s} {'edges':>6s} {'within sectors':>15s} {'without edges':>14s} {'seconds':>8s}")
    for name, (precision, seconds) in fits.items():
        degrees = np.count_nonzero(precision, axis=0) - 1
        shown = f"{seconds:8.1f}" if np.isfinite(seconds) else f"{'':8s}"
        print(
            f"{name:20s} {objective(precision, covariance):10.3f} {degrees.sum() // 2:6d} "
            f"{fraction_within(precision, data.sectors):15.1%} {np.sum(degrees == 0):14d} {shown}"
        )
    print(f"{'random edges':20s} {'':10s} {'':6s} {fraction_within(np.ones((p, p)), data.sectors):15.1%}")
    return fits["ksparse"][0]


def print_held_out(returns: Array, prepare: Callable[[Array], Array], edges: int) -> None:
    """Print the objective on the last third of the days, which are prepared separately."""
    cut = 2 * len(returns) // 3
    train, test = prepare(returns[:cut]), prepare(returns[cut:])
    standardized = (test - train.mean(axis=0)) / train.std(axis=0)
    test_covariance = standardized.T @ standardized / len(test)
    print(f"\nFitted to the first {cut} days: objective on the {len(test)} days after them")
    for name, (precision, _) in fit_all(correlations(train), edges).items():
        print(f"{name:20s} {objective(precision, test_covariance):10.3f}", flush=True)
    identity = np.eye(len(test_covariance))
    print(f"{'no edges':20s} {objective(identity, test_covariance):10.3f}")


def draw(precision: Array, data: StockData, folder: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from PIL import Image

    from ksparse.plots import GraphDisplay, SupportDisplay

    edges = int(np.count_nonzero(np.triu(precision, 1)))
    title = f"{len(precision)} stocks of the S&P 500, {edges} edges"
    axes = plt.subplots(figsize=(9.5, 6.4), layout="constrained")[1]
    style: dict[str, Any] = {"names": data.tickers, "groups": data.sectors}
    graph = GraphDisplay.from_precision(precision, isolated=False, ax=axes, **style)
    support = SupportDisplay.from_precision(precision, **style)
    folder.mkdir(parents=True, exist_ok=True)
    displays: dict[str, GraphDisplay | SupportDisplay] = {"stocks_graph": graph, "stocks_support": support}
    for name, display in displays.items():
        display.ax_.set_title(title, fontsize=11, loc="left")
        file = folder / f"{name}.png"
        display.figure_.savefig(file, dpi=110)
        # 256 colours from an octree keep the groups distinct, at a quarter of the file size.
        Image.open(file).convert("RGB").quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(file)
        print(f"wrote {file}")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="A sparse graph of the S&P 500")
    parser.add_argument("--edges", type=int, default=1000)
    parser.add_argument("--raw", action="store_true", help="use the returns, not their normal scores")
    parser.add_argument("--held-out", action="store_true", help="also compare on days that were not fitted")
    parser.add_argument("--out", type=Path, help="folder to write the pictures to")
    options = parser.parse_args(arguments)
    try:
        data = load_stocks()
    except FileNotFoundError as error:
        sys.exit(str(error))
    prepare: Callable[[Array], Array] = np.asarray if options.raw else normal_scores
    with threadpool_limits(1):
        prepared = data._replace(returns=prepare(data.returns))
        precision = print_table(prepared, "returns" if options.raw else "normal scores", options.edges)
        if options.held_out:
            print_held_out(data.returns, prepare, options.edges)
    if options.out:
        draw(precision, data, options.out)


if __name__ == "__main__":
    main()
