"""Data sets that come with scikit-learn, to try the command on."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes

from .._types import AnyArray, Array

__all__ = ["EMBEDDED", "Embedded"]

#: Each data set with its loader, the name of its target and what it is about.
EMBEDDED: dict[str, tuple[Any, str, str]] = {
    "breast-cancer": (load_breast_cancer, "diagnosis", "569 tumours, 30 features, malignant or benign"),
    "diabetes": (load_diabetes, "progression", "442 patients, 10 features, progression of the disease"),
}


class Embedded:
    """A data set of scikit-learn as a table.

    Parameters
    ----------
    name : str
        A key of `EMBEDDED`.
    """

    #: Whether a column may be left out: not one that a saved model needs.
    optional = True

    def __init__(self, name: str) -> None:
        load, self.target, _ = EMBEDDED[name]
        # Diabetes is kept by scikit-learn in units that nobody knows; its raw columns are years, mm Hg, mg/dl.
        bunch = load(scaled=False) if load is load_diabetes else load()
        self.name, self._bunch = name, bunch
        self.names = [*(str(feature) for feature in bunch.feature_names), self.target]

    def read(self, features: list[int], target: int | None) -> tuple[Array, AnyArray | None]:
        """The feature columns as numbers, and the target: classes by their names."""
        values = np.column_stack([self._bunch.data, self._bunch.target]).astype(np.float64)
        if target is None:
            return values[:, features], None
        named = target == len(self.names) - 1 and hasattr(self._bunch, "target_names")
        y = self._bunch.target_names[self._bunch.target].astype(object) if named else values[:, target]
        return values[:, features], y

    def place(self, row: int) -> str:
        """The number of a row, counted from 1."""
        return f"row {row + 1}"
