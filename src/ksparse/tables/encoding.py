"""What an encoded frame knows of the table that it was made from, so that estimators can use it."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .._types import AnyArray, Array
from .unknown import ignore_unknown

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ATTRIBUTE", "EncodedColumns", "Encoding", "find_columns_of", "find_encoding"]

#: The key in `DataFrame.attrs`.
ATTRIBUTE = "ksparse_columns"
#: Relative differences of sums that are rounding errors.
DIGEST_TOLERANCE = 1e-9


class RowEncoder(Protocol):
    """What an encoding needs of an encoder."""

    features_: dict[str, Any]

    @property
    def n_features_out_(self) -> int: ...
    @property
    def feature_columns_(self) -> AnyArray: ...
    def refit(self, X: Any, y: Any = None) -> RowEncoder: ...
    def transform(self, X: Any) -> pd.DataFrame: ...
    def get_feature_names_out(self, input_features: Any = None) -> AnyArray: ...


@dataclass(frozen=True, eq=False)
class Encoding:
    """A table and the encoder that made features of it: folds encode their own rows with it.

    Attributes
    ----------
    table : DataFrame
        The columns of the table, one row for each sample.
    encoder : RowEncoder
        The encoder, fitted to the whole table.

    Examples
    --------
    >>> import pandas as pd
    >>> from ksparse.tables import TableEncoder, find_encoding
    >>> table = pd.DataFrame({"age": [30.0, None, 50.0, 90.0]})
    >>> encoding = find_encoding(TableEncoder().fit_transform(table))
    >>> part, X_train, X_held_out = encoding.encode_parts([0, 2], None, [1, 3])
    >>> X_held_out.ravel()                                   # the median of the training rows
    array([40., 90.])
    """

    table: Any
    encoder: Any

    @property
    def depends_on_rows(self) -> bool:
        """Whether features of a row depend on other rows, such as on their medians."""
        return bool(self.encoder.features_)

    def select_rows(self, rows: Any) -> Encoding:
        """The encoding of some rows: row numbers or a mask."""
        return replace(self, table=self.table.iloc[np.asarray(rows)])

    def refit(self, y: Any) -> RowEncoder:
        """The encoder with the medians and categories of these rows."""
        return self.encoder.refit(self.table, y)

    def encode(self) -> Any:
        """The features of the rows."""
        with ignore_unknown():
            return self.encoder.transform(self.table).to_numpy()

    def encode_parts(self, train: Any, y: Any, held_out: Any) -> tuple[Encoding, Any, Any]:
        """Features of training and of held-out rows, with the medians and categories of the training rows only."""
        parts = self.select_rows(train), self.select_rows(held_out)
        encoder = parts[0].refit(y)
        training, others = (replace(part, encoder=encoder) for part in parts)
        return training, training.encode(), others.encode()


class EncodedColumns(dict[str, str]):
    """The column of the table for each feature, by name; in the frame that an encoder returned, also its encoding.

    A dict, so that `DataFrame.attrs` can be written with the frame. A copy of it, as frames that are derived from the
    first one have, is a plain dict: rows that are selected or sorted would no longer be those of the table.

    Examples
    --------
    >>> import pandas as pd
    >>> from ksparse.tables import TableEncoder
    >>> frame = TableEncoder(min_frequency=1).fit_transform(pd.DataFrame({"town": ["Ulm", "Bonn", "Kiel"]}))
    >>> frame.attrs["ksparse_columns"]
    {'town=Kiel': 'town', 'town=Ulm': 'town'}
    """

    def __init__(self, columns: Mapping[str, str], encoding: Encoding | None = None, frame: pd.DataFrame | None = None):
        super().__init__(columns)
        self._encoding = encoding if encoding is not None and encoding.depends_on_rows else None
        self._frame = None if frame is None else weakref.ref(frame)
        self._digest = None if frame is None or self._encoding is None else _digest(frame)

    def find_encoding(self, frame: pd.DataFrame) -> Encoding | None:
        """The encoding, for the very frame that the encoder returned, as long as nothing in it was changed."""
        made: Any = None if self._frame is None else self._frame()
        if self._digest is None or made is not frame:
            return None
        now = _digest(frame) if list(self) == list(frame.columns) else np.empty(0)
        rounding = DIGEST_TOLERANCE * np.abs(self._digest).max(initial=1.0)
        if now.shape == self._digest.shape and np.allclose(now, self._digest, rtol=DIGEST_TOLERANCE, atol=rounding):
            return self._encoding
        warnings.warn(
            "the data frame was changed after a TableEncoder had made it: it is used as it is, and medians are "
            "not found again in the training part of each fold; change the table before it is encoded",
            UserWarning,
            stacklevel=4,
        )
        return None

    def __deepcopy__(self, memo: Any) -> dict[str, str]:
        return dict(self)

    def __copy__(self) -> dict[str, str]:
        return dict(self)

    def __reduce__(self) -> Any:
        return (dict, (dict(self),))


def _digest(frame: pd.DataFrame) -> Array:
    """A number for each column that changes with its values and their order."""
    weights = np.random.default_rng(0).uniform(1.0, 2.0, len(frame))
    values: Array = frame.to_numpy(dtype=np.float64)
    return np.concatenate([weights @ values, [float(len(frame))]])


def find_encoding(X: Any) -> Encoding | None:
    """The encoding of a frame that an encoder returned, or of a design of a table; None for all other data."""
    if isinstance(known := getattr(X, "encoding", None), Encoding):
        return known
    columns = _find_attribute(X)
    return columns.find_encoding(X) if isinstance(columns, EncodedColumns) else None


def find_columns_of(X: Any) -> AnyArray | None:
    """The column of the table for each feature of an encoded frame, or of a design made of such; else None."""
    if (known := getattr(X, "table_columns", None)) is not None:
        return np.asarray(known, dtype=object)
    columns = _find_attribute(X)
    if not isinstance(columns, dict) or not all(name in columns for name in X.columns):
        return None
    return np.array([columns[name] for name in X.columns], dtype=object)


def _find_attribute(X: Any) -> Any:
    attributes = getattr(X, "attrs", None)
    return attributes.get(ATTRIBUTE) if isinstance(attributes, dict) else None
