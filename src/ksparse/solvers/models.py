"""Which model of f tells what exchanging units is worth, and what to try of its advice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from .._types import Mask
from ..objectives import LogDet
from ..objectives.base import Objective, TwiceDifferentiable
from ..objectives.protocols import HasCrossHessian
from .additive import AdditiveModel, additive_model, max_model_size, quadratic_model
from .base import Iterate, Problem
from .exchange import Exchange, ExchangeModel
from .screening import ScreenedModel

__all__ = ["attempts", "exchange_model", "support_after"]


def exchange_model(
    problem: Problem, current: Iterate, candidates: Mask
) -> ExchangeModel | ScreenedModel | AdditiveModel:
    """The quadratic model of f on the support and the candidates to enter; gains and costs where it is too large."""
    units, objective, point = problem.units, problem.objective, current.point
    objective.counters.swap_models += 1
    assert current.support is not None
    look = units.mask(units.units_in(current.support) | candidates)
    if int(look.sum()) > max_model_size(objective):
        return additive_model(problem, current)
    if isinstance(objective, HasCrossHessian) and point.x.ndim == 1 and units.singletons:
        solution = current.solution or point.restrict(current.support)
        others = np.flatnonzero(look & ~current.support)
        return ScreenedModel(objective, point, solution, current.support, others, units.number, units.always)
    at, hessian, linear = quadratic_model(point, look)
    return ExchangeModel(hessian, linear, units.number[at], current.support[at], units.always)


def is_strongly_convex(objective: Objective) -> bool:
    """Whether every restriction has a unique minimizer."""
    return isinstance(objective, LogDet) or (
        isinstance(objective, TwiceDifferentiable) and objective.is_strongly_convex
    )


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
