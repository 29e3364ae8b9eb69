"""What is minimized: smooth functions bound to their data."""

from .base import NoLipschitzConstantError, Objective, Point
from .definite import EigenvalueBounds, eigenvalue_bounds
from .glm import Huber, LeastSquares, Logistic, Multinomial, Poisson, SquaredHinge
from .linear import LinearObjective
from .logdet import LogDet
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
    "Point",
    "Poisson",
    "Quadratic",
    "SquaredHinge",
    "eigenvalue_bounds",
]
