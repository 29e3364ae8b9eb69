"""Figures of what the theorems say, and slopes in logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import Array
from ..plots._style import INK
from .base import Picture
from .drawing import COLOURS, finish, style_of
from .methods import DEFAULT
from .tables import Row, Series, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["bounds_picture", "convergence_picture", "floor_picture", "slope", "slope_words"]

PAPER = ("GraHTP", "FGraHTP")
#: n, k, noise and p, if that varies.
Setting = tuple[int, int, float, int | None]
#: By which share of the axis marks of a method are drawn aside where all do as well, and their sizes.
ASIDE = {"GraHTP": -0.025, "FGraHTP": 0.025, DEFAULT: 0.0}
SIZES = {"GraHTP": 8.0, "FGraHTP": 6.0, DEFAULT: 9.0}
#: Errors below this are rounding, and are drawn here.
LOWEST = 1e-16


def slope(table: Table, x: str) -> tuple[float, float]:
    """Slope of the root mean square error against x in logarithms, and its standard error by the jackknife.

    Of squares, since the logarithm of one error is on average too low, the more so the fewer entries it has. Only
    replications that have all settings count.
    """
    settings = list(dict.fromkeys(_setting(row) for row in table.rows))
    runs: dict[int, dict[Setting, Row]] = {}
    for row in table.rows:
        runs.setdefault(row["replication"], {})[_setting(row)] = row
    whole = [run for run in runs.values() if len(run) == len(settings)]
    if len(settings) < 2 or not whole:
        return np.nan, np.nan
    places, squares = (
        np.array([[run[each][name] ** power for each in settings] for run in whole])
        for name, power in ((x, 1), ("error", 2))
    )
    count = len(whole)
    if count == 1:
        return _fitted(places[0], squares[0]), np.nan
    sums = places.sum(axis=0), squares.sum(axis=0)
    left_out = [
        _fitted((sums[0] - place) / (count - 1), (sums[1] - square) / (count - 1))
        for place, square in zip(places, squares, strict=True)
    ]
    error = np.sqrt((count - 1) * np.var(left_out))
    return _fitted(sums[0] / count, sums[1] / count), float(error)


def slope_words(measured: float, error: float) -> str:
    """A slope and its standard error, as far as they are known."""
    return f"{measured:.2f}" if np.isnan(error) else f"{measured:.2f} ± {error:.2f}"


def _fitted(places: Array, squares: Array) -> float:
    return float(np.polyfit(np.log(places), np.log(squares) / 2.0, 1)[0])


def _setting(row: Row) -> Setting:
    """What tells a point of the floor from the others; p is the same for all where it does not vary."""
    return row["n"], row["k"], row["noise"], row.get("p")


def _points(table: Table, x: str) -> Series:
    """Means of x, which may differ between replications, and root mean square errors, for each setting."""
    settings: dict[Setting, list[Row]] = {}
    for row in table.rows:
        settings.setdefault(_setting(row), []).append({**row, "square": row["error"] ** 2})
    parts = [Table(rows) for rows in settings.values()]
    sizes = np.sqrt([part.mean("square") for part in parts])
    errors = np.array([part.error("square") for part in parts]) / (2.0 * sizes)
    return Series(np.array([part.mean(x) for part in parts]), sizes, errors)


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
        ("size", "squared", "gradient", "‖∇ₖf(x̄)‖", "n varying"),
        ("size", "squared", "scale", "√(k ln p/n)", "n varying"),
        ("sparsity", "squared", "scale", "√(k ln p/n)", "k varying"),
        ("dimension", "squared", "scale", "√(k ln p/n)", "p varying"),
        ("size", "logistic", "scale", "√(k ln p/n)", "n varying, logistic loss"),
    )

    def draw(figure: Figure) -> None:
        axes = figure.subplots(2, len(panels) // 2).ravel()
        for number, (ax, (part, loss, x, words, title)) in enumerate(zip(axes, panels, strict=True)):
            for method in methods:
                rows = table.where(part=part, loss=loss, method=method)
                label = f"{method} ({slope_words(*slope(rows, x))})"
                _line(ax, _aside(_points(rows, x), ASIDE[method]), method, label)
            finish(ax, words, "" if number % 3 else "‖x − x̄‖ in the end", log="xy", title=title, legend=True)
            if part == "dimension":
                low, high = ax.get_ylim()
                ax.set_ylim(low / 1.5, high * 1.5)  # a flat line is to look flat

    caption = (
        "The error that is left, in logarithms, with slopes and their standard errors in brackets: 1 is"
        f" proportionality. Root mean squares over {floor.repeats('problem')}, with standard errors; where the noise"
        " varies, that of a problem is the same but for its size. The gradient's norm is that of its k largest entries"
        " (FGraHTP: s = 3k, as in Theorem 2). Where the support is found, the error is that of a fit to k features and"
        " does not depend on p: the paper's √(k ln p/n) is an upper bound. Methods are drawn a little aside of each"
        " other. GraHTP and FGraHTP: constant step,"
        f" η = 1/L; {DEFAULT}: per coordinate, then exchanges."
    )
    return Picture("theory-floor", caption, draw, (11.0, 6.6))
