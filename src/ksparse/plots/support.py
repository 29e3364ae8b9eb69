"""The support of a symmetric matrix as a heat map."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.ndimage import maximum_filter, minimum_filter

from .._types import AnyArray, Array, IntArray
from . import _style as style
from ._inputs import (
    PrecisionDisplay,
    check_nodes,
    check_square_matrix,
    document_display,
    encode_groups,
    partial_correlations,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.colorbar import Colorbar
    from matplotlib.image import AxesImage
    from typing_extensions import Self

__all__ = ["SupportDisplay"]

#: What can be shown, and the range of its values.
RANGES = {"partial correlation": (-1.0, 1.0), "support": (-np.inf, np.inf), "frequency": (0.0, 1.0)}
#: Colours of values from the lowest to the highest, based on ColorBrewer's RdBu; only zero looks white.
COLOURS: dict[str, list[tuple[float, str]]] = {
    "partial correlation": [
        *((0.0, "#67001f"), (0.2, style.NEGATIVE), (0.499, "#f6e3e6"), (0.5, "white")),
        *((0.501, "#e4edf5"), (0.8, style.POSITIVE), (1.0, "#053061")),
    ],
    # Three colours: matplotlib 3.8 takes two for a colour and its alpha.
    "support": [(0.0, "white"), (0.5, "#808080"), (1.0, "black")],
    "frequency": [(0.0, "white"), (0.6, style.POSITIVE), (1.0, "#053061")],
}
DIAGONAL_COLOUR, SEPARATOR_COLOUR = "#dfe3e8", "#8f99a6"
#: Smallest visible side of a nonzero entry, in points.
MIN_CELL_SIZE = 1.6
#: Number of nodes that are named if there is not room for all names.
MAX_TICK_NAMES = 12


@document_display
@dataclass(eq=False, repr=False)
class SupportDisplay(PrecisionDisplay):
    """Heat map of a symmetric matrix, which shows where it is not zero.

    It shows partial correlations ρᵢⱼ = −Ωᵢⱼ/√(Ωᵢᵢ Ωⱼⱼ) of a precision matrix Ω, from negative to positive; or its
    support, black where Ωᵢⱼ ≠ 0; or the selection frequency of each entry, from 0 to 1. White means no edge.

    Use `from_estimator`, `from_precision` or `from_matrix` to create one; the parameters are stored as attributes.

    Parameters
    ----------
    matrix : ndarray of shape (n_nodes, n_nodes)
        Symmetric values.
    names : list of str
        Names of the nodes.
    what : {"partial correlation", "support", "frequency"}, default="partial correlation"
        What the values are; "support" shows only whether they are zero.
    groups : list, optional
        Label of the group of each node.
    order : ndarray of shape (n_nodes,), optional
        The nodes from top to bottom and from left to right; by default sorted by group, if there are groups.

    Attributes
    ----------
    $axes_
    image_ : AxesImage
        The image. Nonzero entries that would be too small to be visible are enlarged over their neighbours.
    order_ : ndarray of int
        The nodes from top to bottom.
    colorbar_ : Colorbar or None
        The colour scale; None for the support.
    separators_ : LineCollection or None
        Lines between groups.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.plots import SupportDisplay
    >>> precision = np.array([[1.0, 0.0, 0.25], [0.0, 1.0, 0.0], [0.25, 0.0, 1.0]])
    >>> display = SupportDisplay.from_precision(precision, names=["a", "b", "c"], groups=["x", "y", "x"])
    >>> display.order_
    array([0, 2, 1])
    >>> display.image_.get_array()[0].tolist()
    [None, -0.25, 0.0]
    """

    matrix: Array
    names: list[str]
    _: KW_ONLY
    what: str = "partial correlation"
    groups: list[Any] | None = None
    order: IntArray | None = None

    @classmethod
    def from_precision(cls, precision: Any, *, what: str = "partial correlation", **options: Any) -> Self:
        """Draw a precision matrix.

        Parameters
        ----------
        precision : array-like of shape (n_nodes, n_nodes)
            A symmetric matrix with a positive diagonal.
        what : {"partial correlation", "support"}, default="partial correlation"
            What to show.
        **options
            Other parameters of `from_matrix`.
        """
        if what == "frequency":
            raise ValueError("a precision matrix has no frequencies; use from_matrix to draw them")
        return cls.from_matrix(partial_correlations(precision), what=what, **options)

    @classmethod
    def from_matrix(
        cls,
        matrix: Any,
        *,
        what: str = "frequency",
        names: Any = None,
        groups: Any = None,
        order: Any = None,
        **options: Any,
    ) -> Self:
        """Draw a matrix of selection frequencies, of partial correlations, or the support of any matrix.

        Parameters
        ----------
        matrix : array-like of shape (n_nodes, n_nodes)
            A symmetric matrix.
        what : {"frequency", "partial correlation", "support"}, default="frequency"
            What its values are: between 0 and 1, between −1 and 1, or zero where there is no edge.
        names : sequence of str, optional
            Names of the nodes; x0, x1, … by default.
        groups : sequence, optional
            Label of the group of each node. Lines separate the groups, and groups are named instead of nodes.
        order : sequence of int, optional
            The nodes from top to bottom and from left to right; by default sorted by group.
        $options
        """
        values = check_square_matrix(matrix, "matrix")
        _check_range(values, what)
        names, groups = check_nodes(names, groups, len(values))
        if order is not None and sorted(np.atleast_1d(order).tolist()) != list(range(len(values))):
            raise ValueError(f"order must be a permutation of 0, …, {len(values) - 1}; got {order!r}")
        order = None if order is None else np.asarray(order, dtype=np.intp)
        return cls(values, names, what=what, groups=groups, order=order).plot(**options)

    def plot(self, ax: Axes | None = None, *, image_kw: dict[str, Any] | None = None) -> Self:
        """Draw the matrix.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure by default. Figures with several panels have most room for the colour scale with
            ``layout="compressed"``.
        image_kw : dict, optional
            Keywords of the image, as in `matplotlib.axes.Axes.imshow`, such as vmin and vmax.
        """
        self.ax_, self.figure_ = style.open_axes(ax, self._choose_figure_size(), "compressed")
        codes = np.zeros(len(self.names)) if self.groups is None else encode_groups(self.groups)[1]
        self.order_: IntArray = np.argsort(codes, kind="stable") if self.order is None else self.order
        self._draw_image(image_kw)
        self._draw_scale()
        self.separators_: LineCollection | None = None
        self.ax_.tick_params(length=0, labelcolor=style.INK)
        if self.groups is None:
            self._name_nodes()
        else:
            self._name_groups(self.groups)
        return self

    def _choose_figure_size(self) -> tuple[float, float]:
        """Size of a new figure in inches, with room for the names."""
        names = self.names if self.groups is None else self.groups
        text_width = 0.075 * min(max(len(str(name)) for name in names), style.MAX_GROUP_LENGTH)
        scale_width = 0.0 if self.what == "support" else 0.8
        return 4.8 + text_width + scale_width, 5.0 + (text_width if self.groups is None else 0.0)

    def _measure_side(self) -> float:
        """Side of the image in points."""
        return min(style.measure_axes(self.ax_))

    def _draw_image(self, image_kw: dict[str, Any] | None) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        values = self.matrix[np.ix_(self.order_, self.order_)]
        margin = max(int(np.ceil((MIN_CELL_SIZE * len(values) / self._measure_side() - 1) / 2)), 0)
        shown: AnyArray
        if self.what == "partial correlation":
            entries = values - np.diag(np.diagonal(values))
            shown = np.ma.masked_array(widen(entries, margin), mask=np.eye(len(values), dtype=bool))
            high = float(np.abs(entries).max()) or 1.0
            low = -high
        else:
            shown = widen(values if self.what == "frequency" else 1.0 * (values != 0), margin)
            low, high = 0.0, 1.0
        colours = LinearSegmentedColormap.from_list(self.what, COLOURS[self.what], N=2001)
        colour_scale = {"cmap": colours.with_extremes(bad=DIAGONAL_COLOUR), "vmin": low, "vmax": high}
        defaults = {"interpolation": "nearest", **colour_scale}
        self.image_: AxesImage = self.ax_.imshow(shown, **{**defaults, **(image_kw or {})})
        self.ax_.spines[:].set(color=style.GREY, linewidth=0.8)

    def _draw_scale(self) -> None:
        """The colour scale and the number of edges."""
        size = style.choose_font_size(self.ax_)
        n_edges = int(np.count_nonzero(np.triu(self.matrix, 1)))
        note = {0: "no edges", 1: "1 edge"}.get(n_edges, f"{n_edges} edges")
        self.colorbar_: Colorbar | None = None
        if self.what != "frequency":
            self.ax_.set_xlabel(note, fontsize=size - 0.5, color=style.INK)
        if self.what != "support":
            place: dict[str, Any] = {"cax": self.ax_.inset_axes((1.03, 0.1, 0.04, 0.8))}
            if self.figure_.get_layout_engine() is None:  # nothing makes room outside of the axes
                place = {"ax": self.ax_, "fraction": 0.046, "pad": 0.03}
            self.colorbar_ = self.figure_.colorbar(self.image_, **place)
            self.colorbar_.outline.set(edgecolor=style.GREY, linewidth=0.8)
            self.colorbar_.ax.tick_params(labelsize=size - 1, color=style.GREY, labelcolor=style.INK, length=3)
            self.colorbar_.set_label(self.what, fontsize=size, color=style.INK)

    def _choose_name_size(self, spacing: float) -> float:
        """Font size of names at a distance in points."""
        return float(np.clip(spacing / style.LINE_SPACING, style.MIN_FONT_SIZE, style.choose_font_size(self.ax_) - 0.5))

    def _name_nodes(self) -> None:
        """All names if there is room between neighbours, otherwise a few of them."""
        count = len(self.names)
        spacing = self._measure_side() / count
        step = 1 if spacing >= style.LINE_SPACING * style.MIN_FONT_SIZE else -(-count // MAX_TICK_NAMES)
        size = self._choose_name_size(step * spacing)
        places = np.arange(0, count, step)
        names = style.shorten_names(self.names, self.order_[places].tolist(), 0.3 * self._measure_side(), size)
        self.ax_.set_yticks(places, names, parse_math=False, fontsize=size)
        rotation = 0 if max(map(len, names)) * 0.65 * size < step * spacing else 90
        self.ax_.set_xticks(places, names, parse_math=False, fontsize=size, rotation=rotation)

    def _name_groups(self, groups: list[Any]) -> None:
        """Lines between groups, and names at their rows, moved apart where groups are small."""
        from matplotlib.collections import LineCollection

        from ._artists import spread

        group_names, codes = encode_groups(groups)
        count = len(codes)
        starts = np.flatnonzero(np.diff(codes[self.order_], prepend=-1))
        ends = np.append(starts[1:], count)
        low, high = -0.5, count - 0.5
        rows = [np.array([[low, border], [high, border]]) for border in starts[1:] - 0.5]
        columns = [row[:, ::-1] for row in rows]
        self.separators_ = LineCollection([*rows, *columns], color=SEPARATOR_COLOUR, linewidth=0.6, zorder=2)
        self.ax_.add_collection(self.separators_, autolim=False)
        size = self._choose_name_size(self._measure_side() / len(starts))
        max_names = max(int(self._measure_side() / (style.LINE_SPACING * size)), 1)
        named = np.sort(np.argsort(starts - ends, kind="stable")[:max_names])  # the largest groups
        gap = min(style.LINE_SPACING * size * count / self._measure_side(), count / len(named))
        places = spread((starts + ends - 1)[named] / 2, gap, low + gap / 2, high - gap / 2)
        shown = codes[self.order_[starts[named]]]
        names = [style.shorten(group_names[code], style.MAX_GROUP_LENGTH) for code in shown]
        self.ax_.set_yticks(places, names, parse_math=False, fontsize=size)
        self.ax_.set_xticks([])


def _check_range(values: Array, what: str) -> None:
    """Check that the values are possible for what they are said to be."""
    if what not in RANGES:
        raise ValueError(f"what must be one of {', '.join(map(repr, RANGES))}; got {what!r}")
    low, high = RANGES[what]
    if values.min() < low - 1e-9 or values.max() > high + 1e-9:
        raise ValueError(
            f"{what} must be between {low:g} and {high:g}, got values from {values.min():.6g} to {values.max():.6g}; "
            "use from_precision to draw a precision matrix, and divide counts by the number of replications"
        )


def widen(values: Array, margin: int) -> Array:
    """Extend nonzero entries by a margin on all sides; where several meet, the largest in absolute value is kept."""
    size = 2 * margin + 1
    highest = maximum_filter(np.maximum(values, 0.0), size, mode="constant")
    lowest = minimum_filter(np.minimum(values, 0.0), size, mode="constant")
    return np.where(highest >= -lowest, highest, lowest)
