"""Which model of f tells what exchanging units is worth, and what to try of its advice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from .._types import Mask
from .additive import AdditiveModel, additive_model
from .base import Iterate, Problem
from .exchange import Exchange, ExchangeModel
from .screening import ScreenedModel

__all__ = ["attempts", "exchange_model", "support_after"]


def exchange_model(
    problem: Problem, current: Iterate, candidates: Mask
) -> ExchangeModel | ScreenedModel | AdditiveModel:
    """The quadratic model of f on the support and the candidates to enter; gains and costs where it is too large."""
    units, objective, point = problem.units, problem.objective, current.point
    assert current.support is not None
    look = units.mask(units.units_in(current.support) | candidates)
    if int(look.sum()) > objective.largest_model:
        return additive_model(problem, current)
    if objective.has_cross_hessian and units.singletons:
        solution = current.solution or objective.lower(point, current.support)
        others = np.flatnonzero(look & ~current.support)
        return ScreenedModel(objective, point, solution, current.support, others, units.number, units.always)
    at, hessian, linear = objective.quadratic_model(point, look)
    return ExchangeModel(hessian, linear, units.number[at], current.support[at], units.always)


def attempts(chain: list[Exchange], pairs: list[Exchange]) -> Iterator[list[Exchange]]:
    """Prefixes of the chain, halved each time, then single exchanges; the first of these is the chain's own."""
    length = len(chain)
    while length > 0:
        yield chain[:length]
        length //= 2
    for pair in pairs[1:] if chain else pairs:
        yield [pair]


def support_after(problem: Problem, current: Iterate, exchanges: Iterable[Exchange]) -> Mask:
    """The support after some exchanges."""
    units = problem.units
    assert current.support is not None
    inside = units.units_in(current.support)
    for exchange in exchanges:
        inside[exchange.leaving] = False
        inside[exchange.entering] = True
    return units.mask(inside)
