"""Texts of parameters and attributes that several displays share, written once."""

from __future__ import annotations

from .._docs import fill_docstrings

__all__ = ["documented"]

TEXTS = {
    "axes_": """
ax_ : Axes
    The axes.
figure_ : Figure
    Their figure.""",
    "returns": """
Returns
-------
Display
    The display itself, an instance of this class.""",
    "ax": """
ax : Axes, optional
    Where to draw; a new figure by default.""",
    "line_kw": """
line_kw : dict, optional
    Keywords of lines, as in `matplotlib.axes.Axes.plot`.""",
    "choosing_estimator": """
estimator : fitted estimator or pipeline
    An estimator that chooses k by cross-validation (``…CV``) or an information criterion (``…IC``), or a pipeline that
    ends with one.""",
    "precision_estimator": """
estimator : fitted estimator or pipeline
    An estimator with a ``precision_``, such as SparsePrecision or scikit-learn's GraphicalLasso, or a pipeline that
    ends with one.""",
    "precision": """
precision : array-like of shape (n_nodes, n_nodes)
    A symmetric matrix with a positive diagonal.""",
    "feature_names": """
feature_names : sequence of str, optional
    Names of the features; by default those seen in `fit`, otherwise x0, x1, …""",
    "names": """
names : sequence of str, optional
    Names of the nodes; by default those seen in `fit`, otherwise x0, x1, …""",
    "coefficients": """
output : int, default=0
    Index of the class (in ``classes_``) or response whose coefficients are drawn, if there are several.
standardize_by : array-like of shape (n_features,), optional
    Scale of each feature, such as ``X.std(axis=0)``. Coefficients times their scales can be compared.""",
    "n_labels": """
n_labels : int, default=12
    Maximum number of features to name.""",
    "convergence_style": """
x : {"iteration", "seconds", "passes"}, default="iteration"
    What is on the x axis.
ax : Axes or two Axes, optional
    Where to draw: axes that are divided into two panels, or two axes; a new figure by default.""",
    "frequency_style": """
top : int, optional
    Maximum number of features to show; by default 25, or as many as are readable on small axes.
bar_kw : dict, optional
    Keywords of the bars, as in `matplotlib.axes.Axes.barh`.""",
    "node_groups": """
groups : sequence, optional
    Label of the group of each node; nodes have the colour of their group.""",
    "graph_style": """
layout : {"spring", "circle"} or array-like of shape (n_nodes, 2), default="spring"
    Where the nodes are: neighbours close to each other (needs networkx), on a circle in the order of nodes and groups,
    or at given positions.
seed : int, default=0
    Seed of the spring layout; the same seed gives the same picture.
isolated : bool, default=True
    Whether to show nodes without edges. If not, the picture says how many there are.
n_labels : int, optional
    Maximum number of nodes to name, those with most edges first; by default all if there are at most 60, otherwise
    none.
node_kw : dict, optional
    Keywords of the nodes, as in `matplotlib.axes.Axes.scatter`.
edge_kw : dict, optional
    Keywords of the edges, as in `matplotlib.collections.LineCollection`.""",
    "kind_of_precision": """
what : {"partial correlation", "support"}, default="partial correlation"
    What to show.""",
    "support_order": """
groups : sequence, optional
    Label of the group of each node. Lines separate the groups, and groups are named instead of nodes.
order : "groups" or sequence of int, optional
    The nodes from top to bottom and from left to right: sorted by group (the default if there are groups), or in a
    given order.""",
    "image_style": """
ax : Axes, optional
    Where to draw; a new figure by default. Figures with several panels have most room for the colour scale with
    ``layout="compressed"``.
image_kw : dict, optional
    Keywords of the image, as in `matplotlib.axes.Axes.imshow`, such as vmin and vmax.""",
}

#: Replaces lines like ``$ax`` in docstrings of a display and of its methods by the text of that name.
documented = fill_docstrings({name: text.strip("\n") for name, text in TEXTS.items()})
