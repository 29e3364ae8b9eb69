"""The style of the figures: a colour and a marker for each method, error bars, light axes."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .base import Array, Picture
from .frames import summarize, unique
from .methods import DEFAULT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS",
    "GREY",
    "INK",
    "draw_line",
    "draw_runs",
    "draw_steps",
    "draw_summaries",
    "finish_axes",
    "get_style",
    "render_svg",
]

INK, GREY = "#3a4350", "#c3c9d1"
#: Okabe and Ito's colours, which are distinguishable with any colour vision; ours stands out.
COLOURS = {
    "GraHTP": "#0072b2",
    "FGraHTP": "#56b4e9",
    "GraSP": "#009e73",
    "FBS": "#e69f00",
    "GLasso": "#cc79a7",
    "HTP": "#0072b2",
    "IHT": "#56b4e9",
    DEFAULT: "#c0392b",
}
MARKERS = {"GraHTP": "o", "FGraHTP": "v", "GraSP": "s", "FBS": "^", "GLasso": "D", "HTP": "o", "IHT": "v", DEFAULT: "*"}

#: Colours of the settings in figures of steps, from the smallest setting to the largest.
SHADES = ("#c994c7", "#8856a7", "#3f007d")
LINE_STYLES = ("-", "--")


def render_svg(picture: Picture) -> str:
    """A picture as SVG, the same in each run."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    file = io.BytesIO()
    # Letters that the font lacks are drawn as boxes; a warning on the terminal would not help.
    with warnings.catch_warnings(), rc_context({"svg.hashsalt": picture.name}):
        warnings.simplefilter("ignore")
        figure = Figure(figsize=picture.size, layout="constrained")
        picture.draw(figure)
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue().decode()


def get_style(method: str) -> dict[str, Any]:
    """Colour, marker and width of a method's line."""
    ours = method == DEFAULT
    return {
        "color": COLOURS.get(method, INK),
        "marker": MARKERS.get(method, "o"),
        "markersize": 7.0 if ours else 4.0,
        "linewidth": 1.6 if ours else 1.1,
        "zorder": 4 if ours else 3,
    }


def draw_summaries(ax: Axes, frame: pd.DataFrame, x: str, y: str, methods: Sequence[str]) -> None:
    """Means over replications with standard errors, a line for each method."""
    for method in methods:
        draw_line(ax, summarize(frame, x, y, method=method), label=method, **get_style(method))


def draw_line(ax: Axes, summary: pd.DataFrame, **style: Any) -> None:
    """Means with standard errors, where there are any."""
    if len(summary):
        error = np.nan_to_num(summary["sem"].to_numpy(dtype=float))
        ax.errorbar(summary.index.to_numpy(), summary["mean"].to_numpy(), yerr=error, elinewidth=0.8, **style)


def draw_runs(ax: Axes, runs: Sequence[Array], method: str, length: int = 0, first: int = 0, **style: Any) -> None:
    """Mean of runs over their iterations with a band of its standard error; a finished run keeps its last value.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    runs : sequence of ndarray
        Values of each run, starting with that of the start.
    method : str
        The method, for its style.
    length : int, default=0
        Least number of values to draw.
    first : int, default=0
        The first iteration to draw.
    **style
        Changes to the method's style.
    """
    if not runs:
        return
    last = max(length, *(run.size for run in runs))
    filled = np.array([np.pad(run, (0, last - run.size), mode="edge") for run in runs])[:, first:]
    mean, iterations = filled.mean(axis=0), np.arange(first, last)
    style = {**get_style(method), **style}
    ax.plot(iterations, mean, label=method, **style)
    if len(filled) > 1:
        error = filled.std(axis=0, ddof=1) / np.sqrt(len(filled))
        ax.fill_between(iterations, mean - error, mean + error, color=style["color"], alpha=0.2, linewidth=0)


def draw_steps(
    figure: Figure, steps: pd.DataFrame, over: str, measures: Sequence[tuple[str, str, str]], step: str, chosen: float
) -> None:
    """How results depend on the step: a colour for each setting, a line style for each method.

    Parameters
    ----------
    figure : Figure
        Where to draw.
    steps : DataFrame
        Results, with the step in the column `multiple`.
    over : str
        The column whose values are the settings.
    measures : sequence of (str, str, str)
        What to show: the column, the label of the axis, and which axes are logarithmic.
    step : str
        Label of the horizontal axis.
    chosen : float
        The step of the other figures, marked by a grey line.
    """
    from matplotlib.lines import Line2D

    settings, methods = sorted(unique(steps, over)), unique(steps, "method")
    shades = dict(zip(settings, SHADES[-len(settings) :], strict=True))
    for ax, (measure, label, log) in zip(figure.subplots(1, len(measures)), measures, strict=True):
        for setting, colour in shades.items():
            for method, line in zip(methods, LINE_STYLES, strict=False):
                summary = summarize(steps, "multiple", measure, **{over: setting, "method": method})
                draw_line(ax, summary, color=colour, ls=line, marker="o", ms=3, lw=1.3)
        ax.axvline(chosen, color=GREY, linewidth=1.0, zorder=1)
        finish_axes(ax, step, label, log=log)
    handles = [
        Line2D([], [], color=colour, label=f"{over} = {setting}", marker="o", ms=3)
        for setting, colour in shades.items()
    ]
    if len(methods) > 1:
        handles += [
            Line2D([], [], color=INK, ls=line, label=method) for method, line in zip(methods, LINE_STYLES, strict=False)
        ]
    figure.legend(handles=handles, loc="outside right center", frameon=False, fontsize=8)


def finish_axes(ax: Axes, x: str, y: str, *, log: str = "", title: str = "", legend: bool = False) -> None:
    """Labels, logarithmic axes where asked for, light spines and grid, and the legend."""
    has_data = np.isfinite(ax.dataLim.get_points()).all()
    if not has_data:  # an incomplete run
        ax.text(0.5, 0.5, "no results yet", transform=ax.transAxes, ha="center", color=INK, fontsize=8)
    if "x" in log and has_data and ax.dataLim.x1 > 0:
        ax.set_xscale("log")
        _label_plainly(ax.xaxis, *ax.get_xlim())
    if "y" in log and has_data and ax.dataLim.y1 > 0:
        ax.set_yscale("log")
        _label_plainly(ax.yaxis, *ax.get_ylim())
    ax.set_xlabel(x, fontsize=9, color=INK)
    ax.set_ylabel(y, fontsize=9, color=INK)
    if title:
        ax.set_title(title, fontsize=10, color=INK)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GREY)
    ax.set_axisbelow(True)
    ax.grid(visible=True, axis="y", color=GREY, linewidth=0.5, alpha=0.6)
    ax.tick_params(labelsize=8.5, color=GREY, labelcolor=INK, length=3)
    ax.tick_params(which="minor", color=GREY, length=1.5)
    if legend:
        ax.legend(frameon=False, fontsize=8)


def _label_plainly(axis: Axis, low: float, high: float) -> None:
    """Plain numbers at powers of ten of a logarithmic axis, and at some multiples if it spans few of them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    multiples = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0) if high < 10 * low else (1.0, 2.0, 5.0) if high < 100 * low else (1.0,)
    axis.set_major_locator(LogLocator(subs=multiples))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())
