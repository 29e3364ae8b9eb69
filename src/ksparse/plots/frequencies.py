"""Selection frequencies of features."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import Array, IntArray, Mask
from ..validation import check_iterations
from . import _style as style
from ._inputs import check_names, document_display, get_feature_names, get_fitted_model

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.lines import Line2D
    from typing_extensions import Self

__all__ = ["SelectionFrequencyDisplay"]

#: Number of features that are shown by default.
DEFAULT_TOP = 25
#: Largest height of a bar in points.
MAX_BAR_HEIGHT = 22.0


@document_display
@dataclass(eq=False, repr=False)
class SelectionFrequencyDisplay:
    """Bars of the features or edges that a stability selection selects most frequently, and its threshold.

    Use `from_estimator` to create one; the parameters are stored as attributes.

    Parameters
    ----------
    frequencies : ndarray of shape (n_features,)
        Fraction of the subsamples in which each feature was selected.
    support : ndarray of bool, shape (n_features,)
        Which features are finally selected.
    feature_names : list of str
        Names of the features.
    threshold : float, optional
        The smallest frequency of a selected feature.

    Attributes
    ----------
    $axes_
    bars_ : BarContainer
        One bar for each feature shown.
    features_ : ndarray of int
        Indices of the features shown, the most frequent one first; features that were never selected are left out.
    threshold_line_ : Line2D or None
        The dashed line at the threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.plots import SelectionFrequencyDisplay
    >>> frequencies = np.array([0.1, 0.9, 0.0, 0.7])
    >>> display = SelectionFrequencyDisplay(frequencies, frequencies > 0.6, list("abcd"), threshold=0.6).plot()
    >>> display.features_
    array([1, 3, 0])
    """

    frequencies: Array
    support: Mask
    feature_names: list[str]
    _: KW_ONLY
    threshold: float | None = None

    @classmethod
    def from_estimator(cls, estimator: Any, *, feature_names: Any = None, **options: Any) -> Self:
        """Draw the frequencies of a stability selection.

        Parameters
        ----------
        estimator : fitted StabilitySelection or pipeline
            The stability selection, or a pipeline that ends with one.
        $feature_names
        $options
        """
        model = get_fitted_model(estimator, "a StabilitySelection", "frequencies_")
        names = check_names(feature_names, len(model.frequencies_), "feature", get_feature_names(estimator))
        frequencies, support = model.frequencies_, model.support_
        if frequencies.ndim == 2:  # of edges
            rows, columns = pairs = np.nonzero(np.triu(frequencies, 1))
            names = [f"{names[i]} – {names[j]}" for i, j in zip(rows, columns, strict=True)]
            frequencies, support = frequencies[pairs], support[pairs]
        return cls(frequencies, support, names, threshold=float(model.threshold_)).plot(**options)

    def plot(self, ax: Axes | None = None, *, top: int | None = None, bar_kw: dict[str, Any] | None = None) -> Self:
        """Draw the frequencies.

        Parameters
        ----------
        $ax
        top : int, optional
            Maximum number of features to show; by default 25, or as many as are readable on small axes.
        bar_kw : dict, optional
            Keywords of the bars, as in `matplotlib.axes.Axes.barh`.
        """
        features = np.argsort(-self.frequencies, kind="stable")
        features = features[: DEFAULT_TOP if top is None else check_iterations(top, "top")]
        features = features[self.frequencies[features] > 0]
        self.ax_, self.figure_ = style.open_axes(ax, (6.4, 1.3 + 0.2 * max(len(features), 4)))
        width, height = style.measure_axes(self.ax_)
        size = style.choose_font_size(self.ax_)
        if ax is not None and top is None:
            features = features[: int((height - 2 * size) / (style.LINE_SPACING * style.MIN_FONT_SIZE))]
        self.features_: IntArray = features
        style.tidy(self.ax_, "selection frequency", grid="x")
        spacing = (height - 1.7 * size) / (len(features) + 0.2)  # of bars, in points
        colours = [style.BLUE if self.support[feature] else style.GREY for feature in features]
        bars: dict[str, Any] = {"color": colours, "height": min(0.72, MAX_BAR_HEIGHT / spacing), **(bar_kw or {})}
        self.bars_: BarContainer = self.ax_.barh(np.arange(len(features)), self.frequencies[features], **bars)
        size = float(np.clip(spacing / style.LINE_SPACING, style.MIN_FONT_SIZE, size - 0.5))
        names = style.shorten_names(self.feature_names, features.tolist(), 0.4 * width, size)
        self.ax_.set_yticks(np.arange(len(names)), names, parse_math=False)
        self.ax_.tick_params(axis="y", length=0, labelsize=size)
        self.ax_.set(xlim=(0.0, 1.0), ylim=(len(features) - 0.4, -0.6))
        self.threshold_line_: Line2D | None = None
        if self.threshold is not None:
            style.leave_room(self.ax_)
            self.threshold_line_ = style.mark(self.ax_, self.threshold, f"threshold {self.threshold:.3g}")
        return self
