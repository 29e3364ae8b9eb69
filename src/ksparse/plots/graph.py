"""The graph of a sparse precision matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .._types import AnyArray, Array, IntArray
from ..validation import check_flag, check_iterations, check_vector
from ._layout import node_positions
from ._matrices import group_codes, groups_of_nodes, names_of_nodes, partial_correlations, precision_of
from ._style import (
    INK,
    LONGEST_GROUP,
    NEGATIVE,
    POSITIVE,
    axes_height,
    axes_to_draw_in,
    axes_width,
    figure_of,
    font_size,
    keywords,
    legend,
    shorten,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.text import Annotation

__all__ = ["GraphDisplay"]

D = TypeVar("D", bound="GraphDisplay")

#: Graphs with more nodes have no names by default.
NAMED = 60
#: Thinnest edge in points: weaker ones would not be seen.
HAIRLINE = 0.25
#: Thinnest line of a legend in points: the colour of thinner ones could not be told.
VISIBLE = 0.8
#: Colours of up to ten groups, which people with any colour vision tell apart: Paul Tol's muted scheme, and grey.
GROUPS = (
    "#cc6677",
    "#332288",
    "#ddcc77",
    "#117733",
    "#88ccee",
    "#882255",
    "#44aa99",
    "#999933",
    "#aa4499",
    "#777777",
)


class GraphDisplay:
    """Graph of a sparse precision matrix Ω: an edge where Ωᵢⱼ ≠ 0, as wide as the partial correlation is large.

    The partial correlation of i and j given all others is ρᵢⱼ = −Ωᵢⱼ/√(Ωᵢᵢ Ωⱼⱼ). Widths of edges are proportional to
    its size, down to a hairline; colours are its sign.

    Use `from_estimator` or `from_precision` to make one; the parameters below are kept as attributes.

    Parameters
    ----------
    partial_correlations : ndarray of shape (n_nodes, n_nodes)
        Symmetric; zero where there is no edge. The diagonal is not looked at.
    names : list of str
        Names of the nodes.
    groups : list, optional
        Label of the group of each node.

    Attributes
    ----------
    ax_ : Axes
        Where it is drawn.
    figure_ : Figure
        The figure of it.
    positions_ : ndarray of shape (n_nodes, 2)
        Where the nodes are; NaN for those that are hidden.
    edges_ : LineCollection
        The edges i < j, row by row of the upper triangle.
    nodes_ : PathCollection
        The nodes that are shown, in their order.
    labels_ : dict of int to Annotation
        Names of nodes, by their index, the node with most edges first. Where two names would cover each other, the
        second one is not visible.
    sign_legend_, group_legend_ : Legend or None
        What the colours of edges and nodes mean, if there are any.

    See Also
    --------
    SupportDisplay : The same matrix as a heat map.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import numpy as np
    >>> from ksparse.plots import GraphDisplay
    >>> precision = np.array([[1.0, -0.5, 0.0], [-0.5, 1.0, 0.25], [0.0, 0.25, 1.0]])
    >>> display = GraphDisplay.from_precision(precision, names=["a", "b", "c"], layout="circle")
    >>> display.partial_correlations[1].tolist()
    [0.5, 1.0, -0.25]
    >>> np.array(display.edges_.get_linewidth()).tolist()
    [4.0, 2.0]
    >>> [text.get_text() for text in display.sign_legend_.get_texts()]
    ['positive partial correlation, up to 0.5', 'negative, down to −0.25']
    """

    def __init__(self, partial_correlations: Array, names: list[str], *, groups: list[Any] | None = None) -> None:
        self.partial_correlations = partial_correlations
        self.names = names
        self.groups = groups

    @classmethod
    def from_estimator(
        cls: type[D],
        estimator: Any,
        *,
        names: Any = None,
        groups: Any = None,
        layout: Any = "spring",
        seed: int = 0,
        isolated: bool = True,
        n_labels: int | None = None,
        ax: Axes | None = None,
        node_kw: dict[str, Any] | None = None,
        edge_kw: dict[str, Any] | None = None,
    ) -> D:
        """Draw the graph that an estimator has found.

        Parameters
        ----------
        estimator : fitted estimator or pipeline
            One with a ``precision_``, such as SparsePrecision or scikit-learn's GraphicalLasso, or a pipeline with one
            at its end.
        names : sequence of str, optional
            Names of the nodes; those that the estimator has seen by default, otherwise x0, x1, …
        groups : sequence, optional
            Label of the group of each node; nodes have the colour of their group.
        layout, seed, isolated, n_labels, ax, node_kw, edge_kw
            As of `plot`.

        Returns
        -------
        GraphDisplay
            The display.
        """
        precision = precision_of(estimator)
        return cls.from_precision(
            precision,
            names=names_of_nodes(names, len(precision), estimator),
            groups=groups,
            layout=layout,
            seed=seed,
            isolated=isolated,
            n_labels=n_labels,
            ax=ax,
            node_kw=node_kw,
            edge_kw=edge_kw,
        )

    @classmethod
    def from_precision(
        cls: type[D],
        precision: Any,
        *,
        names: Any = None,
        groups: Any = None,
        layout: Any = "spring",
        seed: int = 0,
        isolated: bool = True,
        n_labels: int | None = None,
        ax: Axes | None = None,
        node_kw: dict[str, Any] | None = None,
        edge_kw: dict[str, Any] | None = None,
    ) -> D:
        """Draw the graph of a precision matrix.

        Parameters
        ----------
        precision : array-like of shape (n_nodes, n_nodes)
            A symmetric matrix with a positive diagonal.
        names : sequence of str, optional
            Names of the nodes; x0, x1, … by default.
        groups : sequence, optional
            Label of the group of each node; nodes have the colour of their group.
        layout, seed, isolated, n_labels, ax, node_kw, edge_kw
            As of `plot`.

        Returns
        -------
        GraphDisplay
            The display.
        """
        partial = partial_correlations(precision)
        display = cls(partial, names_of_nodes(names, len(partial)), groups=groups_of_nodes(groups, len(partial)))
        return display.plot(
            ax, layout=layout, seed=seed, isolated=isolated, n_labels=n_labels, node_kw=node_kw, edge_kw=edge_kw
        )

    def plot(
        self: D,
        ax: Axes | None = None,
        *,
        layout: Any = "spring",
        seed: int = 0,
        isolated: bool = True,
        n_labels: int | None = None,
        node_kw: dict[str, Any] | None = None,
        edge_kw: dict[str, Any] | None = None,
    ) -> D:
        """Draw it.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default a new figure.
        layout : {"spring", "circle"} or array-like of shape (n_nodes, 2), default="spring"
            Where the nodes are: neighbours close to each other (needs networkx), on a circle in the order of nodes and
            groups, or at given positions.
        seed : int, default=0
            Seed of the spring layout; the same seed gives the same picture.
        isolated : bool, default=True
            Whether to show nodes without edges. If not, the picture says how many there are.
        n_labels : int, optional
            How many nodes to name at most, those with most edges first; by default all if there are at most 60,
            otherwise none.
        node_kw : dict, optional
            Keywords for the nodes, as of `matplotlib.axes.Axes.scatter`.
        edge_kw : dict, optional
            Keywords for the edges, as of `matplotlib.collections.LineCollection`.

        Returns
        -------
        GraphDisplay
            The display.
        """
        most = NAMED if n_labels is None else check_iterations(n_labels, "n_labels")
        edges = np.argwhere(np.triu(self.partial_correlations, 1))
        degrees = np.bincount(edges.ravel(), minlength=len(self.names))
        everyone = check_flag(isolated, "isolated") or not len(edges)
        shown = np.flatnonzero((degrees > 0) | everyone)
        self.ax_: Axes = axes_to_draw_in(ax, (7.0, 5.4))
        self.figure_: Figure = figure_of(self.ax_)
        self._clear_axes(len(edges), len(self.names) - len(shown))
        self._place(layout, seed, shown, edges)
        self._draw_edges(edges, edge_kw)
        self._draw_nodes(shown, node_kw)
        by_degree = shown[np.argsort(-degrees[shown], kind="stable")]
        self._name(by_degree[:most] if n_labels is not None or len(shown) <= NAMED else by_degree[:0])
        self._frame(shown)
        return self

    def _clear_axes(self, n_edges: int, n_hidden: int) -> None:
        """No frame and no ticks, and below it what is not seen."""
        self.ax_.spines[:].set_visible(False)
        self.ax_.set(xticks=[], yticks=[])
        note = "no edges" if not n_edges else ""
        if n_hidden:
            note = f"{n_hidden} {'node' if n_hidden == 1 else 'nodes'} without edges not shown"
        self.ax_.set_xlabel(note, fontsize=font_size(self.ax_) - 0.5, color=INK)

    def _place(self, layout: Any, seed: int, shown: IntArray, edges: IntArray) -> None:
        """Positions of all nodes; those that are hidden have none, unless they are given."""
        groups = np.zeros(len(self.names)) if self.groups is None else group_codes(self.groups)[1]
        self.positions_: Array = np.full((len(self.names), 2), np.nan)
        if isinstance(layout, str):
            order = np.argsort(groups[shown], kind="stable")
            left = 0.7 if self.groups is not None and self._is_wide() else 1.0  # a legend takes about a third
            aspect = left * axes_width(self.ax_) / axes_height(self.ax_)
            self.positions_[shown] = node_positions(
                layout, np.searchsorted(shown, edges), order, seed=seed, aspect=aspect
            )
        else:
            self.positions_[shown] = check_vector(layout, "layout", self.positions_.shape)[shown]

    def _draw_edges(self, edges: IntArray, edge_kw: dict[str, Any] | None) -> None:
        from matplotlib.collections import LineCollection

        partial = self.partial_correlations[edges[:, 0], edges[:, 1]]
        size = np.abs(partial)
        widest = float(np.clip(30 / np.sqrt(len(edges) + 1), 1.6, 4.0))
        style = keywords(
            edge_kw,
            LineCollection,
            linewidth=np.maximum(widest * size / size.max(initial=0.0), HAIRLINE) if len(edges) else 1.0,
            color=np.where(partial > 0, POSITIVE, NEGATIVE) if len(edges) else POSITIVE,
            alpha=float(np.clip(10 / np.sqrt(len(edges) + 1), 0.5, 0.85)),
            capstyle="round",
            zorder=1.5,
        )
        self.edges_: LineCollection = LineCollection(list(self.positions_[edges]), **style)
        self.ax_.add_collection(self.edges_, autolim=False)
        self.sign_legend_: Legend | None = self._legend_of_signs(partial)

    def _legend_of_signs(self, partial: Array) -> Legend | None:
        """The widest edge of each sign and its partial correlation, which is a scale of widths too."""
        from matplotlib.lines import Line2D

        widths, colours = np.atleast_1d(self.edges_.get_linewidth()), self.edges_.get_colors()
        handles: list[Line2D] = []
        for sign, text in ((1, "positive"), (-1, "negative")):
            strongest = int(np.argmax(sign * partial)) if (sign * partial > 0).any() else None
            if strongest is not None:
                what = f"{text} partial correlation" if not handles else text
                value = f"{'up' if sign > 0 else 'down'} to {partial[strongest]:.2g}".replace("-", "−")
                width = max(widths[strongest % len(widths)], VISIBLE)
                style = {"color": colours[strongest % len(colours)], "linewidth": width}
                handles.append(Line2D([], [], label=f"{what}, {value}", **style))
        wide = axes_width(self.ax_) > 38 * font_size(self.ax_)
        return legend(self.ax_, handles, loc="lower left", ncols=2 if wide else 1)

    def _draw_nodes(self, shown: IntArray, node_kw: dict[str, Any] | None) -> None:
        share = np.sqrt(axes_width(self.ax_) * axes_height(self.ax_) / max(len(shown), 1))
        colours = self._colours(shown)
        style: dict[str, Any] = {
            "s": float(np.clip(0.25 * share, 3.5, 10.0)) ** 2,
            "edgecolors": self.ax_.get_facecolor(),
            "linewidths": 0.5,
            "zorder": 2.0,
            **(node_kw or {}),
        }
        if style.keys().isdisjoint(("c", "color")):
            style = {"facecolors": INK if colours is None else colours, **style}
        self.nodes_: PathCollection = self.ax_.scatter(*self.positions_[shown].T, **style)

    def _colours(self, shown: IntArray) -> AnyArray | None:
        """The colours of nodes, and a legend of them, if there are groups."""
        from matplotlib import colormaps
        from matplotlib.colors import to_rgba_array
        from matplotlib.lines import Line2D

        self.group_legend_: Legend | None = None
        if self.groups is None:
            return None
        names, codes = group_codes(self.groups)
        many = len(names) > len(GROUPS)
        palette = colormaps["turbo"](np.linspace(0.03, 0.97, len(names))) if many else to_rgba_array(GROUPS)
        dot: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 5.5}
        present = np.unique(codes[shown]).tolist()
        names = [shorten(names[group], LONGEST_GROUP) for group in present]
        handles = [
            Line2D([], [], color=palette[group], label=name, **dot) for group, name in zip(present, names, strict=True)
        ]
        size = font_size(self.ax_) - 1
        if self._is_wide():
            rows = max(int(axes_height(self.ax_) / (1.5 * size)) - 2, 1)
            place = {"loc": "upper right", "ncols": -(-len(names) // rows)}
        else:
            longest = max(map(len, names))
            place = {"loc": "upper left", "ncols": max(int(axes_width(self.ax_) / (size * (0.55 * longest + 3))), 1)}
        self.group_legend_ = legend(self.ax_, handles, **place)
        return palette[codes[shown]]

    def _is_wide(self) -> bool:
        """Whether there is more room for a legend on the right than at the top."""
        return axes_width(self.ax_) > 1.1 * axes_height(self.ax_)

    def _name(self, named: IntArray) -> None:
        """Names with a margin that hides the edges below them."""
        from matplotlib.patheffects import withStroke

        size = float(np.clip(font_size(self.ax_) - max(len(named) - 15, 0) / 18, 6.0, None))
        self.labels_: dict[int, Annotation] = {}
        for node in named.tolist():
            x, y = self.positions_[node]
            self.labels_[node] = self.ax_.annotate(
                shorten(self.names[node]),
                (x, y),
                xytext=(0.0, 0.0),
                textcoords="offset points",
                ha="center",
                va="center",
                fontsize=size,
                color=INK,
                parse_math=False,
                in_layout=False,
                path_effects=[withStroke(linewidth=2.0, foreground=self.ax_.get_facecolor())],
            )

    def _frame(self, shown: IntArray) -> None:
        """Fit nodes and names between the legends, now and whenever the figure changes."""
        from ._frame import GraphFrame

        sides = {"bottom": self.sign_legend_, "right" if self._is_wide() else "top": self.group_legend_}
        labels = {int(np.searchsorted(shown, node)): label for node, label in self.labels_.items()}
        frame = GraphFrame(
            self.positions_[shown],
            np.array(self.edges_.get_segments()).reshape(-1, 2, 2),
            float(np.sqrt(self.nodes_.get_sizes().max()) / 2),
            labels,
            {side: box for side, box in sides.items() if box is not None},
        )
        self.ax_.add_artist(frame)
        frame.arrange()
