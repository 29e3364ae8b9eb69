"""Logistic regression of two classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from ..._types import Array
from .._linear_docs import document_objective
from ..loss import Loss
from ..targets import ClassifierObjective, encode_two_classes

__all__ = ["Logistic", "LogisticLoss"]


@dataclass(frozen=True)
class LogisticLoss(Loss):
    """log(1 + exp(−ym)), y in {−1, +1}."""

    no_minimum_reason = "The selected features separate the classes"
    curvature_bound = 0.25

    def value(self, margins: Array, y: Array) -> Array:
        # The same as logaddexp(0, −ym), in a third of its time.
        losses = np.log1p(np.exp(-np.abs(margins)))
        losses += np.maximum(-y * margins, 0.0)
        return losses

    def slope(self, margins: Array, y: Array) -> Array:
        return -y * expit(-y * margins)

    def curvature(self, margins: Array, y: Array) -> Array:
        small = np.exp(-np.abs(margins))
        return small / np.square(1.0 + small)

    def separates(self, margins: Array, y: Array) -> bool:
        return bool((y * margins > 0).all())


@document_objective
class Logistic(ClassifierObjective):
    """f(w) = (1/n)·Σᵢ log(1 + exp(−yᵢ wᵀxᵢ)) + (alpha/2)·‖w‖² (paper, §4.1).

    The paper's loss log(1 + exp(−2v wᵀu)) is this one on the features x = 2u.

    Parameters
    ----------
    $X
    y : array-like of shape (n,)
        Labels of two classes: any two values.
    $options

    Attributes
    ----------
    $two_classes

    Examples
    --------
    >>> import ksparse
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = ksparse.minimize(ksparse.objectives.Logistic(scale(X), y, alpha=1e-3, fit_intercept=True), k=3)
    >>> result.selected
    array([20, 21, 27])
    """

    loss = LogisticLoss()

    def encode_target(self, y: Any, n: int) -> Array:
        self.classes, signs = encode_two_classes(y, n, type(self).__name__)
        return signs
