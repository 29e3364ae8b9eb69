"""Losses of linear models, one file for each family: the loss, and the objective with it."""

from .cox import Cox, CoxLoss
from .hinge import SquaredHinge, SquaredHingeLoss
from .huber import Huber, HuberLoss
from .logistic import Logistic, LogisticLoss
from .multinomial import Multinomial, MultinomialLoss
from .negative_binomial import NegativeBinomial, NegativeBinomialLoss, estimate_dispersion
from .ordinal import Ordinal, OrdinalLoss
from .poisson import Poisson, PoissonLoss
from .quantile import Quantile, QuantileLoss
from .squared import LeastSquares, SquaredLoss
from .tweedie import Gamma, Tweedie, TweedieLoss

__all__ = [
    "Cox",
    "CoxLoss",
    "Gamma",
    "Huber",
    "HuberLoss",
    "LeastSquares",
    "Logistic",
    "LogisticLoss",
    "Multinomial",
    "MultinomialLoss",
    "NegativeBinomial",
    "NegativeBinomialLoss",
    "Ordinal",
    "OrdinalLoss",
    "Poisson",
    "PoissonLoss",
    "Quantile",
    "QuantileLoss",
    "SquaredHinge",
    "SquaredHingeLoss",
    "SquaredLoss",
    "Tweedie",
    "TweedieLoss",
    "estimate_dispersion",
]
