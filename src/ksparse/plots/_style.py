"""How all displays look: colours, sizes of letters, axes. Matplotlib is imported only when something is drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import AnyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.text import Annotation

__all__ = [
    "ACCENT",
    "BLUE",
    "BLUES",
    "GREY",
    "INK",
    "LONGEST_GROUP",
    "NEGATIVE",
    "POSITIVE",
    "axes_height",
    "axes_to_draw_in",
    "axes_width",
    "background",
    "count_axis",
    "figure_of",
    "font_size",
    "keywords",
    "leave_room",
    "legend",
    "mark",
    "pyplot",
    "short_names",
    "shorten",
    "tidy",
]

ACCENT = "#c0392b"
BLUE = "#3f5f8a"
BLUES = ("#14305c", "#2a93d5", "#5661b3", "#1d7a8c", "#7a8ba3")
GREY = "#c3c9d1"
INK = "#3a4350"
#: Signs: the ends of ColorBrewer's RdBu, which people with any colour vision tell apart.
POSITIVE, NEGATIVE = "#2166ac", "#b2182b"

#: Numbers of features that span more than this factor are drawn on a logarithmic axis.
WIDE_SPAN = 30
#: Longest name of a feature, in letters.
LONGEST_NAME = 24
#: Longest name of a group, in letters.
LONGEST_GROUP = 30


def pyplot() -> ModuleType:
    """matplotlib.pyplot, or an ImportError that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('ksparse.plots needs matplotlib; install it with: pip install "ksparse[plots]"') from error
    return plt


def axes_to_draw_in(ax: Axes | None, size: tuple[float, float] | None = None, layout: str = "constrained") -> Axes:
    """The given axes, or those of a new figure; "compressed" is the layout of axes whose sides have a fixed ratio."""
    plt = pyplot()
    return plt.subplots(figsize=size, layout=layout)[1] if ax is None else ax


def figure_of(ax: Axes) -> Figure:
    """The figure that the axes belong to, in a part of it or not."""
    figure: Any = ax.figure
    return figure.figure


def axes_width(ax: Axes) -> float:
    """Width of the axes in points."""
    return float(ax.bbox.width) * 72 / ax.figure.dpi


def axes_height(ax: Axes) -> float:
    """Height of the axes in points."""
    return float(ax.bbox.height) * 72 / ax.figure.dpi


def font_size(ax: Axes) -> float:
    """Size of letters in points: 9.5 on axes of ordinary size, down to 6.5 on small ones."""
    return float(np.clip(5.0 + min(axes_width(ax) / 85, axes_height(ax) / 35), 6.5, 9.5))


def shorten(name: str, longest: int = LONGEST_NAME, ending: str | None = None) -> str:
    """A name of at most that many letters: its beginning, an ellipsis and its end, or another ending."""
    if len(name) <= longest and ending is None:
        return name
    ending = name[len(name) - longest // 3 :].lstrip() if ending is None else ending
    return name[: max(longest - 1 - len(ending), 1)].rstrip() + "…" + ending


def short_names(names: list[str], features: Sequence[int], width: float, size: float) -> list[str]:
    """Names of these features that fit into a width in points; those that look the same end with their index."""
    longest = int(np.clip(width / (0.55 * size), 6, LONGEST_NAME))
    short = {feature: shorten(names[feature], longest) for feature in features}
    copies = Counter(short.values())
    return [
        shorten(names[feature], longest, f"[{feature}]") if copies[name] > 1 else name
        for feature, name in short.items()
    ]


def tidy(ax: Axes, grid: str, size: float | None = None) -> None:
    """Light grid in one direction ("x" or "y"), no frame, letters of that size, or one that fits the axes."""
    size = font_size(ax) if size is None else size
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GREY)
    ax.set_axisbelow(True)
    ax.grid(visible=False)
    ax.grid(visible=True, axis="x" if grid == "x" else "y", color=GREY, alpha=0.45, linewidth=0.6)
    ax.tick_params(labelsize=size - 0.5, color=GREY, labelcolor=INK, length=3)
    ax.tick_params(which="minor", color=GREY, length=1.5)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set(fontsize=size, color=INK)
        axis.get_offset_text().set(fontsize=size - 1, color=INK)


def leave_room(ax: Axes, *, top: float = 1.0, bottom: float = 0.0) -> None:
    """Leave room for lines of text between the data and the top and the bottom of the axes."""
    above, below = 1.9 * font_size(ax) * np.array([top, bottom])
    scale = ax.yaxis.get_transform()
    low, high = scale.transform(np.array(ax.get_ylim()))
    unit = (high - low) / max(axes_height(ax) - above - below, 0.3 * axes_height(ax))
    limits = scale.inverted().transform(np.array([low - unit * below, high + unit * above]))
    ax.set_ylim(*limits, auto=None)


def mark(ax: Axes, x: float, text: str, *, middle: float, color: str = ACCENT) -> tuple[Line2D, Annotation]:
    """A dashed vertical line, and what it means beside its top: on its right if it is left of the middle."""
    line = ax.axvline(x, color=color, linestyle=(0, (4, 2.5)), linewidth=1.2, zorder=1.9)
    right = x <= middle
    label = ax.annotate(
        text,
        (x, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(3 if right else -3, -1),
        textcoords="offset points",
        ha="left" if right else "right",
        va="top",
        color=color,
        fontsize=font_size(ax),
        bbox=background(ax),
    )
    return line, label


def background(ax: Axes) -> dict[str, Any]:
    """A box behind a text that hides the grid."""
    return {"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.8}


def count_axis(ax: Axes, ks: AnyArray) -> float:
    """Make x an axis of whole numbers, logarithmic where they span a wide range; gives the middle of the range."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    from ._artists import CountLocator

    first, last = float(ks[0]), float(ks[-1])
    wide = last > WIDE_SPAN * max(first, 1.0)
    if wide:
        ax.set_xscale("symlog", linthresh=1, linscale=0.5) if first == 0 else ax.set_xscale("log")
    to_scale = _scale(ax)
    start, end = to_scale(first), to_scale(last)
    margin = 0.04 * (end - start) or 0.5
    ax.set_xlim(_unscale(ax)(start - margin), _unscale(ax)(end + margin))
    ax.xaxis.set_major_locator(CountLocator(first, last, wide=wide))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
    return _unscale(ax)((start + end) / 2)


def _scale(ax: Axes) -> Callable[[float], float]:
    return lambda x: float(ax.xaxis.get_transform().transform(np.array([x]))[0])


def _unscale(ax: Axes) -> Callable[[float], float]:
    return lambda x: float(ax.xaxis.get_transform().inverted().transform(np.array([x]))[0])


def keywords(given: dict[str, Any] | None, artist: Any = None, **defaults: Any) -> dict[str, Any]:
    """Keywords of a line, or of another artist: ours, replaced by the user's in any of matplotlib's spellings."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    return {**defaults, **normalize_kwargs(given or {}, Line2D if artist is None else artist)}


def legend(ax: Axes, handles: Sequence[Any], **place: Any) -> Legend | None:
    """A legend without a frame, beside the others of the axes; None if there is nothing to tell."""
    from matplotlib.legend import Legend

    if not handles:
        return None
    box = Legend(
        ax,
        handles,
        [handle.get_label() for handle in handles],
        fontsize=font_size(ax) - 1,
        labelcolor=INK,
        frameon=False,
        handlelength=1.6,
        borderpad=0.3,
        borderaxespad=0.0,
        labelspacing=0.35,
        columnspacing=1.5,
        **place,
    )
    box.set_in_layout(False)
    ax.add_artist(box)
    return box
