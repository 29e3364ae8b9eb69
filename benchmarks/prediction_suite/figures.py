"""Figures: test error and number of features against the signal-to-noise ratio, and a dot plot of real data."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from suite.figures import GRID, INK, RED

from .regressors import BEFORE, OURS
from .simulation import SIZES, SNRS
from .summaries import Comparison

__all__ = ["draw_errors", "draw_features", "draw_real"]

#: Colour and marker of each method.
STYLES = {
    OURS: (RED, "o"),
    BEFORE: ("#d98880", "o"),
    "lasso": ("#e08e0b", "s"),
    "L1": ("#e08e0b", "s"),
    "elastic net": ("#2e8b57", "D"),
    "relaxed lasso": ("#1f4e9c", "v"),
    "MCP": ("#8d6e3f", "^"),
    "SCAD": ("#b08ac9", "P"),
    "abess": ("#1d9a9c", "<"),
    "fastsparsegams": ("#5661b3", ">"),
    "F-test + ridge": ("#8a97a8", "X"),
    "RFECV": ("#c2c9d2", "h"),
}
#: Methods whose large errors may leave the panel.
MAY_LEAVE = ("RFECV", "abess", BEFORE)
#: Mean numbers of features below this are drawn here, on a logarithmic axis.
FEWEST = 0.5
TICKS = (0.05, 0.2, 0.7, 2, 6)


def draw_errors(comparisons: dict[Any, Comparison], path: Path) -> None:
    """Draw the geometric mean of the relative test error, one panel for each size."""

    def show(comparison: Comparison, method: str) -> float:
        return float(np.exp(comparison.estimate(method).mean))

    figure, axes = _draw_panels(comparisons, show)
    snrs = np.geomspace(min(SNRS), max(SNRS), 100)
    for ax in axes.values():
        shown = [line for line in ax.lines if line.get_label() not in MAY_LEAVE]
        top = max((float(np.nanmax(line.get_ydata())) for line in shown), default=2.0)
        ax.set_ylim(1.0 - 0.02 * (top - 1.0), 1.0 + 1.08 * (top - 1.0))
        ax.set_ylabel("relative test error", fontsize=8, color=INK)
        ax.plot(snrs, 1.0 + snrs, color=INK, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
    _save(figure, path)


def draw_features(comparisons: dict[Any, Comparison], path: Path) -> None:
    """Draw the mean number of features, one panel for each size, with the number of large coefficients."""

    def show(comparison: Comparison, method: str) -> float:
        return max(comparison.estimate(method, attrgetter("features")).mean, FEWEST)

    figure, axes = _draw_panels(comparisons, show)
    for size, ax in axes.items():
        ax.axhline(SIZES[size].s, color=INK, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
        ax.text(7.6, SIZES[size].s, f"{SIZES[size].s}", fontsize=7, color=INK, va="center", clip_on=False)
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ax.yaxis.set_minor_formatter("")
        ax.set_ylim(0.9 * FEWEST, 1.3 * SIZES[size].p)
        ax.set_ylabel("features, mean", fontsize=8, color=INK)
    _save(figure, path)


def _draw_panels(
    comparisons: dict[Any, Comparison], show: Callable[[Comparison, str], float]
) -> tuple[Any, dict[str, Any]]:
    """Draw a line for each method, one panel for each size."""
    from matplotlib.figure import Figure

    sizes = [size for size in SIZES if any(key[0] == size for key in comparisons)]
    rows = -(-len(sizes) // 2)
    figure = Figure(figsize=(9.8, 3.3 * rows), layout="constrained")
    grid = figure.subplots(rows, 2, squeeze=False).ravel()
    axes = dict(zip(sizes, grid, strict=False))
    for ax in grid[len(sizes) :]:
        ax.set_visible(False)
    for size, ax in axes.items():
        cells = {snr: one for (name, snr), one in comparisons.items() if name == size}
        for method in STYLES:
            points = [(snr, show(one, method)) for snr, one in cells.items() if method in one.rows]
            if points:
                ax.plot(*zip(*points, strict=True), label=method, **_style_line(method))
        _format_panel(ax, f"{size}: n = {SIZES[size].n}, p = {SIZES[size].p}, s = {SIZES[size].s}")
    handles = {label: one for ax in axes.values() for one, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    _add_legend(figure, handles)
    return figure, axes


def _style_line(method: str) -> dict[str, Any]:
    colour, marker = STYLES[method]
    main = method == OURS
    return {
        "color": colour,
        "marker": marker,
        "markersize": 5.0 if main else 3.5,
        "linewidth": 2.6 if main else 1.1,
        "linestyle": (0, (4, 2)) if method == BEFORE else "-",
        "alpha": 1.0 if main else 0.9,
        "markeredgecolor": "white",
        "markeredgewidth": 0.4,
        "zorder": 5 if main else 3,
    }


def _format_panel(ax: Any, title: str) -> None:
    ax.set_xscale("log")
    ax.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    ax.set_xticks([], minor=True)
    ax.set_xlabel("signal-to-noise ratio", fontsize=8, color=INK)
    _format_axes(ax, title)


def _format_axes(ax: Any, title: str) -> None:
    ax.set_title(title, fontsize=9, color=INK)
    ax.tick_params(labelsize=8, colors=INK)
    ax.grid(color=GRID, linewidth=0.6)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _add_legend(figure: Any, handles: dict[str, Any]) -> None:
    ordered = [name for name in STYLES if name in handles]
    figure.legend([handles[name] for name in ordered], ordered, loc="outside right center", fontsize=8, frameon=False)


def draw_real(comparisons: dict[str, Comparison], path: Path) -> None:
    """Draw the losses with standard errors, and the numbers of features: a line of dots for each data set."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.8, 0.55 * len(comparisons) + 1.1), layout="constrained")
    losses, features = figure.subplots(1, 2, sharey=True)
    handles: dict[str, Any] = {}
    for place, comparison in enumerate(comparisons.values()):
        shown = [method for method in STYLES if method in comparison.rows]
        for number, method in enumerate(shown):
            height = place + 0.13 * (number - (len(shown) - 1) / 2)
            style = _style_dots(method)
            found = comparison.estimate(method)
            error = 0.0 if np.isnan(found.error) else found.error
            handles[method] = losses.errorbar(found.mean, height, xerr=error, elinewidth=1.0, **style)
            count = comparison.estimate(method, attrgetter("features")).mean
            features.errorbar(max(count, FEWEST), height, **style)
    losses.set_yticks(range(len(comparisons)), list(comparisons))
    losses.invert_yaxis()
    _format_axes(losses, "log loss of held-out samples (riboflavin: 1 − R²)")
    _format_axes(features, "features, mean")
    features.set_xscale("log")
    features.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    losses.set_xlim(left=0)
    _add_legend(figure, handles)
    _save(figure, path)


def _style_dots(method: str) -> dict[str, Any]:
    colour, marker = STYLES[method]
    main = method == OURS
    return {
        "color": colour,
        "marker": marker,
        "markersize": 7.5 if main else 5.5,
        "markeredgecolor": "white",
        "markeredgewidth": 0.5,
        "linestyle": "none",
        "zorder": 5 if main else 3,
    }


def _save(figure: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130, metadata={"Software": None})
