"""Data to try things on: the paper's simulations, and real data where they are at hand."""

from .real import RealData, load_real, term_weights
from .simulations import make_logistic

__all__ = ["RealData", "load_real", "make_logistic", "term_weights"]
