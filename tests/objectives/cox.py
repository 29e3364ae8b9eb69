"""Cox's proportional hazards, as an extension would write it: a loss of all margins together, and its objective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ksparse._types import Array, IntArray
from ksparse.objectives import JointLoss, LinearObjective


class RiskSets:
    """Sums over the samples at risk at each sample's time, and over the times before it, by cumulative sums."""

    def __init__(self, times: Array) -> None:
        self._order: IntArray = np.argsort(times, kind="stable")
        self._back: IntArray = np.argsort(self._order)
        ordered = times[self._order]
        self._first = np.searchsorted(ordered, ordered, side="left")
        self._last = np.searchsorted(ordered, ordered, side="right") - 1

    def sum_at_risk(self, values: Array, add: Any = np.add) -> Array:
        """Σ_{j: t_j ≥ t_i} v_j for each sample i."""
        sums = add.accumulate(values[self._order][::-1], axis=0)[::-1]
        return np.asarray(sums[self._first][self._back])

    def sum_until(self, values: Array) -> Array:
        """Σ_{i: t_i ≤ t_j} v_i for each sample j."""
        return np.asarray(np.cumsum(values[self._order], axis=0)[self._last][self._back])


@dataclass(frozen=True)
class CoxLoss(JointLoss):
    """−Σᵢ sᵢ dᵢ (mᵢ − log Σ_{j: t_j ≥ t_i} s_j exp(m_j)): the partial likelihood with Breslow's ties.

    y has the times t and the events d as columns. A weight of 2 is the same as two equal samples.
    """

    allows_intercept = False

    def output_shape(self, target: Array) -> tuple[int, ...]:
        return ()

    def total(self, margins: Array, y: Array, weights: Array) -> float:
        counts = (weights > 0) & (y[:, 1] > 0)
        logs = np.log(weights, where=weights > 0, out=np.full(len(weights), -np.inf))
        at_risk = RiskSets(y[:, 0]).sum_at_risk(margins + logs, np.logaddexp)
        return float(weights[counts] @ (at_risk - margins)[counts])

    def _parts(self, margins: Array, y: Array, weights: Array) -> tuple[RiskSets, Array, Array, Array]:
        """Risk sets, hazards e = s·exp(m), the rates s·d/S of the events, and S itself."""
        sets = RiskSets(y[:, 0])
        hazards = weights * np.exp(margins - margins.max(initial=-np.inf))
        at_risk = np.maximum(sets.sum_at_risk(hazards), np.finfo(float).tiny)
        return sets, hazards, weights * y[:, 1] / at_risk, at_risk

    def slopes(self, margins: Array, y: Array, weights: Array) -> Array:
        sets, hazards, rates, _ = self._parts(margins, y, weights)
        return hazards * sets.sum_until(rates) - weights * y[:, 1]

    def multiply_hessian(self, margins: Array, y: Array, weights: Array, directions: Array) -> Array:
        sets, hazards, rates, at_risk = self._parts(margins, y, weights)
        moved = hazards[:, None] * directions
        means = (rates / at_risk)[:, None] * sets.sum_at_risk(moved)
        return sets.sum_until(rates)[:, None] * moved - hazards[:, None] * sets.sum_until(means)

    def hessian_diagonal(self, margins: Array, y: Array, weights: Array) -> Array:
        sets, hazards, rates, at_risk = self._parts(margins, y, weights)
        return hazards * sets.sum_until(rates) - np.square(hazards) * sets.sum_until(rates / at_risk)


class Cox(LinearObjective):
    """f(w) = the mean negative log partial likelihood of the margins Xw, plus (alpha/2)·‖w‖².

    Parameters
    ----------
    X : array-like, sparse matrix or Design, of shape (n, p)
        The data.
    y : array-like of shape (n, 2)
        Times, and 1 for an event or 0 for a censored sample.
    alpha, sample_weight, offset
        As in `LinearObjective`.
    """

    loss = CoxLoss()

    def encode_target(self, y: Any, n: int) -> Array:
        target = np.asarray(y, dtype=np.float64)
        if target.shape != (n, 2):
            raise ValueError(f"y has shape {target.shape}; expected ({n}, 2): times and events")
        if not np.isfinite(target[:, 0]).all() or not np.isin(target[:, 1], (0.0, 1.0)).all():
            raise ValueError("y must have finite times, and events that are 0 or 1")
        return target

    def check_weighted_target(self, target: Array) -> None:
        if not target[:, 1].any():
            raise ValueError("y has no event; Cox needs at least one sample with an event and a positive weight")
