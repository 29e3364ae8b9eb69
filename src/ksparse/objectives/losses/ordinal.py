"""Ordinal regression of ordered classes: proportional odds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_solve
from scipy.sparse import csr_array
from scipy.special import log_expit, logit

from ..._types import AnyArray, Array, IntArray
from .._linear_docs import document_objective
from ..linear import LinearObjective
from ..loss import BoundLoss, SampleMargins, SortedLoss
from ..targets import encode_ordered_labels
from ..thresholds import NEAR_DECREMENT, Thresholds, factorize_hessian

__all__ = ["Ordinal", "OrdinalLoss", "compute_log_probabilities"]

#: Margins that are no larger have enough curvature; larger ones are approached by this factor.
MODERATE_MARGINS, MARGIN_GROWTH = 30.0, 4.0


def compute_log_probabilities(margins: Array, thresholds: Array) -> Array:
    """log P(class) of each sample, with a column for each class: log[σ(θ_c − m) − σ(θ_{c−1} − m)].

    The difference is σ(θ_c − m)·σ(m − θ_{c−1})·(1 − exp(θ_{c−1} − θ_c)), without cancellation.
    """
    ends = np.concatenate([[-np.inf], thresholds, [np.inf]])
    gaps = np.log(-np.expm1(-np.diff(ends)))
    return log_expit(ends[1:] - margins[:, None]) + log_expit(margins[:, None] - ends[:-1]) + gaps


@dataclass(frozen=True)
class OrdinalLoss(SortedLoss):
    """The negative log-likelihood of proportional odds, with the thresholds that are best for the margins.

    y has the positions of the classes, from 0 on.
    """

    allows_intercept = False
    has_nuisance = True
    curvature_bound = 0.5
    no_minimum_reason = "The selected features separate the classes"
    n_classes: int = 2

    def output_shape(self, target: Array) -> tuple[int, ...]:
        return ()

    def separates(self, margins: Array, y: Array) -> bool:
        """Whether each class has smaller margins than the next one."""
        codes = y.astype(np.intp)
        highest, lowest = np.full(self.n_classes, -np.inf), np.full(self.n_classes, np.inf)
        np.maximum.at(highest, codes, margins)
        np.minimum.at(lowest, codes, margins)
        return bool((highest[:-1] < lowest[1:]).all())

    def bind(self, y: Array, weights: Array) -> BoundOrdinalLoss:
        return BoundOrdinalLoss(self, y, weights)

    def average_held_out(self, training: SampleMargins, held_out: SampleMargins) -> float:
        """The mean loss of the held-out samples, with the thresholds of the training samples."""
        weights = training.weights / training.weights.sum()
        thresholds = self.bind(training.target, weights).find_nuisance(training.margins)
        logs = compute_log_probabilities(held_out.margins, thresholds)
        losses = -np.take_along_axis(logs, held_out.target.astype(np.intp)[:, None], axis=1)[:, 0]
        return float(np.average(losses, weights=held_out.weights))


class BoundOrdinalLoss(BoundLoss):
    """The loss of some samples, whose last thresholds are where the search for the next ones begins."""

    _loss: OrdinalLoss

    def __init__(self, loss: OrdinalLoss, y: Array, weights: Array) -> None:
        super().__init__(loss, y, weights)
        self._codes: IntArray = y.astype(np.intp)
        #: The total weight of each class.
        self._masses: Array = np.bincount(self._codes, weights, minlength=loss.n_classes).astype(np.float64)
        self._latest: tuple[Array, Thresholds] | None = None

    def find_nuisance(self, margins: Array) -> Array:
        """The best thresholds for these margins."""
        return self._solve(margins).values

    def total(self, margins: Array) -> float:
        return self._solve(margins).loss if np.isfinite(margins).all() else np.inf

    def slopes(self, margins: Array) -> Array:
        """Those with fixed thresholds, since the loss has slope 0 in these."""
        return self._differentiate(margins)[0]

    def multiply_hessian(self, margins: Array, directions: Array) -> Array:
        """That with fixed thresholds, less what these take of it when they follow the margins."""
        own, coupling, factor = self._find_hessian(margins)
        return own[:, None] * directions - coupling @ cho_solve(factor, coupling.T @ directions)

    def compute_gram(self, margins: Array, directions: Array) -> Array:
        own, coupling, factor = self._find_hessian(margins)
        moved = coupling.T @ directions
        gram: Array = (directions.T * own) @ directions - moved.T @ cho_solve(factor, moved)
        return gram

    def compute_cross(self, margins: Array, directions: Array, others: Array) -> tuple[Array, Array]:
        own, coupling, factor = self._find_hessian(margins)
        moved, others_moved = coupling.T @ directions, coupling.T @ others
        solved = cho_solve(factor, others_moved)
        cross = (directions.T * own) @ others - moved.T @ solved
        squares = own @ np.square(others) - np.einsum("ij,ij->j", others_moved, solved)
        return cross, np.maximum(squares, 0.0)

    def hessian_diagonal(self, margins: Array) -> Array:
        own, coupling, factor = self._find_hessian(margins)
        dense = coupling.toarray()
        return np.maximum(own - np.einsum("ij,ji->i", dense, cho_solve(factor, dense.T)), 0.0)

    def _differentiate(self, margins: Array) -> tuple[Array, Array, Array]:
        from .. import _class_sums

        return _class_sums.compute_derivatives(self._codes, self.weights, margins, self._solve(margins).values)

    def _find_hessian(self, margins: Array) -> tuple[Array, csr_array, Any]:
        """The Hessian in the margins (a diagonal), between these and the thresholds, and a factor of that in these."""
        _, upper, lower = self._differentiate(margins)
        n, last = self._codes.size, self._loss.n_classes - 1
        rows, has_upper, has_lower = np.arange(n), self._codes < last, self._codes > 0
        entries = np.concatenate([-upper[has_upper], -lower[has_lower]])
        columns = np.concatenate([self._codes[has_upper], self._codes[has_lower] - 1])
        places = np.concatenate([rows[has_upper], rows[has_lower]]), columns
        return (
            upper + lower,
            csr_array((entries, places), shape=(n, last)),
            factorize_hessian(self._solve(margins).hessian),
        )

    def _solve(self, margins: Array) -> Thresholds:
        """The best thresholds; the latest are kept, since derivatives are asked for where the loss was."""
        if self._latest is not None and self._latest[0] is margins:
            return self._latest[1]
        found: Thresholds | None = None
        if self._latest is not None:
            before, known = self._latest
            found = self._descend(margins, known.values + self.weights @ (margins - before))
        if found is None or not found.decrement <= NEAR_DECREMENT:
            other = self._approach(margins)
            found = other if found is None or not found.loss <= other.loss else found
        self._latest = margins, found
        return found

    def _approach(self, margins: Array) -> Thresholds:
        """From a start of its own; for far margins, where curvature vanishes, from the thresholds of smaller ones."""
        centre = float(self.weights @ margins)
        moved = margins - centre
        scale = min(1.0, MODERATE_MARGINS / max(float(np.abs(moved).max()), 1.0))
        found = self._descend(scale * moved, self._guess(scale * moved))
        while scale < 1.0:
            growth = min(MARGIN_GROWTH, 1.0 / scale)
            scale = min(scale * growth, 1.0)
            found = self._descend(scale * moved, found.values * growth)
        return found._replace(values=found.values + centre)

    def _guess(self, margins: Array) -> Array:
        """Thresholds that are right for margins that are all alike, and between classes that are far apart."""
        below = np.cumsum(self._masses)[:-1] / self._masses.sum()
        order = np.argsort(margins, kind="stable")
        reached = np.cumsum(self.weights[order])
        places = np.searchsorted(reached, below * reached[-1])
        return margins[order[np.minimum(places, order.size - 1)]] + logit(below)

    def _descend(self, margins: Array, start: Array) -> Thresholds:
        """Newton's method with halved steps."""
        from .. import _class_sums

        values, loss, diagonal, beside, decrement = _class_sums.find_thresholds(
            self._codes, self.weights, self._masses, margins, start
        )
        hessian = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
        return Thresholds(values, loss, hessian, decrement)


@document_objective
class Ordinal(LinearObjective):
    """f(w) = min over θ of −(1/n)·Σᵢ log[σ(θ_c − mᵢ) − σ(θ_{c−1} − mᵢ)] + (alpha/2)·‖w‖², with mᵢ = wᵀxᵢ and c = yᵢ.

    Proportional odds: the odds of a class above c are exp(m − θ_c) for each c, with σ the logistic function and
    thresholds θ₀ < θ₁ < … between the classes; θ₋₁ = −∞, and the last one is ∞. The thresholds are not penalized, do
    not count in k, and are `Result.nuisance`. There is no intercept: it would change nothing.

    Parameters
    ----------
    $X
    y : array-like of shape (n,)
        Numbers, an ordered categorical of pandas, or labels whose order `categories` gives.
    categories : sequence, optional
        The labels from the lowest to the highest. Those that y does not have are left out.
    alpha, sample_weight, offset
        As in `LinearObjective`.

    Attributes
    ----------
    classes : ndarray of shape (K,)
        The labels in their order.

    References
    ----------
    P. McCullagh, *Regression models for ordinal data*, Journal of the Royal Statistical Society B 42 (1980), 109–142.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> X = np.random.default_rng(0).standard_normal((300, 8))
    >>> y = np.digitize(2 * X[:, 5] + np.random.default_rng(1).logistic(size=300), [-1, 2])
    >>> result = ksparse.minimize(ksparse.objectives.Ordinal(X, y), k=1)
    >>> result.selected, round(float(result.x[5]), 1), result.nuisance.round(1)
    (array([5]), 1.7, array([-0.9,  2.1]))
    """

    classes: AnyArray

    def __init__(self, X: Any, y: Any, *, categories: Any = None, **options: Any) -> None:
        self._categories = categories
        super().__init__(X, y, **options)

    def encode_target(self, y: Any, n: int) -> Array:
        self.classes, codes = encode_ordered_labels(y, n, self._categories)
        self.loss = OrdinalLoss(len(self.classes))
        return codes.astype(np.float64)

    def check_weighted_target(self, target: Array) -> None:
        counts = np.bincount(target.astype(np.intp), minlength=len(self.classes))
        if not counts.all():
            missing = self.classes[counts == 0].tolist()
            raise ValueError(f"no sample of class {missing} has a positive sample_weight; remove it from y")
