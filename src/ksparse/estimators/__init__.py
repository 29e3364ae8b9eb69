"""Estimators in scikit-learn's interface: linear models with k features, precision matrices with k edges."""

from .base import Samples, SparseEstimator, merge_results
from .baseline_hazard import BaselineHazard
from .cox_regression import SparseCoxRegression
from .discriminant import SparseDiscriminantAnalysis
from .graph_model import GraphModel
from .linear_classifiers import SparseLinearSVC, SparseLogisticRegression
from .linear_model import SparseLinearModel
from .log_link import (
    SparseGammaRegression,
    SparseNegativeBinomialRegression,
    SparsePoissonRegression,
    SparseTweedieRegression,
)
from .offset_scores import LinearRegressorMixin
from .ordinal_regression import SparseOrdinalRegression
from .paths import PrecisionPath, SparsityPath
from .precision import SparsePrecision
from .regression import SparseLinearRegression
from .robust import SparseHuberRegression, SparseQuantileRegression

__all__ = [
    "BaselineHazard",
    "GraphModel",
    "LinearRegressorMixin",
    "PrecisionPath",
    "Samples",
    "SparseCoxRegression",
    "SparseDiscriminantAnalysis",
    "SparseEstimator",
    "SparseGammaRegression",
    "SparseHuberRegression",
    "SparseLinearModel",
    "SparseLinearRegression",
    "SparseLinearSVC",
    "SparseLogisticRegression",
    "SparseNegativeBinomialRegression",
    "SparseOrdinalRegression",
    "SparsePoissonRegression",
    "SparsePrecision",
    "SparseQuantileRegression",
    "SparseTweedieRegression",
    "SparsityPath",
    "merge_results",
]
