"""The frame of a graph, which follows the size of the figure. Only functions that draw import this module."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.legend import Legend
from matplotlib.text import Annotation, Text

from .._types import Array

__all__ = ["GraphFrame"]

#: Where a name can be, seen from its node: right, left, above, below, at the corners, and between them.
DIRECTIONS = np.array(
    [[1, 0], [-1, 0], [0, 1], [0, -1]]
    + [[x, y] for x in (1, -1) for y in (1, -1)]
    + [[x, y] for x in (0.5, -0.5) for y in (1, -1)]
)
#: The price of each of them, and of what a name covers: a piece of an edge costs 1.
PRICES = np.repeat([0.0, 0.2, 0.4], 4)
PRICE_OF_NODE, PRICE_OF_NAME = 20.0, 1000.0
#: Points on each edge that names avoid.
PIECES = np.linspace(0.02, 0.98, 25)[:, None, None]
#: Distance of legends to the rest, in points.
DISTANCE = 6.0
#: Rounds of placing names and fitting limits, which depend on each other.
ROUNDS = 20


class GraphFrame(Artist):
    """Keeps nodes, their names and the legends of a graph inside the axes, and apart, whenever the figure is drawn.

    Parameters
    ----------
    nodes : ndarray of shape (n_nodes, 2)
        Positions of the nodes that are shown; a unit has the same length along x and y.
    segments : ndarray of shape (n_edges, 2, 2)
        Both ends of each edge.
    radius : float
        Radius of nodes in points.
    labels : dict of int to Annotation
        Names, with offsets in points from their nodes, by the place of the node in nodes; the most important one
        first. A name that would cover one before it is hidden.
    legends : dict of str to Legend
        Legends by the side ("top", "bottom" or "right") that they have for themselves.
    """

    def __init__(
        self, nodes: Array, segments: Array, radius: float, labels: dict[int, Annotation], legends: dict[str, Legend]
    ) -> None:
        super().__init__()
        self.nodes, self.segments, self.radius, self.labels, self.legends = nodes, segments, radius, labels, legends
        self.set_zorder(-1000)  # drawn before the rest
        self.set_in_layout(False)
        self._limits: tuple[float, ...] | None = None
        self._sizes: dict[int, Array] = {}

    def draw(self, renderer: Any) -> None:
        self.arrange(renderer)
        self.stale = False

    def arrange(self, renderer: Any = None) -> None:
        """Place the names and set the limits, unless someone else has changed the limits."""
        ax = self.axes
        if not isinstance(ax, Axes) or not len(self.nodes):
            return
        if self._limits is not None and self._limits != (*ax.get_xlim(), *ax.get_ylim()):
            return
        pixel = 72 / ax.figure.dpi
        self._measure(renderer, pixel)
        frame = self._free(ax, renderer) * pixel
        offsets: dict[int, Array] = {}
        scale, corner = self._fitted(frame, offsets)
        for _ in range(ROUNDS):
            before, offsets = scale, self._placed(scale)
            scale, corner = self._fitted(frame, offsets, at_least=scale)
            if scale == before:
                break
        self._move_labels(offsets)
        self._set_limits(ax, corner, scale * pixel)

    def _measure(self, renderer: Any, pixel: float) -> None:
        """Sizes of names in points; those of hidden ones, which have none in matplotlib, are as they were."""
        for node, label in self.labels.items():
            if label.get_visible():
                box = Text.get_window_extent(label, renderer)
                self._sizes[node] = np.array([box.width, box.height]) * pixel

    def _free(self, ax: Axes, renderer: Any) -> Array:
        """Left, bottom, right and top in pixels, from the corner of the axes, of what legends leave free."""
        width, height = ax.bbox.width, ax.bbox.height
        taken = dict.fromkeys(("right", "bottom", "top"), 0.0)
        for side, legend in self.legends.items():
            box = legend.get_window_extent(renderer)
            needed, whole = (box.width, width) if side == "right" else (box.height, height)
            taken[side] = min(needed + DISTANCE * ax.figure.dpi / 72, 0.5 * whole)
        return np.array([0.0, taken["bottom"], width - taken["right"], height - taken["top"]])

    def _fitted(self, frame: Array, offsets: dict[int, Array], at_least: float = 0.0) -> tuple[float, Array]:
        """Units in a point, and the position of the corner of the axes, such that nodes and names are in the frame."""
        before = np.full(self.nodes.shape, self.radius + 1.0)
        after = before.copy()
        for node, offset in offsets.items():
            before[node] = np.maximum(before[node], self._sizes[node] / 2 - offset)
            after[node] = np.maximum(after[node], self._sizes[node] / 2 + offset)
        room = np.maximum(frame[2:] - frame[:2], 1.0)
        scale = at_least or float(np.max(np.ptp(self.nodes, axis=0) / room)) or 1.0 / float(room.max())
        for _ in range(40):  # of xᵢ + s·afterᵢ − (xⱼ − s·beforeⱼ) ≤ s·room for all nodes i and j, the smallest s
            low = (self.nodes - scale * before).min(axis=0)
            high = (self.nodes + scale * after).max(axis=0)
            needed = float(np.max((high - low) / room))
            if needed <= 1.0005 * scale:
                break
            scale = min(needed, 10 * scale)
        return scale, (low + high) / 2 - scale * (frame[:2] + frame[2:]) / 2

    def _placed(self, scale: float) -> dict[int, Array]:
        """Offsets of names in points, greedily at the cheapest places; without those that would cover another name."""
        nodes, ends = self.nodes / scale, self.segments / scale
        pieces = (ends[:, 0] + PIECES * (ends[:, 1] - ends[:, 0])).reshape(-1, 2)
        away = DIRECTIONS / np.hypot(*DIRECTIONS.T)[:, None]
        placed = np.empty((0, 2, 2))
        offsets = {}
        for node, size in ((node, self._sizes[node]) for node in self.labels):
            candidates = DIRECTIONS * size / 2 + away * (self.radius + 1.0)
            low = nodes[node] + candidates - size / 2
            high = low + size
            covers = ((low[:, None] < placed[:, 1]) & (high[:, None] > placed[:, 0])).all(axis=2).any(axis=1)
            prices = PRICES + PRICE_OF_NAME * covers + _inside(pieces, low, high)
            prices += PRICE_OF_NODE * _inside(nodes, low - self.radius, high + self.radius)
            best = int(np.argmin(prices))
            if not covers[best]:
                offsets[node] = candidates[best]
                placed = np.concatenate([placed, [[low[best], high[best]]]])
        return offsets

    def _move_labels(self, offsets: dict[int, Array]) -> None:
        for node, label in self.labels.items():
            if label.get_visible() != (node in offsets):
                label.set_visible(node in offsets)
            offset = offsets.get(node, np.zeros(2))
            if np.abs(offset - label.get_position()).max() > 0.01:  # what does not change must not be drawn again
                label.set_position((float(offset[0]), float(offset[1])))

    def _set_limits(self, ax: Axes, corner: Array, unit: float) -> None:
        """Let the axes begin at a corner, with so many units in a pixel."""
        opposite = corner + unit * np.array([ax.bbox.width, ax.bbox.height])
        limits = np.array([corner[0], opposite[0], corner[1], opposite[1]])
        if not np.allclose(limits, [*ax.get_xlim(), *ax.get_ylim()], rtol=1e-6, atol=1e-6 * unit):
            ax.set_xlim(limits[0], limits[1])
            ax.set_ylim(limits[2], limits[3])
        self._limits = (*ax.get_xlim(), *ax.get_ylim())


def _inside(points: Array, low: Array, high: Array) -> Array:
    """How many points are in each box."""
    return ((points > low[:, None]) & (points < high[:, None])).all(axis=2).sum(axis=1).astype(np.float64)
