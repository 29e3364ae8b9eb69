"""Choosing k: paths, cross-validation, information criteria, stability."""

from .criteria import information_criterion
from .cv import (
    SparseHuberRegressionCV,
    SparseLinearRegressionCV,
    SparseLogisticRegressionCV,
    SparsePoissonRegressionCV,
)
from .growth import Growth
from .ic import (
    SparseHuberRegressionIC,
    SparseLinearRegressionIC,
    SparseLogisticRegressionIC,
    SparsePoissonRegressionIC,
)
from .path import Path, path
from .pathwise import PathSolver
from .stability import StabilitySelection, expected_false_selections, smallest_threshold

__all__ = [
    "Growth",
    "Path",
    "PathSolver",
    "SparseHuberRegressionCV",
    "SparseHuberRegressionIC",
    "SparseLinearRegressionCV",
    "SparseLinearRegressionIC",
    "SparseLogisticRegressionCV",
    "SparseLogisticRegressionIC",
    "SparsePoissonRegressionCV",
    "SparsePoissonRegressionIC",
    "StabilitySelection",
    "expected_false_selections",
    "information_criterion",
    "path",
    "smallest_threshold",
]
