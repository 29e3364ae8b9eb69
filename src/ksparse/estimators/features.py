"""What users say about features (names, groups, always-selected ones), as a sparsity set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..sparsity import Entries, Groups, Rows, Sparsity
from ..typing import AnyArray
from ..validation import check_flag

__all__ = ["sparsity_of_features"]


def sparsity_of_features(
    k: int, n_features: int, *, names: AnyArray | None, rows: bool, groups: Any, always: Any, positive: Any
) -> Sparsity:
    """The set of coefficients with k features or groups.

    Parameters
    ----------
    k : int
        Number of features or groups.
    n_features : int
        Number of features there are.
    names : ndarray of str, optional
        Names of the features, if they have any.
    rows : bool
        Whether a feature has a row of coefficients (several classes or responses).
    groups, always, positive
        As users give them to an estimator.
    """
    lower = 0.0 if check_flag(positive, "positive") else -np.inf
    if groups is not None:
        labels = _labels(groups, names)
        if np.ndim(labels) != 1 or len(labels) != n_features:
            raise ValueError(
                f"groups has shape {np.shape(labels)}, but X has {n_features} features; give one label for each feature"
            )
        return Groups(k, labels, always=() if always is None else always, lower=lower)
    kind = Rows if rows else Entries
    return kind(k, always=_indices(always, n_features, names), lower=lower)


def _labels(groups: Any, names: AnyArray | None) -> Any:
    """One label for each feature."""
    if not isinstance(groups, Mapping):
        return groups
    if names is None:
        raise ValueError("groups is a dict of feature names, but X has none; pass a data frame, or a label per feature")
    missing = [str(name) for name in names if name not in groups]
    if missing:
        raise ValueError(f"groups has no label for {_shown(missing)}; give one for each feature")
    return [groups[name] for name in names]


def _indices(always: Any, n_features: int, names: AnyArray | None) -> Any:
    """Always-selected features as indices or a mask."""
    if always is None:
        return ()
    wanted = np.atleast_1d(np.asarray(always))
    if wanted.size == 0:
        return ()
    if wanted.dtype == bool:
        if wanted.shape != (n_features,):
            raise ValueError(
                f"always_select is a mask of shape {wanted.shape}, but X has {n_features} features; give one value each"
            )
        return wanted
    if wanted.dtype.kind in "iu":
        beyond = wanted[(wanted < -n_features) | (wanted >= n_features)]
        if beyond.size:
            raise ValueError(f"always_select has the index {beyond[0]}, but X has {n_features} features")
        return wanted % n_features
    if wanted.dtype.kind not in "UTO" or not all(isinstance(name, str) for name in wanted.tolist()):
        raise TypeError(f"always_select holds names, indices or a mask of features; got {always!r}")
    if names is None:
        raise ValueError("always_select holds names, but X has none; pass a data frame, or indices of features")
    position = {name: index for index, name in enumerate(names.tolist())}
    unknown = [name for name in wanted.tolist() if name not in position]
    if unknown:
        raise ValueError(f"always_select names {_shown(unknown)}, which X does not have; it has {_shown(list(names))}")
    return np.array([position[name] for name in wanted.tolist()])


def _shown(names: list[str]) -> str:
    return ", ".join(repr(str(name)) for name in names[:5]) + (", …" if len(names) > 5 else "")
