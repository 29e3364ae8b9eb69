"""Ten of a hundred stocks that follow an index: a portfolio with a budget, no short sales, and few stocks.

    python examples/gallery/portfolio.py [--data-sets 10] [--figure FILE]

Weights w track an index with weights b if (w − b)ᵀΣ(w − b), the variance of the difference of their returns, is
small; Σⱼwⱼ = 1 and w ≥ 0. A lasso cannot choose few stocks here: with these constraints ‖w‖₁ is always 1. ksparse
takes k as it is, and w ≥ 0 as bounds; the budget is a term c(Σⱼwⱼ − 1)² of the quadratic, with c so large that the
sum is 1 but for 0.1 %, which rescaling removes. Returns are simulated from a market and ten sectors, so that the true
tracking error of each portfolio is known; Σ is estimated from one year of days. The usual portfolio holds the largest
stocks of the index.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from shared import OTHER, OURS, TRUTH, USUAL, add_legend, open_figure, run_example, tidy

import ksparse
from ksparse.objectives import Quadratic
from ksparse.sparsity import Entries

STOCKS, DAYS, K, YEAR = 100, 250, 10, 252
KS = [5, 7, 10, 15, 20, 30, 50]
#: The weight of the budget, relative to the variances.
BUDGET = 1e3


class Found(NamedTuple):
    """True yearly tracking errors of portfolios of k stocks, in percent, by method; and the weights for one k."""

    errors: dict[str, list[float]]
    index: Any
    weights: Any
    sectors: Any


def simulate(seed: int) -> tuple[Any, Any, Any, Any]:
    """The index, the true covariance of daily returns, one year of returns, and the sector of each stock."""
    rng = np.random.default_rng(seed)
    index = np.sort(rng.pareto(1.3, STOCKS) + 0.3)[::-1]
    sectors = rng.permutation(np.repeat(np.arange(10), 10))
    loadings = np.column_stack(
        [rng.uniform(0.6, 1.4, STOCKS), np.eye(10)[sectors] * rng.uniform(0.7, 1.3, (STOCKS, 1))]
    )
    factors = np.append(0.010, rng.uniform(0.005, 0.010, 10))
    own = rng.uniform(0.005, 0.020, STOCKS)
    covariance = (loadings * factors**2) @ loadings.T + np.diag(own**2)
    noise = rng.standard_normal((DAYS, STOCKS)) * own
    return index / index.sum(), covariance, (rng.standard_normal((DAYS, 11)) * factors) @ loadings.T + noise, sectors


def track(covariance: Any, index: Any, k: int, allowed: Any = None) -> Any:
    """Weights of at most k stocks, of those allowed, that follow the index."""
    chosen = np.arange(STOCKS) if allowed is None else np.asarray(allowed)
    scaled = covariance / np.trace(covariance) * STOCKS
    A = scaled[np.ix_(chosen, chosen)] + BUDGET
    result = ksparse.minimize(Quadratic(A, scaled[chosen] @ index + BUDGET), sparsity=Entries(k, lower=0.0))
    weights = np.zeros(STOCKS)
    weights[chosen] = result.x / result.x.sum()
    return weights


def compute(seed: int) -> tuple[pd.DataFrame, Found]:
    index, covariance, returns, sectors = simulate(seed)
    sample = np.cov(returns.T)

    def cut(k: int) -> Any:
        return np.where(np.arange(STOCKS) < k, index, 0.0) / index[:k].sum()

    methods: dict[str, Any] = {
        "ksparse": lambda k: track(sample, index, k),
        "largest stocks, best weights": lambda k: track(sample, index, k, np.arange(k)),
        "largest stocks, weights of the index": cut,
        "ksparse if Σ were known": lambda k: track(covariance, index, k),
    }

    def measure(weights: Any) -> float:
        away = weights - index
        return float(100 * np.sqrt(YEAR * away @ covariance @ away))

    errors = {name: [measure(method(k)) for k in KS] for name, method in methods.items()}
    rows = {}
    for name, method in methods.items():
        weights = method(K)
        rows[name] = {
            "stocks": (weights > 0).sum(),
            "tracking error": measure(weights),
            "sum": weights.sum(),
            "smallest": weights.min(),
        }
    return pd.DataFrame(rows).T, Found(errors, index, track(sample, index, K), sectors)


def draw(found: Found) -> Figure:
    figure, (left, right) = open_figure(2, size=(10.0, 3.7), width_ratios=[1, 1])
    for (name, values), colour in zip(found.errors.items(), (OURS, OTHER, USUAL, TRUTH), strict=True):
        left.plot(KS, values, "--" if "known" in name else "o-", color=colour, markersize=4, label=name)
    left.set_xscale("log")
    left.set_xticks(KS, [str(k) for k in KS])
    left.minorticks_off()
    left.set_ylim(bottom=0)
    tidy(
        left,
        "Tracking error of k stocks, true covariance",
        "k, the number of stocks",
        "standard deviation in a year, %",
    )
    add_legend(left)
    places = np.arange(STOCKS)
    right.bar(places, 100 * found.index, color=TRUTH, width=0.9, label="index")
    held = found.weights > 0
    right.vlines(places[held], 0, 100 * found.weights[held], color=OURS, linewidth=1.5)
    right.plot(places[held], 100 * found.weights[held], "o", color=OURS, markersize=4.5, label="portfolio")
    tidy(right, f"{K} stocks, from {len(set(found.sectors[held]))} of 10 sectors", "stock, by its size", "weight, %")
    add_legend(right)
    return figure


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    return run_example("Portfolios of few stocks that follow an index", compute, draw, arguments)


if __name__ == "__main__":
    main()
