"""Minimizing f on a fixed support (step S3), always in the k dimensions of the support."""

from .base import Bounds, Debias, Outcome, Solution
from .exact import Exact
from .one_step import GradientStep, NewtonStep, Truncate

__all__ = ["Bounds", "Debias", "Exact", "GradientStep", "NewtonStep", "Outcome", "Solution", "Truncate"]
