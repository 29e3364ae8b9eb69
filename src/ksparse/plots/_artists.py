"""The parts that follow the size of the figure when it is drawn. Only functions that draw import this module."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.text import Annotation, Text
from matplotlib.ticker import Locator, MaxNLocator
from sklearn.isotonic import isotonic_regression

from .._types import Array

__all__ = ["CountLocator", "EndLabels", "spread"]


def spread(wanted: Array, gap: float, low: float, high: float) -> Array:
    """The places closest to the wanted ones (in squares) that lie a gap apart between low and high.

    Places pᵢ of sorted wishes must satisfy pᵢ₊₁ ≥ pᵢ + gap: pᵢ − i·gap increase, which is isotonic regression.

    Examples
    --------
    >>> import numpy as np
    >>> spread(np.array([5.0, 5.0, 0.0]), gap=2.0, low=0.0, high=10.0)
    array([4., 6., 0.])
    """
    order = np.argsort(wanted, kind="stable")
    shifts = gap * np.arange(len(wanted))
    highest = max(high - gap * (len(wanted) - 1), low)
    places = np.empty(len(wanted))
    places[order] = isotonic_regression(wanted[order] - shifts, y_min=low, y_max=highest) + shifts
    return places


class CountLocator(Locator):
    """Ticks at whole numbers between the first and the last one; 1, 2, 5, 10, … on a wide range."""

    def __init__(self, first: float, last: float, *, wide: bool) -> None:
        self.first, self.last, self.wide = first, last, wide

    def __call__(self) -> Any:
        assert self.axis is not None
        return self.tick_values(*sorted(self.axis.get_view_interval()))

    def tick_values(self, vmin: float, vmax: float) -> Any:
        low, high = max(vmin, self.first), min(vmax, self.last)
        if low >= high:
            return np.array([self.first] if self.first == self.last else [])
        room = self._room(low, high)
        ticks = self._wide_ticks(high, room) if self.wide else self._even_ticks(low, high, room)
        return ticks[(ticks >= low) & (ticks <= high)]

    def _room(self, low: float, high: float) -> int:
        """How many ticks can be told apart on the part of the axis that has any."""
        assert isinstance(self.axis, Axis)
        scaled = self.axis.get_transform().transform(np.array([low, high, *self.axis.get_view_interval()]))
        share = (scaled[1] - scaled[0]) / abs(scaled[3] - scaled[2])
        return int(np.clip(share * self.axis.get_tick_space(), 2, 10))

    @staticmethod
    def _even_ticks(low: float, high: float, room: int) -> Array:
        ticks: Array = np.asarray(MaxNLocator(room, integer=True, steps=[1, 2, 5, 10]).tick_values(low, high))
        return ticks

    @staticmethod
    def _wide_ticks(high: float, room: int) -> Array:
        decades = 10.0 ** np.arange(np.floor(np.log10(high)) + 1)
        for digits in ((1, 2, 5), (1, 3), (1,)):
            ticks = np.outer(decades, digits).ravel()
            ticks = ticks[ticks <= high]
            if len(ticks) <= room:
                break
        return np.concatenate([[0.0], ticks])


class EndLabels(Artist):
    """Keeps labels right of the ends of lines apart from each other, and inside the axes, whenever the figure is drawn.

    Parameters
    ----------
    labels : list of Annotation
        Labels with offsets in points from the ends of their lines, the most important one first. If not all of them
        fit into the height of the axes, the last ones are hidden.
    last : float
        Where the lines end.
    """

    def __init__(self, labels: list[Annotation], last: float) -> None:
        super().__init__()
        self.labels, self.last = labels, last
        self.set_zorder(-1000)  # drawn before the labels
        self.set_in_layout(False)
        self._limits: tuple[float, float] | None = None

    def draw(self, renderer: Any) -> None:
        self.arrange(renderer)
        self.stale = False

    def arrange(self, renderer: Any = None) -> None:
        """Make room for the labels right of the lines, and spread them."""
        ax = self.axes
        if not isinstance(ax, Axes) or not self.labels:
            return
        boxes = [Text.get_window_extent(label, renderer) for label in self.labels]
        self._make_room(ax, max(box.width for box in boxes))
        gap = 1.02 * max(box.height for box in boxes)
        shown = max(int(ax.bbox.height // gap), 1)
        wanted = np.array([ax.transData.transform(label.xy)[1] for label in self.labels[:shown]])
        offsets = spread(wanted, gap, ax.bbox.y0 + gap / 2, ax.bbox.y1 - gap / 2) - wanted
        for rank, label in enumerate(self.labels):
            if label.get_visible() != (rank < shown):
                label.set_visible(rank < shown)
        for label, offset in zip(self.labels, offsets * 72 / ax.figure.dpi, strict=False):
            x, y = label.get_position()
            if abs(y - offset) > 0.01:  # what does not change must not ask for another drawing
                label.set_position((x, offset))

    def _make_room(self, ax: Axes, width: float) -> None:
        """Extend x to the right for labels of that width, unless someone else has changed the limits."""
        if self._limits is not None and self._limits != tuple(ax.get_xlim()):
            return
        offset = float(self.labels[0].get_position()[0]) * ax.figure.dpi / 72
        share = min((offset + 1.02 * width) / ax.bbox.width, 0.7)
        scale = ax.xaxis.get_transform()
        left, end = scale.transform(np.array([ax.get_xlim()[0], self.last]))
        right = left + (end - left) / (1 - share)
        limit = float(scale.inverted().transform(np.array([right]))[0])
        if not np.isclose(limit, ax.get_xlim()[1], rtol=1e-6):
            ax.set_xlim(right=limit)
        self._limits = ax.get_xlim()
