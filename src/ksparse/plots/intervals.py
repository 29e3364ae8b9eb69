"""Coefficients of a fitted model with their intervals."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import Array, IntArray
from ..validation import check_iterations
from . import _style as style
from ._inputs import check_has, document_display, get_fitted_model

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection
    from typing_extensions import Self

    from ..inference import Summary

__all__ = ["CoefficientIntervalDisplay"]

#: Number of features that are shown by default.
MOST_INTERVALS = 25
#: Largest number of points of an interval's line, and the size of a dot.
LINE_WIDTH, DOT_SIZE = 2.2, 30.0


@document_display
@dataclass(eq=False, repr=False)
class CoefficientIntervalDisplay:
    """Standardized coefficients with their intervals, and how often each feature is selected.

    Use `from_estimator` or `from_summary` to create one; the parameters are stored as attributes.

    Parameters
    ----------
    coefficients : ndarray of shape (n_features,)
        Coefficients for one standard deviation of each feature, the most important feature first.
    low, high : ndarray of shape (n_features,)
        The ends of their intervals; an infinite one is drawn to the edge.
    feature_names : list of str
        Names of the features.
    frequencies : ndarray of shape (n_features,), optional
        Fraction of the resamples in which each is selected.
    label : str, optional
        What the intervals are.

    Attributes
    ----------
    $axes_
    dots_ : PathCollection
        The coefficients.
    lines_ : LineCollection
        The intervals.
    features_ : ndarray of int
        Positions of the features shown, from top to bottom.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.plots import CoefficientIntervalDisplay
    >>> low, high = np.array([0.5, -0.7]), np.array([1.5, 0.0])
    >>> display = CoefficientIntervalDisplay(np.array([1.0, -0.4]), low, high, ["a", "b"]).plot()
    >>> display.features_
    array([0, 1])
    """

    coefficients: Array
    low: Array
    high: Array
    feature_names: list[str]
    _: KW_ONLY
    frequencies: Array | None = None
    label: str = ""

    @classmethod
    def from_estimator(cls, estimator: Any, *, output: int = 0, summary_kw: Any = None, **options: Any) -> Self:
        """Draw the coefficients of a fitted linear model.

        Parameters
        ----------
        estimator : fitted estimator or pipeline
            A linear model of ksparse that refers to the samples of its fit, or a pipeline that ends with one.
        output : int, default=0
            Index of the class (in ``classes_``) or response, if there are several.
        summary_kw : dict, optional
            Options of the model's `summary`, such as intervals="split" or resamples.
        $options
        """
        model = get_fitted_model(estimator, "a linear model of ksparse", "result_")
        check_has(model, "summary", "a linear model of ksparse", "it has no summary")
        from ..inference import summarize

        return cls.from_summary(summarize(estimator, **(summary_kw or {})), output=output, **options)

    @classmethod
    def from_summary(cls, summary: Summary, *, output: int = 0, **options: Any) -> Self:
        """Draw the coefficients of a summary.

        Parameters
        ----------
        summary : Summary
            What `model.summary()` has returned, with intervals.
        output : int, default=0
            Index of the class or response, if there are several.
        $options
        """
        check_has(summary, "features", "a Summary, as model.summary() returns", "from_estimator draws a model")
        if summary.intervals is None:
            raise ValueError("the summary has no intervals: ask for some, such as model.summary(intervals='bootstrap')")
        features = summary.features

        def take(name: str) -> Array:
            column = features[(name, summary.outputs[output])] if summary.outputs else features[name]
            values: Array = column.to_numpy(dtype=np.float64)
            return values

        deviations = features["deviation"].to_numpy(dtype=np.float64).reshape(-1)
        frequencies = None
        if "frequency" in summary.units:
            sizes = summary.units["n_features"].to_numpy()
            frequencies = np.repeat(summary.units["frequency"].to_numpy(dtype=np.float64), sizes)
        ends = take("low") * deviations, take("high") * deviations
        names = [str(name) for name in features.index]
        label = f"{100 * summary.level:g} % interval ({summary.intervals})"
        return cls(take("standardized"), *ends, names, frequencies=frequencies, label=label).plot(**options)

    def plot(self, ax: Axes | None = None, *, top: int | None = None, dot_kw: dict[str, Any] | None = None) -> Self:
        """Draw the coefficients.

        Parameters
        ----------
        $ax
        top : int, optional
            Maximum number of features to show; by default 25, or as many as are readable on small axes.
        dot_kw : dict, optional
            Keywords of the dots, as in `matplotlib.axes.Axes.scatter`.
        """
        from matplotlib.collections import LineCollection

        count = min(len(self.coefficients), MOST_INTERVALS if top is None else check_iterations(top, "top"))
        self.ax_, self.figure_ = style.open_axes(ax, (6.4, 1.3 + 0.24 * max(count, 4)))
        width, height = style.measure_axes(self.ax_)
        size = style.choose_font_size(self.ax_)
        if ax is not None and top is None:
            count = min(count, int((height - 2 * size) / (style.LINE_SPACING * style.MIN_FONT_SIZE)))
        self.features_: IntArray = np.arange(count)
        style.tidy(self.ax_, "coefficient per standard deviation of the feature", grid="x")
        low, high = self._clip_ends(count)
        segments = [[(start, row), (end, row)] for row, (start, end) in enumerate(zip(low, high, strict=True))]
        lines = LineCollection(segments, colors=style.BLUES[1], linewidths=LINE_WIDTH, alpha=0.7, capstyle="round")
        self.lines_: LineCollection = lines
        self.ax_.add_collection(lines)
        dots = style.merge_keywords(dot_kw, color=style.BLUE, s=DOT_SIZE, zorder=2.3, linewidths=0)
        self.dots_: PathCollection = self.ax_.scatter(self.coefficients[:count], self.features_, **dots)
        self.ax_.axvline(0.0, color=style.INK, linewidth=0.8, zorder=1.5)
        spacing = (height - 1.7 * size) / (count + 0.2)
        names_size = float(np.clip(spacing / style.LINE_SPACING, style.MIN_FONT_SIZE, size - 0.5))
        names = style.shorten_names(self.feature_names, self.features_.tolist(), 0.4 * width, names_size)
        self.ax_.set_yticks(self.features_, names, parse_math=False)
        self.ax_.tick_params(axis="y", length=0, labelsize=names_size)
        self.ax_.set_ylim(max(count, 1) - 0.4, -0.6)
        if self.frequencies is not None:
            self._write_frequencies(names_size)
        if self.label:
            self.ax_.set_title(self.label, fontsize=size, color=style.INK, loc="left", parse_math=False)
        return self

    def _clip_ends(self, count: int) -> tuple[Array, Array]:
        """The intervals; infinite ends are drawn a little beyond all finite numbers."""
        low, high = self.low[:count], self.high[:count]
        every = np.concatenate([low, high, self.coefficients[:count], [0.0]])
        finite = every[np.isfinite(every)]
        room = 0.06 * (np.ptp(finite) or 1.0)
        least, most = finite.min() - room, finite.max() + room
        self.ax_.set_xlim(least, most)
        return np.maximum(low, least), np.minimum(high, most)

    def _write_frequencies(self, size: float) -> None:
        """How often each feature is selected, right of the axes."""
        assert self.frequencies is not None
        texts = [f"{100 * frequency:.0f} %" for frequency in self.frequencies[: len(self.features_)]]
        right = self.ax_.secondary_yaxis("right")
        right.set_yticks(self.features_, texts, parse_math=False)
        right.tick_params(length=0, labelsize=size, labelcolor=style.INK)
        right.spines["right"].set_visible(False)
        right.set_ylabel("selected", fontsize=size, color=style.INK)
