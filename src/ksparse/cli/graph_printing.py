"""What ``ksparse graph`` shows on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from . import graph_tables as tables
from .errors import escape_control
from .graph_fitting import FittedGraph
from .printing import describe_search, print_parts, print_table, say


def print_graph(fitted: FittedGraph, written: Sequence[str] = ()) -> None:
    """Print the data, how k was chosen, the strongest edges, hubs and communities."""
    print_parts(lambda console: _print_parts(console, fitted, written))


def _print_parts(console: Console, fitted: FittedGraph, written: Sequence[str]) -> None:
    say(console, f"Data: {escape_control(fitted.data.source)}, {tables.describe_size_of_data(fitted)}")
    for note in fitted.notes:
        say(console, escape_control(note))
    say(console, f"How many edges: {tables.describe_choice_of_edges(fitted)}")
    say(console, f"\nGraph with {tables.describe_graph(fitted)}\n", style="bold")
    if len(fitted.edges):
        _print_graph_tables(console, fitted)
    if fitted.stability is not None:
        say(console, tables.describe_stability(fitted))
    say(console, "\n".join([describe_search(fitted.model.result_, fitted.seconds), *written]))


def _print_graph_tables(console: Console, fitted: FittedGraph) -> None:
    print_table(console, tables.show_edges(fitted))
    console.print()
    hubs = tables.show_hubs(fitted)
    if len(hubs):
        print_table(console, hubs)
        console.print()
    if fitted.data.groups is not None:
        say(console, f"{tables.describe_groups(fitted)}\n")
    elif fitted.communities is not None:
        print_table(console, tables.show_communities(fitted))
        console.print()
