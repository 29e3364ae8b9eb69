"""Where the nodes of a graph are drawn. NetworkX is imported only for the spring layout."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from .._types import Array, IntArray, Mask

__all__ = ["positions_of"]

#: Connected components of at most this many nodes are laid out by the lengths of shortest paths.
FEW = 60
#: Iterations of the spring layout of large components.
ITERATIONS = 200
#: How strongly all nodes of a large component are drawn to its middle; without it, clusters drift far apart.
GRAVITY = 0.02
#: Smallest distance of nodes, in sides of the square that each would have if they shared the place evenly.
GAP = 0.6
#: Side of a cell of the grid that components are packed on, in distances of neighbouring nodes.
CELL = 0.5


def networkx() -> ModuleType:
    """NetworkX, or an ImportError that says how to get it."""
    try:
        import networkx
    except ImportError as error:
        raise ImportError(
            'layout="spring" of ksparse.plots needs networkx; install it with: pip install "ksparse[plots]" '
            '(layout="circle" needs none)'
        ) from error
    return networkx


def positions_of(layout: str, edges: IntArray, order: IntArray, *, seed: int, aspect: float) -> Array:
    """Positions of all nodes.

    Parameters
    ----------
    layout : {"spring", "circle"}
        The kind of layout.
    edges : ndarray of shape (n_edges, 2)
        Pairs of nodes.
    order : ndarray of shape (n_nodes,)
        The nodes as they follow each other on a circle.
    seed : int
        Seed of the spring layout.
    aspect : float
        Width over height of the place for a spring layout.
    """
    if layout == "circle":
        return _circle(order)
    if layout == "spring":
        return _spring(edges, len(order), seed, aspect)
    raise ValueError(f"layout must be 'spring', 'circle' or an array of positions; got {layout!r}")


def _circle(order: IntArray) -> Array:
    """Clockwise from the top."""
    positions = np.empty((len(order), 2))
    angles = 2 * np.pi * np.arange(len(order)) / len(order)
    positions[order] = np.column_stack([np.sin(angles), np.cos(angles)])
    return positions


def _spring(edges: IntArray, n_nodes: int, seed: int, aspect: float) -> Array:
    """Each connected component by springs, then all of them packed: together, springs would push them far apart."""
    nx = networkx()
    graph = nx.Graph()
    graph.add_nodes_from(range(n_nodes))
    graph.add_edges_from(edges.tolist())
    parts = sorted((sorted(part) for part in nx.connected_components(graph)), key=len, reverse=True)
    positions = np.empty((n_nodes, 2))
    covered = []
    for part in parts:
        inside = edges[np.isin(edges[:, 0], part)]
        positions[part] = _component(nx, part, inside, seed, wide=aspect >= 1)
        covered.append(_cells(positions[part], positions[inside]))
    for part, shift in zip(parts, _packed(covered, aspect), strict=True):
        positions[part] += CELL * shift
    return positions


def _component(nx: ModuleType, nodes: list[int], edges: IntArray, seed: int, *, wide: bool) -> Array:
    """A connected graph around the origin, along its longer side, next neighbours about a unit apart."""
    if len(nodes) <= 2:
        return np.array([[0.0, 0.0], [1.0, 0.0]])[: len(nodes)]
    graph = nx.Graph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(edges.tolist())
    places = nx.kamada_kawai_layout(graph) if len(nodes) <= FEW else _by_forces(nx, graph, seed)
    points = np.array([places[node] for node in nodes])
    points -= points.mean(axis=0)
    turned = points @ np.linalg.svd(points, full_matrices=False)[2].T
    apart = _apart(turned if wide else turned[:, ::-1])
    return apart / np.mean(np.sort(_distances(apart), axis=1)[:, 0])


def _by_forces(nx: ModuleType, graph: Any, seed: int) -> Any:
    """Springs that are weaker where there are many, so that dense clusters do not shrink to a point."""
    degrees = dict(graph.degree)
    middle = -1
    for one, other in graph.edges:
        graph[one][other]["weight"] = 1 / np.sqrt(degrees[one] * degrees[other])
    graph.add_weighted_edges_from([(middle, node, GRAVITY) for node in degrees])
    return nx.spring_layout(graph, seed=seed, iterations=ITERATIONS)


def _distances(points: Array) -> Array:
    """Distances of all pairs of points, infinite from a point to itself."""
    distances = np.hypot(*(points[:, None] - points).transpose(2, 0, 1))
    np.fill_diagonal(distances, np.inf)
    return distances


def _apart(points: Array, rounds: int = 60) -> Array:
    """Push points apart that are too close to each other."""
    for _ in range(rounds):
        gap = GAP * np.sqrt(np.prod(np.ptp(points, axis=0)) / len(points))
        distances = _distances(points)
        push = np.maximum(gap - distances, 0.0) / np.maximum(distances, 1e-3 * gap + 1e-12)
        if not push.any():
            break
        points = points + 0.3 * (push.sum(axis=1)[:, None] * points - push @ points)
    return points


def _cells(nodes: Array, segments: Array) -> IntArray:
    """Cells of the grid that a component covers with its nodes and edges."""
    length = np.hypot(*np.ptp(segments, axis=1).T).max(initial=0.0)
    shares = np.linspace(0.0, 1.0, 2 + int(length / CELL))[:, None, None]
    on_edges = segments[:, 0] + shares * (segments[:, 1] - segments[:, 0])
    return np.unique(np.rint(np.vstack([nodes, on_edges.reshape(-1, 2)]) / CELL).astype(np.intp), axis=0)


def _packed(components: list[IntArray], aspect: float) -> list[IntArray]:
    """Shifts of components, each to the free place closest to the middle that leaves two cells around it."""
    margin = np.stack(np.meshgrid(*2 * [np.arange(-2, 3)]), axis=-1).reshape(-1, 2)
    half = (
        2
        + sum(int(np.ptp(cells, axis=0).max()) // 2 + 2 for cells in components[:3])
        + int(3 * np.sqrt(sum(len(cells) for cells in components) * max(aspect, 1 / aspect)))
    )
    grid = np.arange(-half, half + 1)
    remoteness = np.hypot(grid[:, None] / np.sqrt(aspect), grid * np.sqrt(aspect))
    taken = np.zeros(remoteness.shape, dtype=bool)
    shifts = []
    for cells in components:
        centred = cells - np.rint((cells.min(axis=0) + cells.max(axis=0)) / 2).astype(np.intp)
        free = ~_blocked(taken, centred)
        place = np.unravel_index(np.argmin(np.where(free, remoteness, np.inf)), free.shape)
        shift = np.array(place) - half
        covered = (centred[:, None] + margin + place).reshape(-1, 2)
        inside = ((covered >= 0) & (covered < len(grid))).all(axis=1)
        taken[tuple(covered[inside].T)] = True
        shifts.append(shift + centred[0] - cells[0])
    return shifts


def _blocked(taken: Mask, cells: IntArray) -> Mask:
    """Where the middle of a component cannot be: one of its cells would be taken, or outside of the grid."""
    reach = int(np.abs(cells).max())
    padded = np.pad(taken, reach, constant_values=True)
    blocked = np.zeros_like(taken)
    for row, column in cells + reach:
        blocked |= padded[row : row + len(taken), column : column + len(taken)]
    return blocked
