"""Parquet files; pyarrow reads them, and is imported here only."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from .._types import AnyArray, Array
from .errors import InputError, quoted, whole
from .source import bad_cell, check_finite, reading

__all__ = ["Parquet"]


class Parquet:
    """A Parquet file.

    Parameters
    ----------
    path : Path
        The file.
    """

    #: Whether a column may be left out: not one that a saved model needs.
    optional = True

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, str(path)
        try:
            self._arrow = importlib.import_module("pyarrow")
            parquet = importlib.import_module("pyarrow.parquet")
        except ImportError as error:
            raise InputError('Parquet files need pyarrow; install it with: pip install "ksparse[parquet]"') from error
        with reading(path):
            path.open("rb").close()  # what the system says about the file, before what pyarrow makes of it
            try:
                self._file = parquet.ParquetFile(path)
            except (self._arrow.ArrowException, OSError) as error:
                raise self._damaged() from error
        self.names = [str(name) for name in self._file.schema_arrow.names]
        twice = (
            {name for name in self.names if self.names.count(name) > 1}
            if len(set(self.names)) < len(self.names)
            else ()
        )
        for name in twice:
            raise InputError(f"{whole(path)} has two columns called {quoted(name)}; rename one of them")
        if self._file.metadata.num_rows == 0:
            raise InputError(f"{whole(path)} has columns but no rows; add rows of data")

    def _damaged(self) -> InputError:
        return InputError(f"{whole(self.path)} is not a Parquet file, or it is damaged; make or download it again")

    def read(self, features: list[int], target: int | None) -> tuple[Array, AnyArray | None]:
        """The feature columns as numbers, and the target's values: numbers, booleans or text."""
        wanted = [*features, *([] if target is None else [target])]
        with reading(self.path):
            try:
                table = self._file.read(columns=[self.names[column] for column in wanted])
            except (self._arrow.ArrowException, OSError) as error:
                raise self._damaged() from error
        X = np.empty((table.num_rows, len(features)), order="F")
        for position, column in enumerate(features):
            X[:, position] = self._number_column(table.column(self.names[column]), self.names[column])
        check_finite(self, X, [self.names[column] for column in features])
        return X, None if target is None else self._target(table.column(self.names[target]), self.names[target])

    def place(self, row: int) -> str:
        """The number of a row, counted from 1."""
        return f"row {row + 1}"

    def _is_number(self, kind: Any) -> bool:
        types = self._arrow.types
        return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))

    def _number_column(self, column: Any, name: str) -> Array:
        if not self._is_number(column.type) and not self._arrow.types.is_boolean(column.type):
            raise bad_cell(self, name, column[0].as_py(), 0)
        return np.asarray(column.cast(self._arrow.float64(), safe=False).to_numpy())

    def _target(self, column: Any, name: str) -> AnyArray:
        if column.null_count:
            row = int(np.argmax(column.is_null().to_numpy()))
            raise InputError(
                f"the target {quoted(name)} is missing on {self.place(row)} of {whole(self.path)}; remove the row or"
                " fill it in"
            )
        if self._is_number(column.type):
            return self._number_column(column, name)
        values = column.to_pylist()
        if all(isinstance(value, bool) for value in values):
            return np.array(values, dtype=bool)
        if not all(isinstance(value, str) for value in values):
            raise InputError(
                f"the target {quoted(name)} of {whole(self.path)} has values such as {quoted(values[0])}; expected"
                " numbers, booleans or text"
            )
        return np.array(values, dtype=object)
