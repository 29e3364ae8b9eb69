"""Swaps among many candidates, for units of one coordinate: the Hessian between candidates only where it is needed.

The formula of a single swap needs the Hessian on the support and between the support and the candidates. Its block
among the candidates, the most expensive one where they are many, is computed for the few that take part in a chain.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..._types import Array, IntArray, Mask
from ...objectives.base import Point, compute_hessian
from ...objectives.protocols import HasCrossHessian
from .formula import all_changes, entering_terms
from .quadratic import QuadraticSwapModel, smallest_positions
from .swap_model import PredictedMinimizer, Swap
from .tableau import invert
from .tuning import SwapTuning

__all__ = ["ScreenedSwapModel"]


class _ChainModel(NamedTuple):
    """The quadratic model on the support and the candidates of a chain; `members` are their coordinates of x."""

    members: IntArray
    hessian: Array
    model: QuadraticSwapModel


class ScreenedSwapModel:
    """The quadratic model of f on a support and candidates, all of whose units are single coordinates of a vector.

    Parameters
    ----------
    objective : Objective
        f, with a cheap Hessian between a support and other coordinates.
    point : Point
        Where f is modelled, with its gradient.
    solution : Point
        The same point as one of f on the support.
    support : ndarray of bool
        The support F, with the free coordinates.
    candidates : ndarray of int
        Coordinates that may enter.
    unit : ndarray of int
        Unit of each coordinate.
    fixed : ndarray of bool
        For each unit, whether it must stay.
    tuning : SwapTuning
        Constants.
    """

    basis = "the quadratic model"
    is_joint = True

    def __init__(
        self,
        objective: HasCrossHessian,
        point: Point,
        solution: Point,
        support: Mask,
        candidates: IntArray,
        unit: IntArray,
        fixed: Mask,
        tuning: SwapTuning,
    ) -> None:
        self._point, self._tuning = point, tuning
        self._inside, self._candidates = np.flatnonzero(support), candidates
        self._unit, self._fixed = unit, fixed
        self._own = compute_hessian(solution.objective, solution)
        self._cross, self._diagonal = objective.cross_hessian(point, solution, self._inside, candidates)
        self._inverse = invert(self._own, tuning)
        units = unit[self._inside]
        self._movable = np.flatnonzero((units >= 0) & ~fixed[units])
        self._chain: _ChainModel | None = None

    @property
    def is_singular(self) -> bool:
        return self._inverse.is_singular

    @cached_property
    def _changes(self) -> Array:
        """Predicted change for each pair of a leaving and an entering coordinate."""
        inverse, slopes = self._inverse.matrix, self._point.gradient
        newton_step = inverse @ slopes[self._inside]
        solved = inverse @ self._cross
        schur = self._diagonal - np.einsum("ij,ij->j", self._cross, solved)
        downhill = newton_step @ self._cross - slopes[self._candidates]
        terms = entering_terms(downhill, schur, self._tuning.collinear * self._diagonal)
        coefficients = self._point.x[self._inside] - newton_step
        leaving = self._movable
        return all_changes(coefficients[leaving], inverse.diagonal()[leaving], solved[leaving], terms)

    def best_swaps(self, count: int) -> list[Swap]:
        changes = self._changes
        swaps = []
        for position in smallest_positions(changes, count):
            row, column = divmod(position, changes.shape[1])
            leaving, entering = self._inside[self._movable[row]], self._candidates[column]
            swaps.append(Swap(int(self._unit[leaving]), int(self._unit[entering]), float(changes[row, column])))
        return swaps

    def chain(self, length: int, threshold: float) -> list[Swap]:
        lowest = self._changes.min(axis=0, initial=np.inf)
        if not (lowest < -threshold).any():
            return []
        count = min(self._tuning.candidates_per_swap * length, lowest.size)
        chosen = np.sort(np.argsort(lowest, kind="stable")[:count])
        self._chain = self._model_with(chosen)
        return self._chain.model.chain(length, threshold)

    def predicted_minimizer(self, support: Mask, n_swaps: int) -> PredictedMinimizer | None:
        if self._chain is None:
            return None
        members, hessian, model = self._chain
        kept = np.flatnonzero(support[members])
        kept = kept[np.argsort(members[kept])]
        x = np.zeros_like(self._point.x)
        x[support] = model.solutions[n_swaps - 1][kept]
        return PredictedMinimizer(x, hessian[kept[:, None], kept])

    def removals(self, count: int) -> list[int]:
        none = np.array([], dtype=np.intp)
        return self._model_with(none).model.removals(count)

    def _model_with(self, chosen: IntArray) -> _ChainModel:
        """The whole quadratic model on the support and the chosen candidates."""
        members = np.concatenate([self._inside, self._candidates[chosen]])
        k, size = self._inside.size, members.size
        hessian = np.empty((size, size))
        hessian[:k, :k] = self._own
        hessian[:k, k:] = self._cross[:, chosen]
        hessian[k:, :k] = hessian[:k, k:].T
        if size > k:
            entering = np.zeros(self._point.x.shape, dtype=bool)
            entering[members[k:]] = True
            alone = self._point.restrict(entering)
            order = np.argsort(np.argsort(members[k:]))
            hessian[k:, k:] = compute_hessian(alone.objective, alone)[order[:, None], order]
        linear = hessian[:, :k] @ self._point.x[self._inside] - self._point.gradient[members]
        inside = np.arange(size) < k
        model = QuadraticSwapModel(
            hessian, linear, self._unit[members], inside, self._fixed, self._tuning, self._inverse
        )
        return _ChainModel(members, hessian, model)
