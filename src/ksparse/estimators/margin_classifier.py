"""What classifiers share: labels as integer codes, and predictions from margins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from .._types import AnyArray, Array, IntArray

__all__ = ["MarginClassifier"]


class MarginClassifier(ClassifierMixin):  # type: ignore[misc]
    """A classifier whose class probabilities are the logistic function, or the softmax, of its margins."""

    classes_: AnyArray
    #: Xw + b, which estimators implement.
    linear_predictor: Callable[[Any], Array]

    def decision_function(self, X: Any) -> Array:
        """Margins of the classes: Xw + b for `SparseLogisticRegression`, δ_l(x) for `SparseDiscriminantAnalysis`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One column for each class; for two classes, the margin of the second over the first.
        """
        margins = self.linear_predictor(X)
        return margins[:, 0] if margins.shape[1:] == (1,) else margins

    def predict(self, X: Any) -> AnyArray:
        """The most probable class of each sample."""
        margins = self.decision_function(X)
        codes = (margins > 0).astype(int) if margins.ndim == 1 else margins.argmax(axis=1)
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, in the order of `classes_`."""
        margins = self.decision_function(X)
        return np.column_stack([expit(-margins), expit(margins)]) if margins.ndim == 1 else softmax(margins, axis=1)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of `predict_proba`, without loss of precision where probabilities are small."""
        margins = self.decision_function(X)
        if margins.ndim == 1:
            return np.column_stack([log_expit(-margins), log_expit(margins)])
        return log_softmax(margins, axis=1)

    def fit_labels(self, y: AnyArray) -> IntArray:
        """Set `classes_`, of which there must be at least two, and return the position of each label in it."""
        try:
            check_classification_targets(y)
        except TypeError as error:
            raise ValueError(f"y has labels of different types ({error}); use one type, without None") from error
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y has only one class: {self.classes_.tolist()[0]!r}; a classifier needs samples of at least 2 classes"
            )
        return codes

    def encode_labels(self, y: AnyArray) -> IntArray:
        """The position of each label of other samples in `classes_`."""
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            raise ValueError(
                f"y has the class {unknown.tolist()[0]!r}, which does not occur in the training data; use fewer folds"
            )
        return np.searchsorted(self.classes_, y)
