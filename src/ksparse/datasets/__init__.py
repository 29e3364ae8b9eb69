"""The paper's simulations, and loaders of real data sets."""

from .real import RealData, StockData, load_feature_names, load_real, load_stocks, weight_terms
from .simulations import (
    LinearModelData,
    PrecisionData,
    make_coefficients,
    make_compressed_sensing,
    make_linear,
    make_logistic,
    make_precision,
    sample_precision,
)

__all__ = [
    "LinearModelData",
    "PrecisionData",
    "RealData",
    "StockData",
    "load_feature_names",
    "load_real",
    "load_stocks",
    "make_coefficients",
    "make_compressed_sensing",
    "make_linear",
    "make_logistic",
    "make_precision",
    "sample_precision",
    "weight_terms",
]
