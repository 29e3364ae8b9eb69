"""Artists that adapt to the size of the figure whenever it is drawn. Only functions that draw import this module."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.legend import Legend
from matplotlib.text import Annotation, Text
from sklearn.isotonic import isotonic_regression

from .._types import Array

__all__ = ["EndLabels", "GraphFrame", "spread"]


#: Where a name can be, relative to its node, the most preferred place first: the sides, then the corners.
DIRECTIONS = np.array([[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, 1], [1, -1], [-1, -1]], dtype=np.float64)
#: Cost of each direction, and of a node that the name covers; a point of an edge costs 1.
DIRECTION_COSTS, NODE_COST = np.repeat([0.0, 0.2], 4), 20.0
#: Points of each edge that names avoid, as fractions of its length.
EDGE_POINTS = np.linspace(0.02, 0.98, 25)[:, None, None]
#: Distance of names to their nodes, and of legends to the graph, in points.
NAME_DISTANCE, LEGEND_DISTANCE = 1.0, 6.0
#: Largest margin for names on each side of the graph, relative to the free area.
MAX_MARGIN = 0.3


class Arrangement(Artist):
    """An invisible artist that moves labels and sets limits before the rest of its axes is drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.set_zorder(-1000)  # drawn first
        self.set_in_layout(False)
        self._limits: dict[str, Any] = {}

    def draw(self, renderer: Any) -> None:
        self.arrange(renderer)
        self.stale = False

    @abstractmethod
    def arrange(self, renderer: Any = None) -> None:
        """Move the labels and set the limits."""

    def limit(self, axis: str, low: float, high: float) -> None:
        """Set the limits of the x or y axis, unless they differ from those that were set here before."""
        ax: Any = self.axes
        current = getattr(ax, f"get_{axis}lim")()
        if self._limits.get(axis, current) != current:
            return
        if np.abs(np.subtract(current, (low, high))).max() > 1e-6 * (high - low):  # a change asks for another drawing
            getattr(ax, f"set_{axis}lim")(low, high)
        self._limits[axis] = getattr(ax, f"get_{axis}lim")()


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

    def __init__(self, labels: list[Annotation], last: float) -> None:
        super().__init__()
        self.labels, self.last = labels, last

    def arrange(self, renderer: Any = None) -> None:
        ax = self.axes
        if not isinstance(ax, Axes) or not self.labels:
            return
        boxes = [Text.get_window_extent(label, renderer) for label in self.labels]
        point = ax.figure.dpi / 72
        needed = float(self.labels[0].get_position()[0]) * point + 1.02 * max(box.width for box in boxes)
        self._make_room(ax, min(needed / ax.bbox.width, 0.7))
        gap = 1.02 * max(box.height for box in boxes)
        n_shown = max(int(ax.bbox.height // gap), 1)
        ends = np.array([ax.transData.transform(label.xy)[1] for label in self.labels[:n_shown]])
        offsets = (spread(ends, gap, ax.bbox.y0 + gap / 2, ax.bbox.y1 - gap / 2) - ends) / point
        for rank, label in enumerate(self.labels):
            move_label(label, (label.get_position()[0], offsets[rank]) if rank < n_shown else None)

    def _make_room(self, ax: Axes, fraction: float) -> None:
        """Extend the x axis such that this fraction of it is to the right of the lines."""
        scale = ax.xaxis.get_transform()
        left, end = scale.transform(np.array([ax.get_xlim()[0], self.last]))
        right = scale.inverted().transform(np.array([left + (end - left) / (1 - fraction)]))[0]
        self.limit("x", ax.get_xlim()[0], float(right))


class GraphFrame(Arrangement):
    """Keeps nodes, their names and the legends of a graph inside the axes, and apart.

    Nodes are rows of positions, drawn with a radius in points; segments are the ends of edges. Labels are the names,
    by the row of their node and the most important one first; a name that has no room inside the axes without covering
    an earlier one is hidden. Legends are given by the side ("top", "bottom" or "right") that is reserved for them.
    """

    def __init__(
        self, nodes: Array, segments: Array, radius: float, labels: dict[int, Annotation], legends: dict[str, Legend]
    ) -> None:
        super().__init__()
        self.nodes, self.segments, self.radius, self.labels, self.legends = nodes, segments, radius, labels, legends
        self.sizes: dict[int, Array] = {}  # of names, in points

    def arrange(self, renderer: Any = None) -> None:
        ax = self.axes
        if not isinstance(ax, Axes):
            return
        point = ax.figure.dpi / 72
        for node, label in self.labels.items():
            if label.get_visible():  # matplotlib does not measure hidden names: they keep their sizes
                box = Text.get_window_extent(label, renderer)
                self.sizes[node] = np.array([box.width, box.height]) / point
        low, high = self._find_free_area(ax, renderer) / point
        largest = np.max(list(self.sizes.values()), axis=0, initial=0.0)
        margin = np.minimum(largest, MAX_MARGIN * (high - low)) + self.radius + NAME_DISTANCE + 1.0
        room = np.maximum(high - low - 2 * margin, 1.0)
        extent = np.ptp(self.nodes, axis=0)
        unit = float(np.min(room / np.maximum(extent, 1e-9 * extent.max() or 1.0)))  # in points
        corner = (self.nodes.min(axis=0) + self.nodes.max(axis=0)) / 2 - (low + high) / 2 / unit
        offsets = self._place_names(unit * (self.nodes - corner), unit * (self.segments - corner), low, high)
        for node, label in self.labels.items():
            move_label(label, offsets.get(node))
        opposite = corner + np.array([ax.bbox.width, ax.bbox.height]) / point / unit
        for axis, first, last in zip("xy", corner.tolist(), opposite.tolist(), strict=True):
            self.limit(axis, first, last)

    def _find_free_area(self, ax: Axes, renderer: Any) -> Array:
        """Lower left and upper right corner of the area without legends, in pixels from the corner of the axes."""
        area = np.array([[0.0, 0.0], [ax.bbox.width, ax.bbox.height]])
        entries = {"right": (1, 0), "top": (1, 1), "bottom": (0, 1)}
        for side, legend in self.legends.items():
            corner, axis = entries[side]
            needed = legend.get_window_extent(renderer).size[axis] + LEGEND_DISTANCE * ax.figure.dpi / 72
            area[corner, axis] += (-1) ** corner * min(needed, 0.5 * ax.bbox.size[axis])
        return area

    def _place_names(self, nodes: Array, segments: Array, low: Array, high: Array) -> dict[int, Array]:
        """Offsets of names, each in the cheapest direction; none for names that have no room. All are in points."""
        on_edges = (segments[:, 0] + EDGE_POINTS * (segments[:, 1] - segments[:, 0])).reshape(-1, 2)
        unit_directions = DIRECTIONS / np.hypot(*DIRECTIONS.T)[:, None]
        placed = np.empty((0, 2, 2))
        offsets = {}
        for node in self.labels:
            size = self.sizes[node]
            candidates = DIRECTIONS * size / 2 + unit_directions * (self.radius + NAME_DISTANCE)
            starts = nodes[node] + candidates - size / 2
            ends = starts + size
            overlaps = ((starts[:, None] < placed[:, 1]) & (ends[:, None] > placed[:, 0])).all(axis=2).any(axis=1)
            allowed = ~overlaps & (starts >= low).all(axis=1) & (ends <= high).all(axis=1)
            costs = DIRECTION_COSTS + _count_inside(on_edges, starts, ends)
            costs += NODE_COST * _count_inside(nodes, starts - self.radius, ends + self.radius)
            if allowed.any():
                best = int(np.argmin(np.where(allowed, costs, np.inf)))
                offsets[node] = candidates[best]
                placed = np.concatenate([placed, [[starts[best], ends[best]]]])
        return offsets


def _count_inside(points: Array, low: Array, high: Array) -> Array:
    """Number of points in each box."""
    return ((points > low[:, None]) & (points < high[:, None])).all(axis=2).sum(axis=1).astype(np.float64)


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
