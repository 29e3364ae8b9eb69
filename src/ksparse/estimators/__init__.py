"""The scikit-learn face: linear models with exactly k features, precision matrices with exactly k edges."""

from .base import SparseLinearModel
from .classification import SparseLogisticRegression
from .discriminant import SparseDiscriminantAnalysis
from .precision import SparsePrecision
from .regression import SparseHuberRegression, SparseLinearRegression, SparsePoissonRegression

__all__ = [
    "SparseDiscriminantAnalysis",
    "SparseHuberRegression",
    "SparseLinearModel",
    "SparseLinearRegression",
    "SparseLogisticRegression",
    "SparsePoissonRegression",
    "SparsePrecision",
]
