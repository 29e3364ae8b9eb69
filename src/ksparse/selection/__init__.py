"""Choosing k: paths, cross-validation, information criteria, stability.

`CrossValidated` and `InformationCriterion` give any estimator with a fixed k one that chooses it.
"""

from ..estimators import PrecisionPath, SparsityPath
from .criteria import InformationCriterion, graph_criterion, information_criterion
from .cross_validation import CrossValidated, CrossValidatedLinearModel
from .false_selections import expected_false_selections, find_smallest_threshold
from .models import (
    SparseCoxRegressionCV,
    SparseCoxRegressionIC,
    SparseDiscriminantAnalysisCV,
    SparseGammaRegressionCV,
    SparseGammaRegressionIC,
    SparseHuberRegressionCV,
    SparseHuberRegressionIC,
    SparseLinearRegressionCV,
    SparseLinearRegressionIC,
    SparseLinearSVCCV,
    SparseLinearSVCIC,
    SparseLogisticRegressionCV,
    SparseLogisticRegressionIC,
    SparseNegativeBinomialRegressionCV,
    SparseNegativeBinomialRegressionIC,
    SparseOrdinalRegressionCV,
    SparseOrdinalRegressionIC,
    SparsePoissonRegressionCV,
    SparsePoissonRegressionIC,
    SparsePrecisionCV,
    SparsePrecisionIC,
    SparseQuantileRegressionCV,
    SparseQuantileRegressionIC,
    SparseTweedieRegressionCV,
    SparseTweedieRegressionIC,
)
from .path import path, precision_path
from .pathwise import PathSolver
from .penalties import PenaltyGrid
from .rules import compute_standard_errors
from .schedule import KSchedule, find_first_best
from .stability import StabilitySelection

__all__ = [
    "CrossValidated",
    "CrossValidatedLinearModel",
    "InformationCriterion",
    "KSchedule",
    "PathSolver",
    "PenaltyGrid",
    "PrecisionPath",
    "SparseCoxRegressionCV",
    "SparseCoxRegressionIC",
    "SparseDiscriminantAnalysisCV",
    "SparseGammaRegressionCV",
    "SparseGammaRegressionIC",
    "SparseHuberRegressionCV",
    "SparseHuberRegressionIC",
    "SparseLinearRegressionCV",
    "SparseLinearRegressionIC",
    "SparseLinearSVCCV",
    "SparseLinearSVCIC",
    "SparseLogisticRegressionCV",
    "SparseLogisticRegressionIC",
    "SparseNegativeBinomialRegressionCV",
    "SparseNegativeBinomialRegressionIC",
    "SparseOrdinalRegressionCV",
    "SparseOrdinalRegressionIC",
    "SparsePoissonRegressionCV",
    "SparsePoissonRegressionIC",
    "SparsePrecisionCV",
    "SparsePrecisionIC",
    "SparseQuantileRegressionCV",
    "SparseQuantileRegressionIC",
    "SparseTweedieRegressionCV",
    "SparseTweedieRegressionIC",
    "SparsityPath",
    "StabilitySelection",
    "compute_standard_errors",
    "expected_false_selections",
    "find_first_best",
    "find_smallest_threshold",
    "graph_criterion",
    "information_criterion",
    "path",
    "precision_path",
]
