"""The common style of all displays: colours, font sizes, axes. Matplotlib is imported only when something is drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._types import AnyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.text import Annotation

ACCENT = "#c0392b"
BLUE = "#3f5f8a"
BLUES = ("#14305c", "#2a93d5", "#5661b3", "#1d7a8c", "#7a8ba3")
GREY = "#c3c9d1"
INK = "#3a4350"
#: Colours of signs: the ends of ColorBrewer's RdBu, which are distinct for all kinds of colour vision.
POSITIVE, NEGATIVE = "#2166ac", "#b2182b"

#: Numbers of features are drawn on a logarithmic axis if the last one is more than this many times the first one.
MAX_LINEAR_RATIO = 30
#: Lines with more points have no markers.
MAX_MARKERS = 30
#: Longest names of features or nodes, and of groups, in characters.
MAX_NAME_LENGTH, MAX_GROUP_LENGTH = 24, 30
#: Smallest font of names in points, and the distance of lines of text relative to their font size.
MIN_FONT_SIZE, LINE_SPACING = 5.5, 1.2


def open_axes(ax: Axes | None, size: Any = None, layout: str = "constrained") -> tuple[Axes, Figure]:
    """The given axes, or those of a new figure, and their figure; "compressed" is the layout for a fixed aspect."""
    import matplotlib.pyplot as plt

    axes = plt.subplots(figsize=size, layout=layout)[1] if ax is None else ax
    return axes, axes.figure.figure  # also if they belong to a subfigure


def measure_axes(ax: Axes) -> tuple[float, float]:
    """Width and height of the axes in points."""
    return float(ax.bbox.width) * 72 / ax.figure.dpi, float(ax.bbox.height) * 72 / ax.figure.dpi


def choose_font_size(ax: Axes) -> float:
    """Font size in points: 9.5 on axes of ordinary size, down to 6.5 on small ones."""
    width, height = measure_axes(ax)
    return float(np.clip(5.0 + min(width / 85, height / 35), 6.5, 9.5))


def shorten(name: str, length: int = MAX_NAME_LENGTH, ending: str | None = None) -> str:
    """A name of at most that length: its beginning, an ellipsis, and its end or another ending."""
    if len(name) <= length and ending is None:
        return name
    ending = name[len(name) - length // 3 :].lstrip() if ending is None else ending
    return name[: max(length - 1 - len(ending), 1)].rstrip() + "…" + ending


def shorten_names(names: list[str], features: Sequence[int], width: float, size: float) -> list[str]:
    """Names of these features that fit into a width in points; names that would be equal end with their index."""
    length = int(np.clip(width / (0.55 * size), 6, MAX_NAME_LENGTH))
    short = {feature: shorten(names[feature], length) for feature in features}
    copies = Counter(short.values())
    return [
        shorten(names[feature], length, f"[{feature}]") if copies[name] > 1 else name for feature, name in short.items()
    ]


def tidy(ax: Axes, xlabel: str, ylabel: str = "", *, grid: Literal["x", "y"], size: float | None = None) -> None:
    """Name the axes; light grid lines in one direction, no frame, and a font size, by default one that fits."""
    size = choose_font_size(ax) if size is None else size
    ax.set_xlabel(xlabel, fontsize=size, color=INK)
    ax.set_ylabel(ylabel, fontsize=size, color=INK, parse_math=False)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GREY)
    ax.set_axisbelow(True)
    ax.grid(visible=False)
    ax.grid(visible=True, axis=grid, color=GREY, alpha=0.45, linewidth=0.6)
    ax.tick_params(labelsize=size - 0.5, color=GREY, labelcolor=INK, length=3)
    ax.tick_params(which="minor", color=GREY, length=1.5)
    ax.yaxis.get_offset_text().set(fontsize=size - 1, color=INK)


def leave_room(ax: Axes, *, top: float = 1.0, bottom: float = 0.0) -> None:
    """Leave room for lines of text between the data and the top and the bottom of the axes."""
    above, below = 1.9 * choose_font_size(ax) * np.array([top, bottom])
    height = measure_axes(ax)[1]
    scale = ax.yaxis.get_transform()
    low, high = scale.transform(np.array(ax.get_ylim()))
    unit = (high - low) / max(height - above - below, 0.3 * height)
    limits = scale.inverted().transform(np.array([low - unit * below, high + unit * above]))
    ax.set_ylim(*limits, auto=None)


def is_left(ax: Axes, x: float) -> bool:
    """Whether x is in the left half of the axes."""
    return bool(ax.transData.transform((x, 1.0))[0] <= (ax.bbox.x0 + ax.bbox.x1) / 2)


def mark(ax: Axes, x: float, text: str) -> Line2D:
    """A dashed vertical line with a text at its top, to the right of a line in the left half of the axes."""
    write_at_top(ax, text, x, ha="left" if is_left(ax, x) else "right")
    return ax.axvline(x, color=ACCENT, linestyle=(0, (4, 2.5)), linewidth=1.2, zorder=1.9)


def write_at_top(ax: Axes, text: str, x: float, ha: str, units: str = "data") -> None:
    """A text that begins (ha="left") or ends at x, at the top, on a background that hides the grid."""
    box = {"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.8}
    text_style = {"ha": ha, "va": "top", "fontsize": choose_font_size(ax), "color": ACCENT, "bbox": box}
    write(ax, text, (x, 1.0), (3 if ha == "left" else -3, -1), xycoords=(units, "axes fraction"), **text_style)


def write(ax: Axes, text: str, place: tuple[float, float], offset: tuple[float, float], **keywords: Any) -> Annotation:
    """A text at an offset in points from a place; $ is an ordinary character."""
    return ax.annotate(text, place, offset, textcoords="offset points", parse_math=False, **keywords)


def set_count_axis(ax: Axes, ks: AnyArray) -> None:
    """Make x an axis of integers, logarithmic with ticks at 1, 2, 5, 10, … if they span a wide range."""
    from matplotlib.ticker import MaxNLocator

    first, last = float(ks[0]), float(ks[-1])
    max_ticks = int(np.clip(measure_axes(ax)[0] / (3 * choose_font_size(ax)), 3, 10))
    ticks = np.asarray(MaxNLocator(max_ticks, integer=True, steps=[1, 2, 5, 10]).tick_values(first, last))
    if last > MAX_LINEAR_RATIO * max(first, 1.0):
        ax.set_xscale("symlog", linthresh=1, linscale=0.5) if first == 0 else ax.set_xscale("log")
        decades = 10.0 ** np.arange(np.floor(np.log10(last)) + 1)
        choices = [np.append(0.0, np.outer(decades, digits)) for digits in ((1, 2, 5), (1, 3), (1,))]
        ticks = next((ticks for ticks in choices if np.sum(ticks <= last) <= max_ticks), choices[-1])
    scale = ax.xaxis.get_transform()
    start, end = scale.transform(np.array([first, last]))
    margin = 0.04 * (end - start) or 0.5
    ax.set_xlim(*scale.inverted().transform(np.array([start - margin, end + margin])))
    ticks = ticks[(ticks >= first) & (ticks <= last)]
    ax.set_xticks(ticks, [f"{tick:.0f}" for tick in ticks])
    ax.minorticks_off()


def draw_line(ax: Axes, x: AnyArray, y: AnyArray, line_kw: dict[str, Any] | None, **errors: Any) -> Any:
    """Draw values in the main colour, with markers if they are few; with error bars if there are keywords of them."""
    marker = "o" if len(x) <= MAX_MARKERS else ""
    keywords = merge_keywords(line_kw, color=BLUE, linewidth=1.6, marker=marker, markersize=3.5, zorder=2.2)
    return ax.errorbar(x, y, **{**errors, **keywords}) if errors else ax.plot(x, y, **keywords)[0]


def draw_point(ax: Axes, x: AnyArray, y: AnyArray) -> Line2D:
    """Draw a highlighted point."""
    return ax.plot(x, y, color=ACCENT, marker="o", markersize=6, zorder=3)[0]


def merge_keywords(given: dict[str, Any] | None, artist: Any = None, **defaults: Any) -> dict[str, Any]:
    """Default keywords of a line, or of another artist, replaced by the given ones in any of matplotlib's spellings."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    return {**defaults, **normalize_kwargs(given or {}, Line2D if artist is None else artist)}


def add_legend(ax: Axes, handles: Sequence[Any], **place: Any) -> Legend | None:
    """Add a legend without a frame to those of the axes; None if there are no handles."""
    from matplotlib.legend import Legend

    if not handles:
        return None
    keywords: dict[str, Any] = {"fontsize": choose_font_size(ax) - 1, "labelcolor": INK}
    keywords |= {"facecolor": ax.get_facecolor(), "framealpha": 1.0, "edgecolor": "none"}
    keywords |= {"handlelength": 1.6, "borderpad": 0.2, "borderaxespad": 0.1, "labelspacing": 0.35}
    legend = Legend(ax, handles, [handle.get_label() for handle in handles], columnspacing=1.5, **keywords, **place)
    legend.set_in_layout(False)
    ax.add_artist(legend)
    return legend
