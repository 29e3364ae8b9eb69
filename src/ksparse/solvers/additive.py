"""Which units to exchange where a quadratic model of f would be too large: gains and costs, one unit at a time."""

from __future__ import annotations

import numpy as np

from .._types import Array, IntArray, Mask
from ..objectives import LogDet
from ..objectives.base import Objective, Point, compute_hessian, has_hessian
from ..objectives.protocols import HasSwapScores, QuadraticModel
from .base import Iterate, Problem
from .exchange import Exchange, ExchangeModel, Forecast
from .merging import expected_gains, leaving_costs

__all__ = ["AdditiveModel", "additive_model", "removals", "removed"]


class AdditiveModel:
    """A model of f in which what an exchange changes is what the leaving unit costs, less what the entering one gains.

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

    Attributes
    ----------
    singular : bool
        False: the model has nothing to solve.
    """

    singular = False

    def __init__(self, costs: Array, gains: Array, inside: Mask, fixed: Mask) -> None:
        leaving, entering = np.flatnonzero(inside & ~fixed), np.flatnonzero(~inside)
        self._leaving = leaving[np.argsort(costs[leaving], kind="stable")]
        self._entering = entering
        self._costs, self._gains = costs, gains

    def chain(self, length: int, threshold: float) -> list[Exchange]:
        """Up to `length` exchanges of the cheapest units with the most promising ones, while they gain enough."""
        entering = self._best_entering(length)
        exchanges = []
        for out, into in zip(self._leaving[:length], entering, strict=False):
            exchange = self._exchange(int(out), int(into))
            if not exchange.change < -threshold:
                break
            exchanges.append(exchange)
        return exchanges

    def best_pairs(self, count: int) -> list[Exchange]:
        """The exchanges that change the model most for the better, or least for the worse; ties by position."""
        pairs = [
            self._exchange(int(out), int(into)) for out in self._leaving[:count] for into in self._best_entering(count)
        ]
        return sorted(pairs, key=lambda exchange: exchange.change)[:count]

    def forecast(self, support: Mask, exchanges: list[Exchange]) -> None:
        """The model knows of no minimizer."""

    def removals(self, count: int) -> list[int]:
        """Units to take out, those that cost least first."""
        return [int(unit) for unit in self._leaving[:count]]

    def _exchange(self, leaving: int, entering: int) -> Exchange:
        return Exchange(leaving, entering, float(self._costs[leaving] - self._gains[entering]))

    def _best_entering(self, count: int) -> IntArray:
        gains = self._gains[self._entering]
        if count < gains.size:
            limit = np.partition(gains, gains.size - count)[gains.size - count]
            near = np.flatnonzero(gains >= limit)
        else:
            near = np.arange(gains.size)
        return self._entering[near[np.argsort(-gains[near], kind="stable")]][:count]


def max_model_size(objective: Objective) -> int:
    """With more coordinates than this, swaps are ranked by single gains and costs rather than by a Hessian."""
    if isinstance(objective, LogDet):
        return 400
    return 1500 if has_hessian(objective) else 600


def quadratic_model(point: Point, coordinates: Mask) -> QuadraticModel:
    """The quadratic model of f at a point, in some coordinates."""
    if isinstance(point.objective, HasSwapScores):
        return point.objective.quadratic_model(point, coordinates)
    restricted = point.restrict(coordinates)
    hessian = compute_hessian(restricted.objective, restricted)
    # Where the full gradient is not known, it is not worth a pass over the data.
    slopes = point.gradient[coordinates] if point.has_gradient else restricted.gradient
    return QuadraticModel(coordinates, hessian, hessian @ point.x[coordinates] - slopes.ravel())


def additive_model(problem: Problem, iterate: Iterate) -> AdditiveModel:
    """What each unit costs or gains by itself."""
    units = problem.units
    assert iterate.support is not None
    inside = units.units_in(iterate.support)
    return AdditiveModel(leaving_costs(problem, iterate), expected_gains(problem, iterate), inside, units.always)


def removals(problem: Problem, iterate: Iterate, count: int) -> list[int]:
    """Units to take out of a support, those that cost least after those before them; no pass over the data."""
    return removed(problem, iterate, count)[0]


def removed(problem: Problem, iterate: Iterate, count: int) -> tuple[list[int], Forecast | None]:
    """The same units, and where f is expected to have its minimum without them, if a quadratic model tells."""
    support, units, objective = iterate.support, problem.units, problem.objective
    assert support is not None
    if int(support.sum()) > max_model_size(objective):
        costs = leaving_costs(problem, iterate)
        return AdditiveModel(costs, np.zeros_like(costs), units.units_in(support), units.always).removals(count), None
    at, hessian, linear = quadratic_model(iterate.point, support)
    everything = np.ones(linear.size, dtype=bool)
    model = ExchangeModel(hessian, linear, units.number[at], everything, units.always)
    out = model.removals(count)
    if isinstance(objective, LogDet) or model.singular:
        return out, None
    kept = ~np.isin(units.number[at], out)
    x = np.zeros(objective.shape)
    x[at] = np.where(kept, model.coefficients, 0.0)
    return out, Forecast(x, hessian[kept][:, kept])
