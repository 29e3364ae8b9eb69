"""Choosing k by an information criterion."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from ..estimators import (
    SparseHuberRegression,
    SparseLinearRegression,
    SparseLogisticRegression,
    SparsePoissonRegression,
)
from ..estimators._docs import documented
from ..estimators._parameters import keeps_parameters
from ..objectives import LinearObjective
from ..objectives.base import value_at_zero
from ..solvers import Result, Solver
from .choosing import ChoosesFeatures, feature_growth, least_criterion
from .criteria import CRITERIA, information_criterion
from .pathwise import PathSolver

__all__ = [
    "SparseHuberRegressionIC",
    "SparseLinearRegressionIC",
    "SparseLogisticRegressionIC",
    "SparsePoissonRegressionIC",
]

M = TypeVar("M", bound="InformationCriterion")


class InformationCriterion(ChoosesFeatures):
    """A linear model whose number of features is chosen by an information criterion."""

    @keeps_parameters
    def __init__(
        self,
        *,
        ks: Any = "auto",
        criterion: str = "ebic",
        alpha: float = 0.0,
        fit_intercept: bool = True,
        groups: Any = None,
        always_select: Any = None,
        positive: bool = False,
        solver: str | Solver = "auto",
        effort: int = 0,
    ) -> None: ...

    def fit(self: M, X: Any, y: Any, sample_weight: Any = None) -> M:
        """Choose k by the criterion, and fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The response or the labels.
        sample_weight : array-like of shape (n_samples,), optional
            How often each sample counts; the criterion takes their sum for the number of samples.

        Returns
        -------
        self
            The fitted estimator.
        """
        if self.criterion not in CRITERIA:
            raise ValueError(f"criterion must be one of {', '.join(map(repr, CRITERIA))}, got {self.criterion!r}")
        X, y = self._check_data(X, y)
        k = self._expected()
        objective = self._objective(X, y, sample_weight, k)
        solver = PathSolver(objective, self._sparsity(objective, k), self._solver())

        sensible = _largest_model(objective.total_weight, solver.most) // self._free_outputs(objective)
        chosen, self.criterion_ = least_criterion(
            self.ks,
            solver,
            feature_growth(solver, sensible),
            lambda result: self._value(objective, result, solver),
            name=self.criterion,
        )
        return self._keep_path(solver, chosen)

    def _value(self, objective: LinearObjective, result: Result, solver: PathSolver) -> float:
        """The criterion of a solution."""
        features = int(self._selected_features(result).sum())
        return information_criterion(
            self.criterion,
            self._deviance_of(objective, result),
            parameters=(features + bool(self.fit_intercept)) * self._free_outputs(objective),
            k=len(result.selected) - solver.fewest,
            n_samples=objective.total_weight,
            n_features=solver.most - solver.fewest,
        )

    def _deviance_of(self, objective: LinearObjective, result: Result) -> float:
        """Deviance of a solution: its ridge does not count."""
        coefficients = result.x[:-1] if self.fit_intercept else result.x
        loss = result.value - 0.5 * objective.alpha * float(np.sum(np.square(coefficients)))
        outputs = self._free_outputs(objective)
        return self._deviance(loss, value_at_zero(objective), objective.total_weight, outputs)

    @staticmethod
    def _free_outputs(objective: LinearObjective) -> int:
        """Coefficients of a feature that the data determines; a softmax does not see a shift of all classes."""
        outputs = objective.shape[1] if len(objective.shape) == 2 else 1
        return outputs - 1 if objective.loss.shift_invariant else outputs


def _largest_model(n_samples: float, n_features: int) -> int:
    """n/(log p·log log n), beyond which criteria say little (Zhu et al., PNAS 2020), or half the samples."""
    price = np.log(max(n_features, 2)) * np.log(np.log(max(n_samples, 3.0)))
    return int(n_samples / max(price, 2.0))


@documented
class SparseLinearRegressionIC(InformationCriterion, SparseLinearRegression):
    """Least squares with the number of features chosen by an information criterion.

    See `SparseLinearRegression` for the model. The variance is taken as unknown: the deviance is n·log of the mean
    squared residual.

    Parameters
    ----------
    $ks
    $criterion
    alpha : float, default=0
        Ridge penalty.
    $model

    Attributes
    ----------
    $path
    $criteria
    $fitted

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from ksparse import SparseLinearRegressionIC
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> SparseLinearRegressionIC(criterion="bic").fit(X, y).get_feature_names_out()
    array(['sex', 'bmi', 'bp', 's3', 's5'], dtype=object)
    """


@documented
class SparseLogisticRegressionIC(InformationCriterion, SparseLogisticRegression):
    """Logistic regression with the number of features chosen by an information criterion.

    See `SparseLogisticRegression` for the model.

    Parameters
    ----------
    $ks
    $criterion
    alpha : float, default=1e-4
        Ridge penalty.
    $class_weight
    $model

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    $path
    $criteria
    $fitted

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from ksparse import SparseLogisticRegressionIC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SparseLogisticRegressionIC().fit(scale(X), y)
    >>> model.ks_, model.k_
    (array([ 1,  2,  3,  4,  5,  6,  7,  9, 12, 15]), 5)
    """

    @keeps_parameters
    def __init__(
        self,
        *,
        ks: Any = "auto",
        criterion: str = "ebic",
        alpha: float = 1e-4,
        class_weight: Any = None,
        fit_intercept: bool = True,
        groups: Any = None,
        always_select: Any = None,
        positive: bool = False,
        solver: str | Solver = "auto",
        effort: int = 0,
    ) -> None: ...


@documented
class SparsePoissonRegressionIC(InformationCriterion, SparsePoissonRegression):
    """Poisson regression with the number of features chosen by an information criterion.

    See `SparsePoissonRegression` for the model.

    Parameters
    ----------
    $ks
    $criterion
    alpha : float, default=0
        Ridge penalty.
    $model

    Attributes
    ----------
    $path
    $criteria
    $fitted

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import SparsePoissonRegressionIC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 30))
    >>> y = rng.poisson(np.exp(1 + 0.5 * X[:, 4] - 0.5 * X[:, 9]))
    >>> SparsePoissonRegressionIC().fit(X, y).get_support(indices=True)
    array([4, 9])
    """


@documented
class SparseHuberRegressionIC(InformationCriterion, SparseHuberRegression):
    """Robust regression with the number of features chosen by an information criterion.

    See `SparseHuberRegression` for the model. The deviance is that of residuals in units of their
    spread, which delta is 1.345 times of.

    Parameters
    ----------
    $ks
    $criterion
    $delta
    alpha : float, default=0
        Ridge penalty.
    $model

    Attributes
    ----------
    delta_ : float
        The delta that was used.
    $path
    $criteria
    $fitted

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import SparseHuberRegressionIC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 20))
    >>> y = 3 * X[:, 2] - X[:, 11] + 0.1 * rng.standard_normal(100)
    >>> y[::10] += 500
    >>> SparseHuberRegressionIC().fit(X, y).get_support(indices=True)
    array([ 2, 11])
    """

    @keeps_parameters
    def __init__(
        self,
        *,
        ks: Any = "auto",
        criterion: str = "ebic",
        delta: float | str = "auto",
        alpha: float = 0.0,
        fit_intercept: bool = True,
        groups: Any = None,
        always_select: Any = None,
        positive: bool = False,
        solver: str | Solver = "auto",
        effort: int = 0,
    ) -> None: ...
