"""Coefficients against the number of features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .._types import Array, IntArray
from ..validation import check_iterations, check_vector
from ._inputs import feature_names_of, fitted_model, names_or_default, unit_of
from ._style import (
    BLUES,
    GREY,
    axes_to_draw_in,
    axes_width,
    count_axis,
    figure_of,
    font_size,
    keywords,
    leave_room,
    mark,
    short_names,
    shorten,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.text import Annotation

__all__ = ["CoefficientPathDisplay"]

D = TypeVar("D", bound="CoefficientPathDisplay")

#: Paths with more values of k have no markers.
MANY = 30
#: Where the line to a label ends: at the middle of its left side.
START = (0.0, 0.5)


class CoefficientPathDisplay:
    """Coefficients against the number of features k, the most important features named at the ends of their lines.

    Use `from_path` or `from_estimator` to make one; the parameters below are kept as attributes.

    Parameters
    ----------
    ks : ndarray of shape (n_ks,)
        Numbers of features, increasing.
    coef : ndarray of shape (n_ks, n_features)
        Coefficients for each of them.
    feature_names : list of str
        Names of the features.
    k : int, optional
        The chosen k.
    coef_name : str, default="coefficient"
        What the coefficients are called on the y axis.
    unit : str, default="features"
        What k counts.

    Attributes
    ----------
    ax_ : Axes
        Where it is drawn.
    figure_ : Figure
        The figure of it.
    lines_ : dict of int to Line2D
        Line of each feature that is ever selected, by its index; NaN where it stays unselected.
    labels_ : dict of int to Annotation
        Labels of the most important features, by their index.
    chosen_line_ : Line2D or None
        The dashed line at the chosen k.

    See Also
    --------
    ScorePathDisplay : The scores that the choice of k is based on.

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

    def __init__(
        self,
        ks: IntArray,
        coef: Array,
        feature_names: list[str],
        *,
        k: int | None = None,
        coef_name: str = "coefficient",
        unit: str = "features",
    ) -> None:
        self.ks = ks
        self.coef = coef
        self.feature_names = feature_names
        self.k = k
        self.coef_name = coef_name
        self.unit = unit

    @classmethod
    def from_path(
        cls: type[D],
        path: Any,
        *,
        output: int = 0,
        standardize_by: Any = None,
        feature_names: Any = None,
        k: int | None = None,
        ax: Axes | None = None,
        n_labels: int = 12,
        line_kw: dict[str, Any] | None = None,
    ) -> D:
        """Draw the coefficients of a path.

        Parameters
        ----------
        path : SparsityPath
            What `ksparse.path` gave back.
        output : int, default=0
            Whose coefficients to draw where there are several classes or responses.
        standardize_by : array-like of shape (n_features,), optional
            Scale of each feature, such as ``X.std(axis=0)``; coefficients times it can be compared.
        feature_names : sequence of str, optional
            Names of the features; those of the path by default, otherwise x0, x1, …
        k : int, optional
            A value of k to mark.
        ax : Axes, optional
            Where to draw; by default a new figure.
        n_labels : int, default=12
            How many features to name at most.
        line_kw : dict, optional
            Keywords for all lines, as of `matplotlib.axes.Axes.plot`.

        Returns
        -------
        CoefficientPathDisplay
            The display.
        """
        if not (hasattr(path, "ks") and hasattr(path, "coef")):
            raise TypeError(
                f"expected a path, as ksparse.path gives; got an object of type {type(path).__name__} "
                "(from_estimator draws a fitted estimator)"
            )
        coef, coef_name = _drawn(path.coef, output, None, standardize_by)
        names = names_or_default(path.feature_names if feature_names is None else feature_names, coef.shape[1])
        display = cls(path.ks, coef, names, k=k, coef_name=coef_name)
        return display.plot(ax, n_labels=n_labels, line_kw=line_kw)

    @classmethod
    def from_estimator(
        cls: type[D],
        estimator: Any,
        *,
        output: int = 0,
        standardize_by: Any = None,
        feature_names: Any = None,
        ax: Axes | None = None,
        n_labels: int = 12,
        line_kw: dict[str, Any] | None = None,
    ) -> D:
        """Draw the path of an estimator that has chosen k, and mark its choice.

        Parameters
        ----------
        estimator : fitted estimator or pipeline
            One that chooses k by cross-validation (``…CV``) or an information criterion (``…IC``), or a pipeline with
            one at its end.
        output : int, default=0
            Whose coefficients to draw where there are several: index of a class in ``classes_``, or of a response.
        standardize_by : array-like of shape (n_features,), optional
            Scale of each feature, such as ``X.std(axis=0)``; coefficients times it can be compared.
        feature_names : sequence of str, optional
            Names of the features; those that the estimator has seen by default, otherwise x0, x1, …
        ax : Axes, optional
            Where to draw; by default a new figure.
        n_labels : int, default=12
            How many features to name at most.
        line_kw : dict, optional
            Keywords for all lines, as of `matplotlib.axes.Axes.plot`.

        Returns
        -------
        CoefficientPathDisplay
            The display.
        """
        model = fitted_model(
            estimator, ["coef_path_"], "an estimator that chooses k, such as SparseLogisticRegressionCV"
        )
        coef, coef_name = _drawn(model.coef_path_, output, getattr(model, "classes_", None), standardize_by)
        names = names_or_default(feature_names_of(estimator) if feature_names is None else feature_names, coef.shape[1])
        display = cls(model.ks_, coef, names, k=int(model.k_), coef_name=coef_name, unit=unit_of(model))
        return display.plot(ax, n_labels=n_labels, line_kw=line_kw)

    def plot(self: D, ax: Axes | None = None, *, n_labels: int = 12, line_kw: dict[str, Any] | None = None) -> D:
        """Draw it.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default a new figure.
        n_labels : int, default=12
            How many features to name at most.
        line_kw : dict, optional
            Keywords for all lines, as of `matplotlib.axes.Axes.plot`.

        Returns
        -------
        CoefficientPathDisplay
            The display.
        """
        named = self._most_important(check_iterations(n_labels, "n_labels"))
        self.ax_: Axes = axes_to_draw_in(ax)
        self.figure_: Figure = figure_of(self.ax_)
        self.ax_.set_xlabel(f"number of {self.unit} k")
        self.ax_.set_ylabel(self.coef_name, parse_math=False)
        tidy(self.ax_, grid="x")
        self._draw_lines(named, line_kw)
        middle = count_axis(self.ax_, self.ks)
        self.ax_.spines["bottom"].set_bounds(self.ax_.get_xlim()[0], float(self.ks[-1]))
        self.chosen_line_: Line2D | None = None
        if self.k is not None:
            leave_room(self.ax_)
            self.chosen_line_, _ = mark(self.ax_, self.k, f"k = {self.k}", middle=middle)
        self._label(named)
        return self

    def _most_important(self, most: int) -> list[int]:
        """Features with the largest coefficients at the chosen k, or at the last one if that has none."""
        chosen = np.abs(self.coef[self.ks == self.k]).sum(axis=0)
        size = chosen if chosen.any() else np.abs(self.coef[-1])
        order = np.argsort(-size, kind="stable")[:most]
        return [int(feature) for feature in order if size[feature] > 0]

    def _draw_lines(self, named: list[int], line_kw: dict[str, Any] | None) -> None:
        """A line for each feature from where it enters to where it leaves: NaN where it stays at zero."""
        few = len(self.ks) <= MANY
        self.ax_.plot(self.ks[[0, -1]], [0.0, 0.0], color=GREY, linewidth=1.0, zorder=1.5)
        shown = _near_nonzero(self.coef)
        from_top = sorted(named, key=lambda feature: -self.coef[-1, feature])
        colours = {feature: BLUES[place % len(BLUES)] for place, feature in enumerate(from_top)}
        self.lines_: dict[int, Line2D] = {}
        for feature in np.flatnonzero((self.coef != 0).any(axis=0)).tolist():
            important = feature in colours
            style = keywords(
                line_kw,
                color=colours.get(feature, GREY),
                linewidth=1.6 if important else 0.9,
                marker="o" if few else "",
                markersize=3.2 if important else 2.0,
                zorder=2.2 if important else 2.0,
            )
            (self.lines_[feature],) = self.ax_.plot(self.ks, shown[:, feature], **style)

    def _label(self, named: list[int]) -> None:
        """Names at the ends of lines."""
        from ._artists import EndLabels

        size = font_size(self.ax_) - 0.5
        names = short_names(self.feature_names, named, 0.33 * axes_width(self.ax_), size)
        self.labels_: dict[int, Annotation] = {}
        for feature, name in zip(named, names, strict=True):
            colour = self.lines_[feature].get_color()
            self.labels_[feature] = self.ax_.annotate(
                name,
                (float(self.ks[-1]), float(self.coef[-1, feature])),
                xytext=(14, 0),
                textcoords="offset points",
                va="center",
                fontsize=size,
                color=colour,
                parse_math=False,
                arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.7, "shrinkA": 1, "shrinkB": 3, "relpos": START},
            )
        labels = EndLabels(list(self.labels_.values()), float(self.ks[-1]))
        self.ax_.add_artist(labels)
        labels.arrange()


def _drawn(coef: Array, output: int, classes: Any, scales: Any) -> tuple[Array, str]:
    """The coefficients to draw, and what they are called."""
    return _standardized(*_chosen_output(coef, output, classes), scales)


def _chosen_output(coef: Array, output: int, classes: Any) -> tuple[Array, str]:
    """Coefficients of one output, and what they are called."""
    coef = np.asarray(coef, dtype=np.float64)
    if coef.ndim == 2:
        coef = coef[:, None, :]
    n_outputs = coef.shape[1]
    if not -n_outputs <= output < n_outputs:
        raise ValueError(f"output must be less than {n_outputs}, the number of rows of coefficients; got {output}")
    if n_outputs == 1:
        return coef[:, 0], "coefficient"
    name = f"output {output % n_outputs}" if classes is None else f"class {shorten(str(classes[output]))}"
    return coef[:, output], f"coefficient, {name}"


def _near_nonzero(coef: Array) -> Array:
    """Coefficients that are not zero, and zeros next to them; NaN elsewhere."""
    used = np.pad(coef != 0, ((1, 1), (0, 0)))
    return np.where(used[1:-1] | used[:-2] | used[2:], coef, np.nan)


def _standardized(coef: Array, coef_name: str, scales: Any) -> tuple[Array, str]:
    """Coefficients times the scales of their features."""
    if scales is None:
        return coef, coef_name
    scales = check_vector(scales, "standardize_by", coef.shape[1:])
    return coef * np.abs(scales), coef_name.replace("coefficient", "coefficient × scale")
