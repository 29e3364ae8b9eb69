"""The page of ``ksparse graph --out``: one interactive HTML file that needs nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from .._types import Array, IntArray
from ..plots._layout import place_nodes
from ..plots._palette import GROUP_COLOURS, choose_group_colours, count_coloured
from . import graph_tables as tables
from .graph_fitting import FittedGraph, build_path, sort_edges
from .pages import embed_json, open_template, read_asset, write_policy
from .prediction_tables import protect_label

#: Width of the picture by its height, for which positions are computed.
ASPECT = 1.5
#: Distance of neighbouring nodes in the units of the page; it is larger in graphs of fewer nodes than `ROOMY`, which
#: would otherwise have to be enlarged, nodes and all.
NODE_SPACING, ROOMY = 48, 60
#: Digits of partial correlations and positions on the page; edges.csv has all of them.
PAGE_DIGITS = 5


def render_graph(fitted: FittedGraph) -> str:
    """The page; Jinja2 escapes all texts, the script sets them as text, and control characters are shown as escapes."""
    library, script = read_asset("web", "cytoscape", "cytoscape.min.js"), read_asset("web", "graph", "graph.js")
    return open_template("graph.html").render(
        tables=tables,
        fitted=fitted,
        title=f"{Path(fitted.data.source).name}: {len(fitted.edges)} edges",
        data=embed_json(_describe_page(fitted)),
        policy=write_policy([library, script]),
        library=Markup(library),
        script=Markup(script),
        style=Markup(read_asset("web", "graph", "graph.css")),
    )


def _describe_page(fitted: FittedGraph) -> dict[str, Any]:
    """All that the script shows: nodes with positions and groups, edges, and the graphs of the slider."""
    graphs = build_path(fitted)
    numbers: dict[tuple[int, int], int] = {}
    steps = []
    for k, partial in graphs.items():
        edges = sort_edges(partial)
        members = [numbers.setdefault((i, j), len(numbers)) for i, j in edges.tolist()]
        strengths = np.round(partial[tuple(edges.T)], PAGE_DIGITS).tolist()
        steps.append({"k": k, "edges": members, "strengths": strengths})
    frequencies = None
    if fitted.stability is not None:
        frequencies = [round(float(fitted.stability.frequencies_[pair]), 4) for pair in numbers]
    codes, groups = _list_groups(fitted)
    spacing = NODE_SPACING * np.sqrt(max(ROOMY / max(int((fitted.degrees > 0).sum()), 2), 1.0))
    positions = (_place(fitted, graphs) * spacing).round(1).tolist()
    names = fitted.data.names
    return {
        "nodes": [
            {"name": tables.shorten_name(name), "cell": _protect(name), "group": code, "x": x, "y": -y}
            for name, code, (x, y) in zip(names, codes, positions, strict=True)
        ],
        "groups": groups,
        "kind": "group" if fitted.data.groups is not None else "community",
        "placed": fitted.communities is not None,  # by springs, which need networkx as communities do
        "edges": list(numbers),
        "frequencies": frequencies,
        "threshold": None if fitted.stability is None else fitted.stability.threshold_,
        "steps": steps,
        "chosen": list(graphs).index(len(fitted.edges)),
    }


def _list_groups(fitted: FittedGraph) -> tuple[list[int], list[dict[str, Any]]]:
    """The group of each node, −1 for none, and the names and colours of the groups."""
    communities = fitted.communities
    if fitted.data.groups is not None:
        labels = sorted(set(fitted.data.groups) - {""})
        codes = [labels.index(label) if label else -1 for label in fitted.data.groups]
        colours = choose_group_colours(len(labels))
        return codes, [_describe_group(label, colour) for label, colour in zip(labels, colours, strict=True)]
    if communities is None:
        return [-1] * len(fitted.data.names), []
    count = int(communities.max(initial=-1)) + 1
    own = count_coloured(communities)
    groups = [
        _describe_group(f"community {number + 1}", GROUP_COLOURS[number if number < own else -1])
        for number in range(count)
    ]
    return communities.tolist(), groups


def _describe_group(name: str, colour: str) -> dict[str, Any]:
    return {"name": tables.shorten_name(name), "cell": _protect(name), "colour": colour}


def _protect(text: str) -> str:
    """A text as a cell of a spreadsheet."""
    return str(protect_label(text))


def _place(fitted: FittedGraph, graphs: dict[int, Array]) -> Array:
    """Positions of all nodes, by the edges of the graph; nodes that only other graphs connect are placed by theirs."""
    edges, count = fitted.edges, len(fitted.data.names)
    isolated = fitted.degrees == 0
    for partial in graphs.values():
        more = sort_edges(partial)
        edges = np.concatenate([edges, more[isolated[more].any(axis=1)]])
        isolated &= ~np.isin(np.arange(count), more)
    connected = np.flatnonzero(~isolated)
    positions = np.zeros((count, 2))
    if len(connected):
        positions[connected] = _place_connected(np.searchsorted(connected, np.unique(edges, axis=0)), fitted)
    positions[isolated] = _place_below(positions[connected], int(isolated.sum()))
    return positions


def _place_connected(edges: IntArray, fitted: FittedGraph) -> Array:
    order = np.arange(int(edges.max()) + 1)
    try:
        return place_nodes("spring", edges, order, seed=fitted.settings.seed, aspect=ASPECT)
    except ImportError:  # networkx
        radius = max(len(order), 8) / (2 * np.pi)
        return radius * place_nodes("circle", edges, order, seed=0, aspect=1.0)


def _place_below(others: Array, count: int) -> Array:
    """Positions of nodes without edges, in rows below the others."""
    if not len(others):
        others = np.array([[0.0, 0.0], [ASPECT * np.sqrt(count), 0.0]])
    left, width = others[:, 0].min(), max(float(np.ptp(others[:, 0])), 4.0)
    columns = int(width) + 1
    places = np.arange(count)
    return np.column_stack([left + places % columns, others[:, 1].min() - 2.0 - places // columns])
