"""Minimizing f on a fixed support (step S3), always in the k dimensions of the support."""

from ..objectives.base import Outcome
from .base import Bounds, Debias, Solution
from .exact import Exact
from .neighbourhood import minimize_precision
from .one_step import GradientStep, NewtonStep, Truncate

__all__ = [
    "Bounds",
    "Debias",
    "Exact",
    "GradientStep",
    "NewtonStep",
    "Outcome",
    "Solution",
    "Truncate",
    "minimize_precision",
]
