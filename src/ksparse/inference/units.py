"""Names of the features, units and outputs of a fitted model, and which units it has selected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._types import AnyArray, IntArray, Mask

__all__ = ["ModelUnits", "describe_units"]


@dataclass(frozen=True)
class ModelUnits:
    """The units of a model: features, or groups of features.

    Attributes
    ----------
    features : ndarray
        Names of the features.
    names : ndarray
        Names of the units.
    number : ndarray of int, shape (n_features,)
        The unit of each feature.
    grouped : bool
        Whether units are groups.
    selected : ndarray of bool, shape (n_units,)
        The selected units.
    outputs : tuple
        Names of the classes or responses that have coefficients of their own; none if there is one.
    kind : str
        What k counts, for people, in the plural.
    """

    features: AnyArray
    names: AnyArray
    number: IntArray
    grouped: bool
    selected: Mask
    outputs: tuple[Any, ...]
    kind: str

    def find_features(self, unit: int) -> IntArray:
        """The features of a unit."""
        return np.flatnonzero(self.number == unit)

    def find_units(self, features: Mask) -> Mask:
        """For each set of features (rows), the units that have one of them."""
        rows, columns = np.nonzero(features)
        found = np.zeros((len(features), len(self.names)), dtype=bool)
        found[rows, self.number[columns]] = True
        return found


def describe_units(model: Any, feature_names: Any = None) -> ModelUnits:
    """The units of a fitted linear model; features without names are x0, x1 and so on."""
    count = model.n_features_in_
    names = getattr(model, "feature_names_in_", None) if feature_names is None else feature_names
    if names is None:
        names = [f"x{index}" for index in range(count)]
    if len(names) != count:
        raise ValueError(f"feature_names has {len(names)} names, but the model has {count} features; give one for each")
    features = np.empty(count, dtype=object)
    features[:] = list(names)
    labels = getattr(model, "_labels", None)
    unit_names, number = features, np.arange(count)
    if labels is not None:
        unit_names, number = np.unique(labels, return_inverse=True)
    rows = len(np.atleast_2d(model.coef_))
    outputs: tuple[Any, ...] = ()
    if rows > 1:
        outputs = tuple(_find_output_names(model, rows))
    selected = np.zeros(len(unit_names), dtype=bool)
    selected[number[model.support_]] = True
    kind = "features"
    if labels is not None:
        given = getattr(model, "feature_groups", None)
        kind = "columns" if isinstance(given, str) and given == "columns" else "groups"
    return ModelUnits(features, unit_names, number, labels is not None, selected, outputs, kind)


def _find_output_names(model: Any, count: int) -> list[Any]:
    """The classes, or the names of the responses; responses without names are y0, y1 and so on."""
    names = getattr(model, "classes_", getattr(model, "response_names_", None))
    return [f"y{index}" for index in range(count)] if names is None else list(names.tolist())
