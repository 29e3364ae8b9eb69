"""Predictions from margins, the same for every classifier that has them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from .._types import AnyArray, Array

__all__ = ["MarginClassifier", "check_labels"]


class MarginClassifier(ClassifierMixin):  # type: ignore[misc]
    """A classifier whose class probabilities are the logistic function, or the softmax, of its margins."""

    classes_: AnyArray

    @abstractmethod
    def decision_function(self, X: Any) -> Array:
        """Margins: of the second class for two classes, otherwise one column for each class."""

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
        """Logarithm of `predict_proba`, computed without loss where probabilities are small."""
        margins = self.decision_function(X)
        if margins.ndim == 1:
            return np.column_stack([log_expit(-margins), log_expit(margins)])
        return log_softmax(margins, axis=1)


def check_labels(y: AnyArray) -> AnyArray:
    """The classes of y, of which there must be two at least."""
    try:
        check_classification_targets(y)
    except TypeError as error:
        raise ValueError(f"y has labels of different types ({error}); use one type, without None") from error
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(
            f"y has only one class: {classes.tolist()[0]!r}; a classifier needs samples of at least 2 classes"
        )
    return classes
