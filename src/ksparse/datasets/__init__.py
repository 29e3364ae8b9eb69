"""The paper's simulations, and loaders of real data sets."""

from .graphs import PrecisionData, make_precision, sample_precision
from .originals import (
    ExpressionData,
    SplitData,
    has_original_hess,
    has_original_rcv1,
    load_hess,
    load_rcv1,
    missing_hess,
    missing_rcv1,
)
from .real import RealData, StockData, load_feature_names, load_real, load_stocks, term_weights
from .simulations import LinearModelData, make_coefficients, make_compressed_sensing, make_linear, make_logistic

__all__ = [
    "ExpressionData",
    "LinearModelData",
    "PrecisionData",
    "RealData",
    "SplitData",
    "StockData",
    "has_original_hess",
    "has_original_rcv1",
    "load_feature_names",
    "load_hess",
    "load_rcv1",
    "load_real",
    "load_stocks",
    "make_coefficients",
    "make_compressed_sensing",
    "make_linear",
    "make_logistic",
    "make_precision",
    "missing_hess",
    "missing_rcv1",
    "sample_precision",
    "term_weights",
]
