"""Figures of what the theorems say, and slopes in logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..plots._style import INK
from .base import Picture
from .drawing import COLOURS, finish, style_of
from .methods import DEFAULT
from .tables import Series, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["bounds_picture", "convergence_picture", "floor_picture", "slope", "slope_words"]

PAPER = ("GraHTP", "FGraHTP")
#: By which share of the axis marks of a method are drawn aside where all do as well, and their sizes.
ASIDE = {"GraHTP": -0.025, "FGraHTP": 0.025, DEFAULT: 0.0}
SIZES = {"GraHTP": 8.0, "FGraHTP": 6.0, DEFAULT: 9.0}
#: Errors below this are rounding, and are drawn here.
LOWEST = 1e-16


def slope(table: Table, x: str) -> tuple[float, float]:
    """Slope of the error against x in logarithms, and its standard error: over replications, NaN if unknown."""
    fitted = (_fitted(part, x) for part in table.parts("replication").values())
    slopes = [each for each in fitted if np.isfinite(each)]  # a replication that is under way may have one point only
    error = float(np.std(slopes, ddof=1)) / np.sqrt(len(slopes)) if len(slopes) > 1 else np.nan
    return float(np.mean(slopes)) if slopes else np.nan, float(error)


def slope_words(measured: float, error: float) -> str:
    """A slope and its standard error, as far as they are known."""
    return f"{measured:.2f}" if np.isnan(error) else f"{measured:.2f} ± {error:.2f}"


def _fitted(table: Table, x: str) -> float:
    points = _points(table, x)
    return float(np.polyfit(np.log(points.x), np.log(points.mean), 1)[0]) if points.x.size > 1 else np.nan


def _points(table: Table, x: str) -> Series:
    """Means of x, which may differ between replications, and of the error for each setting."""
    settings = dict.fromkeys((row["n"], row["k"], row["noise"]) for row in table.rows)
    parts = [table.where(n=n, k=k, noise=noise) for n, k, noise in settings]
    columns = (
        [part.mean(x) for part in parts],
        [part.mean("error") for part in parts],
        [part.error("error") for part in parts],
    )
    return Series(*(np.array(column) for column in columns))


def _line(ax: Axes, points: Series, method: str, label: str | None = None, log: bool = True) -> None:
    """Means with standard errors; marks are hollow and of several sizes, since lines of methods often coincide."""
    error = np.nan_to_num(points.error)
    # On a logarithmic axis a bar that reaches 0 would have no end.
    below = np.minimum(error, 0.9 * points.mean) if log else error
    style: dict[str, Any] = {**style_of(method), "markersize": SIZES[method], "markerfacecolor": "none"}
    ax.errorbar(points.x, points.mean, yerr=(below, error), label=label or method, elinewidth=0.8, capsize=2, **style)


def _aside(points: Series, share: float) -> Series:
    """The points moved by a share of their logarithmic axis, so that bars of several methods can be told apart."""
    span = points.x.max() / points.x.min() if points.x.size else 1.0
    return points._replace(x=points.x * span**share)


def convergence_picture(table: Table) -> Picture:
    """Theorem 1: shares of runs that do what it says, over the step."""
    part = table.where(part="convergence")

    def draw(figure: Figure) -> None:
        axes = figure.subplots(1, 2, sharey=True)
        for ax, measure, title in zip(axes, ("monotone", "ended"), ("f never rises", "the run ends"), strict=True):
            for method in PAPER:
                rows = Table(row for row in part.where(method=method).rows if "multiple" in row)
                _line(ax, rows.series("multiple", measure), method, log=False)
            ax.axvline(1.0, color=INK, linewidth=0.8, linestyle=":")
            finish(ax, "η·(1 + ρ₂ₖ)/ζ", "share of runs", log="x", title=title, legend=measure == "monotone")
            ax.set_ylim(-0.03, 1.03)

    caption = (
        "Theorem 1: least squares with correlated features, from random starts; the dotted line is its limit of the"
        f" step. {part.repeats('problem')} for each step, with standard errors. A run ends if its support (GraHTP) or f"
        " (FGraHTP) stays as it was. GraHTP and FGraHTP: constant step, η as on the axis."
    )
    return Picture("theory-convergence", caption, draw, (9.0, 3.3))


def bounds_picture(table: Table, noises: Sequence[float]) -> Picture:
    """Theorem 2: errors over iterations, with their bounds."""
    part = table.where(part="bounds")

    def draw(figure: Figure) -> None:
        axes = np.atleast_1d(figure.subplots(1, len(noises)))
        for number, (ax, noise) in enumerate(zip(axes, noises, strict=True)):
            for method in PAPER:
                series = _under_way(part.where(noise=noise, method=method)).series("t", "error")
                drawn = Series(series.x, np.maximum(series.mean, LOWEST), series.error)
                _line(ax, drawn, method)
                bound = part.where(noise=noise).series("t", "bound", method=method)
                ax.plot(bound.x, bound.mean, linestyle="--", color=COLOURS[method], label=f"bound for {method}")
            ax.xaxis.get_major_locator().set_params(integer=True)
            title = "without noise" if noise == 0 else f"noise {noise:g}"
            finish(ax, "iteration t", "‖x⁽ᵗ⁾ − x̄‖" if number == 0 else "", log="y", title=title, legend=number == 0)

    caption = (
        "Theorem 2: errors of the iterates from x⁽⁰⁾ = 0, and their bounds with the exact constants of each problem;"
        f" means over {part.repeats('problem')}, with standard errors. GraHTP and FGraHTP: constant step, η the lesser"
        " of 0.95ζ and 0.99 of Theorem 1's limit. A"
        " run ends once x changes by at most 1e-9 of its largest entry, and a line where the last of its runs has"
        " ended; until then those that ended count with their last error."
        f" Errors below {LOWEST:g} are drawn there."
    )
    return Picture("theory-bounds", caption, draw, (9.0, 3.8))


def _under_way(table: Table) -> Table:
    """The rows until the last of the runs ends: after the end of a run its last error is repeated."""
    runs = [part.values("error") for part in table.parts("replication").values()]
    last = max((int(np.flatnonzero(np.diff(errors)).max(initial=-1)) + 1 for errors in runs), default=0)
    return Table(row for row in table.rows if row["t"] <= last)


def floor_picture(table: Table, methods: Sequence[str]) -> Picture:
    """The error in the end against what it is to be proportional to."""
    floor = Table(row for row in table.rows if row["part"] not in ("convergence", "bounds"))
    panels = (
        ("noise", "squared", "gradient", "‖∇ₖf(x̄)‖", "noise varying"),
        ("size", "squared", "scale", "√(k ln p/n)", "n varying"),
        ("sparsity", "squared", "scale", "√(k ln p/n)", "k varying"),
        ("size", "logistic", "scale", "√(k ln p/n)", "n varying, logistic loss"),
    )

    def draw(figure: Figure) -> None:
        axes = figure.subplots(1, len(panels))
        for number, (ax, (part, loss, x, words, title)) in enumerate(zip(axes, panels, strict=True)):
            for method in methods:
                rows = table.where(part=part, loss=loss, method=method)
                label = f"{method} ({slope_words(*slope(rows, x))})"
                _line(ax, _aside(_points(rows, x), ASIDE[method]), method, label)
            finish(ax, words, "‖x − x̄‖ in the end" if number == 0 else "", log="xy", title=title, legend=True)

    caption = (
        "The error that is left, in logarithms, with slopes and their standard errors in brackets: 1 is"
        f" proportionality. Means over {floor.repeats('problem')}, with standard errors; where the noise varies, that"
        " of a problem is the same but for its size, and the gradient's norm is that of its k largest entries (FGraHTP:"
        " s = 3k, as in Theorem 2). Methods are drawn a little aside of each other. GraHTP and FGraHTP: constant step,"
        f" η = 1/L; {DEFAULT}: per coordinate, then exchanges."
    )
    return Picture("theory-floor", caption, draw, (13.0, 3.6))
