"""Exchanges among many candidates: what single ones promise, and chains of those that promise something.

What a single exchange changes needs the Hessian on the support and between it and the candidates (see `exchange`). Its
block among the candidates, which costs most where they are many, is made for the few that take part in a chain.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .._types import Array, IntArray, Mask
from ..objectives.base import Objective, Point, compute_hessian
from .exchange import COLLINEAR, Exchange, ExchangeModel, Forecast, best_positions, inverse_of

__all__ = ["ScreenedModel"]

#: A chain is looked for among so many candidates for each of its exchanges.
ROOM = 2


class ScreenedModel:
    """The quadratic model of f on a support and candidates, all of whose units are single coordinates of a vector.

    Parameters
    ----------
    objective : Objective
        f.
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

    Attributes
    ----------
    singular : bool
        Whether the support has more coordinates than the model determines.
    """

    def __init__(
        self,
        objective: Objective,
        point: Point,
        solution: Point,
        support: Mask,
        candidates: IntArray,
        unit: IntArray,
        fixed: Mask,
    ) -> None:
        self._objective, self._point = objective, point
        self._inside, self._candidates = np.flatnonzero(support), candidates
        self._unit, self._fixed = unit, fixed
        self._own = compute_hessian(solution.objective, solution)
        self._cross, self._diagonal = objective.cross_hessian(point, solution, self._inside, candidates)  # type: ignore[attr-defined]
        self._inverse, self.singular = inverse_of(self._own)
        units = unit[self._inside]
        self._movable = np.flatnonzero((units >= 0) & ~fixed[units])
        self._chain: ExchangeModel | None = None
        self._members = self._inside

    @cached_property
    def _changes(self) -> Array:
        """Change of the model for each pair of a leaving and an entering coordinate."""
        slopes = self._point.gradient
        step = self._inverse @ slopes[self._inside]
        solved = self._inverse @ self._cross
        schur = self._diagonal - np.einsum("ij,ij->j", self._cross, solved)
        possible = schur > COLLINEAR * self._diagonal
        schur = np.where(possible, schur, 1.0)
        slope = step @ self._cross - slopes[self._candidates]
        coefficients = (self._point.x[self._inside] - step)[self._movable]
        cross = solved[self._movable]
        left = coefficients[:, None] - cross * (slope / schur)
        np.square(left, out=left)
        np.square(cross, out=cross)
        cross *= 2.0 / schur
        cross += 2.0 * self._inverse.diagonal()[self._movable][:, None]
        left /= cross
        left -= 0.5 * np.square(slope) / schur
        left[:, ~possible] = np.inf
        return left

    def best_pairs(self, count: int) -> list[Exchange]:
        """The exchanges that change the model most for the better, or least for the worse; ties by position."""
        changes = self._changes
        exchanges = []
        for position in best_positions(changes, count):
            row, column = divmod(position, changes.shape[1])
            leaving, entering = self._inside[self._movable[row]], self._candidates[column]
            exchanges.append(Exchange(int(self._unit[leaving]), int(self._unit[entering]), float(changes[row, column])))
        return exchanges

    def chain(self, length: int, threshold: float) -> list[Exchange]:
        """Up to `length` exchanges, each the best after those before it, while they gain more than `threshold`."""
        promised = self._changes.min(axis=0, initial=np.inf)
        if not (promised < -threshold).any():
            return []
        count = min(ROOM * length, promised.size)
        chosen = np.sort(np.argsort(promised, kind="stable")[:count])
        self._members = np.concatenate([self._inside, self._candidates[chosen]])
        self._hessian, linear = self._among(chosen)
        inside = np.arange(self._members.size) < self._inside.size
        self._chain = ExchangeModel(
            self._hessian, linear, self._unit[self._members], inside, self._fixed, (self._inverse, self.singular)
        )
        return self._chain.chain(length, threshold)

    def _among(self, chosen: IntArray) -> tuple[Array, Array]:
        """H and b on the support and the chosen candidates."""
        k, size = self._inside.size, self._members.size
        hessian = np.empty((size, size))
        hessian[:k, :k] = self._own
        hessian[:k, k:] = self._cross[:, chosen]
        hessian[k:, :k] = hessian[:k, k:].T
        entering = np.zeros(self._objective.shape, dtype=bool)
        entering[self._members[k:]] = True
        alone = self._point.restrict(entering)
        order = np.argsort(np.argsort(self._members[k:]))
        hessian[k:, k:] = compute_hessian(alone.objective, alone)[order[:, None], order]
        x = self._point.x[self._inside]
        return hessian, hessian[:, :k] @ x - self._point.gradient[self._members]

    def forecast(self, support: Mask, exchanges: list[Exchange]) -> Forecast | None:
        """The minimizer of the model after the first exchanges of its chain, which lead to `support`."""
        if self._chain is None:
            return None
        kept = np.flatnonzero(support[self._members])
        kept = kept[np.argsort(self._members[kept])]
        x = np.zeros(self._objective.shape)
        x[support] = self._chain.solutions[len(exchanges) - 1, kept]
        return Forecast(x, self._hessian[kept[:, None], kept])
