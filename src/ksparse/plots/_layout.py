"""Positions of the nodes of a graph. NetworkX is imported only for the spring layout."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.spatial.distance import pdist, squareform

from .._types import Array, IntArray

__all__ = ["place_nodes"]

#: Connected components of at most this many nodes are laid out by the lengths of shortest paths.
MAX_KAMADA_KAWAI = 60
#: Weight of the edges from all nodes of a larger component to its centre; without them, clusters drift far apart.
GRAVITY = 0.02
#: Side of a cell of the grid that components are packed on, in distances of nearest neighbours.
CELL = 0.5
#: Distances of components along x, where their names are, and along y.
GAPS = (1.5, 1.0)
#: Smallest distance of two nodes, relative to the distance they would have on a square grid over the same area.
MIN_DISTANCE = 0.6


def place_nodes(layout: str, edges: IntArray, order: IntArray, *, seed: int, aspect: float) -> Array:
    """Positions of nodes: neighbours close to each other, with about that aspect, or in that order on a circle."""
    if layout == "circle":
        clockwise = 2 * np.pi * np.argsort(order) / len(order)
        return np.column_stack([np.sin(clockwise), np.cos(clockwise)])
    if layout == "spring":
        return _lay_out_components(edges, len(order), seed, aspect)
    raise ValueError(f"layout must be 'spring', 'circle' or an array of positions; got {layout!r}")


def _lay_out_components(edges: IntArray, n_nodes: int, seed: int, aspect: float) -> Array:
    """Lay out each connected component, then pack their bounding boxes: springs would push components far apart."""
    try:
        import networkx as nx
    except ImportError as error:
        advice = 'install it with: pip install networkx, or use layout="circle"'
        raise ImportError(f'layout="spring" of ksparse.plots needs networkx; {advice}') from error
    graph = nx.Graph()
    graph.add_nodes_from(range(n_nodes))
    graph.add_edges_from(edges.tolist())
    components = sorted((sorted(component) for component in nx.connected_components(graph)), key=len, reverse=True)
    layouts = [_lay_out(nx, graph.subgraph(component).copy(), seed, wide=aspect >= 1) for component in components]
    sizes = np.array([np.ptp(layout, axis=0) + GAPS for layout in layouts])
    positions = np.empty((n_nodes, 2))
    for component, layout, centre in zip(components, layouts, _pack(sizes, aspect), strict=True):
        positions[component] = layout - (layout.min(axis=0) + layout.max(axis=0)) / 2 + centre
    return positions


def _lay_out(nx: Any, graph: Any, seed: int, *, wide: bool) -> Array:
    """Positions of a connected graph along its longer side, nearest neighbours about one unit apart."""
    if len(graph) <= 2:
        return np.array([[0.0, 0.0], [1.0, 0.0]])[: len(graph)]
    nodes = sorted(graph)
    if len(graph) <= MAX_KAMADA_KAWAI:
        by_node = nx.kamada_kawai_layout(graph)
    else:
        for one, other in graph.edges:  # weaker springs where there are many: dense clusters must not shrink to a point
            graph[one][other]["weight"] = 1 / np.sqrt(graph.degree[one] * graph.degree[other])
        graph.add_weighted_edges_from([("centre", node, GRAVITY) for node in nodes])
        by_node = nx.spring_layout(graph, seed=seed, iterations=200)
    points = np.array([by_node[node] for node in nodes])
    points = points - points.mean(axis=0)
    points = points @ np.linalg.svd(points, full_matrices=False)[2].T
    points = _separate(points if wide else points[:, ::-1])
    return points / np.mean(_compute_distances(points).min(axis=1))


def _compute_distances(points: Array) -> Array:
    """Distances of all pairs of points, infinite from a point to itself."""
    return np.asarray(squareform(pdist(points)) + np.diag(np.full(len(points), np.inf)))


def _separate(points: Array) -> Array:
    """Push points apart that are too close to each other."""
    for _ in range(60):
        gap = MIN_DISTANCE * np.sqrt(np.prod(np.ptp(points, axis=0)) / len(points))
        distances = _compute_distances(points)
        push = np.maximum(gap - distances, 0.0) / np.maximum(distances, 1e-3 * gap + 1e-12)
        if not push.any():
            break
        points = points + 0.3 * (push.sum(axis=1)[:, None] * points - push @ points)
    return points


def _pack(sizes: Array, aspect: float) -> Array:
    """Centres of boxes, each at the highest free place of a strip whose width gives about that aspect."""
    cells = np.ceil(sizes / CELL).astype(np.intp)
    width = max(int(np.sqrt(aspect * cells.prod(axis=1).sum())), cells[:, 0].max())
    depths = np.zeros(width, dtype=np.intp)
    corners = np.empty_like(cells)
    for box, (across, down) in enumerate(cells):
        tops = sliding_window_view(depths, across).max(axis=1)
        place = int(np.argmin(tops))
        corners[box] = place, tops[place]
        depths[place : place + across] = tops[place] + down
    return CELL * (corners + cells / 2) * [1, -1]
