"""Score or information criterion against the number of features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .._types import Array, IntArray
from ..estimators import GraphModel
from ..selection import first_best, standard_errors
from ._inputs import fitted_model, unit_of
from ._style import (
    ACCENT,
    BLUE,
    INK,
    axes_to_draw_in,
    axes_width,
    count_axis,
    figure_of,
    font_size,
    keywords,
    leave_room,
    mark,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

__all__ = ["ScorePathDisplay"]

D = TypeVar("D", bound="ScorePathDisplay")

#: Paths with more values of k have no markers.
MANY = 60


class ScorePathDisplay:
    """Score against the number of features k, with one standard error over the folds; or an information criterion.

    Use `from_estimator` to make one; the parameters below are kept as attributes.

    Parameters
    ----------
    ks : ndarray of shape (n_ks,)
        Numbers of features, increasing.
    scores : ndarray of shape (n_ks,) or (n_ks, n_folds)
        Scores on each fold, or one value for each k.
    k : int, optional
        The chosen k.
    rule : {"best", "1se"}, default="best"
        How it was chosen; with "1se", the lowest score that is within one standard error of the best one is drawn.
    score_name : str, default="score"
        What the scores are called on the y axis.
    unit : str, default="features"
        What k counts.

    Attributes
    ----------
    ax_ : Axes
        Where it is drawn.
    figure_ : Figure
        The figure of it.
    line_ : Line2D
        Mean scores.
    errorbar_ : ErrorbarContainer or None
        Their standard errors, if there are several folds.
    chosen_line_, chosen_point_ : Line2D or None
        The dashed line at the chosen k, and the point there.
    threshold_line_ : Line2D or None
        The best score less its standard error, with the rule "1se".

    See Also
    --------
    CoefficientPathDisplay : The coefficients for each k.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import numpy as np
    >>> from ksparse.plots import ScorePathDisplay
    >>> scores = np.array([[0.6, 0.8], [0.8, 1.0], [0.85, 0.97]])
    >>> display = ScorePathDisplay(np.array([1, 2, 3]), scores, k=2, rule="1se").plot()
    >>> display.line_.get_ydata().round(2).tolist()
    [0.7, 0.9, 0.91]
    >>> round(display.threshold_line_.get_ydata()[0], 3)
    0.85
    """

    def __init__(
        self,
        ks: IntArray,
        scores: Array,
        *,
        k: int | None = None,
        rule: str = "best",
        score_name: str = "score",
        unit: str = "features",
    ) -> None:
        self.ks = ks
        self.scores = scores
        self.k = k
        self.rule = rule
        self.score_name = score_name
        self.unit = unit

    @classmethod
    def from_estimator(
        cls: type[D], estimator: Any, *, ax: Axes | None = None, line_kw: dict[str, Any] | None = None
    ) -> D:
        """Draw the scores that an estimator has chosen k by.

        Parameters
        ----------
        estimator : fitted estimator or pipeline
            One that chooses k by cross-validation (``…CV``) or an information criterion (``…IC``), or a pipeline with
            one at its end.
        ax : Axes, optional
            Where to draw; by default a new figure.
        line_kw : dict, optional
            Keywords for the line and the error bars, as of `matplotlib.axes.Axes.errorbar`.

        Returns
        -------
        ScorePathDisplay
            The display.
        """
        expected = "an estimator that chooses k, such as SparseLogisticRegressionCV or SparseLogisticRegressionIC"
        model = fitted_model(estimator, ["scores_", "criterion_"], expected)
        if hasattr(model, "scores_"):
            scores, rule, name = model.scores_, model.rule, _score_name(model)
        else:
            scores, rule, name = model.criterion_, "best", f"{str(model.criterion).upper()} (smaller is better)"
        display = cls(model.ks_, scores, k=int(model.k_), rule=rule, score_name=name, unit=unit_of(model))
        return display.plot(ax, line_kw=line_kw)

    def plot(self: D, ax: Axes | None = None, *, line_kw: dict[str, Any] | None = None) -> D:
        """Draw it.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default a new figure.
        line_kw : dict, optional
            Keywords for the line and the error bars, as of `matplotlib.axes.Axes.errorbar`.

        Returns
        -------
        ScorePathDisplay
            The display.
        """
        self.ax_: Axes = axes_to_draw_in(ax)
        self.figure_: Figure = figure_of(self.ax_)
        self.ax_.set_xlabel(f"number of {self.unit} k")
        self.ax_.set_ylabel(self.score_name, parse_math=False)
        tidy(self.ax_, grid="y")
        means, errors = self._summary()
        self._draw_scores(means, errors, line_kw)
        middle = count_axis(self.ax_, self.ks)
        self._draw_threshold(means, errors)
        self._draw_choice(means, middle)
        self._make_room(middle)  # last: drawing data sets the limits again
        return self

    def _summary(self) -> tuple[Array, Array | None]:
        """Mean scores, and their standard errors if there are several folds."""
        folds = np.asarray(self.scores, dtype=np.float64).reshape(len(self.ks), -1)
        return folds.mean(axis=1), standard_errors(folds) if folds.shape[1] > 1 else None

    def _draw_scores(self, means: Array, errors: Array | None, line_kw: dict[str, Any] | None) -> None:
        style = keywords(
            line_kw,
            color=BLUE,
            linewidth=1.6,
            marker="o" if len(self.ks) <= MANY else "",
            markersize=3.5,
            zorder=2.2,
        )
        self.errorbar_: ErrorbarContainer | None = None
        self.line_: Line2D
        if errors is None:
            (self.line_,) = self.ax_.plot(self.ks, means, **style)
            return
        faint = {"elinewidth": 1.0, "ecolor": "#a9bbd2", "capsize": 0}
        n_folds = np.shape(self.scores)[1]
        label = f"mean ± std. error, {n_folds} folds"
        self.errorbar_ = self.ax_.errorbar(self.ks, means, yerr=errors, label=label, **{**faint, **style})
        self.line_ = self.errorbar_.lines[0]

    def _draw_choice(self, means: Array, middle: float) -> None:
        """Mark the chosen k and its score."""
        self.chosen_line_: Line2D | None = None
        self.chosen_point_: Line2D | None = None
        if self.k is None:
            return
        self.chosen_line_, _ = mark(self.ax_, self.k, f"k = {self.k}", middle=middle)
        score = means[self.ks == self.k]
        if len(score):
            (self.chosen_point_,) = self.ax_.plot([self.k], score, color=ACCENT, marker="o", markersize=6, zorder=3)

    def _draw_threshold(self, means: Array, errors: Array | None) -> None:
        """The line of the one-standard-error rule."""
        self.threshold_line_: Line2D | None = None
        if errors is not None and self.rule == "1se":
            best = first_best(means.tolist())
            threshold = float(means[best] - errors[best])
            style: dict[str, Any] = {"color": INK, "linestyle": ":", "linewidth": 1.1, "zorder": 2.1}
            self.threshold_line_ = self.ax_.axhline(threshold, label="best − std. error", **style)

    def _make_room(self, middle: float) -> None:
        """Room for the chosen k at the top, and for a legend at the bottom: in one line, or on small axes in two."""
        handles = [artist for artist in (self.errorbar_, self.threshold_line_) if artist is not None]
        size = font_size(self.ax_) - 1
        columns = len(handles) if axes_width(self.ax_) > 35 * size else 1
        rows = len(handles) / max(columns, 1)
        leave_room(self.ax_, top=float(self.k is not None), bottom=0.4 + 0.75 * rows)
        if handles:
            self.ax_.legend(
                handles=handles,
                loc="lower left" if self.k is not None and self.k > middle else "lower right",
                ncols=columns,
                fontsize=size,
                labelcolor=INK,
                facecolor=self.ax_.get_facecolor(),
                framealpha=1.0,
                edgecolor="none",
                handlelength=1.6,
                borderpad=0.1,
                borderaxespad=0.2,
                labelspacing=0.3,
            )


def _score_name(model: Any) -> str:
    """What the scores of a cross-validated model are called."""
    scoring = getattr(model, "scoring", None)
    if scoring is None:
        return "held-out log-likelihood" if isinstance(model, GraphModel) else "minus held-out loss"
    if isinstance(scoring, str):
        return scoring.replace("_", " ")
    function = getattr(scoring, "_score_func", scoring)
    return str(getattr(function, "__name__", "score")).replace("_", " ")
