"""The support of a symmetric matrix as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .._types import AnyArray, Array, IntArray
from ._heat import colours_of, widened
from ._matrices import (
    group_codes,
    groups_of_nodes,
    names_of_nodes,
    partial_correlations,
    precision_of,
    square_matrix,
)
from ._style import (
    GREY,
    INK,
    LONGEST_GROUP,
    axes_height,
    axes_to_draw_in,
    axes_width,
    figure_of,
    font_size,
    short_names,
    shorten,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.colorbar import Colorbar
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

__all__ = ["SupportDisplay"]

D = TypeVar("D", bound="SupportDisplay")

#: What can be shown.
KINDS = ("partial correlation", "support", "frequency")
#: Smallest letters in points, and the distance of names in sizes of their letters.
SMALLEST, PITCH = 5.5, 1.2
#: Smallest side of a nonzero entry in points: smaller ones could not be seen.
SMALLEST_CELL = 1.6
SEPARATOR = "#8f99a6"
#: How many nodes are named if not all of them can be.
FEW_NAMES = 12


class SupportDisplay:
    """Heat map of a symmetric matrix, which shows where it is not zero.

    It shows partial correlations ρᵢⱼ = −Ωᵢⱼ/√(Ωᵢᵢ Ωⱼⱼ) of a precision matrix Ω, from negative to positive; or its
    support, black where Ωᵢⱼ ≠ 0; or how often each entry is found, from 0 to 1. White means no edge.

    Use `from_estimator`, `from_precision` or `from_matrix` to make one; the parameters below are kept as attributes.

    Parameters
    ----------
    matrix : ndarray of shape (n_nodes, n_nodes)
        Symmetric values.
    names : list of str
        Names of the nodes.
    what : {"partial correlation", "support", "frequency"}, default="partial correlation"
        What the values are, or, with "support", that only zero or not is shown.
    groups : list, optional
        Label of the group of each node.
    order : ndarray of shape (n_nodes,), optional
        The nodes from top to bottom and from left to right; by default as they come, or by groups if there are any.

    Attributes
    ----------
    ax_ : Axes
        Where it is drawn.
    figure_ : Figure
        The figure of it.
    image_ : AxesImage
        The image. On axes where an entry would be smaller than can be seen, nonzero entries cover their neighbours.
    order_ : ndarray of int
        The nodes from top to bottom.
    colorbar_ : Colorbar or None
        The scale of colours; none for the support.
    separators_ : LineCollection or None
        Lines between groups.

    See Also
    --------
    GraphDisplay : The same matrix as a graph.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import numpy as np
    >>> from ksparse.plots import SupportDisplay
    >>> precision = np.array([[1.0, 0.0, 0.25], [0.0, 1.0, 0.0], [0.25, 0.0, 1.0]])
    >>> display = SupportDisplay.from_precision(precision, names=["a", "b", "c"], groups=["x", "y", "x"])
    >>> display.order_
    array([0, 2, 1])
    >>> display.image_.get_array()[0].tolist()
    [None, -0.25, 0.0]
    """

    def __init__(
        self,
        matrix: Array,
        names: list[str],
        *,
        what: str = "partial correlation",
        groups: list[Any] | None = None,
        order: IntArray | None = None,
    ) -> None:
        self.matrix = matrix
        self.names = names
        self.what = what
        self.groups = groups
        self.order = order

    @classmethod
    def from_estimator(
        cls: type[D],
        estimator: Any,
        *,
        what: str = "partial correlation",
        names: Any = None,
        groups: Any = None,
        order: Any = None,
        ax: Axes | None = None,
        image_kw: dict[str, Any] | None = None,
    ) -> D:
        """Draw the precision matrix that an estimator has found.

        Parameters
        ----------
        estimator : fitted estimator or pipeline
            One with a ``precision_``, such as SparsePrecision or scikit-learn's GraphicalLasso, or a pipeline with one
            at its end.
        what : {"partial correlation", "support"}, default="partial correlation"
            What to show.
        names : sequence of str, optional
            Names of the nodes; those that the estimator has seen by default, otherwise x0, x1, …
        groups, order, ax, image_kw
            As of `from_matrix`.

        Returns
        -------
        SupportDisplay
            The display.
        """
        precision = precision_of(estimator)
        names = names_of_nodes(names, len(precision), estimator)
        return cls.from_precision(
            precision, what=what, names=names, groups=groups, order=order, ax=ax, image_kw=image_kw
        )

    @classmethod
    def from_precision(
        cls: type[D],
        precision: Any,
        *,
        what: str = "partial correlation",
        names: Any = None,
        groups: Any = None,
        order: Any = None,
        ax: Axes | None = None,
        image_kw: dict[str, Any] | None = None,
    ) -> D:
        """Draw a precision matrix.

        Parameters
        ----------
        precision : array-like of shape (n_nodes, n_nodes)
            A symmetric matrix with a positive diagonal.
        what : {"partial correlation", "support"}, default="partial correlation"
            What to show.
        names, groups, order, ax, image_kw
            As of `from_matrix`.

        Returns
        -------
        SupportDisplay
            The display.
        """
        if what == "frequency":
            raise ValueError("a precision matrix has no frequencies; use from_matrix to draw them")
        return cls.from_matrix(
            partial_correlations(precision),
            what=what,
            names=names,
            groups=groups,
            order=order,
            ax=ax,
            image_kw=image_kw,
        )

    @classmethod
    def from_matrix(
        cls: type[D],
        matrix: Any,
        *,
        what: str = "frequency",
        names: Any = None,
        groups: Any = None,
        order: Any = None,
        ax: Axes | None = None,
        image_kw: dict[str, Any] | None = None,
    ) -> D:
        """Draw frequencies of entries, or any matrix of partial correlations or of zeros and others.

        Parameters
        ----------
        matrix : array-like of shape (n_nodes, n_nodes)
            A symmetric matrix.
        what : {"frequency", "partial correlation", "support"}, default="frequency"
            What its values are: between 0 and 1, between −1 and 1, or zero where there is no edge.
        names : sequence of str, optional
            Names of the nodes; x0, x1, … by default.
        groups : sequence, optional
            Label of the group of each node; lines are drawn between groups, and groups are named instead of nodes.
        order : "groups" or sequence of int, optional
            The nodes from top to bottom and from left to right: sorted by groups, which is the default if there are
            any, or in a given order.
        ax : Axes, optional
            Where to draw; by default a new figure. Figures with several panels leave best room for the scale of colours
            with ``layout="compressed"``.
        image_kw : dict, optional
            Keywords for the image, as of `matplotlib.axes.Axes.imshow`, such as vmin and vmax.

        Returns
        -------
        SupportDisplay
            The display.
        """
        values = square_matrix(matrix, "matrix")
        _check_range(values, what)
        labels = groups_of_nodes(groups, len(values))
        nodes = _check_order(order, labels, len(values))
        display = cls(values, names_of_nodes(names, len(values)), what=what, groups=labels, order=nodes)
        return display.plot(ax, image_kw=image_kw)

    def plot(self: D, ax: Axes | None = None, *, image_kw: dict[str, Any] | None = None) -> D:
        """Draw it.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default a new figure. Figures with several panels leave best room for the scale of colours
            with ``layout="compressed"``.
        image_kw : dict, optional
            Keywords for the image, as of `matplotlib.axes.Axes.imshow`, such as vmin and vmax.

        Returns
        -------
        SupportDisplay
            The display.
        """
        self.ax_: Axes = axes_to_draw_in(ax, self._figure_size(), "compressed")
        self.figure_: Figure = figure_of(self.ax_)
        self.order_: IntArray = self._sorted()
        self._draw_image(image_kw)
        self._draw_scale()
        self._label()
        return self

    def _sorted(self) -> IntArray:
        """The given order, or by groups, or as they come."""
        if self.order is not None:
            return self.order
        codes = np.zeros(len(self.names)) if self.groups is None else group_codes(self.groups)[1]
        return np.argsort(codes, kind="stable")

    def _figure_size(self) -> tuple[float, float]:
        """Size of a new figure, with room for the names beside the image."""
        named = self.names if self.groups is None else self.groups
        letters = 0.075 * min(max(len(str(name)) for name in named), LONGEST_GROUP)
        scale = 0.0 if self.what == "support" else 0.8
        return 4.8 + letters + scale, 5.0 + (letters if self.groups is None else 0.0)

    def _side(self) -> float:
        """Side of the image in points."""
        return min(axes_width(self.ax_), axes_height(self.ax_))

    def _draw_image(self, image_kw: dict[str, Any] | None) -> None:
        values = self.matrix[np.ix_(self.order_, self.order_)]
        beyond = max(int(np.ceil((SMALLEST_CELL * len(values) / self._side() - 1) / 2)), 0)
        shown: AnyArray
        if self.what == "partial correlation":
            entries = values - np.diag(np.diagonal(values))
            shown = np.ma.masked_array(widened(entries, beyond), mask=np.eye(len(values), dtype=bool))
            largest = float(np.abs(entries).max()) or 1.0
            limits = (-largest, largest)
        else:
            shown = widened(values if self.what == "frequency" else 1.0 * (values != 0), beyond)
            limits = (0.0, 1.0)
        style = {"cmap": colours_of(self.what), "vmin": limits[0], "vmax": limits[1], "interpolation": "nearest"}
        self.image_: AxesImage = self.ax_.imshow(shown, **{**style, **(image_kw or {})})
        self.ax_.spines[:].set(color=GREY, linewidth=0.8)

    def _draw_scale(self) -> None:
        """The scale of colours, and how many edges there are."""
        size = font_size(self.ax_)
        n_edges = int(np.count_nonzero(np.triu(self.matrix, 1)))
        note = {0: "no edges", 1: "1 edge"}.get(n_edges, f"{n_edges} edges")
        self.colorbar_: Colorbar | None = None
        if self.what != "frequency":
            self.ax_.set_xlabel(note, fontsize=size - 0.5, color=INK)
        if self.what != "support":
            place: dict[str, Any] = {"cax": self.ax_.inset_axes((1.03, 0.1, 0.04, 0.8))}
            if self.figure_.get_layout_engine() is None:  # nobody makes room for what is beside the axes
                place = {"ax": self.ax_, "fraction": 0.046, "pad": 0.03}
            self.colorbar_ = self.figure_.colorbar(self.image_, **place)
            self.colorbar_.outline.set(edgecolor=GREY, linewidth=0.8)
            self.colorbar_.ax.tick_params(labelsize=size - 1, color=GREY, labelcolor=INK, length=3)
            self.colorbar_.set_label(self.what, fontsize=size, color=INK)

    def _label(self) -> None:
        """Names of groups, or of nodes where there are no groups."""
        self.separators_: LineCollection | None = None
        pitch = self._side() / len(self.names)
        self.ax_.tick_params(length=0, labelcolor=INK)
        if self.groups is None:
            self._name_nodes(pitch)
        else:
            self._name_groups(pitch)

    def _name_nodes(self, pitch: float) -> None:
        """All names if they fit between their neighbours, so many points apart, otherwise a few of them."""
        count = len(self.names)
        step = 1 if pitch >= PITCH * SMALLEST else -(-count // FEW_NAMES)
        size = float(np.clip(step * pitch / PITCH, SMALLEST, font_size(self.ax_) - 0.5))
        places = np.arange(0, count, step)
        names = short_names(self.names, self.order_[places].tolist(), 0.3 * self._side(), size)
        self.ax_.set_yticks(places, names, parse_math=False, fontsize=size)
        rotation = 0 if max(map(len, names)) * 0.65 * size < step * pitch else 90
        self.ax_.set_xticks(places, names, parse_math=False, fontsize=size, rotation=rotation)

    def _name_groups(self, pitch: float) -> None:
        """Lines between groups, and names beside their rows, moved apart where groups are small."""
        from matplotlib.collections import LineCollection

        from ._artists import spread

        group_names, codes = group_codes(self.groups or [])
        starts = np.flatnonzero(np.diff(codes[self.order_], prepend=-1))
        ends = np.append(starts[1:], len(codes))
        borders = starts[1:] - 0.5
        span = np.array([-0.5, len(codes) - 0.5])
        rows = [np.column_stack([span, [border, border]]) for border in borders]
        lines = [*rows, *(row[:, ::-1] for row in rows)]
        self.separators_ = LineCollection(lines, color=SEPARATOR, linewidth=0.6, zorder=2)
        self.ax_.add_collection(self.separators_, autolim=False)
        size = float(np.clip(self._side() / (PITCH * len(starts)), SMALLEST, font_size(self.ax_) - 0.5))
        room = max(int(self._side() / (PITCH * size)), 1)
        named = np.sort(np.argsort(starts - ends, kind="stable")[:room])
        gap = min(PITCH * size / pitch, len(codes) / len(named))
        middles = (starts + ends - 1)[named] / 2
        places = spread(middles, gap, span[0] + gap / 2, span[1] - gap / 2)
        texts = [shorten(group_names[codes[self.order_[start]]], LONGEST_GROUP) for start in starts[named]]
        self.ax_.set_yticks(places, texts, parse_math=False, fontsize=size)
        self.ax_.set_xticks([])


def _check_range(values: Array, what: str) -> None:
    """Whether the values can be what they are said to be."""
    if what not in KINDS:
        raise ValueError(f"what must be one of {', '.join(map(repr, KINDS))}; got {what!r}")
    if what == "frequency" and (values.min() < 0 or values.max() > 1):
        raise ValueError(
            f"frequencies must be between 0 and 1, got values from {values.min():.6g} to {values.max():.6g}; "
            "divide counts by the number of replications"
        )
    largest = np.abs(np.triu(values, 1)).max()
    if what == "partial correlation" and largest > 1 + 1e-9:
        raise ValueError(
            f"partial correlations must be between −1 and 1, got a value of size {largest:.6g}; "
            "use from_precision to draw a precision matrix"
        )


def _check_order(order: Any, groups: list[Any] | None, count: int) -> IntArray | None:
    """A permutation of the nodes, or None where they are sorted by groups."""
    if isinstance(order, str) and order == "groups" and groups is None:
        raise ValueError("order='groups' needs groups; give one label for each node")
    if order is None or (isinstance(order, str) and order == "groups"):
        return None
    nodes = np.asarray(order)
    if nodes.dtype.kind not in "iu" or not np.array_equal(np.sort(nodes.ravel()), np.arange(count)) or nodes.ndim != 1:
        raise ValueError(f"order must be 'groups' or a permutation of 0, …, {count - 1}; got {order!r}")
    return nodes.astype(np.intp)
