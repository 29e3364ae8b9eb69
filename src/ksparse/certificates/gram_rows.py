"""The part of the Gram matrix that a search knows: all of it, some rows, or the block of the features it works with.

A pass over X gives the slopes of all features at a point in the time of a few rows, so that the block alone is enough
at first. Each node needs one or more passes, and a row is computed once: after many passes rows take their place.
"""

from __future__ import annotations

import numpy as np

from .._types import Array, IntArray
from ._gram_passes import Passes, without_passes
from ._gram_relaxation import Frame
from .gram_form import GramForm

__all__ = ["add_features", "complete_rows", "count_room", "start_passes"]

#: Rows of smaller X take little time.
MIN_PASS_SIZE = 2_000_000
#: A pass takes as long as so many rows of the Gram matrix, about; this fraction of the rows will be needed at least.
ROWS_PER_PASS, LEAST_FRACTION = 15, 0.25


def start_passes(form: GramForm, features: IntArray) -> Passes:
    """Passes over X for some features, if it is one contiguous array of double precision."""
    data = form.model.find_contiguous()
    if data is None or data[0].size < MIN_PASS_SIZE:
        return without_passes()
    matrix, shift = data
    is_transposed = not matrix.flags.c_contiguous
    view = (matrix.T if is_transposed else matrix).view()
    view.flags.writeable = False  # so that functions are compiled for one kind of array only
    return Passes(
        is_used=True,
        data=view,
        is_transposed=is_transposed,
        features=features,
        scale=form.scale[features],
        shift=np.zeros(features.size) if shift is None else shift[features],
        weights=form.model.weights,
        columns=np.empty((0, form.n_samples)),
        counter=np.zeros(1, dtype=np.intp),
    )


def add_features(frame: Frame, form: GramForm, features: IntArray, wanted: IntArray) -> Frame:
    """The frame that knows more of its features, which are some of the form's."""
    count = int(frame.slot.max(initial=-1)) + 1
    following = count + wanted.size
    slot = frame.slot.copy()
    slot[wanted] = np.arange(count, following)
    if frame.passes.is_used:
        columns = _enlarge(frame.passes.columns, count, following, features.size)
        columns[count:following] = form.make_columns(features[wanted])
        rows = frame.rows
        if following > len(rows):
            rows = np.empty((len(columns), len(columns)))
            rows[:count, :count] = frame.rows[:count, :count]
        block = (columns[count:following] * form.model.weights) @ columns[:following].T
        rows[count:following, :following] = block
        rows[:count, count:following] = block[:, :count].T
        return frame._replace(rows=rows, slot=slot, place=slot, passes=frame.passes._replace(columns=columns))
    rows = _enlarge(frame.rows, count, following, features.size)
    made = form.make_rows(features[wanted])
    rows[count:following] = made if features.size == made.shape[1] else made[:, features]
    return frame._replace(rows=rows, slot=slot)


def count_room(frame: Frame, room: int) -> int:
    """How many features may be known within so many bytes: their rows, or their columns of X and the block."""
    if not frame.passes.is_used:
        return room // (8 * max(frame.rows.shape[1], 1))
    n = frame.passes.weights.size
    return int((np.sqrt(n * n + 0.5 * room) - n) / 2.0)


def complete_rows(frame: Frame, form: GramForm, features: IntArray, room: int) -> Frame:
    """The same frame, with whole rows in place of the block once passes have taken longer than these would take."""
    known, passes, width = np.flatnonzero(frame.slot >= 0), frame.passes, features.size
    if not passes.is_used or ROWS_PER_PASS * int(passes.counter[0]) <= max(known.size, LEAST_FRACTION * width):
        return frame
    if 8 * width * known.size > room:
        return frame
    frame = frame._replace(rows=np.empty((0, width)), slot=np.full(width, -1), place=np.arange(width))
    return add_features(frame._replace(passes=without_passes()), form, features, known)


def _enlarge(rows: Array, count: int, wanted: int, most: int) -> Array:
    """The same rows, with room for others, so that they are seldom copied."""
    if wanted <= len(rows):
        return rows
    grown = np.empty((max(wanted, min(2 * wanted, most)), rows.shape[1]))
    grown[:count] = rows[:count]
    return grown
