"""What is minimized: smooth functions bound to their data."""

from .autodiff import AutodiffFunction, from_jax, from_torch
from .base import Objective, Outcome, Point, TwiceDifferentiable
from .definite import EigenvalueBounds, eigenvalue_bounds
from .linear import LinearObjective
from .logdet import LogDet
from .loss import JointLoss, Loss
from .losses import (
    Cox,
    Gamma,
    Huber,
    LeastSquares,
    Logistic,
    Multinomial,
    NegativeBinomial,
    Ordinal,
    Poisson,
    Quantile,
    SquaredHinge,
    Tweedie,
)
from .protocols import NoLipschitzConstantError
from .quadratic import Quadratic
from .survival import make_survival_target
from .user import Function

__all__ = [
    "AutodiffFunction",
    "Cox",
    "EigenvalueBounds",
    "Function",
    "Gamma",
    "Huber",
    "JointLoss",
    "LeastSquares",
    "LinearObjective",
    "LogDet",
    "Logistic",
    "Loss",
    "Multinomial",
    "NegativeBinomial",
    "NoLipschitzConstantError",
    "Objective",
    "Ordinal",
    "Outcome",
    "Point",
    "Poisson",
    "Quadratic",
    "Quantile",
    "SquaredHinge",
    "Tweedie",
    "TwiceDifferentiable",
    "eigenvalue_bounds",
    "from_jax",
    "from_torch",
    "make_survival_target",
]
