"""What an encoder takes as a table, and checks of the numbers that it makes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils import check_array

from .._types import AnyArray, Array
from ..limits import LARGEST
from ..wording import MOST_NAMES, quote
from .kinds import ColumnKind, KindOfColumn, infer_kind

__all__ = ["NUMBERS", "as_table", "check_limit", "find_complete_numbers", "infer_kinds"]

#: The kind of a column of numbers that are no text.
NUMBERS = ColumnKind(KindOfColumn.NUMBER)


def as_table(X: Any) -> tuple[pd.DataFrame, bool]:
    """X as a data frame with names of text, and whether it came with names."""
    if sparse.issparse(X):
        raise TypeError("a sparse matrix has numbers only, which need no encoder; pass it to the estimator itself")
    if hasattr(X, "to_pandas"):
        X = X.to_pandas()
    if isinstance(X, pd.DataFrame):
        table, named = X.copy(deep=False), True
        table.columns = [str(name) for name in X.columns]
    else:
        values = check_array(X, dtype=None, ensure_all_finite=False)
        table, named = pd.DataFrame(values, columns=[f"x{j}" for j in range(values.shape[1])]), False
        table = table.infer_objects()
    if not len(table):
        raise ValueError("the table has 0 sample(s); a minimum of 1 is required: add rows")
    if twice := table.columns[table.columns.duplicated()].tolist():
        raise ValueError(f"the table has two columns called {quote(twice[0])}; rename one of them")
    return table, named


def infer_kinds(table: pd.DataFrame, date_order: str = "auto") -> dict[str, ColumnKind]:
    """What each column holds; fast for many columns of numbers."""
    return {
        name: NUMBERS if isinstance(dtype, np.dtype) and dtype.kind in "iuf" else infer_kind(table[name], date_order)
        for name, dtype in table.dtypes.items()
    }


def find_complete_numbers(table: pd.DataFrame) -> list[str]:
    """The columns that hold numbers without gaps."""
    numeric = [name for name, dtype in table.dtypes.items() if isinstance(dtype, np.dtype) and dtype.kind in "iuf"]
    missing = np.isnan(table[numeric].to_numpy(dtype=np.float64)).any(axis=0)
    return [name for name, has_gaps in zip(numeric, missing, strict=True) if not has_gaps]


def check_limit(values: Array, columns: AnyArray) -> None:
    """Raise if a feature is infinite, or too large a number."""
    if not values.size or max(values.max(), -values.min()) <= LARGEST:
        return
    raise ValueError(
        f"values are infinite or beyond {LARGEST:g}: {_count_rows(np.abs(values) > LARGEST, columns)}; correct them, "
        "or leave out these rows or columns"
    )


def _count_rows(wrong: AnyArray, columns: AnyArray) -> str:
    """Columns with their numbers of wrong rows."""
    rows = {name: int(wrong[:, columns == name].any(axis=1).sum()) for name in columns[wrong.any(axis=0)].tolist()}
    counts = [f"{quote(name)} in {count} row{'s' * (count != 1)}" for name, count in list(rows.items())[:MOST_NAMES]]
    return ", ".join(counts) + (f", … and {len(rows) - MOST_NAMES} more columns" if len(rows) > MOST_NAMES else "")
