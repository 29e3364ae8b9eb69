"""What the selected units are worth to f, and what could replace them, in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._types import Array, Mask
from ..objectives.linear import normalize_weights
from .correlating import correlate_blocks
from .ordinary import find_deviations, take_columns
from .refits import Refits, has_minimum
from .replacing import find_replacements, weigh_units
from .units import ModelUnits

__all__ = ["UnitValues", "Valued", "value_units"]


@dataclass(frozen=True)
class Valued:
    """A replacement of a unit: the other one, the increase of f, and their correlation."""

    other: int
    increase: float
    correlation: float


@dataclass(frozen=True)
class UnitValues:
    """What the selected units of a model are worth.

    Attributes
    ----------
    value, mean_loss : float
        f and the mean loss of the model.
    explained : float
        f without any unit minus f of the model.
    increases, loss_increases : dict
        For each selected unit, by how much f and the mean loss rise without it.
    replacements : dict
        For each selected unit, the best ones in its place, the best first.
    deviations : ndarray
        Standard deviations of the selected features.
    binary : ndarray of bool
        Which of them are only 0 and 1.
    n_samples : float
        How many samples there are, by their weights.
    is_bounded : bool
        Whether f has a minimum on the selected units.
    selects_with_other_ridge : bool
        Whether the units were selected with another ridge than that of this f.
    """

    value: float
    mean_loss: float
    explained: float
    increases: dict[int, float]
    loss_increases: dict[int, float]
    replacements: dict[int, list[Valued]]
    deviations: Array
    binary: Mask
    n_samples: float
    is_bounded: bool
    selects_with_other_ridge: bool


def value_units(model: Any, samples: Any, units: ModelUnits, count: int) -> UnitValues:
    """Refit a model with fixed k and penalties without each selected unit, and with `count` others in its place."""
    refits = Refits(model, samples)
    current = refits.refit(units.selected)
    value, mean_loss = current.value, refits.compute_mean_loss(current)
    null = refits.refit(np.zeros_like(units.selected))
    worths = weigh_units(refits, current, units.selected)
    found = find_replacements(refits, current, units.selected, worths, count)
    _, weights = normalize_weights(samples.sample_weight, len(samples))

    def take(unit: int) -> Array:
        return take_columns(samples.X, units.find_features(unit))

    replacements: dict[int, list[Valued]] = {unit: [] for unit in worths}
    for unit, other, replaced in found:
        correlation = correlate_blocks(take(unit), take(other), weights)
        replacements[unit].append(Valued(other, replaced - value, correlation))
    columns = take_columns(samples.X, np.flatnonzero(model.support_))
    _, deviations = find_deviations(columns, weights)
    return UnitValues(
        value=value,
        mean_loss=mean_loss,
        explained=null.value - value,
        increases={unit: worth.value - value for unit, worth in worths.items()},
        loss_increases={unit: worth.mean_loss - mean_loss for unit, worth in worths.items()},
        replacements=replacements,
        deviations=deviations,
        binary=((columns == 0) | (columns == 1)).all(axis=0),
        n_samples=refits.n_samples,
        is_bounded=has_minimum(current),
        selects_with_other_ridge=model.get_refit_penalty() is not None,
    )
