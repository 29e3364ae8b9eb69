"""What is minimized: smooth functions bound to their data."""

from .base import Objective, Outcome, Point, TwiceDifferentiable
from .definite import EigenvalueBounds, eigenvalue_bounds
from .linear import LinearObjective
from .logdet import LogDet
from .loss import JointLoss, Loss
from .losses import Huber, LeastSquares, Logistic, Multinomial, Poisson, SquaredHinge
from .protocols import NoLipschitzConstantError
from .quadratic import Quadratic
from .user import Function

__all__ = [
    "EigenvalueBounds",
    "Function",
    "Huber",
    "JointLoss",
    "LeastSquares",
    "LinearObjective",
    "LogDet",
    "Logistic",
    "Loss",
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
