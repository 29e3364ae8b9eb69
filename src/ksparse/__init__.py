"""Sparsity-constrained learning: minimize a smooth f(x) with at most k nonzero entries.

>>> import numpy as np, ksparse
>>> f = ksparse.objectives.LeastSquares(np.eye(3), [1.0, 3.0, 2.0])
>>> ksparse.minimize(f, k=1).x
array([0., 3., 0.])
"""

from importlib.metadata import version

from sklearn.exceptions import ConvergenceWarning

from . import (
    datasets,
    debias,
    designs,
    diagnostics,
    estimators,
    objectives,
    plots,
    selection,
    solvers,
    sparsity,
    theory,
)
from .estimators import (
    SparseDiscriminantAnalysis,
    SparseHuberRegression,
    SparseLinearRegression,
    SparseLogisticRegression,
    SparsePoissonRegression,
    SparsePrecision,
)
from .optimize import minimize
from .persistence import load, save
from .selection import (
    PrecisionPath,
    SparseDiscriminantAnalysisCV,
    SparseHuberRegressionCV,
    SparseHuberRegressionIC,
    SparseLinearRegressionCV,
    SparseLinearRegressionIC,
    SparseLogisticRegressionCV,
    SparseLogisticRegressionIC,
    SparsePoissonRegressionCV,
    SparsePoissonRegressionIC,
    SparsePrecisionCV,
    SparsePrecisionIC,
    SparsityPath,
    StabilitySelection,
    information_criterion,
    path,
    precision_path,
)
from .solvers import FBS, HTP, IHT, FGraHTP, FixedSupport, GraHTP, GraSP, Result, Status, SwapGraHTP

__version__ = version("ksparse")

__all__ = [
    "FBS",
    "HTP",
    "IHT",
    "ConvergenceWarning",
    "FGraHTP",
    "FixedSupport",
    "GraHTP",
    "GraSP",
    "PrecisionPath",
    "Result",
    "SparseDiscriminantAnalysis",
    "SparseDiscriminantAnalysisCV",
    "SparseHuberRegression",
    "SparseHuberRegressionCV",
    "SparseHuberRegressionIC",
    "SparseLinearRegression",
    "SparseLinearRegressionCV",
    "SparseLinearRegressionIC",
    "SparseLogisticRegression",
    "SparseLogisticRegressionCV",
    "SparseLogisticRegressionIC",
    "SparsePoissonRegression",
    "SparsePoissonRegressionCV",
    "SparsePoissonRegressionIC",
    "SparsePrecision",
    "SparsePrecisionCV",
    "SparsePrecisionIC",
    "SparsityPath",
    "StabilitySelection",
    "Status",
    "SwapGraHTP",
    "datasets",
    "debias",
    "designs",
    "diagnostics",
    "estimators",
    "information_criterion",
    "load",
    "minimize",
    "objectives",
    "path",
    "plots",
    "precision_path",
    "save",
    "selection",
    "solvers",
    "sparsity",
    "theory",
]
