"""The graph of a sparse precision matrix."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import AnyArray, Array, IntArray
from ..validation import check_flag, check_iterations, check_vector
from . import _style as style
from ._communities import find_communities
from ._inputs import PrecisionDisplay, check_nodes, document_display, encode_groups, partial_correlations
from ._layout import place_nodes
from ._palette import choose_colours, choose_group_colours, count_coloured

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection
    from matplotlib.legend import Legend
    from matplotlib.text import Annotation
    from typing_extensions import Self

__all__ = ["GraphDisplay"]

#: In graphs with more nodes, so many of those with most edges (hubs) have names by default.
MAX_NAMED_NODES, NAMED_HUBS = 60, 25
#: Smallest widths of edges and of lines in the legend, in points: the colour of thinner ones is not visible.
MIN_EDGE_WIDTH, MIN_LEGEND_WIDTH = 0.25, 0.8


@document_display
@dataclass(eq=False, repr=False)
class GraphDisplay(PrecisionDisplay):
    """Graph of a sparse precision matrix Ω: an edge where Ωᵢⱼ ≠ 0.

    The partial correlation of i and j given all other variables is ρᵢⱼ = −Ωᵢⱼ/√(Ωᵢᵢ Ωⱼⱼ). Edges have widths
    proportional to |ρᵢⱼ|, with a small minimum, and the colour of its sign.

    `SupportDisplay` shows the same matrix as a heat map.
    Use `from_estimator` or `from_precision` to create one; the parameters are stored as attributes.

    Parameters
    ----------
    partial_correlations : ndarray of shape (n_nodes, n_nodes)
        Symmetric; zero where there is no edge. The diagonal is ignored.
    names : list of str
        Names of the nodes.
    groups : list, optional
        Label of the group of each node.
    communities : ndarray of shape (n_nodes,), optional
        Number of the community of each node, 0 the largest and −1 for none: the colour of nodes without groups.

    Attributes
    ----------
    $axes_
    positions_ : ndarray of shape (n_nodes, 2)
        Positions of the nodes; NaN for those that are hidden.
    edges_ : LineCollection
        The edges i < j, row by row of the upper triangle.
    nodes_ : PathCollection
        The nodes that are shown, in their order.
    labels_ : dict of int to Annotation
        Names of nodes, by their index, the node with most edges first. A name that has no room without covering an
        earlier one is not visible.
    sign_legend_, group_legend_ : Legend or None
        Legends of the colours of edges and of nodes, if there are any.

    Examples
    --------
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

    partial_correlations: Array
    names: list[str]
    _: KW_ONLY
    groups: list[Any] | None = None
    communities: IntArray | None = None

    @classmethod
    def from_precision(cls, precision: Any, *, names: Any = None, groups: Any = "communities", **options: Any) -> Self:
        """Draw the graph of a precision matrix.

        Parameters
        ----------
        precision : array-like of shape (n_nodes, n_nodes)
            A symmetric matrix with a positive diagonal.
        names : sequence of str, optional
            Names of the nodes; x0, x1, … by default.
        groups : sequence, "communities" or None, default="communities"
            Label of the group of each node; nodes have the colour of their group. "communities" finds groups of nodes
            that are closely connected, by the method of Louvain, if networkx is installed. None has one colour.
        $options
        """
        partial = partial_correlations(precision)
        communities = None
        if isinstance(groups, str) and groups == "communities":
            groups = None
            edges = np.argwhere(np.triu(partial, 1))
            with suppress(ImportError):
                communities = find_communities(edges, partial[tuple(edges.T)], len(partial))
        names, groups = check_nodes(names, groups, len(partial))
        return cls(partial, names, groups=groups, communities=communities).plot(**options)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        layout: Any = "spring",
        seed: int = 0,
        isolated: bool = False,
        n_labels: int | None = None,
        node_kw: dict[str, Any] | None = None,
        edge_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the graph.

        Parameters
        ----------
        $ax
        layout : {"spring", "circle"} or array-like of shape (n_nodes, 2), default="spring"
            Where the nodes are: neighbours close to each other (needs networkx), on a circle in the order of nodes and
            groups, or at given positions.
        seed : int, default=0
            Seed of the spring layout; the same seed gives the same picture.
        isolated : bool, default=False
            Whether to show nodes without edges. If not, the picture says how many there are.
        n_labels : int, optional
            Maximum number of nodes to name, those with most edges first; by default all if there are at most 60,
            otherwise 25.
        node_kw : dict, optional
            Keywords of the nodes, as in `matplotlib.axes.Axes.scatter`.
        edge_kw : dict, optional
            Keywords of the edges, as in `matplotlib.collections.LineCollection`.
        """
        edges = np.argwhere(np.triu(self.partial_correlations, 1))
        degrees = np.bincount(edges.ravel(), minlength=len(self.names))
        show_all = check_flag(isolated, "isolated") or not len(edges)
        shown = np.flatnonzero((degrees > 0) | show_all)
        if n_labels is None:
            n_labels = len(shown) if len(shown) <= MAX_NAMED_NODES else NAMED_HUBS
        by_degree = shown[np.argsort(-degrees[shown], kind="stable")]
        self.ax_, self.figure_ = style.open_axes(ax, (7.0, 5.4))
        self.ax_.spines[:].set_visible(False)
        n_hidden = len(self.names) - len(shown)
        notes = [f"{n_hidden} node{'s' * (n_hidden > 1)} without edges not shown"] if n_hidden else []
        if self.communities is not None and (count := int(self.communities.max(initial=-1)) + 1) > 1:
            coloured = count_coloured(self.communities)
            which = f"{count}" if coloured == count else f"the {coloured} largest of {count}"
            notes.insert(0, f"colours: {which} communities")
        self.ax_.set(xticks=[], yticks=[], xlabel="; ".join(notes) if len(edges) else "no edges")
        self.ax_.xaxis.label.set(fontsize=style.choose_font_size(self.ax_) - 0.5, color=style.INK)
        self._place_nodes(layout, seed, shown, edges)
        self._draw_edges(edges, edge_kw)
        self._draw_nodes(shown, node_kw)
        self._draw_names(by_degree[: check_iterations(n_labels, "n_labels")])
        self._add_frame(shown)
        return self

    def _place_nodes(self, layout: Any, seed: int, shown: IntArray, edges: IntArray) -> None:
        """Positions of the nodes that are shown."""
        groups = np.zeros(len(self.names)) if self.groups is None else encode_groups(self.groups)[1]
        self.positions_: Array = np.full((len(self.names), 2), np.nan)
        if isinstance(layout, str):
            order = np.argsort(groups[shown], kind="stable")
            width, height = style.measure_axes(self.ax_)
            if self.groups is not None and self._is_wide():
                width *= 0.7  # the legend takes about a third
            edges = np.searchsorted(shown, edges)
            self.positions_[shown] = place_nodes(layout, edges, order, seed=seed, aspect=width / height)
        else:
            self.positions_[shown] = check_vector(layout, "layout", self.positions_.shape)[shown]

    def _draw_edges(self, edges: IntArray, edge_kw: dict[str, Any] | None) -> None:
        from matplotlib.collections import LineCollection

        partial = self.partial_correlations[edges[:, 0], edges[:, 1]]
        size = np.abs(partial)
        widest = float(np.clip(30 / np.sqrt(len(edges) + 1), 1.6, 4.0))
        edge_style = style.merge_keywords(
            edge_kw,
            LineCollection,
            linewidth=np.maximum(widest * size / size.max(initial=0.0), MIN_EDGE_WIDTH),
            color=np.where(partial > 0, style.POSITIVE, style.NEGATIVE),
            alpha=float(np.clip(10 / np.sqrt(len(edges) + 1), 0.5, 0.85)),
            capstyle="round",
            zorder=1.5,
        )
        self.edges_: LineCollection = LineCollection(list(self.positions_[edges]), **edge_style)
        self.ax_.add_collection(self.edges_, autolim=False)
        self.sign_legend_: Legend | None = self._add_sign_legend(partial)

    def _add_sign_legend(self, partial: Array) -> Legend | None:
        """The widest edge of each sign and its partial correlation, which also explains the widths."""
        from matplotlib.lines import Line2D

        widths, colours = np.atleast_1d(self.edges_.get_linewidth()), self.edges_.get_colors()
        handles: list[Line2D] = []
        for sign, text in ((1, "positive"), (-1, "negative")):
            strongest = int(np.argmax(sign * partial)) if (sign * partial > 0).any() else None
            if strongest is not None:
                what = f"{text} partial correlation" if not handles else text
                value = f"{'up' if sign > 0 else 'down'} to {partial[strongest]:.2g}".replace("-", "−")
                width = max(widths[strongest % len(widths)], MIN_LEGEND_WIDTH)
                colour: Any = colours[strongest % len(colours)]
                handles.append(Line2D([], [], label=f"{what}, {value}", color=colour, linewidth=width))
        wide = style.measure_axes(self.ax_)[0] > 38 * style.choose_font_size(self.ax_)
        return style.add_legend(self.ax_, handles, loc="lower left", ncols=2 if wide else 1)

    def _draw_nodes(self, shown: IntArray, node_kw: dict[str, Any] | None) -> None:
        spacing = np.sqrt(np.prod(style.measure_axes(self.ax_)) / max(len(shown), 1))  # of evenly spread nodes
        colours = self._colour_groups(shown)
        node_style: dict[str, Any] = {
            "s": float(np.clip(0.25 * spacing, 3.5, 10.0)) ** 2,
            "edgecolors": self.ax_.get_facecolor(),
            "linewidths": 0.5,
            "zorder": 2.0,
            **(node_kw or {}),
        }
        if node_style.keys().isdisjoint(("c", "color")):
            node_style.setdefault("facecolors", style.INK if colours is None else colours)
        self.nodes_: PathCollection = self.ax_.scatter(*self.positions_[shown].T, **node_style)

    def _colour_groups(self, shown: IntArray) -> AnyArray | None:
        """Colours of the nodes, and a legend of them, if there are groups."""
        from matplotlib.colors import to_rgba_array
        from matplotlib.lines import Line2D

        self.group_legend_: Legend | None = None
        if self.groups is None:
            if self.communities is None or self.communities.max(initial=-1) < 1:
                return None
            return to_rgba_array(choose_colours(self.communities))[shown]
        names, codes = encode_groups(self.groups)
        palette = to_rgba_array(choose_group_colours(len(names)))
        dot: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 5.5}
        present = np.unique(codes[shown]).tolist()
        names = [style.shorten(names[group], style.MAX_GROUP_LENGTH) for group in present]
        handles = [
            Line2D([], [], color=palette[group], label=name, **dot) for group, name in zip(present, names, strict=True)
        ]
        size = style.choose_font_size(self.ax_) - 1
        width, height = style.measure_axes(self.ax_)
        if self._is_wide():
            rows = max(int(height / (1.5 * size)) - 2, 1)
            place = {"loc": "upper right", "ncols": -(-len(names) // rows)}
        else:
            longest = max(map(len, names))
            place = {"loc": "upper left", "ncols": max(int(width / (size * (0.55 * longest + 3))), 1)}
        self.group_legend_ = style.add_legend(self.ax_, handles, **place)
        return palette[codes[shown]]

    def _is_wide(self) -> bool:
        """Whether there is more room for a legend on the right than at the top."""
        width, height = style.measure_axes(self.ax_)
        return width > 1.1 * height

    def _draw_names(self, named: IntArray) -> None:
        """Names with an outline that hides the edges below them; `_add_frame` places them."""
        from matplotlib.patheffects import withStroke

        size = float(np.clip(style.choose_font_size(self.ax_) - max(len(named) - 15, 0) / 18, 6.0, None))
        outline = withStroke(linewidth=2.0, foreground=self.ax_.get_facecolor())
        text_style: dict[str, Any] = {"fontsize": size, "color": style.INK, "path_effects": [outline]}
        text_style |= {"ha": "center", "va": "center", "in_layout": False}
        self.labels_: dict[int, Annotation] = {}
        for node in named.tolist():
            name, place = style.shorten(self.names[node]), tuple(self.positions_[node].tolist())
            self.labels_[node] = style.write(self.ax_, name, place, (0, 0), **text_style)

    def _add_frame(self, shown: IntArray) -> None:
        """Fit nodes and names between the legends, now and whenever the figure is drawn."""
        from ._artists import GraphFrame

        sides = {"bottom": self.sign_legend_, "right" if self._is_wide() else "top": self.group_legend_}
        labels = {int(np.searchsorted(shown, node)): label for node, label in self.labels_.items()}
        legends = {side: legend for side, legend in sides.items() if legend is not None}
        segments = np.array(self.edges_.get_segments()).reshape(-1, 2, 2)
        radius = float(np.sqrt(self.nodes_.get_sizes().max()) / 2)
        frame = GraphFrame(self.positions_[shown], segments, radius, labels, legends)
        self.ax_.add_artist(frame)
        frame.arrange()
