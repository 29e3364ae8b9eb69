"""Choosing k by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing

from .._types import AnyArray, IntArray, Matrix
from ..estimators import (
    SparseHuberRegression,
    SparseLinearModel,
    SparseLinearRegression,
    SparseLogisticRegression,
    SparsePoissonRegression,
)
from ..estimators._docs import documented
from ..estimators._parameters import keeps_parameters
from ..solvers import Result, Solver
from .choosing import ChoosesFeatures, feature_growth
from .folds import check_rule, check_splits, cross_validate
from .path import path_solver

__all__ = [
    "SparseHuberRegressionCV",
    "SparseLinearRegressionCV",
    "SparseLogisticRegressionCV",
    "SparsePoissonRegressionCV",
]

M = TypeVar("M", bound="CrossValidated")
Scorer = Callable[[Any, Any, Any], float]


class CrossValidated(ChoosesFeatures):
    """A linear model whose number of features is chosen by cross-validation."""

    @keeps_parameters
    def __init__(
        self,
        *,
        ks: Any = "auto",
        cv: Any = 5,
        scoring: Any = None,
        rule: str = "best",
        alpha: float = 0.0,
        fit_intercept: bool = True,
        groups: Any = None,
        always_select: Any = None,
        positive: bool = False,
        solver: str | Solver = "auto",
        effort: int = 0,
        n_jobs: int | None = None,
    ) -> None: ...

    def fit(self: M, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> M:
        """Choose k by cross-validation, and fit the model to all samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The response or the labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples, in fitting and in the default score.
        groups : array-like of shape (n_samples,), optional
            Groups of the samples, for splitters such as `GroupKFold`.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_rule(self.rule)
        X, y = self._check_data(X, y)
        splits = check_splits(check_cv(self.cv, y, classifier=is_classifier(self)).split(X, y, groups))
        whole = path_solver(self, X, y, sample_weight, self._expected())
        folds = [_Fold(self, X, y, sample_weight, train, test) for train, test in splits]
        # With a parameter for every other sample, there is little left to tell models apart.
        sensible = min(len(train) for train, _ in splits) // (2 * _outputs(self))
        growth = feature_growth(whole, sensible)
        chosen, self.scores_ = cross_validate(self.ks, whole, growth, folds, rule=self.rule, n_jobs=self.n_jobs)
        return self._keep_path(whole, chosen)


class _Fold:
    """The training part of a split with its solutions, which know nothing of any other, and its held-out part."""

    def __init__(
        self, model: CrossValidated, X: Matrix, y: AnyArray, sample_weight: Any, train: IntArray, test: IntArray
    ) -> None:
        parameters = model.get_params(deep=False)
        # What splits may be an iterator, which gives nothing twice; and a fold's samples come without names in the end.
        parameters["cv"] = None
        if isinstance(model.groups, Mapping):
            parameters["groups"] = [model.groups[name] for name in model.feature_names_in_]
        if isinstance(parameters.get("class_weight"), Mapping):  # a class may be missing from a fold
            present = set(y[train].tolist())
            weights_of = parameters["class_weight"]
            parameters["class_weight"] = {label: weights_of[label] for label in weights_of if label in present}
        self._model: SparseLinearModel = type(model)(**parameters)
        self._model.n_features_in_ = model.n_features_in_
        if hasattr(model, "feature_names_in_"):
            self._model.feature_names_in_ = model.feature_names_in_
        weights = None if sample_weight is None else np.asarray(sample_weight)
        self._solver = path_solver(
            self._model,
            _safe_indexing(X, train),
            y[train],
            None if weights is None else weights[train],
            model._expected(),
        )
        # Held-out samples come without names, which would otherwise be missed.
        self._model.__dict__.pop("feature_names_in_", None)
        self._scorer: Scorer | None = None if model.scoring is None else get_scorer(model.scoring)
        self._X, self._y = _safe_indexing(X, test), y[test]
        self._weights = None if weights is None else weights[test]

    def scores(self, ks: list[int]) -> list[float]:
        """Solve for these k, and score each on the held-out samples; without a scorer, by minus the mean loss."""
        self._solver.solve(ks)
        return [self._score(self._solver.results[k]) for k in ks]

    def _score(self, result: Result) -> float:
        if self._scorer is not None:
            return float(self._scorer(self._model._keep(result), self._X, self._y))
        try:
            return -self._model._mean_loss(self._X, self._y, self._weights, result)
        except ZeroDivisionError as error:
            raise ValueError("the held-out samples of a fold weigh nothing; use fewer folds") from error


def _outputs(model: SparseLinearModel) -> int:
    """Number of coefficients of a feature."""
    classes = getattr(model, "classes_", ())
    return max(1, len(classes) - 1)


@documented
class SparseLinearRegressionCV(CrossValidated, SparseLinearRegression):
    """Least squares with the number of features chosen by cross-validation.

    See `SparseLinearRegression` for the model.

    Parameters
    ----------
    $ks
    $cv
    alpha : float, default=0
        Ridge penalty.
    $model
    $n_jobs

    Attributes
    ----------
    $path
    $scores
    $fitted

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from ksparse import SparseLinearRegressionCV
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = SparseLinearRegressionCV().fit(X, y)
    >>> model.ks_, model.k_
    (array([ 1,  2,  3,  4,  5,  6,  7,  8,  9, 10]), 6)
    >>> model.get_feature_names_out()
    array(['sex', 'bmi', 'bp', 's1', 's2', 's5'], dtype=object)
    """


@documented
class SparseLogisticRegressionCV(CrossValidated, SparseLogisticRegression):
    """Logistic regression with the number of features chosen by cross-validation.

    See `SparseLogisticRegression` for the model.

    Parameters
    ----------
    $ks
    $cv
    alpha : float, default=1e-4
        Ridge penalty.
    $class_weight
    $model
    $n_jobs

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    $path
    $scores
    $fitted

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from ksparse import SparseLogisticRegressionCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SparseLogisticRegressionCV(ks=range(1, 11), rule="1se").fit(scale(X), y)
    >>> model.k_, model.get_support(indices=True)
    (3, array([21, 23, 27]))
    """

    @keeps_parameters
    def __init__(
        self,
        *,
        ks: Any = "auto",
        cv: Any = 5,
        scoring: Any = None,
        rule: str = "best",
        alpha: float = 1e-4,
        class_weight: Any = None,
        fit_intercept: bool = True,
        groups: Any = None,
        always_select: Any = None,
        positive: bool = False,
        solver: str | Solver = "auto",
        effort: int = 0,
        n_jobs: int | None = None,
    ) -> None: ...


@documented
class SparsePoissonRegressionCV(CrossValidated, SparsePoissonRegression):
    """Poisson regression with the number of features chosen by cross-validation.

    See `SparsePoissonRegression` for the model.

    Parameters
    ----------
    $ks
    $cv
    alpha : float, default=0
        Ridge penalty.
    $model
    $n_jobs

    Attributes
    ----------
    $path
    $scores
    $fitted

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import SparsePoissonRegressionCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 30))
    >>> y = rng.poisson(np.exp(1 + 0.5 * X[:, 4] - 0.5 * X[:, 9]))
    >>> model = SparsePoissonRegressionCV(rule="1se").fit(X, y)
    >>> model.k_, model.get_support(indices=True)
    (2, array([4, 9]))
    """


@documented
class SparseHuberRegressionCV(CrossValidated, SparseHuberRegression):
    """Robust regression with the number of features chosen by cross-validation.

    See `SparseHuberRegression` for the model. Held-out samples are scored by Huber's loss too.

    Parameters
    ----------
    $ks
    $cv
    $delta
    alpha : float, default=0
        Ridge penalty.
    $model
    $n_jobs

    Attributes
    ----------
    delta_ : float
        The delta that was used.
    $path
    $scores
    $fitted

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import SparseHuberRegressionCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 20))
    >>> y = 3 * X[:, 2] - X[:, 11] + 0.1 * rng.standard_normal(100)
    >>> y[::10] += 500
    >>> model = SparseHuberRegressionCV(ks=range(1, 6)).fit(X, y)
    >>> model.k_, model.get_support(indices=True)
    (2, array([ 2, 11]))
    """

    @keeps_parameters
    def __init__(
        self,
        *,
        ks: Any = "auto",
        cv: Any = 5,
        scoring: Any = None,
        rule: str = "best",
        delta: float | str = "auto",
        alpha: float = 0.0,
        fit_intercept: bool = True,
        groups: Any = None,
        always_select: Any = None,
        positive: bool = False,
        solver: str | Solver = "auto",
        effort: int = 0,
        n_jobs: int | None = None,
    ) -> None: ...
