"""Entries and colours of a heat map."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.ndimage import maximum_filter, minimum_filter

from .._types import Array
from ._style import NEGATIVE, POSITIVE

__all__ = ["colours_of", "widen"]

#: Saturation of the weakest edge relative to the full colour, which must differ visibly from white.
MIN_SATURATION = 0.12
#: The ends of the positive and of the negative scale: those of ColorBrewer's RdBu.
DARKEST = ("#053061", "#67001f")
DIAGONAL = "#dfe3e8"


def widen(values: Array, margin: int) -> Array:
    """Extend nonzero entries by a margin on all sides; where several meet, the largest in absolute value is kept."""
    size = 2 * margin + 1
    highest = maximum_filter(np.maximum(values, 0.0), size, mode="constant")
    lowest = minimum_filter(np.minimum(values, 0.0), size, mode="constant")
    return np.where(highest >= -lowest, highest, lowest)


def colours_of(what: str) -> Any:
    """A colour map that is white at zero; for partial correlations it jumps to a faint colour next to zero."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    if what == "support":
        return LinearSegmentedColormap.from_list(what, ["white", "black"])
    if what == "frequency":
        return LinearSegmentedColormap.from_list(what, [(0.0, "white"), (0.6, POSITIVE), (1.0, DARKEST[0])], N=1001)
    stops: list[Any] = [(0.5, "white")]
    for side, middle, end in ((1, POSITIVE, DARKEST[0]), (-1, NEGATIVE, DARKEST[1])):
        faint = 1 - MIN_SATURATION * (1 - np.array(to_rgb(middle)))
        stops += [(0.5 + side * at / 2, colour) for at, colour in ((0.002, tuple(faint)), (0.6, middle), (1.0, end))]
    ordered = sorted(stops, key=lambda stop: float(stop[0]))
    return LinearSegmentedColormap.from_list(what, ordered, N=2001).with_extremes(bad=DIAGONAL)
