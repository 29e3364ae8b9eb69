"""What happened during a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .._types import AnyArray, Array
from ..solvers.result import History, Result
from ._inputs import fitted_model
from ._style import ACCENT, BLUE, INK, axes_width, background, figure_of, font_size, keywords, leave_room, pyplot, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

__all__ = ["ConvergenceDisplay"]

D = TypeVar("D", bound="ConvergenceDisplay")

#: Histories with more iterations have no markers.
MANY = 60
#: Positive values that span more than this factor are drawn on a logarithmic axis.
WIDE_SPAN = 100.0
#: What may be on the x axis, and its label.
X_LABELS = {"iteration": "iteration", "seconds": "seconds", "passes": "passes over the data"}


class ConvergenceDisplay:
    """Value of f during a fit, and below it how many units entered the support.

    Use `from_result` or `from_estimator` to make one; the parameters below are kept as attributes.

    Parameters
    ----------
    history : History
        The iterations.
    value : float, optional
        The value that was reached: that of the best iteration.
    status : str, optional
        Why the solver stopped.

    Attributes
    ----------
    ax_ : Axes
        The upper panel.
    axes_ : ndarray of two Axes
        The upper and the lower panel.
    figure_ : Figure
        The figure of them.
    line_ : Line2D
        Values of f.
    bars_ : LineCollection
        Changes of the support.
    best_point_ : Line2D or None
        The iteration that reached the value returned.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import ksparse
    >>> from ksparse.plots import ConvergenceDisplay
    >>> X, y, _ = ksparse.datasets.make_logistic(200, 100, 10)
    >>> result = ksparse.minimize(ksparse.objectives.Logistic(X, y, alpha=1e-3), k=5)
    >>> display = ConvergenceDisplay.from_result(result, x="passes")
    >>> len(display.line_.get_xdata()) == result.n_iter
    True
    """

    def __init__(self, history: History, *, value: float | None = None, status: str | None = None) -> None:
        self.history = history
        self.value = value
        self.status = status

    @classmethod
    def from_result(
        cls: type[D], result: Result, *, x: str = "iteration", ax: Any = None, line_kw: dict[str, Any] | None = None
    ) -> D:
        """Draw the history of a result.

        Parameters
        ----------
        result : Result
            What `ksparse.minimize` gave back.
        x : {"iteration", "seconds", "passes"}, default="iteration"
            What to draw it against.
        ax : Axes or two Axes, optional
            Where to draw: axes that are divided into two panels, or two axes; by default a new figure.
        line_kw : dict, optional
            Keywords for the line, as of `matplotlib.axes.Axes.plot`.

        Returns
        -------
        ConvergenceDisplay
            The display.
        """
        if not isinstance(result, Result):
            raise TypeError(
                f"expected a Result, as ksparse.minimize gives; got an object of type {type(result).__name__} "
                "(from_estimator draws a fitted estimator)"
            )
        return cls(result.history, value=result.value, status=str(result.status)).plot(ax, x=x, line_kw=line_kw)

    @classmethod
    def from_estimator(
        cls: type[D], estimator: Any, *, x: str = "iteration", ax: Any = None, line_kw: dict[str, Any] | None = None
    ) -> D:
        """Draw the history of a fitted estimator's solver.

        Parameters
        ----------
        estimator : fitted estimator or pipeline
            An estimator of `ksparse`, or a pipeline with one at its end.
        x : {"iteration", "seconds", "passes"}, default="iteration"
            What to draw it against.
        ax : Axes or two Axes, optional
            Where to draw: axes that are divided into two panels, or two axes; by default a new figure.
        line_kw : dict, optional
            Keywords for the line, as of `matplotlib.axes.Axes.plot`.

        Returns
        -------
        ConvergenceDisplay
            The display.
        """
        model = fitted_model(estimator, ["result_"], "a ksparse estimator, such as SparseLogisticRegression")
        return cls.from_result(model.result_, x=x, ax=ax, line_kw=line_kw)

    def plot(self: D, ax: Any = None, *, x: str = "iteration", line_kw: dict[str, Any] | None = None) -> D:
        """Draw it.

        Parameters
        ----------
        ax : Axes or two Axes, optional
            Where to draw: axes that are divided into two panels, or two axes; by default a new figure.
        x : {"iteration", "seconds", "passes"}, default="iteration"
            What to draw it against.
        line_kw : dict, optional
            Keywords for the line, as of `matplotlib.axes.Axes.plot`.

        Returns
        -------
        ConvergenceDisplay
            The display.
        """
        if x not in X_LABELS:
            raise ValueError(f"x must be one of {', '.join(map(repr, X_LABELS))}; got {x!r}")
        self.axes_: AnyArray = _panels(ax)
        upper, lower = self.axes_
        self.ax_: Axes = upper
        self.figure_: Figure = figure_of(upper)
        upper.set_ylabel("f(x)")
        lower.set_ylabel("entered")
        lower.set_xlabel(X_LABELS[x])
        upper.tick_params(labelbottom=False)
        for panel in self.axes_:
            tidy(panel, grid="y", size=font_size(upper))
        at = self.history[x].astype(np.float64)
        self._draw_values(upper, at, line_kw)
        self._draw_changes(lower, at)
        self._limit_x(lower, at, whole=x != "seconds")
        self.figure_.align_ylabels(list(self.axes_))
        return self

    def _draw_values(self, ax: Axes, at: Array, line_kw: dict[str, Any] | None) -> None:
        values = self.history["value"].astype(np.float64)
        marker = "o" if len(at) <= MANY else ""
        style = keywords(line_kw, color=BLUE, linewidth=1.6, marker=marker, markersize=3.5, zorder=2.2)
        self.line_: Line2D
        (self.line_,) = ax.plot(at, values, **style)
        finite = values[np.isfinite(values)]
        if len(finite) and finite.min() > 0 and finite.max() > WIDE_SPAN * finite.min():
            ax.set_yscale("log")
        self.best_point_: Line2D | None = None
        if self.value is None or not len(finite):
            return
        best = int(np.nanargmin(np.abs(np.where(np.isfinite(values), values, np.nan) - self.value)))
        (self.best_point_,) = ax.plot(at[[best]], values[[best]], color=ACCENT, marker="o", markersize=6, zorder=3)
        leave_room(ax)
        status = "" if self.status is None else f"{self.status.replace('_', ' ')}, "
        text = f"{status}f = {self.value:.4g}"
        ax.annotate(
            text,
            (1, 1),
            xycoords="axes fraction",
            ha="right",
            va="top",
            color=ACCENT,
            fontsize=font_size(ax),
            bbox=background(ax),
        )

    def _draw_changes(self, ax: Axes, at: Array) -> None:
        """Bars as thick lines, which do not vanish where iterations are many or unevenly spaced."""
        from matplotlib.ticker import MaxNLocator

        changes = self.history["support_change"].astype(np.float64)
        width = float(np.clip(0.6 * axes_width(ax) / max(len(at), 1), 0.8, 7.0))
        self.bars_: LineCollection = ax.vlines(at, 0.0, changes, color=INK, alpha=0.75, linewidth=width)
        ax.set_ylim(0.0, 1.15 * max(float(changes.max(initial=0.0)), 1.0))
        ax.yaxis.set_major_locator(MaxNLocator(3, integer=True, steps=[1, 2, 5, 10]))

    @staticmethod
    def _limit_x(ax: Axes, at: Array, *, whole: bool) -> None:
        from matplotlib.ticker import MaxNLocator

        if len(at):
            margin = 0.03 * float(at[-1] - at[0]) or (0.5 if whole else 0.5 * float(at[0]) or 0.5)
            ax.set_xlim(float(at[0]) - margin, float(at[-1]) + margin)
        if whole:
            ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))


def _panels(ax: Any) -> AnyArray:
    """An upper and a lower panel with the same x axis: in a new figure, inside of given axes, or given as two axes."""
    plt = pyplot()
    if ax is None:
        return plt.subplots(2, 1, sharex=True, height_ratios=[3, 1], layout="constrained")[1]
    if np.size(ax) not in (1, 2):
        raise ValueError(f"ax must be one or two axes, got {np.size(ax)}")
    panels: AnyArray = np.array(_divided(ax) if np.size(ax) == 1 else np.ravel(ax), dtype=object)
    if np.size(ax) == 2:
        panels[1].sharex(panels[0])
    return panels


def _divided(ax: Axes) -> tuple[Axes, Axes]:
    """Two panels inside of the axes, which themselves become invisible but for a title."""
    ax.set_axis_off()
    upper = ax.inset_axes((0.0, 0.33, 1.0, 0.67))
    return upper, ax.inset_axes((0.0, 0.0, 1.0, 0.25), sharex=upper)
