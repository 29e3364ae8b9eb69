"""Logistic regression of several classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import entr, log_softmax, softmax

from ..._types import Array
from .._linear_docs import document_objective
from ..loss import Loss
from ..targets import ClassifierObjective, encode_labels, encode_rows_of_ones

__all__ = ["Multinomial", "MultinomialLoss"]


@dataclass(frozen=True)
class MultinomialLoss(Loss):
    """−log softmax(m)_y for K classes, y as one-hot rows; the Hessian of a sample is diag(p) − ppᵀ, p = softmax(m)."""

    no_minimum_reason = "The selected features separate the classes"
    curvature_bound = 0.5
    curvature_vanishes = True
    couples_outputs = True
    shift_invariant = True

    def value(self, margins: Array, y: Array) -> Array:
        return -np.einsum("ik,ik->i", log_softmax(margins, axis=1), y)

    def slope(self, margins: Array, y: Array) -> Array:
        return softmax(margins, axis=1) - y

    def curvature(self, margins: Array, y: Array) -> Array:
        """The probabilities p, from which the Hessian follows."""
        return softmax(margins, axis=1)

    def hessian_diagonal(self, curvature: Array) -> Array:
        return curvature * (1.0 - curvature)

    def hessian_entry(self, curvature: Array, a: int, b: int) -> Array:
        own = curvature[:, a]
        return own * (1.0 - own) if a == b else -own * curvature[:, b]

    def multiply_hessian(self, curvature: Array, directions: Array) -> Array:
        scaled = curvature * directions
        return scaled - curvature * scaled.sum(axis=1, keepdims=True)

    def conjugate(self, slopes: Array, y: Array) -> Array:
        """Σₖ qₖ·log qₖ for probabilities q = a + y; they sum to 1 but for rounding."""
        return -entr(slopes + y).sum(axis=1)

    def separates(self, margins: Array, y: Array) -> bool:
        others = np.where(y > 0, -np.inf, margins).max(axis=1)
        return bool((np.where(y > 0, margins, -np.inf).max(axis=1) > others).all())


@document_objective
class Multinomial(ClassifierObjective):
    """f(W) = −(1/n)·Σᵢ log softmax(Wᵀxᵢ)_yᵢ + (alpha/2)·‖W‖²: one column of W for each of K classes.

    An integer k selects k features, that is rows of W.

    Parameters
    ----------
    $X
    y : array-like of shape (n,)
        Labels of K classes: any values.
    $options

    Attributes
    ----------
    classes : ndarray of shape (K,)
        The labels, in the order of the columns.

    Examples
    --------
    >>> import ksparse
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> result = ksparse.minimize(ksparse.objectives.Multinomial(X, y, alpha=1e-3, fit_intercept=True), k=2)
    >>> result.x.shape, result.selected
    ((5, 3), array([2, 3]))
    """

    loss = MultinomialLoss()

    def encode_target(self, y: Any, n: int) -> Array:
        self.classes, codes = encode_labels(y, n)
        if len(self.classes) < 2:
            raise ValueError(f"y has only the class {self.classes.tolist()}; Multinomial needs at least 2 classes")
        return encode_rows_of_ones(self.classes, codes)
