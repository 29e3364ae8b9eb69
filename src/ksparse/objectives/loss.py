"""What a linear model minimizes: a loss of the margins m = Xw + b + offset.

A `Loss` is a weighted sum over samples, given by value, slope and curvature of one sample. A `JointLoss` is a function
of all margins together, such as a partial likelihood with its risk sets. Margins have shape (n,), or (n, q) for q
outputs (responses or classes). Nothing here overflows into NaN: a margin that is too large gives an infinite value,
which every line search rejects.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import entr

from .._types import Array

__all__ = ["AnyLoss", "BoundLoss", "JointLoss", "Loss", "SampleMargins", "sum_entropies"]


class SampleMargins(NamedTuple):
    """The margins of some samples, with what belongs to them."""

    margins: Array
    #: y as the loss wants it.
    target: Array
    #: Sample weights as they were given; ones without any.
    weights: Array


@dataclass(frozen=True)
class AnyLoss(ABC):
    """What every loss says about itself."""

    #: Upper bound of the curvature of a sample whatever its y, infinite where there is none.
    curvature_bound: ClassVar[float] = np.inf
    #: Whether the loss is convex in the margins.
    is_convex: ClassVar[bool] = True
    #: Whether the curvature of a sample vanishes as its margins grow in almost any direction.
    curvature_vanishes: ClassVar[bool] = False
    #: Whether every sample has the bound as its curvature where all margins are zero.
    is_steepest_at_zero: ClassVar[bool] = False
    #: Whether the loss is quadratic in the margins.
    is_quadratic: ClassVar[bool] = False
    #: Whether the loss depends on the margins and y only through their difference.
    of_residuals: ClassVar[bool] = False
    #: Whether the Hessian of one sample couples its outputs (softmax).
    couples_outputs: ClassVar[bool] = False
    #: Whether adding the same number to all outputs of a sample changes nothing (softmax).
    shift_invariant: ClassVar[bool] = False
    #: When no finite coefficients minimize the loss; for messages.
    no_minimum_reason: ClassVar[str] = "The loss decreases without end in some direction"
    #: Whether an intercept makes sense; it does not where adding a constant to all margins changes nothing.
    allows_intercept: ClassVar[bool] = True
    #: Whether exp of a margin is taken, so that known parts of margins must not be too far from each other.
    exponentiates: ClassVar[bool] = False

    def output_shape(self, target: Array) -> tuple[int, ...]:
        """Shape of the margins of one sample: () for one output, (q,) for q of them."""
        return target.shape[1:]

    def bound_curvature(self, y: Array) -> Array:
        """Upper bounds of the curvature of samples with these y, shape (n,); infinite where there are none."""
        return np.full(len(y), self.curvature_bound)

    def separates(self, margins: Array, y: Array) -> bool:
        """Whether scaling these margins up lowers the loss of every sample without end."""
        return False

    def find_cancelling_size(self, value: float, at_start: float, mean: Any) -> float:
        """The size of the numbers that cancel in the mean loss, where it has a value and had another at the start.

        The margins are sums that have lost a rounding error of their terms; this is what the loss makes of it. `mean`
        is that of y.
        """
        return abs(at_start)

    def find_null_margin(self, mean: Any) -> float:
        """The margin that minimizes the loss of samples with this mean of y, where a search should start from it."""
        return 0.0

    @abstractmethod
    def average(self, margins: Array, y: Array, weights: Array | None = None) -> float:
        """The loss of some samples, whose weights need not sum to 1; ZeroDivisionError if they sum to 0."""


class Loss(AnyLoss):
    """Σᵢ sᵢ ℓ(mᵢ, yᵢ) with sample weights s that sum to 1: subclasses give ℓ and its derivatives, elementwise."""

    def average(self, margins: Array, y: Array, weights: Array | None = None) -> float:
        return float(np.average(self.value(margins, y), weights=weights))

    @abstractmethod
    def value(self, margins: Array, y: Array) -> Array:
        """ℓ of each sample, shape (n,)."""

    def find_lowest(self, y: Array) -> Array | float:
        """The least ℓ that a margin can give each sample; 0 by default. Held-out losses are compared above it.

        It does not depend on the model, but on the units of y: scores of folds with other y would not compare.
        """
        return 0.0

    @abstractmethod
    def slope(self, margins: Array, y: Array) -> Array:
        """∂ℓ/∂m, of the margins' shape."""

    @abstractmethod
    def curvature(self, margins: Array, y: Array) -> Array:
        """What determines ∂²ℓ/∂m² of each sample, of the margins' shape: by default its diagonal."""

    def majorize(self, margins: Array, y: Array) -> Array | None:
        """Curvatures of parabolas that touch ℓ at the margins and are above it elsewhere; None if none are known.

        For a loss of the residual r they are ℓ′(r)/r, as in iteratively reweighted least squares: ℓ must be symmetric
        and grow no faster than r²; others override this.
        """
        if not self.of_residuals:
            return None
        residuals, curvatures = margins - y, self.curvature(margins, y)
        return np.divide(self.slope(margins, y), residuals, out=curvatures, where=residuals != 0)

    def conjugate(self, slopes: Array, y: Array) -> Array | None:
        """ℓ*(a) = supₘ (am − ℓ(m)) of each sample, shape (n,): infinite where no line of this slope is below ℓ.

        Lower bounds of f follow from it (`ksparse.certificates`). None, by default, if it is not known.
        """
        return None

    # How the q × q Hessian of a sample follows from `curvature`; to be overridden where outputs are coupled.

    def hessian_diagonal(self, curvature: Array) -> Array:
        """∂²ℓ/∂m_a² of each sample and output a."""
        return curvature

    def hessian_entry(self, curvature: Array, a: int, b: int) -> Array:
        """∂²ℓ/∂m_a∂m_b of each sample."""
        return curvature[:, a] if a == b else np.zeros(len(curvature))

    def multiply_hessian(self, curvature: Array, directions: Array) -> Array:
        """The Hessian of each sample times its direction in the margins."""
        return curvature * directions


class JointLoss(AnyLoss):
    """A loss of all margins together, with sample weights that sum to 1 and mean what the loss says they mean.

    Row vectors are collected in memory for it, whatever the design.
    """

    #: Whether the loss has parameters besides the margins, such as thresholds.
    has_nuisance: ClassVar[bool] = False

    def bind(self, y: Array, weights: Array) -> BoundLoss:
        """The loss of given samples, for many margins; a loss that sorts its samples does it here, once."""
        return BoundLoss(self, y, weights)

    def average(self, margins: Array, y: Array, weights: Array | None = None) -> float:
        weights = np.ones(len(margins)) if weights is None else weights
        if not weights.any():
            raise ZeroDivisionError("the weights sum to zero")
        return self.total(margins, y, weights / weights.sum())

    def average_held_out(self, training: SampleMargins, held_out: SampleMargins) -> float:
        """The loss of samples that were held out, for a model that was fitted to the training samples.

        By default the loss of the held-out samples alone; a loss with parameters of its own takes them from the
        training samples, and a partial likelihood compares the samples with them.
        """
        return self.average(*held_out)

    @abstractmethod
    def total(self, margins: Array, y: Array, weights: Array) -> float:
        """The loss."""

    @abstractmethod
    def slopes(self, margins: Array, y: Array, weights: Array) -> Array:
        """Its gradient in the margins, of shape (n,)."""

    @abstractmethod
    def multiply_hessian(self, margins: Array, y: Array, weights: Array, directions: Array) -> Array:
        """Its n × n Hessian in the margins times some directions, of shape (n, m)."""

    @abstractmethod
    def hessian_diagonal(self, margins: Array, y: Array, weights: Array) -> Array:
        """The diagonal of that Hessian, or an upper bound of it, of shape (n,)."""


class SortedLoss(JointLoss):
    """A joint loss that sorts its samples first: `bind` does it once for many margins, and has all formulas."""

    @abstractmethod
    def bind(self, y: Array, weights: Array) -> BoundLoss: ...

    def total(self, margins: Array, y: Array, weights: Array) -> float:
        return self.bind(y, weights).total(margins)

    def slopes(self, margins: Array, y: Array, weights: Array) -> Array:
        return self.bind(y, weights).slopes(margins)

    def multiply_hessian(self, margins: Array, y: Array, weights: Array, directions: Array) -> Array:
        return self.bind(y, weights).multiply_hessian(margins, directions)

    def hessian_diagonal(self, margins: Array, y: Array, weights: Array) -> Array:
        return self.bind(y, weights).hessian_diagonal(margins)


class BoundLoss:
    """A joint loss of given samples, as a function of their margins.

    Parameters
    ----------
    loss : JointLoss
        The loss.
    y, weights : ndarray
        The target, and the sample weights.
    """

    def __init__(self, loss: JointLoss, y: Array, weights: Array) -> None:
        self._loss, self.y, self.weights = loss, y, weights

    def total(self, margins: Array) -> float:
        """The loss."""
        return self._loss.total(margins, self.y, self.weights)

    def slopes(self, margins: Array) -> Array:
        """Its gradient."""
        return self._loss.slopes(margins, self.y, self.weights)

    def multiply_hessian(self, margins: Array, directions: Array) -> Array:
        """Its Hessian times some directions, the columns."""
        return self._loss.multiply_hessian(margins, self.y, self.weights, directions)

    def compute_gram(self, margins: Array, directions: Array) -> Array:
        """VᵀHV for its Hessian H and some directions, the columns of V."""
        return directions.T @ self.multiply_hessian(margins, directions)

    def compute_cross(self, margins: Array, directions: Array, others: Array) -> tuple[Array, Array]:
        """VᵀHU for directions and others, the columns of V and of U, and the diagonal of UᵀHU."""
        cross = self.multiply_hessian(margins, directions).T @ others
        return cross, np.einsum("ij,ij->j", others, self.multiply_hessian(margins, others))

    def find_nuisance(self, margins: Array) -> Array | None:
        """Parameters of the loss besides the margins, which it takes at their best values; None if it has none."""
        return None

    def total_variances(self) -> float | None:
        """The sum of c where the Hessian H is a sum of variances, vᵀHv = Σ c·Var(v); None where it is not."""
        return None

    def hessian_diagonal(self, margins: Array) -> Array:
        """The diagonal of its Hessian, or an upper bound of it."""
        return self._loss.hessian_diagonal(margins, self.y, self.weights)


def sum_entropies(q: Array) -> Array:
    """−q·log q − (1 − q)·log(1 − q); −∞ unless 0 ≤ q ≤ 1."""
    return entr(q) + entr(1.0 - q)
