"""Graphs that choose their number of edges: precision matrices and discriminant analysis."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from ..estimators import Samples, SparseDiscriminantAnalysis, SparsePrecision
from ..estimators._docs import document
from ..objectives import Objective
from ..solvers import Result
from ..validation import check_nonnegative_number, check_positive_number
from .criteria import GRAPH_CRITERIA, graph_criterion
from .criterion_search import InformationCriterion
from .cross_validation import ChosenByCrossValidation
from .pathwise import PathSolver

__all__ = ["SparseDiscriminantAnalysisCV", "SparsePrecisionCV", "SparsePrecisionIC"]

G = TypeVar("G", bound="CrossValidatedGraph")


class CrossValidatedGraph(ChosenByCrossValidation):
    """A graph whose number of edges is chosen by cross-validation."""

    def fit(self: G, X: Any, y: Any = None, groups: Any = None) -> G:
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


@document
@dataclass(eq=False, repr=False, kw_only=True)
class SparsePrecisionCV(CrossValidatedGraph, SparsePrecision):
    """A precision matrix with the number of edges chosen by the likelihood of held-out samples.

    See `SparsePrecision` for the model.

    $fields

    Examples
    --------
    >>> from ksparse import SparsePrecisionCV
    >>> from ksparse.datasets import make_precision
    >>> X, precision = make_precision(n=500, p=20, probability=0.1)
    >>> model = SparsePrecisionCV(rule="1se").fit(X)
    >>> int((precision != 0).sum() - 20) // 2, model.k_
    (22, 22)
    """

    # Folds need samples: a covariance cannot be split.
    covariance: None = field(default=None, init=False)


@document
@dataclass(eq=False, repr=False, kw_only=True)
class SparseDiscriminantAnalysisCV(CrossValidatedGraph, SparseDiscriminantAnalysis):
    """Discriminant analysis with the number of edges chosen by cross-validation.

    See `SparseDiscriminantAnalysis` for the model. The paper uses six folds (§5.2.2).

    $fields

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ksparse import SparseDiscriminantAnalysisCV
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = SparseDiscriminantAnalysisCV().fit(X, y)
    >>> model.k_, round(model.score(X, y), 3)
    (28, 1.0)
    """

    cv: Any = 6


@document
@dataclass(eq=False, repr=False, kw_only=True)
class SparsePrecisionIC(InformationCriterion, SparsePrecision):
    """A precision matrix with the number of edges chosen by an information criterion.

    See `SparsePrecision` for the model.

    $fields

    References
    ----------
    R. Foygel and M. Drton, Extended Bayesian Information Criteria for Gaussian Graphical Models, NeurIPS 23 (2010).

    Examples
    --------
    >>> from ksparse import SparsePrecisionIC
    >>> from ksparse.datasets import make_precision
    >>> X, precision = make_precision(n=500, p=20, probability=0.1)
    >>> model = SparsePrecisionIC().fit(X)
    >>> int((precision != 0).sum() - 20) // 2, model.k_
    (22, 22)
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

    def reliable_samples(self, n_samples: float, n_units: int) -> float:
        return n_samples

    def criterion_value(self, objective: Objective, result: Result, n_samples: float, solver: PathSolver) -> float:
        return graph_criterion(
            self.criterion,
            self.deviance(objective, result, n_samples),
            edges=self.count_parameters(objective, result),
            n_samples=n_samples,
            n_features=self.n_features_in_,
            gamma=self.gamma,
        )
