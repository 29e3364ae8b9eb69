"""At most k nonzero entries, or at most k nonzero rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._types import AnyArray, IntArray
from .base import Sparsity

__all__ = ["Entries", "Rows"]


@dataclass(frozen=True)
class Entries(Sparsity):
    """At most k nonzero entries: ‖x‖₀ ≤ k, the constraint of the paper.

    Units are named by their (flat) index.

    Parameters
    ----------
    k : int
        Number of entries that may be nonzero.
    always : array-like, default=()
        Indices (or a mask) of entries that are always selected; they count in k.
    lower, upper : float or array of x's shape, default=-inf, inf
        Bounds of the coefficients, with lower ≤ 0 ≤ upper; not for the intercept.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.sparsity import Entries
    >>> Entries(2).bind((4,)).truncate(np.array([3.0, -1.0, 1.0, -4.0]))
    array([ 3.,  0.,  0., -4.])
    >>> Entries(2, always=[1], lower=0).bind((4,)).truncate(np.array([3.0, -1.0, 1.0, -4.0]))
    array([3., 0., 0., 0.])
    """

    def units_of(self, shape: tuple[int, ...], n_free: int) -> tuple[IntArray, AnyArray]:
        names = np.arange(int(np.prod(shape, dtype=int)))
        return names, names


@dataclass(frozen=True)
class Rows(Sparsity):
    """At most k nonzero rows of a matrix: k features shared by all classes or responses.

    Units are named by the row's index.

    Parameters
    ----------
    k : int
        Number of rows that may be nonzero.
    always : array-like, default=()
        Indices (or a mask) of rows that are always selected; they count in k.
    lower, upper : float or array of x's shape, default=-inf, inf
        Bounds of the coefficients, with lower ≤ 0 ≤ upper; not for the intercept.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.sparsity import Rows
    >>> Rows(1).bind((2, 2)).truncate(np.array([[3.0, 0.0], [2.0, -2.0]]))
    array([[3., 0.],
           [0., 0.]])
    """

    def units_of(self, shape: tuple[int, ...], n_free: int) -> tuple[IntArray, AnyArray]:
        if len(shape) != 2:
            raise ValueError(f"Rows selects rows of a matrix, but x has shape {shape}; use Entries or Groups")
        names = np.arange(shape[0])
        return np.repeat(names, shape[1]), names
