"""Features, groups and columns that users name in parameters such as `feature_groups` and `always_select`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from numbers import Real
from typing import Any

import numpy as np

from .._types import AnyArray, IntArray, Mask
from ..designs.blocked import DaskCollection
from ..validation import as_real_array, refuse_date_columns
from ..wording import quote_list

__all__ = [
    "explain_text_columns",
    "find_columns",
    "find_features",
    "find_groups",
    "label_features",
    "pick_columns",
    "require_columns",
]


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
    kinds = {Real if isinstance(label, Real) else type(label) for label in np.asarray(given, dtype=object).ravel()}
    if len(kinds) > 1:
        raise ValueError("feature_groups has labels of different types; use one type, without None")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("feature_groups has NaN or infinite values; give each feature a group label")
    return labels


def find_groups(always: Any, labels: AnyArray) -> Any:
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


def find_features(always: Any, n_features: int, names: AnyArray | None) -> Any:
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
    return find_columns(wanted, names, "always_select")


def find_columns(wanted: AnyArray, names: AnyArray | None, parameter: str) -> IntArray:
    """The positions of named columns of X."""
    if names is None:
        raise ValueError(f"{parameter} has names, but X has no names; pass a data frame, or indices")
    position = {name: index for index, name in enumerate(names.tolist())}
    unknown = [name for name in wanted.tolist() if name not in position]
    if unknown:
        raise ValueError(
            f"{parameter} has {_quote(unknown)}, which are not columns of X; those are {_quote(names.tolist())}"
        )
    return np.array([position[name] for name in wanted.tolist()])


def _quote(names: list[Any]) -> str:
    return ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")


def require_columns(columns: AnyArray | None) -> AnyArray:
    """The columns of a table that features come from; raises where they are not known."""
    if columns is None:
        raise ValueError(
            'feature_groups="columns" needs the data frame that a TableEncoder returns; put one directly before the '
            "estimator, as in make_pipeline(TableEncoder(), estimator), or give each feature a label. A step between "
            "them loses the columns of the table: instead of a scaler, use standardize=True of the estimator"
        )
    return columns


@contextmanager
def explain_text_columns(X: Any) -> Iterator[None]:
    """Name the columns of a data frame that are not numbers, where they are why it cannot be used."""
    try:
        refuse_date_columns(X)
        yield
    except (ValueError, TypeError) as error:
        is_frame = hasattr(X, "dtypes") and hasattr(X, "iloc") and not isinstance(X, DaskCollection)
        names = _find_columns_without_numbers(X) if is_frame else []
        if not names:
            raise
        raise ValueError(
            f"X has {'columns that are' if len(names) > 1 else 'a column that is'} not numbers: {quote_list(names)}; "
            "put a ksparse.TableEncoder before the estimator, as in make_pipeline(TableEncoder(), estimator), or leave "
            "them out"
        ) from error


def _find_columns_without_numbers(frame: Any) -> list[str]:
    """The columns of a data frame whose values NumPy cannot take for numbers."""
    import pandas as pd  # not needed for arrays, and takes a second to import

    names = []
    for position, name in enumerate(frame.columns):
        if pd.api.types.is_numeric_dtype(frame.dtypes.iloc[position]):
            continue
        try:
            as_real_array(frame.iloc[:, position].to_numpy(), "X")
        except ValueError:
            names.append(str(name))
    return names


def pick_columns(X: Any, names: AnyArray | None, support: Mask) -> Any:
    """The columns of a data frame that a model was fitted to, by name; those that it does not use may be absent."""
    if names is None or not hasattr(X, "columns") or not hasattr(X, "reindex"):
        return X
    there = set(X.columns)
    missing = [name for name in names[support].tolist() if name not in there]
    if missing:
        raise ValueError(f"X lacks {quote_list(missing)}, which the model needs; it has {quote_list(list(X.columns))}")
    absent = [name for name in names.tolist() if name not in there]
    return X.reindex(columns=names).fillna(dict.fromkeys(absent, 0.0))
