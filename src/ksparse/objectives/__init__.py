"""What is minimized: smooth functions bound to their data."""

from .base import NoLipschitzConstantError, Objective, Point
from .glm import Huber, LeastSquares, Logistic, Multinomial, Poisson, SquaredHinge
from .linear import LinearObjective
from .quadratic import Quadratic
from .user import Function

__all__ = [
    "Function",
    "Huber",
    "LeastSquares",
    "LinearObjective",
    "Logistic",
    "Multinomial",
    "NoLipschitzConstantError",
    "Objective",
    "Point",
    "Poisson",
    "Quadratic",
    "SquaredHinge",
]
