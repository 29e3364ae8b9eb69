"""Figures of what the theorems say, and slopes in logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..plots._style import INK
from ..typing import Array
from .base import Picture
from .drawing import COLOURS, curves, finish, style_of
from .tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["bounds_picture", "convergence_picture", "floor_picture", "slope"]

PAPER = ("GraHTP", "FGraHTP")
#: Errors below this are rounding, and are drawn here.
LOWEST = 1e-16


def slope(table: Table, x: str) -> tuple[float, float]:
    """Slope of the mean error against x in logarithms, and its standard error over replications; NaN if unknown."""
    slopes = [_fitted(table.where(replication=each), x) for each in table.distinct("replication")]
    error = float(np.std(slopes, ddof=1)) / np.sqrt(len(slopes)) if len(slopes) > 1 else np.nan
    return _fitted(table, x), float(error)


def _fitted(table: Table, x: str) -> float:
    across, errors = _means(table, x)
    return float(np.polyfit(np.log(across), np.log(errors), 1)[0]) if across.size > 1 else np.nan


def _means(table: Table, x: str) -> tuple[Array, Array]:
    """Means of x and of the error for each setting; x may differ between replications."""
    settings = list(dict.fromkeys((row["n"], row["k"], row["noise"]) for row in table.rows))
    parts = [table.where(n=n, k=k, noise=noise) for n, k, noise in settings]
    return np.array([part.mean(x) for part in parts]), np.array([part.mean("error") for part in parts])


def convergence_picture(table: Table, replications: int) -> Picture:
    """Theorem 1: shares of runs that do what it says, over the step."""
    part = table.where(part="convergence")

    def draw(figure: Figure) -> None:
        axes = figure.subplots(1, 2, sharey=True)
        for ax, measure, title in zip(axes, ("monotone", "ended"), ("f never rises", "the run ends"), strict=True):
            for method in PAPER:
                rows = Table(row for row in part.where(method=method).rows if "multiple" in row)
                curves(ax, rows, "multiple", measure, (method,))
            ax.axvline(1.0, color=INK, linewidth=0.8, linestyle=":")
            finish(ax, "η·(1 + ρ_2k)/ζ", "share of runs", log="x", title=title, legend=measure == "monotone")
            ax.set_ylim(-0.03, 1.03)

    caption = (
        "Theorem 1: least squares with correlated features, from random starts; the dotted line is its limit of the"
        f" step. {replications} problems for each step, with standard errors. A run ends if its support (GraHTP) or f"
        " (FGraHTP) stays as it was."
    )
    return Picture("theory-convergence", caption, draw, (9.0, 3.3))


def bounds_picture(table: Table, noises: Sequence[float], replications: int) -> Picture:
    """Theorem 2: errors over iterations, with their bounds."""
    part = table.where(part="bounds")

    def draw(figure: Figure) -> None:
        axes = np.atleast_1d(figure.subplots(1, len(noises)))
        for number, (ax, noise) in enumerate(zip(axes, noises, strict=True)):
            for method in PAPER:
                series = part.where(noise=noise).series("t", "error", method=method)
                ax.plot(series.x, np.maximum(series.mean, LOWEST), label=method, **style_of(method))
                bound = part.where(noise=noise).series("t", "bound", method=method)
                ax.plot(bound.x, bound.mean, linestyle="--", color=COLOURS[method], label=f"bound for {method}")
            ax.xaxis.get_major_locator().set_params(integer=True)
            title = "without noise" if noise == 0 else f"noise {noise:g}"
            finish(ax, "iteration t", "‖x⁽ᵗ⁾ − x̄‖" if number == 0 else "", log="y", title=title, legend=number == 0)

    caption = (
        "Theorem 2: errors of the iterates from x⁽⁰⁾ = 0, and their bounds with the exact constants of each problem;"
        f" means over {replications} problems. GraHTP and FGraHTP: constant step, η = 0.95ζ. Errors below {LOWEST:g}"
        " are drawn there."
    )
    return Picture("theory-bounds", caption, draw, (9.0, 3.8))


def floor_picture(table: Table, methods: Sequence[str], replications: int) -> Picture:
    """The error in the end against what it is to be proportional to."""
    panels = (
        ("noise", "squared", "gradient", "‖∇_k f(x̄)‖", "noise varying"),
        ("size", "squared", "scale", "√(k ln p/n)", "n varying"),
        ("sparsity", "squared", "scale", "√(k ln p/n)", "k varying"),
        ("size", "logistic", "scale", "√(k ln p/n)", "n varying, logistic loss"),
    )

    def draw(figure: Figure) -> None:
        axes = figure.subplots(1, len(panels))
        for number, (ax, (part, loss, x, words, title)) in enumerate(zip(axes, panels, strict=True)):
            for method in methods:
                rows = table.where(part=part, loss=loss, method=method)
                across, errors = _means(rows, x)
                label = "{} ({:.2f} ± {:.2f})".format(method, *slope(rows, x))
                ax.plot(across, errors, label=label, **style_of(method))
            finish(ax, words, "‖x − x̄‖ in the end" if number == 0 else "", log="xy", title=title, legend=True)

    caption = (
        "The error that is left, in logarithms, with slopes and their standard errors in brackets: 1 is"
        f" proportionality. Means over {replications} problems. GraHTP and FGraHTP: constant step, η = 1/L; ksparse"
        " default: per coordinate, then exchanges."
    )
    return Picture("theory-floor", caption, draw, (13.0, 3.6))
