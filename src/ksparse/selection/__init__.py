"""Choosing k: paths, cross-validation, information criteria, stability."""

from .criteria import graph_criterion, information_criterion
from .cv import (
    SparseHuberRegressionCV,
    SparseLinearRegressionCV,
    SparseLogisticRegressionCV,
    SparsePoissonRegressionCV,
)
from .graphs import PrecisionPath, SparsePrecisionCV, SparsePrecisionIC, precision_path
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
    "PrecisionPath",
    "SparseHuberRegressionCV",
    "SparseHuberRegressionIC",
    "SparseLinearRegressionCV",
    "SparseLinearRegressionIC",
    "SparseLogisticRegressionCV",
    "SparseLogisticRegressionIC",
    "SparsePoissonRegressionCV",
    "SparsePoissonRegressionIC",
    "SparsePrecisionCV",
    "SparsePrecisionIC",
    "StabilitySelection",
    "expected_false_selections",
    "graph_criterion",
    "information_criterion",
    "path",
    "precision_path",
    "smallest_threshold",
]
