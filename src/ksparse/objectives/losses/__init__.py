"""Losses of linear models, one file for each family: the loss, and the objective with it."""

from .hinge import SquaredHinge, SquaredHingeLoss
from .huber import Huber, HuberLoss
from .logistic import Logistic, LogisticLoss
from .multinomial import Multinomial, MultinomialLoss
from .poisson import Poisson, PoissonLoss
from .squared import LeastSquares, SquaredLoss

__all__ = [
    "Huber",
    "HuberLoss",
    "LeastSquares",
    "Logistic",
    "LogisticLoss",
    "Multinomial",
    "MultinomialLoss",
    "Poisson",
    "PoissonLoss",
    "SquaredHinge",
    "SquaredHingeLoss",
    "SquaredLoss",
]
