"""What is said of a graph, as texts and tables, for the terminal and the page."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..selection import SparsePrecisionCV
from ..wording import LONGEST_CELL, cut_text
from .graph_fitting import FittedGraph
from .settings import FOLDS

#: Strongest edges, hubs and communities that a terminal lists; neighbours and members that a row of them names.
MOST_EDGES, MOST_HUBS, MOST_COMMUNITIES, MOST_NEIGHBOURS = 20, 10, 12, 5


def describe_graph(fitted: FittedGraph) -> str:
    """Edges, variables and rows in a sentence."""
    k, variables = len(fitted.edges), len(fitted.data.names)
    connected = int((fitted.degrees > 0).sum())
    return f"{k} edge{'s' * (k != 1)} between {connected} of {variables} variables"


def describe_size_of_data(fitted: FittedGraph) -> str:
    """What the graph was fitted to."""
    scores = ", as normal scores of their ranks" if fitted.settings.transform == "rank" else ""
    return f"{len(fitted.data.frame)} rows, {len(fitted.data.names)} variables{scores}"


def describe_choice_of_edges(fitted: FittedGraph) -> str:
    """How k and the shrinkage were chosen."""
    model, settings = fitted.model, fitted.settings
    if not isinstance(model, SparsePrecisionCV):
        k = f"k = {model.k}"
        reason = (
            "" if settings.k is not None else ", one edge for each variable; --k sets another number, --k auto chooses"
        )
        return f"{k}{reason}; shrinkage {model.shrinkage:.3g}"
    by = f"{FOLDS}-fold cross-validation, by the likelihood of held-out rows"
    shrinkage = f"shrinkage {model.shrinkage_:.3g}"
    if not fitted.chose_k:
        return f"k = {model.k_}; {shrinkage}, chosen by {by}"
    tried = model.ks_.tolist()
    among = f"{len(tried)} numbers of edges from {tried[0]} to {tried[-1]}"
    said = f"k = {model.k_}, chosen among {among} by {by}; {shrinkage}"
    if model.k_ == tried[-1] < len(model.precision_) * (len(model.precision_) - 1) // 2:
        said += ". More edges than were tried may describe other rows better: --ks sets what is tried"
    return said


def describe_stability(fitted: FittedGraph) -> str:
    """What the frequencies are, and how many edges are stable."""
    halves = fitted.stability
    assert halves is not None
    stable, false = len(halves.edges_), halves.max_false_
    said = (
        f"Stability: {stable} edge{'s' * (stable != 1)} in at least {halves.threshold_:.0%} of {2 * halves.n_pairs}"
        " random halves of the rows; "
    )
    if false >= stable:  # true, and useless
        return f"{said}for so many edges there is no useful bound on how many of them are there by chance"
    return f"{said}at most {false:.2g} of them are expected to be there by chance"


def tabulate_edges(fitted: FittedGraph, most: int | None = None) -> pd.DataFrame:
    """The strongest edges, with exact names and numbers."""
    names, edges = np.array(fitted.data.names, dtype=object), fitted.edges[:most]
    ends = tuple(edges.T)
    table = {"source": names[ends[0]], "target": names[ends[1]], "partial_correlation": fitted.partial[ends]}
    if fitted.stability is not None:
        table["frequency"] = fitted.stability.frequencies_[ends]
    groups = np.array([fitted.get_group(variable) for variable in range(len(names))], dtype=object)
    return pd.DataFrame(table | {"source_group": groups[ends[0]], "target_group": groups[ends[1]]})


def show_edges(fitted: FittedGraph) -> pd.DataFrame:
    """The strongest edges as a table of texts."""
    table = tabulate_edges(fitted, MOST_EDGES)
    shown = {"partial correlation": [f"{value:+.3f}" for value in table["partial_correlation"]]}
    if "frequency" in table:
        shown["frequency"] = [f"{value:.0%}" for value in table["frequency"]]
    pairs = zip(table["source"], table["target"], strict=True)
    index = [f"{cut_text(one)} – {cut_text(other)}" for one, other in pairs]
    hidden = len(fitted.edges) - len(index)
    title = f"strongest {len(index)} of {len(fitted.edges)} edges" if hidden else "edges"
    return pd.DataFrame(shown, index=index).rename_axis(columns=title)


def list_neighbours(fitted: FittedGraph, variable: int, most: int) -> list[int]:
    """The neighbours of a variable, those with the strongest edges first."""
    sizes = np.abs(fitted.partial[variable]) * (np.arange(len(fitted.partial)) != variable)
    order = np.argsort(-sizes, kind="stable")[:most]
    return [int(other) for other in order if sizes[other] > 0]


def show_hubs(fitted: FittedGraph) -> pd.DataFrame:
    """The variables with most edges, and their strongest neighbours."""
    degrees = fitted.degrees
    hubs = [hub for hub in np.argsort(-degrees, kind="stable")[:MOST_HUBS].tolist() if degrees[hub] > 1]
    names = [cut_text(name) for name in fitted.data.names]
    rows = {
        "edges": [str(degrees[hub]) for hub in hubs],
        "strongest neighbours": [
            ", ".join(names[other] for other in list_neighbours(fitted, hub, MOST_NEIGHBOURS)) for hub in hubs
        ],
    }
    return pd.DataFrame(rows, index=[names[hub] for hub in hubs]).rename_axis(columns="hub")


def show_communities(fitted: FittedGraph) -> pd.DataFrame:
    """The largest communities, and their members with most edges."""
    communities = fitted.communities
    assert communities is not None
    names, degrees, rows = fitted.data.names, fitted.degrees, {}
    for number in range(min(int(communities.max(initial=-1)) + 1, MOST_COMMUNITIES)):
        members = np.flatnonzero(communities == number)
        first = members[np.argsort(-degrees[members], kind="stable")][:MOST_NEIGHBOURS]
        shown = ", ".join(cut_text(names[member]) for member in first)
        more = ", …" if len(members) > len(first) else ""
        rows[str(number + 1)] = {"variables": str(len(members)), "with most edges": shown + more}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(columns="community")


def describe_groups(fitted: FittedGraph) -> str:
    """How many edges are within the groups that were given."""
    groups, edges = fitted.data.groups, fitted.edges
    assert groups is not None
    known = [(groups[i], groups[j]) for i, j in edges.tolist() if groups[i] and groups[j]]
    within = sum(one == other for one, other in known)
    if not known:
        return "No edge is between variables that both have a group"
    return f"{within} of {len(known)} edges are within a group ({within / len(known):.0%})"


def shorten_name(name: str) -> str:
    """A name for the page: harmless, and not without end."""
    return cut_text(name, LONGEST_CELL)
