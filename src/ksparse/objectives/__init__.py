"""What is minimized: smooth functions bound to their data."""

from .base import Objective, Point, TwiceDifferentiable
from .definite import EigenvalueBounds, eigenvalue_bounds
from .glm import Huber, LeastSquares, Logistic, Multinomial, Poisson, SquaredHinge
from .linear import LinearObjective
from .logdet import LogDet
from .outcome import Outcome
from .protocols import NoLipschitzConstantError
from .quadratic import Quadratic
from .user import Function

__all__ = [
    "EigenvalueBounds",
    "Function",
    "Huber",
    "LeastSquares",
    "LinearObjective",
    "LogDet",
    "Logistic",
    "Multinomial",
    "NoLipschitzConstantError",
    "Objective",
    "Outcome",
    "Point",
    "Poisson",
    "Quadratic",
    "SquaredHinge",
    "TwiceDifferentiable",
    "eigenvalue_bounds",
]
