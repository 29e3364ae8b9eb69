"""Pointwise losses ℓ(m, y) of the margins m: value, derivative and curvature in m.

Margins have shape (n,), or (n, K) for several responses or classes. Nothing here overflows into NaN: a margin
that is too large gives an infinite value, which every line search rejects.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_softmax, softmax

from .._types import Array
from ..validation import check_positive_number

__all__ = ["HuberLoss", "LogisticLoss", "Loss", "MultinomialLoss", "PoissonLoss", "SquaredHingeLoss", "SquaredLoss"]


@dataclass(frozen=True)
class Loss(ABC):
    """A loss of one sample. Subclasses give `value`, `slope` and `curvature`, elementwise in the margins."""

    #: Upper bound of the curvature, infinite where there is none.
    bound: float = np.inf
    #: Whether the curvature of a sample couples its margins: diag(c) − ccᵀ instead of diag(c).
    coupled: bool = False
    #: Whether the loss is quadratic in the margins.
    quadratic: bool = False
    #: Whether the loss depends on the margins and y only through their difference.
    of_residuals: bool = False

    @abstractmethod
    def value(self, margins: Array, y: Array) -> Array:
        """Loss of each sample, shape (n,)."""

    @abstractmethod
    def slope(self, margins: Array, y: Array) -> Array:
        """∂ℓ/∂m, of the margins' shape."""

    @abstractmethod
    def curvature(self, margins: Array, y: Array) -> Array:
        """∂²ℓ/∂m², of the margins' shape."""

    def separates(self, margins: Array, y: Array) -> bool:
        """Whether scaling these margins up lowers the loss of every sample forever."""
        return False


@dataclass(frozen=True)
class SquaredLoss(Loss):
    """½(m − y)²."""

    bound: float = 1.0
    quadratic: bool = True
    of_residuals: bool = True

    def value(self, margins: Array, y: Array) -> Array:
        squares = 0.5 * np.square(margins - y)
        return squares if squares.ndim == 1 else squares.sum(axis=1)

    def slope(self, margins: Array, y: Array) -> Array:
        return margins - y

    def curvature(self, margins: Array, y: Array) -> Array:
        return np.ones_like(margins)


@dataclass(frozen=True)
class LogisticLoss(Loss):
    """log(1 + exp(−ym)), y in {−1, +1}."""

    bound: float = 0.25

    def value(self, margins: Array, y: Array) -> Array:
        # Three times as fast as logaddexp, which does the same.
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


@dataclass(frozen=True)
class PoissonLoss(Loss):
    """exp(m) − ym: the negative Poisson log-likelihood with log link, up to log y!."""

    def value(self, margins: Array, y: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.exp(margins) - y * margins

    def slope(self, margins: Array, y: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.exp(margins) - y

    def curvature(self, margins: Array, y: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.exp(margins)


@dataclass(frozen=True)
class HuberLoss(Loss):
    """½r² for |r| ≤ δ, else δ|r| − ½δ², with r = m − y."""

    bound: float = 1.0
    of_residuals: bool = True
    delta: float = 1.35

    def __post_init__(self) -> None:
        check_positive_number(self.delta, "delta")

    def value(self, margins: Array, y: Array) -> Array:
        size = np.abs(margins - y)
        inner = np.minimum(size, self.delta)
        return inner * (size - 0.5 * inner)

    def slope(self, margins: Array, y: Array) -> Array:
        return np.clip(margins - y, -self.delta, self.delta)

    def curvature(self, margins: Array, y: Array) -> Array:
        return (np.abs(margins - y) <= self.delta).astype(np.float64)


@dataclass(frozen=True)
class SquaredHingeLoss(Loss):
    """max(0, 1 − ym)², y in {−1, +1}."""

    bound: float = 2.0

    def value(self, margins: Array, y: Array) -> Array:
        return np.square(np.maximum(0.0, 1.0 - y * margins))

    def slope(self, margins: Array, y: Array) -> Array:
        return -2.0 * y * np.maximum(0.0, 1.0 - y * margins)

    def curvature(self, margins: Array, y: Array) -> Array:
        return np.where(y * margins < 1.0, 2.0, 0.0)


@dataclass(frozen=True)
class MultinomialLoss(Loss):
    """−log softmax(m)_y for K classes; y is given as one-hot rows."""

    bound: float = 0.5
    coupled: bool = True

    def value(self, margins: Array, y: Array) -> Array:
        return -np.einsum("ik,ik->i", log_softmax(margins, axis=1), y)

    def slope(self, margins: Array, y: Array) -> Array:
        return softmax(margins, axis=1) - y

    def curvature(self, margins: Array, y: Array) -> Array:
        return softmax(margins, axis=1)

    def separates(self, margins: Array, y: Array) -> bool:
        others = np.where(y > 0, -np.inf, margins).max(axis=1)
        return bool((np.where(y > 0, margins, -np.inf).max(axis=1) > others).all())
