"""Figures of the theorems, and slopes in logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..base import Array, Picture
from ..drawing import COLOURS, INK, finish_axes, get_style
from ..frames import count_runs, select_rows, split_rows, summarize
from ..methods import DEFAULT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_bounds", "draw_convergence", "draw_floor", "fit_slope", "format_slope"]

PAPER_METHODS = ("GraHTP", "FGraHTP")
#: Columns that distinguish the points of the error floor.
POINT = ["n", "k", "noise", "p"]
#: Horizontal shifts, as fractions of the axis, and marker sizes, so that coinciding lines are all visible.
SHIFTS = {"GraHTP": -0.025, "FGraHTP": 0.025, DEFAULT: 0.0}
SIZES = {"GraHTP": 8.0, "FGraHTP": 6.0, DEFAULT: 9.0}
#: Errors below this are rounding, and are drawn here.
LOWEST = 1e-16


def fit_slope(frame: pd.DataFrame, x: str) -> tuple[float, float]:
    """Slope of the root mean square error against x in logarithms, and its standard error by the jackknife.

    Squares are averaged because the mean logarithm of an error is biased downwards, more so with fewer entries. Only
    replications that have all points count.
    """
    if not len(frame):
        return np.nan, np.nan
    squares = _number_points(frame).assign(error=frame["error"] ** 2)
    table = squares.pivot_table(index="replication", columns=POINT, values=[x, "error"]).dropna()
    if not len(table) or table["error"].shape[1] < 2:
        return np.nan, np.nan
    places, errors = table[x].to_numpy(), table["error"].to_numpy()
    count = len(table)
    slope = _fit_line(places.mean(axis=0), errors.mean(axis=0))
    if count == 1:
        return slope, np.nan
    left_out = [
        _fit_line((places.sum(axis=0) - place) / (count - 1), (errors.sum(axis=0) - error) / (count - 1))
        for place, error in zip(places, errors, strict=True)
    ]
    return slope, float(np.sqrt((count - 1) * np.var(left_out)))


def format_slope(slope: float, error: float) -> str:
    """A slope and its standard error, where they are known."""
    return f"{slope:.2f}" if np.isnan(error) else f"{slope:.2f} ± {error:.2f}"


def _fit_line(places: Array, squares: Array) -> float:
    return float(np.polyfit(np.log(places), np.log(squares) / 2.0, 1)[0])


def _number_points(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows with a number for p, which most of them lack because it does not vary."""
    return frame.assign(p=frame["p"].fillna(0) if "p" in frame else 0)


def _summarize_points(frame: pd.DataFrame, x: str) -> pd.DataFrame:
    """Means of x, which may differ between replications, and root mean square errors, for each point."""
    groups = _number_points(frame).assign(square=frame["error"] ** 2).groupby(POINT, sort=False)
    points = groups["square"].agg(["mean", "sem"]).set_index(groups[x].mean().rename(x))
    size = np.sqrt(points["mean"])
    return pd.DataFrame({"mean": size, "sem": points["sem"] / (2.0 * size)})


def _draw_hollow(ax: Axes, summary: pd.DataFrame, method: str, label: str | None = None, log: bool = True) -> None:
    """Means with standard errors; markers are hollow and of several sizes, since lines often coincide."""
    error, means = np.nan_to_num(summary["sem"].to_numpy(dtype=float)), summary["mean"].to_numpy(dtype=float)
    # On a logarithmic axis a bar that reaches 0 would have no end.
    below = np.minimum(error, 0.9 * means) if log else error
    style: dict[str, Any] = {**get_style(method), "markersize": SIZES[method], "markerfacecolor": "none"}
    ax.errorbar(
        summary.index.to_numpy(), means, yerr=(below, error), label=label or method, elinewidth=0.8, capsize=2, **style
    )


def draw_convergence(frame: pd.DataFrame) -> Picture:
    """Theorem 1: fractions of runs that agree with it, over the step."""
    part = select_rows(frame, part="convergence")

    def draw(figure: Figure) -> None:
        titles = {"monotone": "f never rises", "ended": "the run converges"}
        for ax, (measure, title) in zip(figure.subplots(1, 2, sharey=True), titles.items(), strict=True):
            for method in PAPER_METHODS:
                _draw_hollow(ax, summarize(part, "multiple", measure, method=method), method, log=False)
            ax.axvline(1.0, color=INK, linewidth=0.8, linestyle=":")
            finish_axes(ax, "η·(1 + ρ₂ₖ)/ζ", "fraction of runs", log="x", title=title, legend=measure == "monotone")
            ax.set_ylim(-0.03, 1.03)

    caption = (
        "Least squares with correlated features, from random starts; the dotted line is the limit of the step."
        f" {count_runs(part, 'problem')} for each step, with standard errors. A run converges if its support (GraHTP)"
        " or f (FGraHTP) does not change any more. GraHTP and FGraHTP: constant step, η as on the axis."
    )
    title = "Theorem 1: convergence below and above the limit of the step"
    return Picture("theory-convergence", title, caption, draw, (9.0, 3.3))


def draw_bounds(frame: pd.DataFrame, noises: Sequence[float]) -> Picture:
    """Theorem 2: errors over iterations, with their bounds."""
    part = select_rows(frame, part="bounds")

    def draw(figure: Figure) -> None:
        axes = np.atleast_1d(figure.subplots(1, len(noises)))
        for ax, noise in zip(axes, noises, strict=True):
            here = select_rows(part, noise=noise)
            for method in PAPER_METHODS:
                errors = summarize(_drop_finished(select_rows(here, method=method)), "t", "error")
                _draw_hollow(ax, errors.assign(mean=errors["mean"].clip(lower=LOWEST)), method)
                bound = summarize(here, "t", "bound", method=method)["mean"]
                ax.plot(bound.index, bound, linestyle="--", color=COLOURS[method], label=f"bound for {method}")
            ax.locator_params(axis="x", integer=True)
            title = "without noise" if noise == 0 else f"noise {noise:g}"
            first = ax is axes[0]
            finish_axes(ax, "iteration t", "‖x⁽ᵗ⁾ − x̄‖" if first else "", log="y", title=title, legend=first)

    caption = (
        "From x⁽⁰⁾ = 0, with the exact constants of each problem; means over"
        f" {count_runs(part, 'problem')}, with standard errors. GraHTP and FGraHTP: constant step, η the smaller of"
        " 0.95ζ and 0.99 of Theorem 1's limit. A run stops once x changes by at most 1e-9 of its largest entry, and a"
        " line ends where the last of its runs stops; until then stopped runs count with their last error. Errors below"
        f" {LOWEST:g} are drawn there."
    )
    return Picture("theory-bounds", "Theorem 2: errors of the iterates and their bounds", caption, draw, (9.0, 3.8))


def _drop_finished(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows until the last of the runs stops: after that its last error is repeated."""
    runs = [run["error"].to_numpy() for run in split_rows(frame, "replication").values()]
    last = max((int(np.flatnonzero(np.diff(errors)).max(initial=-1)) + 1 for errors in runs), default=0)
    return frame[frame["t"] <= last] if len(frame) else frame


def draw_floor(frame: pd.DataFrame, methods: Sequence[str]) -> Picture:
    """The final error against what should be proportional to it."""
    floor = frame[~frame["part"].isin(["convergence", "bounds"])]
    panels = (
        ("noise", "squared", "gradient", "‖∇ₖf(x̄)‖", "noise varying"),
        ("size", "squared", "gradient", "‖∇ₖf(x̄)‖", "n varying"),
        ("size", "squared", "scale", "√(k ln p/n)", "n varying"),
        ("sparsity", "squared", "scale", "√(k ln p/n)", "k varying"),
        ("dimension", "squared", "scale", "√(k ln p/n)", "p varying"),
        ("size", "logistic", "scale", "√(k ln p/n)", "n varying, logistic loss"),
    )

    def draw(figure: Figure) -> None:
        axes = figure.subplots(2, len(panels) // 2)
        for ax, (part, loss, x, label, title) in zip(axes.ravel(), panels, strict=True):
            for method in methods:
                rows = select_rows(floor, part=part, loss=loss, method=method)
                if len(rows):
                    points = _summarize_points(rows, x)
                    points.index = points.index * (points.index.max() / points.index.min()) ** SHIFTS[method]
                    _draw_hollow(ax, points, method, f"{method} ({format_slope(*fit_slope(rows, x))})")
            first = ax in axes[:, 0]
            finish_axes(ax, label, "final ‖x − x̄‖" if first else "", log="xy", title=title, legend=True)
            if part == "dimension":
                low, high = ax.get_ylim()
                ax.set_ylim(low / 1.5, high * 1.5)  # a nearly flat line should look flat

    caption = (
        "In logarithms, with slopes and their standard errors in brackets: 1 is proportionality. Root mean squares over"
        f" {count_runs(floor, 'problem')}, with standard errors; where the noise varies, only its scale differs"
        " between the problems. The norm of the gradient is that of its k largest entries (FGraHTP: s = 3k, as in"
        " Theorem 2). Where the support is found, the error is that of a fit to k features and does not depend on p:"
        " the paper's √(k ln p/n) is an upper bound. Points of the methods are shifted slightly. GraHTP and FGraHTP:"
        f" constant step, η = 1/L; {DEFAULT}: per coordinate, then swaps."
    )
    return Picture("theory-floor", "The error floor and what bounds it", caption, draw, (11.0, 6.6))
