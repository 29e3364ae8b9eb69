"""At most k nonzero pairs of entries of a symmetric matrix: a graph with k edges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._types import AnyArray, Array, IntArray, Mask
from .base import FREE, NEVER, Sparsity, Units
from .entries import Entries, Groups, Rows

__all__ = ["Pairs", "make_set", "pair_mask"]


@dataclass(frozen=True)
class Pairs(Sparsity):
    """At most k pairs x_ij = x_ji of a symmetric matrix are nonzero, in addition to the diagonal.

    The S2 of the paper's Algorithm 2: ‖Ω⁻‖₀ ≤ 2k off the diagonal, k being the number of edges of the graph. Units are
    named by their pair (i, j) with i < j.

    Parameters
    ----------
    k : int
        Number of pairs.
    always : array-like of shape (m, 2) or mask of shape (p, p), default=()
        Pairs that are always selected (known edges); they count in k.
    never : array-like of shape (m, 2) or mask of shape (p, p), default=()
        Pairs that are never selected (forbidden edges).
    lower, upper : float, default=-inf, inf
        Bounds of the entries off the diagonal, with lower ≤ 0 ≤ upper.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.sparsity import Pairs
    >>> z = np.array([[1.0, 3.0, -4.0], [3.0, 1.0, 2.0], [-4.0, 2.0, 1.0]])
    >>> Pairs(1).bind((3, 3)).truncate(z)
    array([[ 1.,  0., -4.],
           [ 0.,  1.,  0.],
           [-4.,  0.,  1.]])
    >>> Pairs(1, never=[(0, 2)]).bind((3, 3)).truncate(z)
    array([[1., 3., 0.],
           [3., 1., 0.],
           [0., 0., 1.]])
    """

    never: ArrayLike = field(default=(), kw_only=True)

    def number_units(self, shape: tuple[int, ...], n_free: int) -> tuple[IntArray, AnyArray]:
        units = self.bind(shape)
        return units.number[units.constrained], units.names

    def bind(self, shape: tuple[int, ...], free: Mask | None = None) -> Units:
        if len(shape) != 2 or shape[0] != shape[1]:
            raise ValueError(f"Pairs are entries of a square matrix, but x has shape {shape}; use Entries or Rows")
        size = shape[0]
        forbidden = pair_mask(self.never, size, "never")
        rows, columns = np.nonzero(np.triu(~forbidden, 1))
        number = np.full(shape, NEVER, dtype=np.intp)
        number[rows, columns] = number[columns, rows] = np.arange(rows.size)
        np.fill_diagonal(number, FREE)
        known = pair_mask(self.always, size, "always")
        both = np.argwhere(np.triu(known & forbidden, 1))
        if both.size:
            raise ValueError(
                f"the pair {tuple(both[0].tolist())} is both in always and in never; name it in one of them"
            )
        always = known[rows, columns]
        self._check_always(always)
        lower, upper = self._make_bounds(shape, number >= 0)
        names = np.column_stack([rows, columns])
        entries = rows * size + columns, columns * size + rows
        return _PairUnits(min(self.k, len(names)), number, names, always, lower, upper, *entries)


@dataclass(frozen=True, eq=False)
class _PairUnits(Units):
    """Units of two entries each: sums by their flat indices are faster than by unit number."""

    above: IntArray
    below: IntArray

    def sum_by_unit(self, values: Array) -> Array:
        flat = values.ravel()
        sums: Array = flat[self.above] + flat[self.below]
        return sums

    def to_mask(self, units: Mask) -> Mask:
        chosen = np.zeros(self.number.shape, dtype=bool)
        np.fill_diagonal(chosen, True)
        flat = chosen.reshape(-1)
        flat[self.above[units]] = flat[self.below[units]] = True
        return chosen

    def find_units(self, support: Mask) -> Mask:
        flat = support.ravel()
        inside: Mask = flat[self.above] | flat[self.below]
        return inside


def pair_mask(pairs: Any, size: int, name: str) -> Mask:
    """Pairs of indices, or a mask, as a symmetric mask."""
    given = np.asarray(pairs)
    if given.dtype == bool and given.ndim == 2:
        if given.shape != (size, size):
            raise ValueError(f"{name} is a mask of shape {given.shape} for a matrix of shape {(size, size)}")
        return np.asarray(given | given.T)
    chosen = np.zeros((size, size), dtype=bool)
    if given.size == 0:
        return chosen
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must hold pairs of indices such as [(0, 1), (2, 5)], or be a mask of True and False; got {pairs!r}"
        )
    wrong = (given < 0) | (given >= size)
    if wrong.any() or (given[:, 0] == given[:, 1]).any():
        bad = given[wrong.any(axis=1) | (given[:, 0] == given[:, 1])][0]
        raise ValueError(f"{name} names the pair {tuple(bad.tolist())}; a pair is two different indices below {size}")
    chosen[given[:, 0], given[:, 1]] = chosen[given[:, 1], given[:, 0]] = True
    return chosen


def make_set(kind: str, k: int, labels: ArrayLike | None = None) -> Sparsity:
    """The set that an integer k means for an objective of this kind of units; of groups, if coordinates have labels.

    Examples
    --------
    >>> from ksparse.sparsity import make_set
    >>> make_set("rows", 2).bind((3, 2)).count
    3
    """
    return {"entries": Entries, "rows": Rows, "pairs": Pairs}[kind](k) if labels is None else Groups(k, labels)
