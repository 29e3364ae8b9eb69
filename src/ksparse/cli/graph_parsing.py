"""The arguments of ``ksparse graph``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from ..solvers import MAX_EFFORT
from .argument_types import EFFORT, FOLDER, JOBS, MAX_MEMORY, MEMORY, SEED, make_type
from .graph_settings import GraphSettings
from .reading_options import add_reading_options

GRAPH = """Find the graph with k edges that fits a table best: which variables depend on each
other, given all others. An edge has a partial correlation, from -1 to 1.

All numeric columns are variables. Columns of text, identifiers and row numbers, and
constants are left out, and so are rows with missing values if they are few; else
medians take the place of missing values. What was done is said."""

GRAPH_MORE = """--k is yours to choose: few edges are the strongest, and can be read. auto takes
the number that describes other rows best, which may be many: with thousands of
rows, nearly all. --stability tells which edges other samples would have too.

--transform rank is for heavy tails, outliers and skewed variables (returns of
stocks, counts, concentrations): ranks, as quantiles of the normal distribution, take
the place of the values.

--out writes
  graph.html     an interactive page, for one file to send: move nodes, zoom, search, add
                 edges in their order with a slider
  edges.csv      the edges, for a spreadsheet
  graph.graphml  for Gephi, Cytoscape, igraph, yEd (needs: pip install networkx)
  model.json     for ksparse.load in Python

examples
  ksparse graph returns.csv --k 300 --transform rank --groups sectors.csv --out stocks
  ksparse graph genes.csv.gz --k 100 --stability --out genes
  ksparse graph cells.parquet --ks 5,10,20,40"""


def add_graph(commands: argparse._SubParsersAction[Any]) -> argparse.ArgumentParser:
    """Add the command ``graph``."""
    graph: argparse.ArgumentParser = commands.add_parser(
        "graph",
        help="find the k strongest connections between the columns of a table",
        description=GRAPH,
        epilog=GRAPH_MORE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,  # the defaults are those of GraphSettings
    )
    add = graph.add_argument
    add("data", metavar="FILE", help="a table with a header, as for 'ksparse fit'")
    add("-k", "--k", type=NUMBER_OF_EDGES, metavar="K|auto", help="number of edges (default: as many as variables)")
    add("--ks", type=LIST_OF_EDGES, metavar="K,K,…", help="numbers of edges to choose from, such as 10,20,40")
    add(
        "--groups",
        type=FOLDER,
        metavar="FILE",
        help="a table whose first two columns are a variable's name and its group, such as a sector; by default,"
        " communities in the graph are found",
    )
    add("--transform", choices=["none", "rank"], help="rank: normal scores in place of the values (default none)")
    add(
        "--shrinkage",
        type=SHRINKAGE,
        metavar="S|auto",
        help="how far correlations are moved towards 0 before edges are selected, or auto: chosen by cross-validation"
        " (the default with --k auto or --ks, otherwise 0)",
    )
    add("--drop", metavar="COL,COL", action="append", help="columns to leave out")
    add(
        "--stability",
        type=PAIRS,
        metavar="N",
        nargs="?",
        const=50,
        help="how often each edge is found on random halves of the rows: N pairs of halves (default 50)",
    )
    add("--effort", type=EFFORT, metavar="E", help=f"effort of the search, from 0 (default) to {MAX_EFFORT}")
    add("--seed", type=SEED, help=f"seed of folds, halves and positions (default {GraphSettings.seed})")
    add("--jobs", type=JOBS, metavar="N", help="number of fits in parallel; -1 uses all cores")
    add("--max-memory", type=MEMORY, metavar="SIZE", help=MAX_MEMORY)
    add("--out", type=FOLDER, metavar="DIR", help="write the page, the edges and the model to this folder")
    add_reading_options(graph, labels=False)
    return graph


def find_graph_command(parser: argparse.ArgumentParser, given: dict[str, Any]) -> Callable[..., None]:
    """The command with its arguments; it takes `hold`, as `replace_files` does."""
    if "k" in given and "ks" in given:
        parser.error("--k is the number of edges, and --ks are numbers to choose from; give one of them")
    if given.get("k") == "auto":
        given |= {"k": None, "choose_k": True}
    if given.get("shrinkage") == "auto":
        given |= {"shrinkage": None, "choose_shrinkage": True}
    if given.get("transform") == "none":
        given["transform"] = None
    from .graph_command import run_graph

    settings = GraphSettings(**given)
    if settings.out is not None:
        import_module(".graph_page", __package__)  # now, since signals end the imports cleanly
    return partial(run_graph, settings)


def _read_number_or_auto(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda text: "auto" if text == "auto" else kind(text)


NUMBER_OF_EDGES = make_type(
    _read_number_or_auto(int), lambda k: k == "auto" or k >= 0, "a number of edges (an integer ≥ 0), or auto"
)
LIST_OF_EDGES = make_type(
    lambda text: [int(part) for part in text.split(",")],
    lambda ks: min(ks) >= 0,
    "numbers of edges (integers ≥ 0) with commas between them, such as 10,20,40",
)
SHRINKAGE = make_type(
    _read_number_or_auto(float), lambda s: s == "auto" or 0 <= s < 1, "a number from 0 to below 1, or auto"
)
PAIRS = make_type(int, lambda pairs: 1 <= pairs <= 10_000, "a number of pairs of halves from 1 to 10000")
