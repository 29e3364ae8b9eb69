"""The squared hinge: a linear support vector machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._types import Array
from .._linear_docs import document_objective
from ..loss import Loss
from ..targets import ClassifierObjective, encode_labels, encode_rows_of_ones, encode_two_classes

__all__ = ["SquaredHinge", "SquaredHingeLoss"]


# The formulas of a sample, which NumPy applies to arrays and Numba compiles.


def hinge_value(margin: Any, y: Any) -> Any:
    """max(0, 1 − ym)²."""
    return np.square(np.maximum(0.0, 1.0 - y * margin))


def hinge_slope(margin: Any, y: Any) -> Any:
    """−2y·max(0, 1 − ym)."""
    return -2.0 * y * np.maximum(0.0, 1.0 - y * margin)


def hinge_curvature(margin: Any, y: Any) -> Any:
    """2 for ym < 1, else 0."""
    return (y * margin < 1.0) * 2.0


@dataclass(frozen=True)
class SquaredHingeLoss(Loss):
    """max(0, 1 − ym)², y in {−1, +1}; the sum over several outputs."""

    curvature_bound = 2.0
    is_steepest_at_zero = True

    def value(self, margins: Array, y: Array) -> Array:
        values = hinge_value(margins, y)
        return values if values.ndim == 1 else values.sum(axis=1)

    def slope(self, margins: Array, y: Array) -> Array:
        return hinge_slope(margins, y)

    def curvature(self, margins: Array, y: Array) -> Array:
        return hinge_curvature(margins, y)

    def conjugate(self, slopes: Array, y: Array) -> Array:
        """¼a² + ya where ya ≤ 0; the sum over several outputs."""
        values = np.where(y * slopes <= 0.0, slopes * (0.25 * slopes + y), np.inf)
        return values if values.ndim == 1 else values.sum(axis=1)


@document_objective
class SquaredHinge(ClassifierObjective):
    """f(w) = (1/n)·Σᵢ max(0, 1 − yᵢ wᵀxᵢ)² + (alpha/2)·‖w‖²: a linear support vector machine.

    With K > 2 classes, one column of W for each of them, against all others, and the sum of their losses; an integer k
    then selects k rows of W.

    Parameters
    ----------
    $X
    y : array-like of shape (n,)
        Labels of two classes or more: any values.
    $options

    Attributes
    ----------
    classes : ndarray of shape (K,)
        The labels; of two, the second one is the positive class.

    Examples
    --------
    >>> import ksparse
    >>> X, y = [[1.0, 0.5], [2.0, -0.5], [-1.0, 0.5], [-2.0, -0.5]], ["yes", "yes", "no", "no"]
    >>> ksparse.minimize(ksparse.objectives.SquaredHinge(X, y), k=1).x
    array([1., 0.])
    """

    loss = SquaredHingeLoss()

    def encode_target(self, y: Any, n: int) -> Array:
        self.classes, codes = encode_labels(y, n)
        if len(self.classes) <= 2:
            self.classes, signs = encode_two_classes(y, n, type(self).__name__)
            return signs
        return encode_rows_of_ones(self.classes, codes, other=-1.0)
