"""What ``ksparse graph`` does; raises `InputError` for errors that the user can fix."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from pathlib import Path

from ..persistence import dumps
from ..writing import Hold, replace_files
from .errors import escape_control, explain_write_errors, quote_path
from .graph_data import load_graph_data
from .graph_fitting import FittedGraph, fit_graph
from .graph_printing import print_graph
from .graph_settings import GraphSettings
from .graph_tables import tabulate_edges
from .outputs import find_output_files
from .prediction_tables import protect_label
from .printing import show_progress
from .streams import is_output_closed, require_output

#: What ``graph --out`` writes: the model first, and the page last.
GRAPH_FILES = ("model.json", "edges.csv", "graph.graphml", "graph.html")


def run_graph(settings: GraphSettings, hold: Hold = nullcontext) -> None:
    """Find a graph, print it, and write its files if a folder is given; `hold` is for `replace_files`."""
    if settings.out is None:
        require_output("give --out DIR to write the graph to a folder")
    else:
        find_output_files(settings.out, GRAPH_FILES)  # before the work
    with show_progress(f"Reading {settings.data}"):
        data = load_graph_data(settings)
    with show_progress("Finding the graph"):
        fitted = fit_graph(data, settings)
    written: list[str] = []
    try:
        if settings.out is not None:
            written = _write_graph(fitted, settings.out, hold)
    finally:
        if settings.out is None or not is_output_closed():
            print_graph(fitted, written)  # a full disk must not lose the result of a long fit


def _write_graph(fitted: FittedGraph, folder: Path, hold: Hold) -> list[str]:
    from .graph_page import render_graph

    places = find_output_files(folder, GRAPH_FILES)
    texts = {}
    with show_progress("Writing the graph"):
        texts["model.json"] = dumps(fitted.model, about={"data": Path(fitted.data.source).name})
        texts["edges.csv"] = _write_edges(fitted)
        said = []
        try:
            texts["graph.graphml"] = _write_graphml(fitted)
        except ImportError:
            said = ["Did not write graph.graphml, since networkx is not installed: pip install networkx"]
        texts["graph.html"] = render_graph(fitted)
        with explain_write_errors(f"to {quote_path(folder)}"):
            replace_files({places[name]: text for name, text in texts.items()}, hold=hold)
    return [f"Wrote {escape_control(folder / name)}" for name in reversed(GRAPH_FILES) if name in texts] + said


def _write_edges(fitted: FittedGraph) -> str:
    """The edges as CSV, in which no name is a formula."""
    table = tabulate_edges(fitted)
    for column in ("source", "target", "source_group", "target_group"):
        table[column] = [protect_label(text) for text in table[column]]
    text: str = table.to_csv(index=False, lineterminator="\n")
    return text


def _write_graphml(fitted: FittedGraph) -> str:
    """The graph for other programs; nodes have harmless names, which XML can hold."""
    from networkx import Graph, generate_graphml

    names = [escape_control(name) for name in fitted.data.names]
    counts = Counter(names)
    nodes = [name if counts[name] == 1 else f"{name} ({place})" for place, name in enumerate(names)]
    graph, degrees = Graph(), fitted.degrees.tolist()
    for place, node in enumerate(nodes):
        group = escape_control(fitted.get_group(place))
        graph.add_node(node, label=names[place], group=group, degree=degrees[place])
    frequencies = None if fitted.stability is None else fitted.stability.frequencies_
    for i, j in fitted.edges.tolist():
        strength = float(fitted.partial[i, j])
        more = {} if frequencies is None else {"frequency": float(frequencies[i, j])}
        graph.add_edge(nodes[i], nodes[j], weight=abs(strength), partial_correlation=strength, **more)
    return "\n".join(generate_graphml(graph)) + "\n"
