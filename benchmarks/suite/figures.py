"""Figures: quality against time, one marker per method."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .cases import Case
from .results import Row
from .summaries import Comparison

__all__ = ["draw"]

RED, INK, GRID = "#c0392b", "#3a4350", "#e3e7ec"
#: Colours of the packages, and markers of their methods in order of appearance.
COLOURS = {
    "ksparse": RED,
    "skscope": "#2a93d5",
    "abess": "#1d7a8c",
    "L1": "#e08e0b",
    "MCP": "#8d6e3f",
    "OMP": "#7a8ba3",
    "fastsparsegams": "#5661b3",
    "Coxnet": "#8d6e3f",
    "graphical": "#3f5f8a",
}
MARKERS = "osDv^P<>hX8p"
#: Ticks of the objective in percent above the best; the axis is linear below the first positive one.
TICKS = (0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000)
NOTE_STYLE: dict[str, Any] = {
    "ha": "right",
    "va": "top",
    "fontsize": 7,
    "color": INK,
    "zorder": 2,
    "bbox": {"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 1},
}


def draw(case: Case, comparisons: dict[tuple[str, int], Comparison], path: Path) -> None:
    """Draw one panel per variant of a case, for the smallest number of threads that was measured."""
    from matplotlib.figure import Figure

    threads = min(count for _, count in comparisons)
    shown = [variant.name for variant in case.variants if (variant.name, threads) in comparisons]
    columns = 2 if len(shown) == 4 else min(3, len(shown))
    rows = -(-len(shown) // columns)
    figure = Figure(figsize=(3.6 * columns + 2.6, 3.1 * rows + 0.3), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    styles = _assign_styles([name for variant in shown for name in comparisons[variant, threads].methods])
    for ax, variant in zip(axes, shown, strict=False):
        _draw_panel(ax, comparisons[variant, threads], variant, threads, styles)
    for ax in axes[len(shown) :]:
        ax.set_visible(False)
    handles = {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    ordered = [name for name in styles if name in handles]
    figure.legend([handles[name] for name in ordered], ordered, loc="outside right upper", fontsize=8, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130, metadata={"Software": None})


def _assign_styles(methods: list[str]) -> dict[str, tuple[str, str]]:
    """Return the colour and marker of each method."""
    styles: dict[str, tuple[str, str]] = {}
    used: dict[str, int] = {}
    for name in dict.fromkeys(methods):
        package = name.split()[0].rstrip(",")
        marker = MARKERS[used.get(package, 0) % len(MARKERS)]
        used[package] = used.get(package, 0) + 1
        styles[name] = (COLOURS.get(package, INK), marker)
    return styles


def _draw_panel(ax: Any, comparison: Comparison, title: str, threads: int, styles: dict[str, tuple[str, str]]) -> None:
    graph = "graph" in comparison.ours
    measure = "frobenius" if graph else "objective"
    values = {name: comparison.median(name, measure) for name in comparison.methods}
    best = min((value for value in values.values() if not np.isnan(value)), default=np.nan)
    for name, value in values.items():
        seconds = comparison.median(name, "seconds")
        if np.isnan(value) or np.isnan(seconds):
            continue
        ours = name == comparison.ours
        colour, marker = styles[name]
        ax.scatter(
            seconds,
            value if graph else max(100 * (value / best - 1), 0.0),
            s=190 if ours else 42,
            marker="*" if ours else marker,
            color=colour,
            alpha=1.0 if ours else 0.85,
            edgecolors="white",
            linewidths=0.6,
            zorder=4 if ours else 3,
            label=name,
            clip_on=False,
        )
    _format_time_axis(ax, [comparison.median(name, "seconds") for name in comparison.methods])
    _format_quality_axis(ax, graph)
    failures = [(name, row) for name in comparison.methods if (row := _find_failure(comparison, name)) is not None]
    if failures:
        note = "\n".join(f"{name}: {row.status_text}" for name, row in failures)
        ax.text(1.0, 1.0, note, transform=ax.transAxes, **NOTE_STYLE)
    ax.set_title(title, fontsize=9, color=INK)
    ax.set_xlabel(f"seconds, {'one thread' if threads == 1 else f'{threads} threads'}", fontsize=8, color=INK)
    ax.set_ylabel("relative Frobenius error" if graph else "objective above the lowest", fontsize=8, color=INK)
    ax.tick_params(labelsize=8, colors=INK)
    ax.grid(color=GRID, linewidth=0.6)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _find_failure(comparison: Comparison, method: str) -> Row | None:
    """Return the failure of a method that has no median."""
    return comparison.find_failure(method) if np.isnan(comparison.median(method, "seconds")) else None


def _format_time_axis(ax: Any, seconds: list[float]) -> None:
    """Make the axis logarithmic with plain tick labels, covering at least one decade."""
    known = [value for value in seconds if not np.isnan(value)]
    low, high = min(known, default=1.0), max(known, default=1.0)
    margin = max(1.5, np.sqrt(10 * low / high))
    ax.set_xscale("log")
    ax.set_xlim(low / margin, high * margin)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.xaxis.set_minor_formatter(
        lambda value, _: f"{value:g}" if high < 30 * low and _first_digit(value) in "25" else ""
    )
    ax.tick_params(axis="x", which="minor", labelsize=7, labelcolor=INK)


def _first_digit(value: float) -> str:
    """Return the first significant digit of a number."""
    return f"{value:e}"[0]


def _format_quality_axis(ax: Any, graph: bool) -> None:
    """Start at zero for Frobenius errors; show objectives in percent above the lowest, on a symmetric log scale."""
    if graph:
        ax.set_ylim(0, 1.15 * ax.dataLim.y1)  # room for the note about failures
        return
    ax.set_yscale("symlog", linthresh=TICKS[1])
    top = next((tick for tick in TICKS[1:] if tick >= ax.dataLim.y1), TICKS[-1])
    ax.set_yticks([tick for tick in TICKS if tick <= top])
    ax.set_yticks([], minor=True)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g} %")
    ax.set_ylim(0, top)
