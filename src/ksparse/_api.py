"""What ``import ksparse`` offers. The package imports this module when one of its names is used for the first time."""

from importlib.metadata import version
from typing import TYPE_CHECKING

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
    tables,
    theory,
)
from ._lazy import import_when_used
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

if TYPE_CHECKING:
    from .inference import summarize
    from .tables import TableEncoder

__version__ = version("ksparse")
__getattr__ = import_when_used(__package__, {"TableEncoder": ".tables", "summarize": ".inference"})

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
    "TableEncoder",
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
    "tables",
    "theory",
]
