"""Which columns of a Parquet file are the index of a data frame, and so no features."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["INDEX_NAME", "find_index_columns"]

#: How pandas and Dask call an index without a name, also in files whose description says nothing of an index.
INDEX_NAME = re.compile(r"__index_level_\d+__|__null_dask_index__")


def find_index_columns(schema: Any) -> list[str]:
    """The columns that are an index of pandas or Dask, by the schema of a file as Arrow has it."""
    said = (schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in schema.names if name in said or INDEX_NAME.fullmatch(name)]
