"""Coefficients against the number of features."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import Array, IntArray
from ..validation import check_iterations, check_vector
from . import _style as style
from ._docs import documented
from ._inputs import check_has, check_names, feature_names_of, fitted_model, unit_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.text import Annotation
    from typing_extensions import Self

__all__ = ["CoefficientPathDisplay"]

#: Paths with more values of k have no markers.
MAX_PATH_MARKERS = 30


@documented
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
    >>> import matplotlib; matplotlib.use("Agg")
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
        model = fitted_model(estimator, expected, "coef_path_")
        classes = getattr(model, "classes_", None)
        coef, coef_name = _select_coefficients(model.coef_path_, output, classes, standardize_by)
        names = check_names(feature_names, coef.shape[1], "feature", feature_names_of(estimator))
        return cls(model.ks_, coef, names, k=int(model.k_), coef_name=coef_name, unit=unit_of(model)).plot(**options)

    def plot(self, ax: Axes | None = None, *, n_labels: int = 12, line_kw: dict[str, Any] | None = None) -> Self:
        """Draw the coefficients.

        Parameters
        ----------
        $ax
        n_labels : int, default=12
            Maximum number of features to name.
        $line_kw
        """
        named = self._most_important(check_iterations(n_labels, "n_labels"))
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

    def _most_important(self, count: int) -> list[int]:
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
                marker="o" if len(self.ks) <= MAX_PATH_MARKERS else "",
                markersize=3.2 if important else 2.0,
                zorder=2.2 if important else 2.0,
            )
            (self.lines_[feature],) = self.ax_.plot(self.ks, shown[:, feature], **line_style)

    def _draw_labels(self, named: list[int]) -> None:
        """Names at the ends of lines."""
        from ._artists import EndLabels

        size = style.font_size(self.ax_) - 0.5
        names = style.shorten_names(self.feature_names, named, 0.33 * style.axes_size(self.ax_)[0], size)
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
