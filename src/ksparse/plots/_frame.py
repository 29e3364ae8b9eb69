"""The frame of a graph: limits and names that adapt to the size of the figure. Only functions that draw import it."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.legend import Legend
from matplotlib.text import Annotation, Text

from .._types import Array
from ._artists import Arrangement, move_label

__all__ = ["GraphFrame"]

#: Where a name can be, relative to its node, the most preferred place first: the sides, the corners, and in between.
DIRECTIONS = np.array(
    [[1, 0], [-1, 0], [0, 1], [0, -1]]
    + [[x, y] for x in (1, -1) for y in (1, -1)]
    + [[x, y] for x in (0.5, -0.5) for y in (1, -1)]
)
#: Cost of each direction, and of a node that the name covers; a point of an edge costs 1.
DIRECTION_COSTS, NODE_COST = np.repeat([0.0, 0.2, 0.4], 4), 20.0
#: Points of each edge that names avoid, as fractions of its length.
EDGE_POINTS = np.linspace(0.02, 0.98, 25)[:, None, None]
#: Distance of names to their nodes, and of legends to the graph, in points.
NAME_DISTANCE, LEGEND_DISTANCE = 1.0, 6.0
#: Largest margin for names on each side of the graph, relative to the free area.
MAX_MARGIN = 0.3


class GraphFrame(Arrangement):
    """Keeps nodes, their names and the legends of a graph inside the axes, and apart.

    Nodes are rows of positions, drawn with a radius in points; segments are the ends of edges. Labels are the names,
    by the row of their node and the most important one first; a name that has no room inside the axes without covering
    an earlier one is hidden. Legends are given by the side ("top", "bottom" or "right") that is reserved for them.
    """

    limited = "xy"

    def __init__(
        self, nodes: Array, segments: Array, radius: float, labels: dict[int, Annotation], legends: dict[str, Legend]
    ) -> None:
        super().__init__()
        self.nodes, self.segments, self.radius, self.labels, self.legends = nodes, segments, radius, labels, legends
        self._sizes: dict[int, Array] = {}

    def arrange(self, renderer: Any = None) -> None:
        ax = self.axes
        if not isinstance(ax, Axes) or not len(self.nodes) or not self._limits_are_ours(ax):
            return
        point = ax.figure.dpi / 72
        self._measure(renderer, point)
        low, high = self._free_area(ax, renderer) / point
        largest = np.max(list(self._sizes.values()), axis=0, initial=0.0)
        margin = np.minimum(largest, MAX_MARGIN * (high - low)) + self.radius + NAME_DISTANCE + 1.0
        room = np.maximum(high - low - 2 * margin, 1.0)
        extent = np.ptp(self.nodes, axis=0)
        unit = float(np.min(room / np.maximum(extent, 1e-9 * extent.max() or 1.0)))  # in points
        corner = (self.nodes.min(axis=0) + self.nodes.max(axis=0)) / 2 - (low + high) / 2 / unit
        offsets = self._place_names(unit * (self.nodes - corner), unit * (self.segments - corner), low, high)
        for node, label in self.labels.items():
            move_label(label, offsets.get(node))
        opposite = corner + np.array([ax.bbox.width, ax.bbox.height]) / point / unit
        self._set_limits(ax, np.column_stack([corner, opposite]))

    def _measure(self, renderer: Any, point: float) -> None:
        """Sizes of names in points; matplotlib measures only those that are visible, the others keep their sizes."""
        for node, label in self.labels.items():
            if label.get_visible():
                box = Text.get_window_extent(label, renderer)
                self._sizes[node] = np.array([box.width, box.height]) / point

    def _free_area(self, ax: Axes, renderer: Any) -> Array:
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
            size = self._sizes[node]
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
