"""Where does a trend change? Piecewise linear curves with few kinks, beside ℓ1 trend filtering.

    python examples/gallery/trend_filtering.py [--data-sets 10] [--figure FILE]

A curve with k kinks is a line plus k ramps max(0, t − tⱼ): a linear model with one feature for each place where a
kink may be. Neighbouring ramps are nearly equal, which is hard for methods that never take back a choice. ℓ1 trend
filtering (Kim, Koh, Boyd and Gorinevsky 2009) penalizes the sum of all changes of slope; here it even has the penalty
that is best for the true curve, which nobody knows in practice. ksparse chooses the number of kinks by the extended
Bayesian information criterion.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from shared import OURS, TRUTH, USUAL, add_legend, open_figure, run_example, tidy
from sklearn.linear_model import lars_path

from ksparse import SparseLinearRegressionIC

N, NOISE = 300, 0.6
KINKS = np.array([40, 95, 150, 205, 250])
SLOPES = np.array([0.05, -0.09, 0.08, -0.12, 0.15, -0.10])
#: A kink is found if one is placed this near to it.
NEAR = 4


class Found(NamedTuple):
    """Data, and the curves and kinks of each method."""

    y: Any
    curve: Any
    fits: dict[str, tuple[Any, Any]]


def make_ramps() -> Any:
    """The line t and the ramps that begin at 1, …, n − 2."""
    time = np.arange(N, dtype=float)
    return np.maximum(time[:, None] - np.arange(N - 1), 0.0)


def fit_with_kinks(bent: Any, straight: Any) -> tuple[Any, Any]:
    """The number of kinks is chosen by the extended Bayesian information criterion."""
    model = SparseLinearRegressionIC(ks=range(13), criterion="ebic", effort=2, fit_intercept=False).fit(bent, straight)
    return model.predict(bent), np.flatnonzero(model.coef_) + 1


def filter_trend(bent: Any, straight: Any, curve: Any) -> tuple[Any, Any]:
    """The best point of the whole path of ℓ1 trend filtering, judged by the true curve."""
    _, _, path = lars_path(bent, straight, method="lasso", max_iter=100)
    fits = bent @ path
    best = int(np.argmin(np.mean((fits - curve[:, None]) ** 2, axis=0)))
    return fits[:, best], np.flatnonzero(path[:, best]) + 1


def compute(seed: int) -> tuple[pd.DataFrame, Found]:
    ramps = make_ramps()
    curve = ramps[:, 0] * SLOPES[0] + ramps[:, KINKS] @ np.diff(SLOPES)
    y = curve + NOISE * np.random.default_rng(seed).standard_normal(N)
    line = np.linalg.qr(np.column_stack([np.ones(N), ramps[:, 0]]))[0]
    trend, straight = line @ (line.T @ y), y - line @ (line.T @ y)  # a line costs nothing, as in trend filtering
    bent = ramps[:, 1:] - line @ (line.T @ ramps[:, 1:])
    fits = {
        "ksparse": fit_with_kinks(bent, straight),
        "l1 trend filtering": filter_trend(bent, straight, curve - trend),
    }
    rows = {}
    for name, (fit, kinks) in fits.items():
        near = np.abs(KINKS[:, None] - kinks).min(axis=1) <= NEAR
        fits[name] = fit + trend, kinks
        error = np.sqrt(np.mean((fit + trend - curve) ** 2))
        rows[name] = {"kinks": len(kinks), "true kinks found": near.sum(), "error": error}
    rows["truth"] = {"kinks": len(KINKS), "true kinks found": len(KINKS), "error": 0.0}
    return pd.DataFrame(rows).T, Found(y, curve, fits)


def draw(found: Found) -> Figure:
    figure, axes = open_figure(2, size=(10.0, 3.7), sharey=True)
    for ax, (name, colour) in zip(axes, (("ksparse", OURS), ("l1 trend filtering", USUAL)), strict=True):
        fit, kinks = found.fits[name]
        ax.plot(found.y, ".", color="#c3c9d1", markersize=3, label="data")
        ax.plot(found.curve, color=TRUTH, linewidth=4, alpha=0.7, label="true curve")
        ax.plot(fit, color=colour, linewidth=1.5, label=name)
        ax.plot(kinks, fit[kinks], "o", color=colour, markersize=4.5)
        for kink in KINKS:
            ax.axvline(kink, color=TRUTH, linewidth=0.7, linestyle=(0, (2, 3)), zorder=0)
        tidy(ax, f"{name}: {len(kinks)} kinks; the true curve has {len(KINKS)}", "time")
        ax.set_ylim(top=4.6)
        add_legend(ax, loc="upper left", ncols=3)
    return figure


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    return run_example("Piecewise linear curves with few kinks", compute, draw, arguments)


if __name__ == "__main__":
    main()
