"""Coefficients, and scores or information criteria, against the number of features."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import Array, IntArray
from ..selection import compute_standard_errors, find_first_best
from ..validation import check_iterations, check_vector
from . import _style as style
from ._inputs import check_has, check_names, document_display, get_feature_names, get_fitted_model, get_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.text import Annotation
    from typing_extensions import Self

__all__ = ["CoefficientPathDisplay", "ScorePathDisplay"]


@document_display
@dataclass(eq=False, repr=False)
class CoefficientPathDisplay:
    """Coefficients against the number of features k, with the names of the most important features.

    `ScorePathDisplay` shows the scores that the choice of k is based on.
    Use `from_path` or `from_estimator` to create one; the parameters are stored as attributes.

    Parameters
    ----------
    ks : ndarray of shape (n_ks,)
        Numbers of features, increasing.
    coef : ndarray of shape (n_ks, n_features)
        Coefficients for each k.
    feature_names : list of str
        Names of the features.
    k : int, optional
        The chosen k.
    coef_name : str, default="coefficient"
        Label of the y axis.
    unit : str, default="features"
        What k counts.

    Attributes
    ----------
    $axes_
    lines_ : dict of int to Line2D
        Line of each feature that is selected for some k, by its index; NaN where it is not selected.
    labels_ : dict of int to Annotation
        Labels of the most important features, by their index.
    chosen_line_ : Line2D or None
        The dashed line at the chosen k.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.plots import CoefficientPathDisplay
    >>> coef = np.array([[0.0, 2.0, 0.0], [0.5, 1.5, 0.0], [0.6, 1.4, 0.1]])
    >>> display = CoefficientPathDisplay(np.array([1, 2, 3]), coef, ["age", "bmi", "sex"], k=2).plot()
    >>> [label.get_text() for label in display.labels_.values()]
    ['bmi', 'age']
    """

    ks: IntArray
    coef: Array
    feature_names: list[str]
    _: KW_ONLY
    k: int | None = None
    coef_name: str = "coefficient"
    unit: str = "features"

    @classmethod
    def from_path(
        cls,
        path: Any,
        *,
        k: int | None = None,
        output: int = 0,
        standardize_by: Any = None,
        feature_names: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the coefficients of a path.

        Parameters
        ----------
        path : SparsityPath
            The result of `ksparse.path`.
        k : int, optional
            A value of k to mark.
        $coefficients
        $feature_names
        $options
        """
        check_has(path, "coef", "a path, as ksparse.path returns", "from_estimator draws a fitted estimator")
        coef, coef_name = _select_coefficients(path.coef, output, None, standardize_by)
        names = check_names(feature_names, coef.shape[1], "feature", path.feature_names)
        return cls(path.ks, coef, names, k=k, coef_name=coef_name).plot(**options)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, output: int = 0, standardize_by: Any = None, feature_names: Any = None, **options: Any
    ) -> Self:
        """Draw the path of an estimator that has chosen k, and mark its choice.

        Parameters
        ----------
        $choosing_estimator
        $coefficients
        $feature_names
        $options
        """
        expected = "an estimator that chooses k, such as SparseLogisticRegressionCV"
        model = get_fitted_model(estimator, expected, "coef_path_")
        classes = getattr(model, "classes_", None)
        coef, coef_name = _select_coefficients(model.coef_path_, output, classes, standardize_by)
        names = check_names(feature_names, coef.shape[1], "feature", get_feature_names(estimator))
        return cls(model.ks_, coef, names, k=int(model.k_), coef_name=coef_name, unit=get_unit(model)).plot(**options)

    def plot(self, ax: Axes | None = None, *, n_labels: int = 12, line_kw: dict[str, Any] | None = None) -> Self:
        """Draw the coefficients.

        Parameters
        ----------
        $ax
        n_labels : int, default=12
            Maximum number of features to name.
        line_kw : dict, optional
            Keywords of lines, as in `matplotlib.axes.Axes.plot`.
        """
        named = self._find_most_important(check_iterations(n_labels, "n_labels"))
        self.ax_, self.figure_ = style.open_axes(ax)
        style.tidy(self.ax_, f"number of {self.unit} k", self.coef_name, grid="x")
        self._draw_lines(named, line_kw)
        style.set_count_axis(self.ax_, self.ks)
        self.ax_.spines["bottom"].set_bounds(self.ax_.get_xlim()[0], float(self.ks[-1]))
        self.chosen_line_: Line2D | None = None
        if self.k is not None:
            style.leave_room(self.ax_)
            self.chosen_line_ = style.mark(self.ax_, self.k, f"k = {self.k}")
        self._draw_labels(named)
        return self

    def _find_most_important(self, count: int) -> list[int]:
        """Features with the largest coefficients at the chosen k, or at the last k if those are all zero."""
        chosen = np.abs(self.coef[self.ks == self.k]).sum(axis=0)
        size = chosen if chosen.any() else np.abs(self.coef[-1])
        order = np.argsort(-size, kind="stable")[:count]
        return [int(feature) for feature in order if size[feature] > 0]

    def _draw_lines(self, named: list[int], line_kw: dict[str, Any] | None) -> None:
        """A line for each feature from where it enters to where it leaves: NaN where it stays at zero."""
        self.ax_.plot(self.ks[[0, -1]], [0.0, 0.0], color=style.GREY, linewidth=1.0, zorder=1.5)
        nonzero = np.pad(self.coef != 0, ((1, 1), (0, 0)))
        shown = np.where(nonzero[1:-1] | nonzero[:-2] | nonzero[2:], self.coef, np.nan)
        from_top = sorted(named, key=lambda feature: -self.coef[-1, feature])
        colours = {feature: style.BLUES[rank % len(style.BLUES)] for rank, feature in enumerate(from_top)}
        self.lines_: dict[int, Line2D] = {}
        for feature in np.flatnonzero((self.coef != 0).any(axis=0)).tolist():
            important = feature in colours
            line_style = style.merge_keywords(
                line_kw,
                color=colours.get(feature, style.GREY),
                linewidth=1.6 if important else 0.9,
                marker="o" if len(self.ks) <= style.MAX_MARKERS else "",
                markersize=3.2 if important else 2.0,
                zorder=2.2 if important else 2.0,
            )
            (self.lines_[feature],) = self.ax_.plot(self.ks, shown[:, feature], **line_style)

    def _draw_labels(self, named: list[int]) -> None:
        """Names at the ends of lines."""
        from ._artists import EndLabels

        size = style.choose_font_size(self.ax_) - 0.5
        names = style.shorten_names(self.feature_names, named, 0.33 * style.measure_axes(self.ax_)[0], size)
        self.labels_: dict[int, Annotation] = {}
        for feature, name in zip(named, names, strict=True):
            colour = self.lines_[feature].get_color()
            arrow = {"arrowstyle": "-", "color": colour, "lw": 0.7, "shrinkA": 1, "shrinkB": 3, "relpos": (0.0, 0.5)}
            end = (float(self.ks[-1]), float(self.coef[-1, feature]))
            self.labels_[feature] = style.write(
                self.ax_, name, end, (14, 0), fontsize=size, color=colour, va="center", arrowprops=arrow
            )
        labels = EndLabels(list(self.labels_.values()), float(self.ks[-1]))
        self.ax_.add_artist(labels)
        labels.arrange()


def _select_coefficients(coef: Array, output: int, classes: Any, scales: Any) -> tuple[Array, str]:
    """Coefficients of one output, multiplied by the scales of their features, and the label of their axis."""
    coef = np.asarray(coef, dtype=np.float64)
    coef = coef[:, None, :] if coef.ndim == 2 else coef
    n_outputs = coef.shape[1]
    if not -n_outputs <= output < n_outputs:
        raise ValueError(f"output must be less than {n_outputs}, the number of rows of coefficients; got {output}")
    name = "coefficient"
    if scales is not None:
        coef = coef * np.abs(check_vector(scales, "standardize_by", coef.shape[2:]))
        name = "coefficient × scale"
    if n_outputs > 1:
        part = f"output {output % n_outputs}" if classes is None else f"class {style.shorten(str(classes[output]))}"
        name = f"{name}, {part}"
    return coef[:, output], name


@document_display
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
    rule : {"smooth", "near", "best", "1se"}, default="best"
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
        model = get_fitted_model(estimator, expected, "scores_", "criterion_")
        if hasattr(model, "scores_"):
            scores, rule, name = model.scores_, model.rule, _name_scores(model)
        else:
            scores, rule, name = model.criterion_, "best", f"{str(model.criterion).upper()} (smaller is better)"
        return cls(model.ks_, scores, k=int(model.k_), rule=rule, score_name=name, unit=get_unit(model)).plot(**options)

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
        means, errors = folds.mean(axis=1), compute_standard_errors(folds) if folds.shape[1] > 1 else None
        self._draw_scores(means, errors, line_kw)
        style.set_count_axis(self.ax_, self.ks)
        self.chosen_line_: Line2D | None = None
        self.chosen_point_: Line2D | None = None
        if self.k is not None:
            chosen = self.ks == self.k
            self.chosen_line_ = style.mark(self.ax_, self.k, f"k = {self.k}")
            self.chosen_point_ = style.draw_point(self.ax_, self.ks[chosen], means[chosen])
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
            best = find_first_best(means.tolist())
            dotted: dict[str, Any] = {"color": style.INK, "linestyle": ":", "linewidth": 1.1, "zorder": 2.1}
            threshold = float(means[best] - errors[best])
            self.threshold_line_ = self.ax_.axhline(threshold, label="best − std. error", **dotted)

    def _add_legend(self) -> None:
        """Room for the chosen k at the top, and for a legend at the bottom, in one row or, on small axes, in two."""
        handles = [artist for artist in (self.errorbar_, self.threshold_line_) if artist is not None]
        columns = len(handles) if style.measure_axes(self.ax_)[0] > 35 * (style.choose_font_size(self.ax_) - 1) else 1
        rows = len(handles) / max(columns, 1)
        style.leave_room(self.ax_, top=float(self.k is not None), bottom=0.4 + 0.75 * rows)
        place = "lower right" if self.k is None or style.is_left(self.ax_, self.k) else "lower left"
        self.legend_: Legend | None = style.add_legend(self.ax_, handles, loc=place, ncols=columns)


def _name_scores(model: Any) -> str:
    """Name of the scores of a cross-validated model."""
    scoring = getattr(model, "scoring", None)
    if scoring is None:
        return "held-out log-likelihood" if get_unit(model) == "edges" else "minus held-out loss"
    function = getattr(scoring, "_score_func", scoring)
    name = scoring if isinstance(scoring, str) else getattr(function, "__name__", "score")
    return str(name).replace("_", " ")
