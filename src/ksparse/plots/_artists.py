"""Artists that adapt to the size of the figure whenever it is drawn. Only functions that draw import this module."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.text import Annotation, Text
from matplotlib.ticker import MaxNLocator
from sklearn.isotonic import isotonic_regression

from .._types import Array

__all__ = ["Arrangement", "CountLocator", "EndLabels", "spread"]


class CountLocator(MaxNLocator):
    """Ticks at integers from first to last; at 1, 2, 5, 10, … on a wide range."""

    def __init__(self, first: float, last: float, *, wide: bool) -> None:
        super().__init__(integer=True, steps=[1, 2, 5, 10])
        self.first, self.last, self.wide = first, last, wide

    def tick_values(self, vmin: float, vmax: float) -> Any:
        low, high = max(vmin, self.first), min(vmax, self.last)
        if low >= high:
            return np.array([self.first] if self.first == self.last else [])
        max_ticks = self._max_ticks(low, high)
        if self.wide:
            decades = 10.0 ** np.arange(np.floor(np.log10(high)) + 1)
            choices = [np.outer(decades, digits).ravel() for digits in ((1, 2, 5), (1, 3), (1,))]
            ticks = next((ticks for ticks in choices if np.sum(ticks <= high) <= max_ticks), choices[-1])
            ticks = np.append(0.0, ticks)
        else:
            self.set_params(nbins=max_ticks)
            ticks = np.asarray(super().tick_values(low, high))
        return ticks[(ticks >= low) & (ticks <= high)]

    def _max_ticks(self, low: float, high: float) -> int:
        """How many labels fit on the part of the axis from low to high."""
        assert isinstance(self.axis, Axis)
        scaled = self.axis.get_transform().transform(np.array([low, high, *self.axis.get_view_interval()]))
        fraction = (scaled[1] - scaled[0]) / abs(scaled[3] - scaled[2])
        return int(np.clip(fraction * self.axis.get_tick_space(), 2, 10))


class Arrangement(Artist):
    """An invisible artist that moves labels and sets limits before the rest of its axes is drawn."""

    #: The axes whose limits are set: "x" or "xy".
    limited: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self.set_zorder(-1000)  # drawn first
        self.set_in_layout(False)
        self._limits: Array | None = None

    def draw(self, renderer: Any) -> None:
        self.arrange(renderer)
        self.stale = False

    @abstractmethod
    def arrange(self, renderer: Any = None) -> None:
        """Move the labels and set the limits."""

    def _get_limits(self, ax: Axes) -> Array:
        return np.array([getattr(ax, f"get_{axis}lim")() for axis in self.limited])

    def _limits_are_ours(self, ax: Axes) -> bool:
        """Whether the limits are still those that were set here."""
        return self._limits is None or np.array_equal(self._limits, self._get_limits(ax))

    def _set_limits(self, ax: Axes, limits: Array) -> None:
        """Set the limits, one row per axis, if they differ: any change would ask for another drawing."""
        if (np.abs(limits - self._get_limits(ax)) > 1e-6 * np.abs(np.diff(limits))).any():
            for axis, (low, high) in zip(self.limited, limits.tolist(), strict=True):
                getattr(ax, f"set_{axis}lim")(low, high)
        self._limits = self._get_limits(ax)


def move_label(label: Annotation, offset: Any) -> None:
    """Move a label to an offset in points, or hide it if that is None, and do nothing if it is there already."""
    if label.get_visible() != (offset is not None):
        label.set_visible(offset is not None)
    if offset is not None and np.abs(np.subtract(offset, label.get_position())).max() > 0.01:
        label.set_position((float(offset[0]), float(offset[1])))


class EndLabels(Arrangement):
    """Keeps labels to the right of lines, which end at x = last, apart from each other and inside the axes.

    Labels have offsets in points from the ends of their lines. The most important one is the first; those that do not
    fit into the height of the axes are hidden.
    """

    limited = "x"

    def __init__(self, labels: list[Annotation], last: float) -> None:
        super().__init__()
        self.labels, self.last = labels, last

    def arrange(self, renderer: Any = None) -> None:
        ax = self.axes
        if not isinstance(ax, Axes) or not self.labels:
            return
        boxes = [Text.get_window_extent(label, renderer) for label in self.labels]
        self._make_room(ax, max(box.width for box in boxes))
        gap = 1.02 * max(box.height for box in boxes)
        n_shown = max(int(ax.bbox.height // gap), 1)
        ends = np.array([ax.transData.transform(label.xy)[1] for label in self.labels[:n_shown]])
        offsets = (spread(ends, gap, ax.bbox.y0 + gap / 2, ax.bbox.y1 - gap / 2) - ends) * 72 / ax.figure.dpi
        for rank, label in enumerate(self.labels):
            move_label(label, (label.get_position()[0], offsets[rank]) if rank < n_shown else None)

    def _make_room(self, ax: Axes, width: float) -> None:
        """Extend the x axis to the right for labels of that width in pixels."""
        if not self._limits_are_ours(ax):
            return
        offset = float(self.labels[0].get_position()[0]) * ax.figure.dpi / 72
        fraction = min((offset + 1.02 * width) / ax.bbox.width, 0.7)
        scale = ax.xaxis.get_transform()
        left, end = scale.transform(np.array([ax.get_xlim()[0], self.last]))
        right = float(scale.inverted().transform(np.array([left + (end - left) / (1 - fraction)]))[0])
        self._set_limits(ax, np.array([[ax.get_xlim()[0], right]]))


def spread(positions: Array, gap: float, low: float, high: float) -> Array:
    """The closest positions (in least squares) that are a gap apart and between low and high.

    Sorted positions pᵢ must satisfy pᵢ₊₁ ≥ pᵢ + gap: pᵢ − i·gap increase, which is isotonic regression.

    Examples
    --------
    >>> import numpy as np
    >>> spread(np.array([5.0, 5.0, 0.0]), gap=2.0, low=0.0, high=10.0)
    array([4., 6., 0.])
    """
    order = np.argsort(positions, kind="stable")
    shifts = gap * np.arange(len(positions))
    highest = max(high - gap * (len(positions) - 1), low)
    result = np.empty(len(positions))
    result[order] = isotonic_regression(positions[order] - shifts, y_min=low, y_max=highest) + shifts
    return result
