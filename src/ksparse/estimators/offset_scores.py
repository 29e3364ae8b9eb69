"""The score of a model's predictions, which may have an offset as its fit had."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score

from .._types import AnyArray

__all__ = ["LinearRegressorMixin", "OffsetClassifierMixin", "OffsetScoreMixin"]


class OffsetScoreMixin:
    """A model of which `predict` and `score` take an offset."""

    predict: Callable[..., AnyArray]

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """The score of the predictions, larger being better: see `score_predictions`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The response or the labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.
        offset : array-like of shape (n_samples,), optional
            Known part of the margins, as in `fit` and `predict`.

        Returns
        -------
        float
            The score.
        """
        prediction = self.predict(X) if offset is None else self.predict(X, offset)
        return self.score_predictions(y, prediction, sample_weight)

    @abstractmethod
    def score_predictions(self, y: Any, prediction: AnyArray, sample_weight: Any = None) -> float:
        """The score of predictions of y."""


class LinearRegressorMixin(OffsetScoreMixin, RegressorMixin):  # type: ignore[misc]
    """scikit-learn's `RegressorMixin` for a `SparseLinearModel`, whose `score` takes an offset.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from ksparse.estimators import LinearRegressorMixin, SparseLinearModel
    >>> from ksparse.objectives import LeastSquares
    >>> @dataclass(eq=False, repr=False)
    ... class MyRegression(LinearRegressorMixin, SparseLinearModel):
    ...     def build_objective(self, X, target, **options):
    ...         return LeastSquares(X, target, **options)
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> model = MyRegression(k=1).fit(X, [1.0, 5.0, 3.0], offset=[0.0, 3.0, 0.0])
    >>> model.score(X, [1.0, 5.0, 3.0], offset=[0.0, 3.0, 0.0])
    1.0
    """

    def score_predictions(self, y: Any, prediction: AnyArray, sample_weight: Any = None) -> float:
        """R², at most 1; the mean over several responses."""
        return float(r2_score(y, prediction, sample_weight=sample_weight))


class OffsetClassifierMixin(OffsetScoreMixin, ClassifierMixin):  # type: ignore[misc]
    """scikit-learn's `ClassifierMixin` for a model whose `score` takes an offset."""

    def score_predictions(self, y: Any, prediction: AnyArray, sample_weight: Any = None) -> float:
        """The fraction of samples, by weight, whose class is predicted."""
        return float(accuracy_score(y, prediction, sample_weight=sample_weight))
