"""How often features are selected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .._types import Array, IntArray, Mask
from ..validation import check_iterations
from ._inputs import feature_names_of, fitted_model, names_or_default
from ._style import (
    BLUE,
    GREY,
    axes_height,
    axes_to_draw_in,
    axes_width,
    figure_of,
    font_size,
    mark,
    short_names,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

__all__ = ["SelectionFrequencyDisplay"]

D = TypeVar("D", bound="SelectionFrequencyDisplay")

#: How many features are shown by default.
TOP = 25
#: Smallest letters in points.
SMALLEST = 5.5
#: Distance of names that can be read, in sizes of their letters.
PITCH = 1.2
#: Thickest bar in points.
THICKEST = 22.0


class SelectionFrequencyDisplay:
    """Bars of the most frequently selected features of a stability selection, and its threshold.

    Use `from_estimator` to make one; the parameters below are kept as attributes.

    Parameters
    ----------
    frequencies : ndarray of shape (n_features,)
        Share of the subsamples in which each feature was selected.
    support : ndarray of bool, shape (n_features,)
        Which features are selected in the end.
    feature_names : list of str
        Names of the features.
    threshold : float, optional
        The frequency from which on features are selected.

    Attributes
    ----------
    ax_ : Axes
        Where it is drawn.
    figure_ : Figure
        The figure of it.
    bars_ : BarContainer
        One bar for each feature shown.
    features_ : ndarray of int
        Indices of the features shown, the most frequent one first; features that were never selected are left out.
    threshold_line_ : Line2D or None
        The dashed line at the threshold.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import numpy as np
    >>> from ksparse.plots import SelectionFrequencyDisplay
    >>> frequencies = np.array([0.1, 0.9, 0.0, 0.7])
    >>> display = SelectionFrequencyDisplay(frequencies, frequencies > 0.6, list("abcd"), threshold=0.6).plot()
    >>> display.features_
    array([1, 3, 0])
    """

    def __init__(
        self, frequencies: Array, support: Mask, feature_names: list[str], *, threshold: float | None = None
    ) -> None:
        self.frequencies = frequencies
        self.support = support
        self.feature_names = feature_names
        self.threshold = threshold

    @classmethod
    def from_estimator(
        cls: type[D],
        estimator: Any,
        *,
        feature_names: Any = None,
        ax: Axes | None = None,
        top: int | None = None,
        bar_kw: dict[str, Any] | None = None,
    ) -> D:
        """Draw the frequencies of a stability selection.

        Parameters
        ----------
        estimator : fitted StabilitySelection or pipeline
            The selection, or a pipeline with one at its end.
        feature_names : sequence of str, optional
            Names of the features; those that the estimator has seen by default, otherwise x0, x1, …
        ax : Axes, optional
            Where to draw; by default a new figure, as high as the bars need.
        top : int, optional
            How many features to show at most; by default 25, or as many as can be read on small axes.
        bar_kw : dict, optional
            Keywords for the bars, as of `matplotlib.axes.Axes.barh`.

        Returns
        -------
        SelectionFrequencyDisplay
            The display.
        """
        model = fitted_model(estimator, ["frequencies_"], "a StabilitySelection")
        names = feature_names_of(estimator) if feature_names is None else feature_names
        names = names_or_default(names, len(model.frequencies_))
        display = cls(model.frequencies_, model.support_, names, threshold=float(model.threshold_))
        return display.plot(ax, top=top, bar_kw=bar_kw)

    def plot(self: D, ax: Axes | None = None, *, top: int | None = None, bar_kw: dict[str, Any] | None = None) -> D:
        """Draw it.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default a new figure, as high as the bars need.
        top : int, optional
            How many features to show at most; by default 25, or as many as can be read on small axes.
        bar_kw : dict, optional
            Keywords for the bars, as of `matplotlib.axes.Axes.barh`.

        Returns
        -------
        SelectionFrequencyDisplay
            The display.
        """
        most = TOP if top is None else check_iterations(top, "top")
        features = self._most_frequent(most)
        self.ax_: Axes = axes_to_draw_in(ax, (6.4, 1.3 + 0.2 * max(len(features), 4)))
        self.figure_: Figure = figure_of(self.ax_)
        if ax is not None and top is None:
            features = features[: int((axes_height(ax) - 2 * font_size(ax)) / (PITCH * SMALLEST))]
        self.features_: IntArray = features
        self.ax_.set_xlabel("selection frequency")
        tidy(self.ax_, grid="x")
        head = 0.0 if self.threshold is None else 1.7 * font_size(self.ax_)
        pitch = (axes_height(self.ax_) - head) / (len(features) + 0.2)
        self._draw_bars(pitch, bar_kw)
        self._name_bars(pitch)
        self.ax_.set_xlim(0.0, 1.0)
        self.ax_.set_ylim(len(features) - 0.4, -0.6 - head / pitch)
        self.threshold_line_: Line2D | None = None
        if self.threshold is not None:
            self.threshold_line_, _ = mark(self.ax_, self.threshold, f"threshold {self.threshold:.3g}", middle=0.5)
        return self

    def _most_frequent(self, most: int) -> IntArray:
        order = np.argsort(-self.frequencies, kind="stable")[:most]
        return order[self.frequencies[order] > 0]

    def _draw_bars(self, pitch: float, bar_kw: dict[str, Any] | None) -> None:
        colours = [BLUE if self.support[feature] else GREY for feature in self.features_]
        style: dict[str, Any] = {"color": colours, "height": min(0.72, THICKEST / pitch), **(bar_kw or {})}
        self.bars_: BarContainer = self.ax_.barh(
            np.arange(len(self.features_)), self.frequencies[self.features_], **style
        )

    def _name_bars(self, pitch: float) -> None:
        """Names in letters that fit between their neighbours, so many points apart."""
        size = float(np.clip(pitch / PITCH, SMALLEST, font_size(self.ax_) - 0.5))
        names = short_names(self.feature_names, self.features_.tolist(), 0.4 * axes_width(self.ax_), size)
        self.ax_.set_yticks(np.arange(len(names)), names, parse_math=False)
        self.ax_.tick_params(axis="y", length=0, labelsize=size)
