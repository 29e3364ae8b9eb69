"""Which spins interact? The graph of an Ising model from samples, by pseudo-likelihood with k edges.

    python examples/gallery/ising.py [--data-sets 10] [--figure FILE]

The likelihood of an Ising model P(x) ∝ exp(Σ_{i<j} Jᵢⱼxᵢxⱼ), x ∈ {−1, +1}ᵖ, sums over 2ᵖ states. The
pseudo-likelihood (Besag 1975) multiplies P(xᵢ | others) = 1/(1 + exp(−2xᵢΣⱼJᵢⱼxⱼ)) instead: one logistic regression
with a row for each spin of each sample, and one feature for each pair, so that an edge is one coefficient. The usual
method (Ravikumar, Wainwright and Lafferty 2010) fits a logistic lasso for each spin, and joins two spins if both
choose each other. Both are told the number of edges; couplings of both signs are on a grid, and samples come from
Gibbs' sampler.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import sparse
from shared import OURS, TRUTH, USUAL, make_logistic_lasso, measure_recovery, open_figure, run_example

import ksparse
from ksparse.objectives import Logistic

SIDE, SAMPLES, SWEEPS = 6, 300, 60
SPINS = SIDE * SIDE
PAIRS = np.column_stack(np.triu_indices(SPINS, 1))


class Found(NamedTuple):
    """Couplings of each pair, true and as each method finds them."""

    truth: Any
    couplings: dict[str, Any]


def make_couplings(rng: np.random.Generator) -> Any:
    """Neighbours on a grid are coupled by ±0.3 to ±0.6."""
    rows, columns = PAIRS // SIDE, PAIRS % SIDE
    near = np.abs(rows[:, 0] - rows[:, 1]) + np.abs(columns[:, 0] - columns[:, 1]) == 1
    return np.where(near, rng.choice([-1, 1], len(PAIRS)) * rng.uniform(0.3, 0.6, len(PAIRS)), 0.0)


def sample_spins(couplings: Any, rng: np.random.Generator) -> Any:
    """Independent chains of Gibbs' sampler; spins of one colour of the chessboard do not interact."""
    J = np.zeros((SPINS, SPINS))
    J[PAIRS[:, 0], PAIRS[:, 1]] = J[PAIRS[:, 1], PAIRS[:, 0]] = couplings
    x = rng.choice([-1.0, 1.0], (SAMPLES, SPINS))
    colour = (np.arange(SPINS) // SIDE + np.arange(SPINS) % SIDE) % 2
    for sweep in range(2 * SWEEPS):
        moved = np.flatnonzero(colour == sweep % 2)
        up = 1 / (1 + np.exp(-2 * x @ J[:, moved]))
        x[:, moved] = np.where(rng.random(up.shape) < up, 1.0, -1.0)
    return x


def fit_pseudo_likelihood(x: Any, k: int) -> Any:
    """One logistic regression: the row of sample t and spin i has 2·x_j in the column of each pair {i, j}."""
    pairs = np.arange(len(PAIRS))
    blocks = []
    for i in range(SPINS):
        has = np.any(i == PAIRS, axis=1)
        others = PAIRS[has].sum(axis=1) - i
        picks = sparse.csc_array((np.full(SPINS - 1, 2.0), (others, pairs[has])), shape=(SPINS, len(PAIRS)))
        blocks.append(sparse.csc_array(x) @ picks)
    objective = Logistic(sparse.vstack(blocks).tocsc(), x.T.ravel(), alpha=1e-3)
    return ksparse.minimize(objective, k=k).x


def fit_neighbourhoods(x: Any, k: int) -> Any:
    """The smaller of two lasso coefficients for each pair, at the strongest penalty that leaves at least k edges."""
    for C in np.geomspace(0.01, 1.0, 30):
        J = np.zeros((SPINS, SPINS))
        for i in range(SPINS):
            others = np.arange(SPINS) != i
            J[i, others] = make_logistic_lasso(C).fit(2 * x[:, others], x[:, i]).coef_[0]
        ends = J[PAIRS[:, 0], PAIRS[:, 1]], J[PAIRS[:, 1], PAIRS[:, 0]]
        smaller = np.where(np.abs(ends[0]) < np.abs(ends[1]), *ends)
        if np.count_nonzero(smaller) >= k:
            break
    return smaller


def compute(seed: int) -> tuple[pd.DataFrame, Found]:
    rng = np.random.default_rng(seed)
    truth = make_couplings(rng)
    x = sample_spins(truth, rng)
    k = int(np.count_nonzero(truth))
    couplings = {"ksparse": fit_pseudo_likelihood(x, k), "lasso of each spin": fit_neighbourhoods(x, k)}
    rows = {}
    for name, fit in {**couplings, "truth": truth}.items():
        rows[name] = measure_recovery(np.flatnonzero(fit), np.flatnonzero(truth))
        rows[name]["error of couplings"] = float(np.linalg.norm(fit - truth) / np.linalg.norm(truth))
    return pd.DataFrame(rows).T, Found(truth, couplings)


def bend(xs: tuple[int, int], ys: tuple[int, int]) -> tuple[Any, Any]:
    """An arc between two points: a straight line would hide behind the edges of the grid on its way."""
    t = np.linspace(0.0, 1.0, 30)
    bow = 0.8 * t * (1 - t)
    across, up = xs[1] - xs[0], ys[1] - ys[0]
    return xs[0] + across * t - up * bow, ys[0] + up * t + across * bow


def draw_graph(ax: Axes, couplings: Any, truth: Any, title: str, colour: str) -> None:
    for (i, j), fit, true in zip(PAIRS, couplings, truth, strict=True):
        if fit == 0 and true == 0:
            continue
        ends = [(i % SIDE, j % SIDE), (i // SIDE, j // SIDE)]
        if fit == 0:
            ax.plot(*ends, color=TRUTH, linewidth=1.2, linestyle=(0, (1, 2)), zorder=1)
        elif true == 0:
            ax.plot(*bend(*ends), color=USUAL, linewidth=6 * abs(fit) + 0.5, alpha=0.9, zorder=4)
        else:
            ax.plot(*ends, color=colour, linewidth=6 * abs(fit) + 0.5, alpha=0.9, zorder=2)
    ax.plot(np.arange(SPINS) % SIDE, np.arange(SPINS) // SIDE, "o", color="#3a4350", markersize=5, zorder=3)
    ax.set_title(title, loc="left", fontsize=10.5)
    ax.set_axis_off()
    ax.set_aspect("equal")


def draw(found: Found) -> Figure:
    figure, axes = open_figure(3, size=(10.0, 3.6))
    draw_graph(axes[0], found.truth, found.truth, f"true couplings:\n{np.count_nonzero(found.truth)} edges", "#7a8ba3")
    for ax, (name, fit) in zip(axes[1:], found.couplings.items(), strict=True):
        wrong = int(((fit != 0) & (found.truth == 0)).sum())
        missed = int(((fit == 0) & (found.truth != 0)).sum())
        draw_graph(ax, fit, found.truth, f"{name}:\n{wrong} wrong (red), {missed} missed (dotted)", OURS)
    return figure


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    return run_example("The graph of an Ising model by pseudo-likelihood", compute, draw, arguments)


if __name__ == "__main__":
    main()
