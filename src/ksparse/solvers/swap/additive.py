"""Swaps ranked by gains and costs of single units, where a quadratic model would be too large."""

from __future__ import annotations

import numpy as np

from ..._types import Array, IntArray, Mask
from .swap_model import PredictedMinimizer, Swap

__all__ = ["AdditiveSwapModel"]


class AdditiveSwapModel:
    """A model in which a swap changes f by the cost of the leaving unit minus the gain of the entering one.

    It does not see that units explain each other, so it has no minimizer to predict.

    Parameters
    ----------
    costs : ndarray
        By how much f rises if a unit leaves; for units in the support.
    gains : ndarray
        By how much f falls if a unit enters; for units outside.
    inside : ndarray of bool
        Which units are in the support.
    fixed : ndarray of bool
        Which units must stay.
    """

    basis = "gains and costs of single units"
    is_joint = False
    is_singular = False

    def __init__(self, costs: Array, gains: Array, inside: Mask, fixed: Mask) -> None:
        leaving = np.flatnonzero(inside & ~fixed)
        self._leaving = leaving[np.argsort(costs[leaving], kind="stable")]
        self._entering = np.flatnonzero(~inside)
        self._costs, self._gains = costs, gains

    def best_swaps(self, count: int) -> list[Swap]:
        entering = self._best_entering(count)
        swaps = [self._swap(out, into) for out in self._leaving[:count] for into in entering]
        return sorted(swaps, key=lambda swap: swap.change)[:count]

    def chain(self, length: int, threshold: float) -> list[Swap]:
        swaps = []
        for out, into in zip(self._leaving[:length], self._best_entering(length), strict=False):
            swap = self._swap(out, into)
            if not swap.change < -threshold:
                break
            swaps.append(swap)
        return swaps

    def predicted_minimizer(self, support: Mask, n_swaps: int) -> PredictedMinimizer | None:
        return None

    def removals(self, count: int) -> list[int]:
        return [int(unit) for unit in self._leaving[:count]]

    def _swap(self, leaving: int, entering: int) -> Swap:
        return Swap(int(leaving), int(entering), float(self._costs[leaving] - self._gains[entering]))

    def _best_entering(self, count: int) -> IntArray:
        gains = self._gains[self._entering]
        near = np.arange(gains.size)
        if count < gains.size:
            near = np.flatnonzero(gains >= np.partition(gains, gains.size - count)[gains.size - count])
        return self._entering[near[np.argsort(-gains[near], kind="stable")]][:count]
