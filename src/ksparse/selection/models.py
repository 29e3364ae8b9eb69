"""Estimators that choose their number of features or edges."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from inspect import cleandoc
from typing import Any, ClassVar, TypeVar

from ..estimators import (
    Samples,
    SparseCoxRegression,
    SparseDiscriminantAnalysis,
    SparseGammaRegression,
    SparseHuberRegression,
    SparseLinearRegression,
    SparseLinearSVC,
    SparseLogisticRegression,
    SparseNegativeBinomialRegression,
    SparseOrdinalRegression,
    SparsePoissonRegression,
    SparsePrecision,
    SparseQuantileRegression,
    SparseTweedieRegression,
)
from ..estimators._docs import document
from ..estimators.parameters import accept_names
from ..objectives import LogDet, Objective
from ..objectives.shrinkage import ShrinkageError, check_shrinkage
from ..solvers import Result
from ..validation import check_nonnegative_number, check_positive_number
from .choosing import ChosenK
from .criteria import GRAPH_CRITERIA, InformationCriterion, graph_criterion
from .cross_validation import CrossValidatedLinearModel, CrossValidatedPenalties
from .pathwise import PathSolver
from .penalties import PenaltyGrid, PenaltyPaths
from .rules import Choice

C = TypeVar("C", bound=type[ChosenK])
G = TypeVar("G", bound="CrossValidatedGraph")


DESCRIPTION = """{summary}

See `{fixed}` for the model.

$fields

Examples
--------
{example}
>>> model.k_ == len(model.result_.selected)
True
"""


def describe(cls: C) -> C:
    """Complete the docstring of an estimator by its fields, and by the example of the same model with a fixed k."""
    fixed = cls.__bases__[1]
    setup, _, rest = (fixed.__doc__ or "").partition("Examples\n--------\n")[2].partition(">>> model = ")
    call = re.sub(r"[(]k=[0-9]+(, )?", "(", rest.partition("\n")[0])
    example = f"{setup}>>> model = {call}".replace(fixed.__name__, cls.__name__)
    cls.__doc__ = DESCRIPTION.format(summary=cleandoc(cls.__doc__ or ""), fixed=fixed.__name__, example=example)
    return document(cls)


@describe
@dataclass(eq=False, repr=False)
class SparseLinearRegressionCV(CrossValidatedLinearModel, SparseLinearRegression):
    """Least squares with the number of features and the ridges chosen by cross-validation."""


@describe
@dataclass(eq=False, repr=False)
class SparseLogisticRegressionCV(CrossValidatedLinearModel, SparseLogisticRegression):
    """Logistic regression with the number of features and the ridges chosen by cross-validation."""


@describe
@dataclass(eq=False, repr=False)
class SparsePoissonRegressionCV(CrossValidatedLinearModel, SparsePoissonRegression):
    """Poisson regression with the number of features and the ridges chosen by cross-validation."""


@describe
@dataclass(eq=False, repr=False)
class SparseHuberRegressionCV(CrossValidatedLinearModel, SparseHuberRegression):
    """Robust regression with the number of features and the ridges chosen by cross-validation.

    The score is Huber's loss. Its delta is that of one first fit on each fold, and on all samples, for all k.
    """


@describe
@dataclass(eq=False, repr=False)
class SparseGammaRegressionCV(CrossValidatedLinearModel, SparseGammaRegression):
    """Gamma regression with the number of features and the ridges chosen by cross-validation."""


@describe
@dataclass(eq=False, repr=False)
class SparseTweedieRegressionCV(CrossValidatedLinearModel, SparseTweedieRegression):
    """Tweedie regression with the number of features and the ridges chosen by cross-validation."""


@describe
@dataclass(eq=False, repr=False)
class SparseNegativeBinomialRegressionCV(CrossValidatedLinearModel, SparseNegativeBinomialRegression):
    """Negative binomial regression with the number of features and the ridges chosen by cross-validation.

    The scores compare all k with the same dispersion, of one first fit on each fold; then that of each k is estimated.
    """


@describe
@dataclass(eq=False, repr=False)
class SparseQuantileRegressionCV(CrossValidatedLinearModel, SparseQuantileRegression):
    """Quantile regression with the number of features and the ridges chosen by cross-validation.

    The score is minus the smoothed check loss. Its bandwidth is that of one first fit on each fold, and on all
    samples, for all k.
    """


@describe
@dataclass(eq=False, repr=False)
class SparseCoxRegressionCV(CrossValidatedLinearModel, SparseCoxRegression):
    """Cox regression with the number of features and the ridges chosen by cross-validation.

    The score is the cross-validated partial likelihood for each held-out sample (Verweij and van Houwelingen 1993):
    that of all samples minus that of the training samples, both at the coefficients of the training samples. A held-out
    sample thus meets training samples in its risk set. With a number of folds they are stratified by event.
    """


@describe
@dataclass(eq=False, repr=False)
class SparseLinearSVCCV(CrossValidatedLinearModel, SparseLinearSVC):
    """Support vector machine with the number of features and the ridges chosen by cross-validation."""


@describe
@dataclass(eq=False, repr=False)
class SparseOrdinalRegressionCV(CrossValidatedLinearModel, SparseOrdinalRegression):
    """Ordinal regression with the number of features and the ridges chosen by cross-validation."""


@describe
@dataclass(eq=False, repr=False)
class SparseLinearRegressionIC(InformationCriterion, SparseLinearRegression):
    """Least squares with the number of features chosen by an information criterion.

    The variance is taken as unknown: the deviance is n·log of the mean squared residual.
    """


@describe
@dataclass(eq=False, repr=False)
class SparseLogisticRegressionIC(InformationCriterion, SparseLogisticRegression):
    """Logistic regression with the number of features chosen by an information criterion."""


@describe
@dataclass(eq=False, repr=False)
class SparsePoissonRegressionIC(InformationCriterion, SparsePoissonRegression):
    """Poisson regression with the number of features chosen by an information criterion."""


@describe
@dataclass(eq=False, repr=False)
class SparseHuberRegressionIC(InformationCriterion, SparseHuberRegression):
    """Robust regression with the number of features chosen by an information criterion.

    The deviance is that of residuals divided by their spread, delta/1.345, which is that of one first fit for all k.
    """


@describe
@dataclass(eq=False, repr=False)
class SparseGammaRegressionIC(InformationCriterion, SparseGammaRegression):
    """Gamma regression with the number of features chosen by an information criterion.

    The shape of the distribution is taken as unknown.
    """


@describe
@dataclass(eq=False, repr=False)
class SparseTweedieRegressionIC(InformationCriterion, SparseTweedieRegression):
    """Tweedie regression with the number of features chosen by an information criterion.

    The dispersion is taken as unknown: the deviance is n·log of the mean deviance, as of the extended quasi-likelihood.
    """


@describe
@dataclass(eq=False, repr=False)
class SparseNegativeBinomialRegressionIC(InformationCriterion, SparseNegativeBinomialRegression):
    """Negative binomial regression with the number of features chosen by an information criterion.

    The criterion compares all k with the same dispersion, of one first fit; then that of each k is estimated.
    """


@describe
@dataclass(eq=False, repr=False)
class SparseQuantileRegressionIC(InformationCriterion, SparseQuantileRegression):
    """Quantile regression with the number of features chosen by an information criterion.

    The scale is taken as unknown: the deviance is 2n·log of the mean loss. The bandwidth is that of one first fit, for
    all k.
    """


@describe
@dataclass(eq=False, repr=False)
class SparseCoxRegressionIC(InformationCriterion, SparseCoxRegression):
    """Cox regression with the number of features chosen by an information criterion.

    The number of samples is that of the events (C. T. Volinsky and A. E. Raftery, *Biometrics* 56, 2000).
    """


@describe
@dataclass(eq=False, repr=False)
class SparseLinearSVCIC(InformationCriterion, SparseLinearSVC):
    """Support vector machine with the number of features chosen by an information criterion.

    The deviance is 2n times the mean loss (X. Zhang, Y. Wu, L. Wang and R. Li, *Journal of the Royal Statistical
    Society* B 78, 2016).
    """


@describe
@dataclass(eq=False, repr=False)
class SparseOrdinalRegressionIC(InformationCriterion, SparseOrdinalRegression):
    """Ordinal regression with the number of features chosen by an information criterion."""


@dataclass(eq=False, repr=False, kw_only=True)
class CrossValidatedGraph(CrossValidatedPenalties):
    """A graph whose number of edges and shrinkage are chosen by cross-validation."""

    shrinkage: Any = field(default=None, init=False)

    shrinkages: Any = "auto"
    shrink_by: str = "amount"
    rule: str = "near"

    def fit(self: G, X: Any, y: Any = None, groups: Any = None) -> G:  # type: ignore[override]
        """Choose the number of edges by cross-validation, and fit the model to all samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,), optional
            The labels. A precision matrix does not need them, but a splitter may.
        groups : array-like of shape (n_samples,), optional
            Groups of the samples, for splitters such as `GroupKFold`.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self.fit_samples(self.check_samples(X, y), groups)

    def build_grid(self, objective: Objective, training: Sequence[Objective]) -> PenaltyGrid:
        grid = super().build_grid(objective, training)
        for shrinkage in grid.selection:
            check_shrinkage(shrinkage, "shrinkages")
        if not isinstance(self.shrinkages, str):
            return grid
        # Small amounts may be impossible where a covariance is nearly singular, if only on one fold.
        positive = [shrinkage for shrinkage in grid.selection if shrinkage]
        weakest = max(self._find_possible(each, positive) for each in (objective, *training))
        return PenaltyGrid(tuple(s for s in grid.selection if s is not None and (s == 0.0 or s >= weakest)))

    def _find_possible(self, objective: Objective, shrinkages: Sequence[float]) -> float:
        """The first of increasing shrinkages that is possible; the last, which says what is wrong, if none is."""
        for shrinkage in shrinkages:
            try:
                self.with_penalty(objective, shrinkage)
                return shrinkage
            except ShrinkageError:
                continue
        return shrinkages[-1]

    def store_grid(self, whole: PenaltyPaths, chosen: Choice) -> None:
        super().store_grid(whole, chosen)
        objectives = [solver.objective for solver in whole.solvers]
        self._bounds = [objective.bounds for objective in objectives if isinstance(objective, LogDet)]
        self.bounds_ = self._bounds[chosen.selection]

    def describe_fixed(self, model: Any, position: int) -> None:
        super().describe_fixed(model, position)
        model.bounds_ = self._bounds[self.shrinkages_.tolist().index(model.shrinkage)]


@describe
@accept_names(transform="transformation")
@dataclass(eq=False, repr=False, kw_only=True)
class SparsePrecisionCV(CrossValidatedGraph, SparsePrecision):
    """A precision matrix with the number of edges and the shrinkage chosen by the likelihood of held-out samples."""

    # Folds need samples: a covariance cannot be split.
    covariance: None = field(default=None, init=False)


@describe
@dataclass(eq=False, repr=False, kw_only=True)
class SparseDiscriminantAnalysisCV(CrossValidatedGraph, SparseDiscriminantAnalysis):
    """Discriminant analysis with the number of edges and the shrinkage chosen by cross-validation.

    The paper (§5.2.2) chooses the number of edges alone: ``shrinkages=0``.
    """

    cv: Any = 6


@describe
@accept_names(transform="transformation")
@dataclass(eq=False, repr=False, kw_only=True)
class SparsePrecisionIC(InformationCriterion, SparsePrecision):
    """A precision matrix with the number of edges chosen by an information criterion.

    R. Foygel and M. Drton, *Extended Bayesian information criteria for Gaussian graphical models*, NeurIPS 23, 2010.
    """

    criteria: ClassVar[tuple[str, ...]] = GRAPH_CRITERIA

    gamma: float = 0.5
    n_samples: int | None = None

    def count_samples(self, objective: Objective, samples: Samples) -> float:
        check_nonnegative_number(self.gamma, "gamma")
        if not self._is_precomputed():
            return super().count_samples(objective, samples)
        if self.n_samples is None:
            raise ValueError("n_samples is missing; give the number of samples of the precomputed covariance")
        return check_positive_number(self.n_samples, "n_samples")

    def count_reliable_samples(self, n_samples: float, n_units: int) -> float:
        return n_samples

    def compute_criterion(self, objective: Objective, result: Result, n_samples: float, solver: PathSolver) -> float:
        return graph_criterion(
            self.criterion,
            self.deviance(objective, result, n_samples),
            edges=self.count_parameters(objective, result),
            n_samples=n_samples,
            n_features=self.n_features_in_,
            gamma=self.gamma,
        )
