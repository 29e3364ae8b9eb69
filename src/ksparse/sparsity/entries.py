"""At most k nonzero entries, rows or groups of entries."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from .._types import AnyArray, IntArray
from .base import Sparsity

__all__ = ["Entries", "Groups", "Rows"]


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

    def number_units(self, shape: tuple[int, ...], n_free: int) -> tuple[IntArray, AnyArray]:
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
    always, lower, upper
        See `Entries`; `always` names rows.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.sparsity import Rows
    >>> Rows(1).bind((2, 2)).truncate(np.array([[3.0, 0.0], [2.0, -2.0]]))
    array([[3., 0.],
           [0., 0.]])
    """

    def number_units(self, shape: tuple[int, ...], n_free: int) -> tuple[IntArray, AnyArray]:
        if len(shape) != 2:
            raise ValueError(f"Rows selects rows of a matrix, but x has shape {shape}; use Entries or Groups")
        names = np.arange(shape[0])
        return np.repeat(names, shape[1]), names


@dataclass(frozen=True)
class Groups(Sparsity):
    """At most k groups of entries are nonzero; k counts groups.

    Groups are ranked by ‖z_G‖²/|G|, which does not prefer large groups. Units are named
    by their label, in sorted order.

    Parameters
    ----------
    k : int
        Number of groups.
    labels : array-like
        Group of each feature, in any order: integers or strings. For a matrix iterate, one label per row or per
        entry. An intercept has no label.
    always, lower, upper
        See `Sparsity`; `always` holds labels.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.sparsity import Groups
    >>> groups = Groups(1, labels=["b", "a", "b", "a"])
    >>> groups.bind((4,)).truncate(np.array([3.0, 2.0, 0.0, 2.0]))
    array([3., 0., 0., 0.])
    """

    labels: ArrayLike = field(repr=False)

    def number_units(self, shape: tuple[int, ...], n_free: int) -> tuple[IntArray, AnyArray]:
        try:
            labels = np.asarray(self.labels)
        except ValueError as error:
            raise ValueError("labels must be flat: one group label for each feature, not lists of features") from error
        size = int(np.prod(shape, dtype=int))
        if len(shape) == 2 and labels.shape == (shape[0],):
            labels = np.repeat(labels, shape[1])
        if labels.size != size:
            raise ValueError(
                f"labels has {labels.size} values for {size} coefficients; give one group label for each feature"
                + (" (an intercept has none)" if n_free else "")
            )
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            raise ValueError("labels has NaN or infinite values; give each feature a group label")
        try:
            names, numbers = np.unique(labels.ravel(), return_inverse=True)
        except TypeError as error:
            raise ValueError(f"labels are of different types ({error}); use one type, without None") from error
        return numbers.ravel().astype(np.intp), names
