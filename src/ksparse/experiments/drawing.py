"""How the figures of the experiments look: a colour and a mark for each method, error bars, light axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import Array
from ..plots._style import ACCENT, GREY, INK, tidy
from .methods import DEFAULT
from .tables import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "curves", "finish", "run_curve", "step_curves", "style_of"]

#: Okabe and Ito's colours, which people with any colour vision tell apart; ours stands out.
COLOURS = {
    "GraHTP": "#0072b2",
    "FGraHTP": "#56b4e9",
    "GraSP": "#009e73",
    "FBS": "#e69f00",
    "GLasso": "#cc79a7",
    "HTP": "#0072b2",
    "IHT": "#56b4e9",
    DEFAULT: ACCENT,
}
MARKS = {"GraHTP": "o", "FGraHTP": "v", "GraSP": "s", "FBS": "^", "GLasso": "D", "HTP": "o", "IHT": "v", DEFAULT: "*"}

#: Settings of one method, from the smallest to the largest.
SHADES = ("#c994c7", "#8856a7", "#3f007d")
LINES = ("-", "--")


def style_of(method: str) -> dict[str, Any]:
    """Colour, mark and width of a method's line."""
    ours = method == DEFAULT
    return {
        "color": COLOURS.get(method, INK),
        "marker": MARKS.get(method, "o"),
        "markersize": 7.0 if ours else 4.0,
        "linewidth": 1.6 if ours else 1.1,
        "zorder": 4 if ours else 3,
    }


def curves(ax: Axes, table: Table, x: str, y: str, methods: Sequence[str]) -> None:
    """Means over replications with standard errors, a line for each method."""
    for method in methods:
        series = table.series(x, y, method=method)
        if series.x.size:
            error = np.nan_to_num(series.error)
            ax.errorbar(series.x, series.mean, yerr=error, label=method, elinewidth=0.8, **style_of(method))


def run_curve(ax: Axes, runs: Sequence[Array], method: str, length: int = 0, first: int = 0, **look: Any) -> None:
    """Mean of runs over their iterations, with a band of its standard error; a run that has ended keeps its last value.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    runs : sequence of ndarray
        Values of each run, the one at the start first.
    method : str
        Whose they are.
    length : int, default=0
        Draw at least so many values.
    first : int, default=0
        The first iteration that is drawn.
    **look
        Of the line, beside that of the method.
    """
    if not runs:
        return
    last = max(length, *(run.size for run in runs))
    filled = np.array([np.pad(run, (0, last - run.size), mode="edge") for run in runs])[:, first:]
    mean, where = filled.mean(axis=0), np.arange(first, last)
    style = {**style_of(method), **look}
    ax.plot(where, mean, label=method, **style)
    if len(filled) > 1:
        error = filled.std(axis=0, ddof=1) / np.sqrt(len(filled))
        ax.fill_between(where, mean - error, mean + error, color=style["color"], alpha=0.2, linewidth=0)


def step_curves(
    figure: Figure, steps: Table, over: str, measures: Sequence[tuple[str, str, str]], step: str, chosen: float
) -> None:
    """How results depend on the step: a colour for each setting, a kind of line for each method.

    Parameters
    ----------
    figure : Figure
        Where to draw.
    steps : Table
        Results, with the step as `multiple`.
    over : str
        The name whose values are the settings.
    measures : sequence of (str, str, str)
        What to show: the name in the table, that of the axis, and which axes are logarithmic.
    step : str
        Of what `multiple` is a multiple.
    chosen : float
        The one that other figures have; a grey line marks it.
    """
    from matplotlib.lines import Line2D

    places, methods = sorted(steps.distinct(over)), steps.distinct("method")
    for ax, (measure, name, log) in zip(figure.subplots(1, len(measures)), measures, strict=True):
        for place, colour in zip(places, SHADES[-len(places) :], strict=True):
            for method, line in zip(methods, LINES, strict=False):
                series = steps.series("multiple", measure, **{over: place, "method": method})
                look = {"color": colour, "ls": line, "marker": "o", "ms": 3, "lw": 1.3}
                ax.errorbar(series.x, series.mean, yerr=np.nan_to_num(series.error), elinewidth=0.8, **look)
        ax.axvline(chosen, color=GREY, linewidth=1.0, zorder=1)
        finish(ax, step, name, log=log)
    handles = [
        Line2D([], [], color=colour, label=f"{over} = {place}", marker="o", ms=3)
        for place, colour in zip(places, SHADES[-len(places) :], strict=True)
    ]
    if len(methods) > 1:
        handles += [
            Line2D([], [], color=INK, ls=line, label=method) for method, line in zip(methods, LINES, strict=False)
        ]
    figure.legend(handles=handles, loc="outside right center", frameon=False, fontsize=8)


def finish(ax: Axes, x: str, y: str, *, log: str = "", title: str = "", legend: bool = False) -> None:
    """Names of the axes, logarithmic ones where asked, and the legend."""
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    drawn = np.isfinite(ax.dataLim.get_points()).all()
    if not drawn:  # of a run that was not finished
        ax.text(0.5, 0.5, "no results yet", transform=ax.transAxes, ha="center", color=INK, fontsize=8)
    if "x" in log and drawn and ax.dataLim.x1 > 0:
        ax.set_xscale("log")
        _plain_numbers(ax.xaxis, *ax.get_xlim())
    if "y" in log and drawn and ax.dataLim.y1 > 0:
        ax.set_yscale("log")
        _plain_numbers(ax.yaxis, *ax.get_ylim())
    if title:
        ax.set_title(title, fontsize=10, color=INK)
    tidy(ax, "y")
    ax.grid(axis="y", color=GREY, linewidth=0.5, alpha=0.6)
    if legend:
        ax.legend(frameon=False, fontsize=8)


def _plain_numbers(axis: Axis, low: float, high: float) -> None:
    """Numbers at powers of ten of a logarithmic axis, and at some multiples of those if it spans few of them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    multiples = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0) if high < 10 * low else (1.0, 2.0, 5.0) if high < 100 * low else (1.0,)
    axis.set_major_locator(LogLocator(subs=multiples))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())
