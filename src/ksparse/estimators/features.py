"""What users say about features (names, groups, always-selected ones), as a sparsity set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._types import AnyArray
from ..sparsity import Entries, Groups, Rows, Sparsity
from ..validation import check_flag

__all__ = ["labels_of_features", "sparsity_of_features"]


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
        labels = labels_of_features(groups, names, n_features)
        return Groups(k, labels, always=_always_groups(always, labels), lower=lower)
    kind = Rows if rows else Entries
    return kind(k, always=_indices(always, n_features, names), lower=lower)


def labels_of_features(groups: Any, names: AnyArray | None, n_features: int) -> AnyArray:
    """One label for each feature, from what users call groups."""
    given = groups
    if isinstance(groups, Mapping):
        if names is None:
            raise ValueError(
                "groups is a dict of feature names, but X has none; pass a data frame, or a label per feature"
            )
        missing = [str(name) for name in names if name not in groups]
        if missing:
            raise ValueError(f"groups has no label for {_shown(missing)}; give one for each feature")
        given = [groups[name] for name in names]
    labels = _flat(given, "groups", "one label for each feature, not lists of features")
    if len(labels) != n_features:
        raise ValueError(f"groups has {len(labels)} labels, but X has {n_features} features; give one for each feature")
    # NumPy would make text of numbers, and the groups 1 and "1" one.
    kinds = {isinstance(label, str) for label in np.asarray(given, dtype=object).ravel()}
    if len(kinds) > 1 or not _sortable(labels):
        raise ValueError("groups has labels of different types; use one type, without None")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("groups has NaN or infinite values; give each feature a group label")
    return labels


def _sortable(labels: AnyArray) -> bool:
    try:
        np.sort(labels)
    except TypeError:
        return False
    return True


def _always_groups(always: Any, labels: AnyArray) -> Any:
    """Always-selected groups as a mask over the sorted labels."""
    if always is None:
        return ()
    wanted = _flat(always, "always_select", "labels of groups").tolist()
    there = np.unique(labels).tolist()
    # True equals 1, but a mask is no list of labels.
    known = {(isinstance(label, bool), label) for label in there}
    unknown = [label for label in wanted if (isinstance(label, bool), label) not in known]
    if unknown:
        raise ValueError(
            f"always_select names {_shown(unknown)}, but with groups it holds labels of groups: {_shown(there)}"
        )
    return np.array([label in wanted for label in there])


def _flat(values: Any, name: str, expected: str) -> AnyArray:
    """Values as a vector."""
    try:
        array = np.atleast_1d(np.asarray(values))
    except ValueError as error:
        raise ValueError(f"{name} must be flat: {expected}") from error
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; expected {expected}")
    return array


def _indices(always: Any, n_features: int, names: AnyArray | None) -> Any:
    """Always-selected features as indices or a mask."""
    if always is None:
        return ()
    wanted = _flat(always, "always_select", "a list of names or indices, or a mask")
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
            raise ValueError(
                f"always_select has the index {beyond[0]}, but X has {n_features} features, numbered from 0"
            )
        return wanted % n_features
    if wanted.dtype.kind not in "UTO" or not all(isinstance(name, str) for name in wanted.tolist()):
        raise TypeError(f"always_select holds names, indices or a mask of features; got {always!r}")
    if names is None:
        raise ValueError("always_select holds names, but X has none; pass a data frame, or indices of features")
    position = {name: index for index, name in enumerate(names.tolist())}
    unknown = [name for name in wanted.tolist() if name not in position]
    if unknown:
        raise ValueError(
            f"always_select names {_shown(unknown)}, which X does not have; it has {_shown(names.tolist())}"
        )
    return np.array([position[name] for name in wanted.tolist()])


def _shown(names: list[Any]) -> str:
    return ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
