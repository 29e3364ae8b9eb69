"""Logistic regression of two classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._types import Array
from .._linear_docs import document_objective
from ..loss import Loss, sum_entropies
from ..targets import ClassifierObjective, encode_two_classes

__all__ = ["Logistic", "LogisticLoss"]


# The formulas of a sample, which NumPy applies to arrays and Numba compiles.


def logistic_value(margin: Any, y: Any) -> Any:
    """log(1 + exp(−ym)): the same as logaddexp(0, −ym), in a third of its time."""
    return np.log1p(np.exp(-np.abs(margin))) + np.maximum(-y * margin, 0.0)


def logistic_slope(margin: Any, y: Any) -> Any:
    """−y/(1 + exp(ym)), by an exponential that cannot overflow: exp(−|m|) where ym is positive, else 1."""
    small = np.exp(-np.abs(margin))
    return -y * np.maximum(small, (y * margin <= 0.0) * 1.0) / (1.0 + small)


def logistic_curvature(margin: Any) -> Any:
    """exp(m)/(1 + exp(m))², the same for m and −m, thus for both y."""
    small = np.exp(-np.abs(margin))
    return small / np.square(1.0 + small)


@dataclass(frozen=True)
class LogisticLoss(Loss):
    """log(1 + exp(−ym)), y in {−1, +1}."""

    no_minimum_reason = "The selected features separate the classes"
    curvature_bound = 0.25
    curvature_vanishes = True
    is_steepest_at_zero = True

    def value(self, margins: Array, y: Array) -> Array:
        return logistic_value(margins, y)

    def slope(self, margins: Array, y: Array) -> Array:
        return logistic_slope(margins, y)

    def curvature(self, margins: Array, y: Array) -> Array:
        return logistic_curvature(margins)

    def conjugate(self, slopes: Array, y: Array) -> Array:
        """q·log q + (1 − q)·log(1 − q) with q = −ya between 0 and 1."""
        return -sum_entropies(-y * slopes)

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
