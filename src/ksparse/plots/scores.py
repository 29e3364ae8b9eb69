"""Score or information criterion against the number of features."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import Array, IntArray
from ..selection import first_best, standard_errors
from . import _style as style
from ._docs import documented
from ._inputs import fitted_model, unit_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from typing_extensions import Self

__all__ = ["ScorePathDisplay"]


@documented
@dataclass(eq=False, repr=False)
class ScorePathDisplay:
    """Cross-validated score against the number of features k, with standard errors; or an information criterion.

    Use `from_estimator` to create one; the parameters are stored as attributes.

    Parameters
    ----------
    ks : ndarray of shape (n_ks,)
        Numbers of features, increasing.
    scores : ndarray of shape (n_ks,) or (n_ks, n_folds)
        Scores on each fold, or one value for each k.
    k : int, optional
        The chosen k.
    rule : {"best", "1se"}, default="best"
        How k was chosen; with "1se", the threshold of the one-standard-error rule is drawn.
    score_name : str, default="score"
        Label of the y axis.
    unit : str, default="features"
        What k counts.

    Attributes
    ----------
    $axes_
    line_ : Line2D
        Mean scores.
    errorbar_ : ErrorbarContainer or None
        Their standard errors, if there are several folds.
    chosen_line_, chosen_point_ : Line2D or None
        The dashed line at the chosen k, and the point there.
    threshold_line_ : Line2D or None
        The best score less its standard error, with the rule "1se".
    legend_ : Legend or None
        What the lines are, if there are several folds.

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

    ks: IntArray
    scores: Array
    _: KW_ONLY
    k: int | None = None
    rule: str = "best"
    score_name: str = "score"
    unit: str = "features"

    @classmethod
    def from_estimator(cls, estimator: Any, **options: Any) -> Self:
        """Draw the scores by which an estimator has chosen k.

        Parameters
        ----------
        $choosing_estimator
        $options
        """
        expected = "an estimator that chooses k, such as SparseLogisticRegressionCV or SparseLogisticRegressionIC"
        model = fitted_model(estimator, expected, "scores_", "criterion_")
        if hasattr(model, "scores_"):
            scores, rule, name = model.scores_, model.rule, _score_name(model)
        else:
            scores, rule, name = model.criterion_, "best", f"{str(model.criterion).upper()} (smaller is better)"
        return cls(model.ks_, scores, k=int(model.k_), rule=rule, score_name=name, unit=unit_of(model)).plot(**options)

    def plot(self, ax: Axes | None = None, *, line_kw: dict[str, Any] | None = None) -> Self:
        """Draw the scores.

        Parameters
        ----------
        $ax
        line_kw : dict, optional
            Keywords of the line and the error bars, as in `matplotlib.axes.Axes.errorbar`.
        """
        self.ax_, self.figure_ = style.open_axes(ax)
        style.tidy(self.ax_, f"number of {self.unit} k", self.score_name, grid="y")
        folds = np.asarray(self.scores, dtype=np.float64).reshape(len(self.ks), -1)
        means, errors = folds.mean(axis=1), standard_errors(folds) if folds.shape[1] > 1 else None
        self._draw_scores(means, errors, line_kw)
        style.set_count_axis(self.ax_, self.ks)
        self._draw_choice(means)
        self._add_legend()  # last: drawing data sets the limits again
        return self

    def _draw_scores(self, means: Array, errors: Array | None, line_kw: dict[str, Any] | None) -> None:
        """The scores, with error bars if there are folds, and the threshold of the one-standard-error rule."""
        self.errorbar_: ErrorbarContainer | None = None
        self.threshold_line_: Line2D | None = None
        if errors is None:
            self.line_: Line2D = style.draw_line(self.ax_, self.ks, means, line_kw)
            return
        label = f"mean ± std. error, {np.shape(self.scores)[1]} folds"
        bars = {"yerr": errors, "elinewidth": 1.0, "ecolor": "#a9bbd2", "capsize": 0, "label": label}
        errorbar: ErrorbarContainer = style.draw_line(self.ax_, self.ks, means, line_kw, **bars)
        self.errorbar_, self.line_ = errorbar, errorbar.lines[0]
        if self.rule == "1se":
            best = first_best(means.tolist())
            dotted: dict[str, Any] = {"color": style.INK, "linestyle": ":", "linewidth": 1.1, "zorder": 2.1}
            threshold = float(means[best] - errors[best])
            self.threshold_line_ = self.ax_.axhline(threshold, label="best − std. error", **dotted)

    def _draw_choice(self, means: Array) -> None:
        """Mark the chosen k and its score."""
        self.chosen_line_: Line2D | None = None
        self.chosen_point_: Line2D | None = None
        if self.k is not None:
            self.chosen_line_ = style.mark(self.ax_, self.k, f"k = {self.k}")
            chosen = self.ks == self.k
            self.chosen_point_ = style.draw_point(self.ax_, self.ks[chosen], means[chosen])

    def _add_legend(self) -> None:
        """Room for the chosen k at the top, and for a legend at the bottom, in one row or, on small axes, in two."""
        handles = [artist for artist in (self.errorbar_, self.threshold_line_) if artist is not None]
        columns = len(handles) if style.axes_size(self.ax_)[0] > 35 * (style.font_size(self.ax_) - 1) else 1
        rows = len(handles) / max(columns, 1)
        style.leave_room(self.ax_, top=float(self.k is not None), bottom=0.4 + 0.75 * rows)
        place = "lower right" if self.k is None or style.is_left(self.ax_, self.k) else "lower left"
        self.legend_: Legend | None = style.add_legend(self.ax_, handles, loc=place, ncols=columns)


def _score_name(model: Any) -> str:
    """Name of the scores of a cross-validated model."""
    scoring = getattr(model, "scoring", None)
    if scoring is None:
        return "held-out log-likelihood" if unit_of(model) == "edges" else "minus held-out loss"
    if isinstance(scoring, str):
        return scoring.replace("_", " ")
    function = getattr(scoring, "_score_func", scoring)
    return str(getattr(function, "__name__", "score")).replace("_", " ")
