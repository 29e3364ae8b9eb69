"""What compiled refits work on."""

from __future__ import annotations

from typing import NamedTuple

from .._types import Array

__all__ = [
    "COX",
    "FAILED",
    "HINGE",
    "HUBER",
    "LOGISTIC",
    "NEGATIVE_BINOMIAL",
    "POISSON",
    "QUANTILE",
    "SOLVED",
    "SQUARED",
    "TWEEDIE",
    "UNFINISHED",
    "Limits",
    "SampleArrays",
]

#: The losses that are compiled.
LOGISTIC, POISSON, HUBER, HINGE, SQUARED, TWEEDIE, NEGATIVE_BINOMIAL, QUANTILE, COX = range(9)
#: How a refit has ended; after FAILED, what it gives is of no use.
SOLVED, UNFINISHED, FAILED = range(3)


class SampleArrays(NamedTuple):
    """Samples with one output, whose loss is compiled."""

    #: The number of the loss.
    loss: int
    #: Its parameters, such as Huber's delta.
    parameters: Array
    #: A row for each coordinate, with the features' columns and then the intercept's, of ones.
    design: Array
    #: y as the loss wants it.
    target: Array
    #: Sample weights that sum to 1.
    weights: Array
    #: Known part of the margins.
    offset: Array
    #: Margins are compared with this number, where they are small.
    unit: float


class Limits(NamedTuple):
    """When the method ends."""

    #: The end is a Newton decrement of at most this fraction of f,
    tol: float
    #: or this one, where the Hessian is that of an earlier step.
    reused_tol: float
    #: A Hessian serves another step only if the decrement is more than this fraction of f.
    min_decrease: float
    #: The method gives up once f is unlikely to come below this value.
    goal: float
    #: Limit of steps.
    max_iter: int
