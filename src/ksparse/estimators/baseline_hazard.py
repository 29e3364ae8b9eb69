"""The baseline hazard of a Cox model (Breslow 1972)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._types import Array, IntArray
from ..objectives.losses.cox import BoundCoxLoss
from ..objectives.survival import STRATUM, TIME

__all__ = ["BaselineHazard", "estimate_baseline"]


@dataclass(frozen=True)
class BaselineHazard:
    """The hazard of a sample with the mean log relative hazard of the training samples, in each stratum.

    Attributes
    ----------
    times : ndarray
        The times with events; of one stratum after the other, increasing in each.
    hazard : ndarray
        The hazard at each time.
    strata : ndarray of int
        The number of the stratum of each time.
    mean_predictor : float
        The mean log relative hazard.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.estimators import BaselineHazard
    >>> baseline = BaselineHazard(np.array([1.0, 4.0]), np.array([0.25, 0.5]), np.array([0, 0]), 0.0)
    >>> baseline.find_cumulative_hazard(0, np.array([0.5, 1.0, 9.0]))
    array([0.  , 0.25, 0.75])
    """

    times: Array
    hazard: Array
    strata: IntArray
    mean_predictor: float

    @property
    def cumulative_hazard(self) -> Array:
        """The sums of the hazard over the times of each stratum."""
        cumulative = np.empty_like(self.hazard)
        for stratum in np.unique(self.strata):
            rows = self.strata == stratum
            cumulative[rows] = np.cumsum(self.hazard[rows])
        return cumulative

    def find_cumulative_hazard(self, stratum: int, times: Array) -> Array:
        """The cumulative hazard of a stratum until some times."""
        rows = self.strata == stratum
        sums = np.append(0.0, np.cumsum(self.hazard[rows]))
        found: Array = sums[np.searchsorted(self.times[rows], times, side="right")]
        return found


def estimate_baseline(margins: Array, bound: BoundCoxLoss) -> BaselineHazard:
    """Breslow's estimate: at each time, the weight of its events divided by the relative hazards at risk."""
    from ..objectives import _risk_sets

    mean = float(bound.weights @ margins)
    sets = bound.sets._replace(is_efron=False)
    _, sums = _risk_sets.sum_risk_sets(sets, margins - mean)
    at = sets.order[sets.first_event]
    times, strata = bound.y[at, TIME], bound.y[at, STRATUM].astype(np.intp)
    order = np.lexsort((times, strata))
    with np.errstate(over="ignore"):  # a hazard beyond all floats is infinite
        hazard = sums.first * np.exp(-sums.scale)
    return BaselineHazard(times[order], hazard[order], strata[order], mean)
