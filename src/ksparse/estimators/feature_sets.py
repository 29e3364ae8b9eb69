"""The sparsity set of the parameters `feature_groups`, `always_select` and `positive`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._types import AnyArray
from ..sparsity import Entries, Groups, Rows, Sparsity
from ..validation import check_flag

__all__ = ["build_feature_set", "label_features"]


def build_feature_set(
    k: int,
    n_features: int,
    *,
    names: AnyArray | None,
    rows: bool,
    labels: AnyArray | None,
    always: Any,
    positive: Any,
) -> Sparsity:
    """The set of coefficients with k features or groups.

    Parameters
    ----------
    k : int
        Number of features or groups.
    n_features : int
        Number of columns of X.
    names : ndarray of str, optional
        Names of the features.
    rows : bool
        Whether a feature has a row of coefficients (several classes or responses).
    labels : ndarray of shape (n_features,), optional
        Group of each feature.
    always, positive
        The parameters `always_select` and `positive` as the user gave them.
    """
    lower = 0.0 if check_flag(positive, "positive") else -np.inf
    if labels is not None:
        return Groups(k, labels, always=_find_groups(always, labels), lower=lower)
    kind = Rows if rows else Entries
    return kind(k, always=_find_features(always, n_features, names), lower=lower)


def label_features(feature_groups: Any, names: AnyArray | None, n_features: int) -> AnyArray:
    """One label for each feature, from the parameter `feature_groups`."""
    given = feature_groups
    if isinstance(feature_groups, Mapping):
        if names is None:
            raise ValueError(
                "feature_groups is a dict of feature names, but X has no names; pass a data frame, or one label for "
                "each feature"
            )
        missing = [str(name) for name in names if name not in feature_groups]
        if missing:
            raise ValueError(f"feature_groups has no label for {_quote(missing)}; give one for each feature")
        given = [feature_groups[name] for name in names]
    labels = _as_vector(given, "feature_groups", "one label for each feature, not lists of features")
    if len(labels) != n_features:
        raise ValueError(
            f"feature_groups has {len(labels)} labels, but X has {n_features} features; give one for each feature"
        )
    # NumPy would convert numbers to text, and the groups 1 and "1" would become one.
    kinds = {isinstance(label, str) for label in np.asarray(given, dtype=object).ravel()}
    if len(kinds) > 1 or not _sortable(labels):
        raise ValueError("feature_groups has labels of different types; use one type, without None")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("feature_groups has NaN or infinite values; give each feature a group label")
    return labels


def _sortable(labels: AnyArray) -> bool:
    try:
        np.sort(labels)
    except TypeError:
        return False
    return True


def _find_groups(always: Any, labels: AnyArray) -> Any:
    """`always_select` as a mask over the sorted labels of the groups."""
    if always is None:
        return ()
    wanted = _as_vector(always, "always_select", "labels of groups").tolist()
    there = np.unique(labels).tolist()
    # True == 1, but a mask is not a list of labels.
    known = {(isinstance(label, bool), label) for label in there}
    unknown = [label for label in wanted if (isinstance(label, bool), label) not in known]
    if unknown:
        raise ValueError(
            f"always_select has {_quote(unknown)}, which are not labels of feature_groups; those are {_quote(there)}"
        )
    return np.array([label in wanted for label in there])


def _as_vector(values: Any, name: str, expected: str) -> AnyArray:
    """Values as a one-dimensional array."""
    try:
        array = np.atleast_1d(np.asarray(values))
    except ValueError as error:
        raise ValueError(f"{name} must be one-dimensional: {expected}") from error
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; expected {expected}")
    return array


def _find_features(always: Any, n_features: int, names: AnyArray | None) -> Any:
    """`always_select` as indices or a mask of features."""
    if always is None:
        return ()
    wanted = _as_vector(always, "always_select", "a list of names or indices, or a mask")
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
        raise TypeError(f"always_select must hold names or indices of features, or be a mask; got {always!r}")
    if names is None:
        raise ValueError("always_select holds names, but X has no names; pass a data frame, or indices of features")
    position = {name: index for index, name in enumerate(names.tolist())}
    unknown = [name for name in wanted.tolist() if name not in position]
    if unknown:
        raise ValueError(
            f"always_select has {_quote(unknown)}, which are not columns of X; those are {_quote(names.tolist())}"
        )
    return np.array([position[name] for name in wanted.tolist()])


def _quote(names: list[Any]) -> str:
    return ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
