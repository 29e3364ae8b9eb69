"""Svmlight files: labels, and features that are named by their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
from sklearn.datasets import load_svmlight_file

from .._types import AnyArray, Matrix
from ..limits import LARGEST, SVMLIGHT_COST
from .errors import InputError, choose_limit, explain_read_errors, quote_path
from .files.limited_files import open_bytes
from .files.sources import FileSource

#: What a line looks like.
EXAMPLE = "expected lines such as '1 3:0.5 7:2'"


class FeatureNumbers(Sequence[str]):
    """The numbers of features as their names; there may be millions, so that none is made before it is asked for."""

    def __init__(self, numbers: range) -> None:
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> FeatureNumbers: ...
    def __getitem__(self, place: int | slice) -> str | FeatureNumbers:
        found = self._numbers[place]
        return FeatureNumbers(found) if isinstance(found, range) else str(found)

    def __contains__(self, name: object) -> bool:
        plain = isinstance(name, str) and name.isascii() and name.isdigit() and len(name) < 20
        return plain and str(int(str(name))) == name and int(name) in self._numbers

    def index(self, name: Any, start: int = 0, stop: int | None = None) -> int:
        """The place of a feature."""
        if name not in self:
            raise ValueError(f"{name!r} is not the number of a feature")
        return self._numbers.index(int(name))


def load_svmlight(path: Path, max_memory: int | None = None) -> tuple[Matrix, AnyArray, list[str]]:
    """Rows with features at their own numbers, labels, and what is wrong with the features; an error without rows.

    Parameters
    ----------
    path : Path
        The file.
    max_memory : int, optional
        Memory in bytes that the rows may take; see `ksparse.limits` for the default.
    """
    with explain_read_errors(path):
        limit = choose_limit(path, max_memory)
        try:
            with open_bytes(FileSource(str(path), path), limit, SVMLIGHT_COST) as file:
                X, y = load_svmlight_file(file, zero_based=True)
        except (ValueError, OverflowError) as error:
            raise InputError(f"cannot read {quote_path(path)} as svmlight: {str(error)[:200]}; {EXAMPLE}") from error
    if len(y) == 0:
        raise InputError(f"{quote_path(path)} is empty; {EXAMPLE}")
    wrong = np.flatnonzero(~(np.abs(X.data) <= LARGEST))
    if not wrong.size:
        return X, y, []
    rows = np.searchsorted(X.indptr, wrong, side="right")
    count = len(np.unique(rows))
    where = f"in {count} row{'s' * (count != 1)}, first feature {X.indices[wrong[0]]} on row {rows[0]}"
    return X, y, [f"{quote_path(path)} has values that are not numbers up to {LARGEST:g} {where}; correct them"]
