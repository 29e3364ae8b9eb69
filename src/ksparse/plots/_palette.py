"""Colours of groups and communities."""

from __future__ import annotations

import numpy as np

from .._types import IntArray

__all__ = ["GROUP_COLOURS", "choose_colours", "choose_group_colours", "count_coloured"]

#: Colours of up to ten groups, distinct for all kinds of colour vision: Paul Tol's muted scheme, and grey.
GROUP_COLOURS = (
    *("#cc6677", "#332288", "#ddcc77", "#117733", "#88ccee"),
    *("#882255", "#44aa99", "#999933", "#aa4499", "#777777"),
)
#: Smaller communities have no colour of their own: a pair of nodes is seen to be one.
SMALLEST_COMMUNITY = 3


def choose_group_colours(count: int) -> list[str]:
    """A colour for each of some groups."""
    if count <= len(GROUP_COLOURS):
        return list(GROUP_COLOURS[:count])
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(colour) for colour in colormaps["turbo"](np.linspace(0.03, 0.97, count))]


def count_coloured(communities: IntArray) -> int:
    """How many communities, the largest ones, have a colour of their own."""
    sizes = np.bincount(communities[communities >= 0], minlength=1)
    return min(int((sizes >= SMALLEST_COMMUNITY).sum()), len(GROUP_COLOURS) - 1)


def choose_colours(communities: IntArray) -> list[str]:
    """A colour for each node: grey for those of small communities or none.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.plots._palette import choose_colours
    >>> choose_colours(np.array([0, 0, 0, 1, 1, -1]))
    ['#cc6677', '#cc6677', '#cc6677', '#777777', '#777777', '#777777']
    """
    own = count_coloured(communities)
    return [GROUP_COLOURS[number if 0 <= number < own else -1] for number in communities.tolist()]
