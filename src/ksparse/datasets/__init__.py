"""The paper's simulated data."""

from .simulations import make_logistic

__all__ = ["make_logistic"]
