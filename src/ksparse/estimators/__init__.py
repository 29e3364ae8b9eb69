"""The scikit-learn face: linear models with exactly k features."""

from .base import SparseLinearModel
from .classification import SparseLogisticRegression
from .regression import SparseHuberRegression, SparseLinearRegression, SparsePoissonRegression

__all__ = [
    "SparseHuberRegression",
    "SparseLinearModel",
    "SparseLinearRegression",
    "SparseLogisticRegression",
    "SparsePoissonRegression",
]
