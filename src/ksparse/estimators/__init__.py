"""Estimators in scikit-learn's interface: linear models with k features, precision matrices with k edges."""

from .base import Samples, SparseEstimator, merge_results
from .classification import SparseLogisticRegression
from .discriminant import SparseDiscriminantAnalysis
from .graph_model import GraphModel
from .linear_model import SparseLinearModel
from .paths import PrecisionPath, SparsityPath
from .precision import SparsePrecision
from .regression import SparseHuberRegression, SparseLinearRegression, SparsePoissonRegression

__all__ = [
    "GraphModel",
    "PrecisionPath",
    "Samples",
    "SparseDiscriminantAnalysis",
    "SparseEstimator",
    "SparseHuberRegression",
    "SparseLinearModel",
    "SparseLinearRegression",
    "SparseLogisticRegression",
    "SparsePoissonRegression",
    "SparsePrecision",
    "SparsityPath",
    "merge_results",
]
