"""Estimators in scikit-learn's interface: linear models with k features, precision matrices with k edges."""

from ._graph_model import GraphModel
from .base import Samples, SparseEstimator
from .classification import SparseLogisticRegression
from .discriminant import SparseDiscriminantAnalysis
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
]
