"""Communities of a graph: sets of nodes with more and stronger edges among them than to others."""

from __future__ import annotations

import numpy as np

from .._types import Array, IntArray

__all__ = ["find_communities"]


def find_communities(edges: IntArray, strengths: Array, n_nodes: int, *, seed: int = 0) -> IntArray:
    """The number of the community of each node, 0 the largest; −1 for nodes without edges. Needs networkx.

    The method is that of Louvain with the sizes of partial correlations as weights: V. D. Blondel and others, *Fast
    unfolding of communities in large networks*, J. Stat. Mech. P10008, 2008.

    Parameters
    ----------
    edges : ndarray of shape (n_edges, 2)
        Indices of the nodes of each edge.
    strengths : ndarray of shape (n_edges,)
        Weights; their sign does not matter.
    n_nodes : int
        Number of nodes.
    seed : int
        The same seed gives the same communities.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.plots._communities import find_communities
    >>> edges = np.array([[0, 1], [1, 2], [0, 2], [4, 5]])
    >>> find_communities(edges, np.ones(4), 6)
    array([ 0,  0,  0, -1,  1,  1])
    """
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(np.unique(edges))
    graph.add_weighted_edges_from((i, j, abs(strength)) for (i, j), strength in zip(edges, strengths, strict=True))
    found = nx.community.louvain_communities(graph, weight="weight", seed=seed) if len(edges) else []
    communities = np.full(n_nodes, -1, dtype=np.intp)
    for number, nodes in enumerate(sorted((sorted(nodes) for nodes in found), key=lambda nodes: (-len(nodes), nodes))):
        communities[nodes] = number
    return communities
