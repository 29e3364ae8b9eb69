"""What ``import ksparse`` offers. The package imports this module when one of its names is used for the first time."""

from importlib.metadata import version

from sklearn.exceptions import ConvergenceWarning

from . import (
    datasets,
    debias,
    designs,
    diagnostics,
    estimators,
    inference,
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
from .inference import summarize
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
    "inference",
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
    "summarize",
    "theory",
]
