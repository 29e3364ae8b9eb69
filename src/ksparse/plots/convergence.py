"""The objective during a fit."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import AnyArray, Array
from ..solvers.result import History, Result
from . import _style as style
from ._inputs import check_has, document_display, get_fitted_model

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D
    from typing_extensions import Self

__all__ = ["ConvergenceDisplay"]

#: Positive values are drawn on a logarithmic axis if the largest is more than this many times the smallest.
MAX_LINEAR_VALUE_RATIO = 100.0
#: What may be on the x axis, and its label.
X_LABELS = {"iteration": "iteration", "seconds": "seconds", "passes": "passes over the data"}


@document_display
@dataclass(eq=False, repr=False)
class ConvergenceDisplay:
    """Value of f during a fit, and in a panel below it the number of units that entered the support.

    Use `from_result` or `from_estimator` to create one; the parameters are stored as attributes.

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
    $axes_
    axes_ : ndarray of two Axes
        The upper panel, which is also ``ax_``, and the lower one.
    line_ : Line2D
        Values of f.
    bars_ : LineCollection
        Changes of the support.
    best_point_ : Line2D or None
        The iteration that reached the returned value.

    Examples
    --------
    >>> import ksparse
    >>> from ksparse.plots import ConvergenceDisplay
    >>> X, y, _ = ksparse.datasets.make_logistic(200, 100, 10)
    >>> result = ksparse.minimize(ksparse.objectives.Logistic(X, y, alpha=1e-3), k=5)
    >>> display = ConvergenceDisplay.from_result(result, x="passes")
    >>> len(display.line_.get_xdata()) == result.n_iter
    True
    """

    history: History
    _: KW_ONLY
    value: float | None = None
    status: str | None = None

    @classmethod
    def from_result(cls, result: Result, **options: Any) -> Self:
        """Draw the history of a result.

        Parameters
        ----------
        result : Result
            The result of `ksparse.minimize`.
        $options
        """
        check_has(result, "history", "a Result, as ksparse.minimize returns", "from_estimator draws a fitted estimator")
        return cls(result.history, value=result.value, status=str(result.status)).plot(**options)

    @classmethod
    def from_estimator(cls, estimator: Any, **options: Any) -> Self:
        """Draw the history of a fitted estimator's solver.

        Parameters
        ----------
        estimator : fitted estimator or pipeline
            An estimator of `ksparse`, or a pipeline that ends with one.
        $options
        """
        model = get_fitted_model(estimator, "a ksparse estimator, such as SparseLogisticRegression", "result_")
        return cls.from_result(model.result_, **options)

    def plot(self, ax: Any = None, *, x: str = "iteration", line_kw: dict[str, Any] | None = None) -> Self:
        """Draw the history.

        Parameters
        ----------
        ax : Axes or two Axes, optional
            Where to draw: axes that are divided into two panels, or two axes; a new figure by default.
        x : {"iteration", "seconds", "passes"}, default="iteration"
            What is on the x axis.
        line_kw : dict, optional
            Keywords of lines, as in `matplotlib.axes.Axes.plot`.
        """
        from matplotlib.ticker import MaxNLocator

        if x not in X_LABELS:
            raise ValueError(f"x must be one of {', '.join(map(repr, X_LABELS))}; got {x!r}")
        self.axes_: AnyArray = _make_panels(ax)
        upper, lower = self.axes_
        self.ax_, self.figure_ = style.open_axes(upper)
        size = style.choose_font_size(upper)
        style.tidy(upper, "", "f(x)", grid="y", size=size)
        style.tidy(lower, X_LABELS[x], "entered", grid="y", size=size)
        upper.tick_params(labelbottom=False)
        at = self.history[x].astype(np.float64)
        self._draw_values(upper, at, line_kw)
        self._draw_changes(lower, at)
        lower.yaxis.set_major_locator(MaxNLocator(3, integer=True, steps=[1, 2, 5, 10]))
        if x != "seconds":
            lower.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))
        self.figure_.align_ylabels(list(self.axes_))
        return self

    def _draw_values(self, ax: Axes, at: Array, line_kw: dict[str, Any] | None) -> None:
        values = self.history["value"].astype(np.float64)
        self.line_: Line2D = style.draw_line(ax, at, values, line_kw)
        finite = values[np.isfinite(values)]
        if len(finite) and finite.min() > 0 and finite.max() > MAX_LINEAR_VALUE_RATIO * finite.min():
            ax.set_yscale("log")
        self.best_point_: Line2D | None = None
        if self.value is None or not len(finite):
            return
        best = int(np.nanargmin(np.abs(values - self.value)))
        self.best_point_ = style.draw_point(ax, at[[best]], values[[best]])
        style.leave_room(ax)
        status = "" if self.status is None else f"{self.status.replace('_', ' ')}, "
        style.write_at_top(ax, f"{status}f = {self.value:.4g}", 1.0, "right", "axes fraction")

    def _draw_changes(self, ax: Axes, at: Array) -> None:
        """Bars as thick lines, which stay visible if iterations are many or unevenly spaced."""
        changes = self.history["support_change"].astype(np.float64)
        width = float(np.clip(0.6 * style.measure_axes(ax)[0] / max(len(at), 1), 0.8, 7.0))
        self.bars_: LineCollection = ax.vlines(at, 0.0, changes, color=style.INK, alpha=0.75, linewidth=width)
        ax.set_ylim(0.0, 1.15 * max(float(changes.max(initial=0.0)), 1.0))


def _make_panels(ax: Any) -> AnyArray:
    """An upper and a lower panel with the same x axis: two given axes, or parts of given axes or of a new figure."""
    import matplotlib.pyplot as plt

    if ax is None:
        return plt.subplots(2, 1, sharex=True, height_ratios=[3, 1], layout="constrained")[1]
    if np.size(ax) not in (1, 2):
        raise ValueError(f"ax must be one or two axes, got {np.size(ax)}")
    if np.size(ax) == 2:
        upper, lower = np.ravel(ax)
        lower.sharex(upper)
    else:
        ax.set_axis_off()  # only its title stays visible
        upper = ax.inset_axes((0.0, 0.33, 1.0, 0.67))
        lower = ax.inset_axes((0.0, 0.0, 1.0, 0.25), sharex=upper)
    return np.array([upper, lower], dtype=object)
