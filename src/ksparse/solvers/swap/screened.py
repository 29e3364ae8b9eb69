"""Swaps among many candidates, for units of one coordinate: the Hessian between candidates only where it is needed.

The formula of a single swap needs the Hessian on the support and between the support and the candidates. Its block
among the candidates, the most expensive one where they are many, is computed for the few that take part in a chain.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..._types import Array, IntArray, Mask
from ...objectives.base import Point, compute_hessian
from ...objectives.protocols import HasCrossHessian
from .formula import Entering, all_changes
from .swap_model import PredictedMinimizer, Swap, SwapModel
from .tableau import QuadraticSwapModel, invert, rank_swaps
from .tuning import SwapTuning

__all__ = ["ScreenedSwapModel"]


class ScreenedSwapModel(SwapModel):
    """The quadratic model of f on a support and candidates, all of whose units are single coordinates of a vector.

    f is modelled at `point`; `solution` is the same point as one of f on the `support`, which has the free coordinates
    too. `slopes` is the gradient, zero where bounds hold a coefficient at zero. `candidates` are coordinates that may
    enter; for `unit` and `fixed` see `QuadraticSwapModel`.
    """

    def __init__(
        self,
        objective: HasCrossHessian,
        point: Point,
        solution: Point,
        slopes: Array,
        support: Mask,
        candidates: IntArray,
        unit: IntArray,
        fixed: Mask,
        tuning: SwapTuning,
    ) -> None:
        self._point, self._slopes, self._tuning = point, slopes, tuning
        self._inside, self._candidates = support.nonzero()[0], candidates
        self._unit, self._fixed = unit, fixed
        self._own = compute_hessian(solution.objective, solution)
        self._cross, self._diagonal = objective.cross_hessian(point, solution, self._inside, candidates)
        self._inverse = invert(self._own, tuning)
        self.is_singular = self._inverse.is_singular
        units = unit[self._inside]
        self._movable = ((units >= 0) & ~fixed[units]).nonzero()[0]
        # Coordinates of the support and of the candidates of the last chain, the Hessian on them, and the solutions.
        self._chain: tuple[IntArray, Array, Array] | None = None

    @cached_property
    def _terms(self) -> tuple[Array, Array, Array, Entering]:
        """The terms of the formula of a swap: of the leaving coordinates, of all pairs, and of the entering ones."""
        from ._kernels import list_entering_terms

        inverse, slopes = self._inverse.matrix, self._slopes
        newton_step = inverse @ slopes[self._inside]
        solved = inverse @ self._cross
        schur = self._diagonal - np.einsum("ij,ij->j", self._cross, solved)
        downhill = newton_step @ self._cross - slopes[self._candidates]
        entering = Entering(*list_entering_terms(downhill, schur, self._tuning.collinear * self._diagonal))
        coefficients = self._point.x[self._inside] - newton_step
        leaving = self._movable
        return coefficients[leaving], inverse.diagonal()[leaving], solved[leaving], entering

    def find_best_swaps(self, count: int) -> list[Swap]:
        leaving, entering = self._unit[self._inside[self._movable]], self._unit[self._candidates]
        return rank_swaps(all_changes(*self._terms), leaving, entering, count)

    def find_best_entering(self, count: int) -> IntArray:
        """The units whose best swaps are the best ones."""
        return self._unit[self._candidates[np.argsort(self._lowest_changes, kind="stable")[:count]]]

    @cached_property
    def _lowest_changes(self) -> Array:
        """The predicted change of the best swap of each candidate."""
        from ._kernels import find_lowest_changes

        coefficients, inverses, cross, entering = self._terms
        lowest: Array = find_lowest_changes(coefficients, inverses, cross, *entering)
        return lowest

    def find_chain(self, length: int, threshold: float) -> list[Swap]:
        lowest = self._lowest_changes
        if not (lowest < -threshold).any():
            return []
        count = min(self._tuning.candidates_per_swap * length, lowest.size)
        chosen = np.sort(np.argsort(lowest, kind="stable")[:count])
        members = np.concatenate([self._inside, self._candidates[chosen]])
        hessian, inside = self._compute_hessian(chosen), np.arange(members.size) < self._inside.size
        linear = hessian[:, : self._inside.size] @ self._point.x[self._inside] - self._slopes[members]
        unit, fixed, tuning = self._unit[members], self._fixed, self._tuning
        model = QuadraticSwapModel(hessian, linear, unit, inside, fixed, tuning, self._inverse)
        swaps = model.find_chain(length, threshold)
        self._chain = members, hessian, model.solutions
        return swaps

    def predict_minimizer(self, support: Mask, n_swaps: int) -> PredictedMinimizer | None:
        if self._chain is None:
            return None
        members, hessian, solutions = self._chain
        kept = support[members].nonzero()[0]
        kept = kept[np.argsort(members[kept])]
        x = np.zeros_like(self._point.x)
        x[support] = solutions[n_swaps - 1][kept]
        return PredictedMinimizer(x, hessian[kept[:, None], kept])

    def _compute_hessian(self, chosen: IntArray) -> Array:
        """The Hessian on the support and the chosen candidates."""
        k, entering = self._inside.size, np.zeros(self._point.x.shape, dtype=bool)
        hessian = np.empty((k + chosen.size, k + chosen.size))
        hessian[:k, :k] = self._own
        hessian[:k, k:] = self._cross[:, chosen]
        hessian[k:, :k] = hessian[:k, k:].T
        entering[self._candidates[chosen]] = True
        alone = self._point.restrict(entering)
        order = np.argsort(np.argsort(self._candidates[chosen]))
        hessian[k:, k:] = compute_hessian(alone.objective, alone)[order[:, None], order]
        return hessian
