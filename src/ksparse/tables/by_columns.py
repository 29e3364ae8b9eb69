"""Fitting an encoder to a table of which some columns are in memory at a time."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress

import numpy as np
import pandas as pd
from sklearn.base import clone

from .._types import AnyArray
from .encoder import TableEncoder
from .unused import NoColumnError

__all__ = ["fit_by_columns", "refit_by_columns"]


def fit_by_columns(encoder: TableEncoder, parts: Iterable[pd.DataFrame], y: AnyArray) -> TableEncoder:
    """What `encoder.fit` gives for a table whose columns come in parts.

    How a column is encoded depends on its own cells and on y only.

    Parameters
    ----------
    encoder : TableEncoder
        The encoder with its parameters.
    parts : iterable of DataFrame
        All rows of some columns at a time.
    y : ndarray
        The target of the rows.

    Returns
    -------
    TableEncoder
        A fitted encoder of all columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from ksparse.tables import TableEncoder, fit_by_columns
    >>> parts = [pd.DataFrame({"age": [30.0, None, 50.0]}), pd.DataFrame({"town": ["Ulm", "Bonn", "Ulm"]})]
    >>> encoder = fit_by_columns(TableEncoder(min_frequency=1), parts, [1.0, 2.0, 3.0])
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'town=Bonn']
    """
    fitted = []
    for part in parts:
        given = {name: _pick(getattr(encoder, name), part.columns) for name in ("drop", "keep")}
        each: TableEncoder = clone(encoder).set_params(**given)
        with suppress(NoColumnError):  # others may have some
            each.fit(part, y)
        fitted.append(each)
    joined = _join(encoder, fitted)
    if not len(joined.columns_):
        raise NoColumnError(joined.unused_)
    return joined


def refit_by_columns(encoder: TableEncoder, parts: Iterable[pd.DataFrame], y: AnyArray) -> TableEncoder:
    """What `encoder.refit` gives for a table whose columns come in parts: those that the encoder uses."""
    return _join(encoder, [_restrict(encoder, part.columns).refit(part, y) for part in parts])


def _pick(names: Sequence[str], there: Collection[str]) -> list[str]:
    return [name for name in names if name in there]


def _restrict(encoder: TableEncoder, names: Collection[str]) -> TableEncoder:
    """The encoder of some of its columns."""
    part = copy.copy(encoder)
    part.columns_ = np.array(_pick(encoder.columns_.tolist(), names), dtype=object)
    part.needed_columns_ = part.columns_.tolist()
    part.features_ = {name: made for name, made in encoder.features_.items() if name in names}
    return part


def _join(encoder: TableEncoder, parts: Sequence[TableEncoder]) -> TableEncoder:
    """One encoder of the columns of several, which have seen the same rows."""
    joined = copy.copy(encoder)
    joined.columns_ = np.array([name for part in parts for name in part.columns_.tolist()], dtype=object)
    joined.needed_columns_ = joined.columns_.tolist()
    joined.features_ = {name: made for part in parts for name, made in part.features_.items()}
    joined.medians_ = np.concatenate([part.medians_ for part in parts])
    if not hasattr(encoder, "unused_"):
        seen = [name for part in parts for name in part.feature_names_in_.tolist()]
        joined.unused_ = [column for part in parts for column in part.unused_]
        joined.feature_names_in_, joined.n_features_in_ = np.array(seen, dtype=object), len(seen)
        joined._kinds = {name: kind for part in parts for name, kind in part._kinds.items()}
        joined._n_rows, joined._named = parts[0]._n_rows, True
    return joined
