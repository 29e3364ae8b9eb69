"""Products of the Gram matrix with vectors by a pass over X, where most of its rows are not known; compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._types import Array, IntArray, Mask
from ..compiling import jit_compile

__all__ = ["Passes", "multiply_gram", "without_passes"]


class Passes(NamedTuple):
    """X, and the columns that were gathered from it; of no use where rows of the Gram matrix are known in full."""

    is_used: bool
    #: X or its transpose, whichever is contiguous, and which of them it is.
    data: Array
    is_transposed: bool
    #: For each feature of the problem, which column of X it is, by what it is divided, and its mean before that.
    features: IntArray
    scale: Array
    shift: Array
    #: Weights of the samples.
    weights: Array
    #: Gathered columns, centred and scaled, in rows; that of a feature is where its row of the Gram matrix is.
    columns: Array
    #: How many passes there were.
    counter: IntArray


def without_passes() -> Passes:
    """No X."""
    nothing, none, empty = np.zeros(0), np.zeros(0, dtype=np.intp), np.zeros((0, 0))
    data = empty.view()
    data.flags.writeable = False
    return Passes(False, data, False, none, nothing, nothing, nothing, empty, np.zeros(1, dtype=np.intp))


@jit_compile
def multiply_gram(passes: Passes, slot: IntArray, factors: Array, is_wanted: Mask) -> Array:
    """The wanted entries of the Gram matrix times a vector, all of whose nonzeros have gathered columns."""
    passes.counter[0] += 1
    count = passes.weights.size
    margins = np.zeros(count)
    for j in np.flatnonzero(factors):
        factor, column = factors[j], passes.columns[slot[j]]
        for i in range(count):
            margins[i] += factor * column[i]
    margins *= passes.weights
    product = np.dot(passes.data, margins) if passes.is_transposed else np.dot(margins, passes.data)
    total, result = margins.sum(), np.zeros(factors.size)
    for j in np.flatnonzero(is_wanted):
        result[j] = (product[passes.features[j]] - passes.shift[j] * total) / passes.scale[j]
    return result
