"""Cox's proportional hazards."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.special import gammaln

from ..._types import Array, IntArray
from .._linear_docs import document_objective
from ..linear import LinearObjective
from ..loss import BoundLoss, SampleMargins, SortedLoss
from ..survival import EVENT, STRATUM, TIME, encode_survival

__all__ = ["BoundCoxLoss", "Cox", "CoxLoss", "build_risk_sets", "compute_martingale_residuals"]

TIES = ("efron", "breslow")
#: Margins of this size tell whether the loss vanishes far away: it is below the other number there.
FAR_MARGIN, NEGLIGIBLE_LOSS = 1e8, 1e-12


@dataclass(frozen=True)
class CoxLoss(SortedLoss):
    """The negative log partial likelihood, above its least value; see `Cox`.

    y has the columns of `ksparse.objectives.survival`.
    """

    allows_intercept = False
    exponentiates = True
    no_minimum_reason = (
        "The partial likelihood grows without end: the selected features foretell who has the next event"
    )
    ties: str = "efron"

    def __post_init__(self) -> None:
        if self.ties not in TIES:
            raise ValueError(f"ties must be one of {', '.join(map(repr, TIES))}; got {self.ties!r}")

    def output_shape(self, target: Array) -> tuple[int, ...]:
        return ()

    def separates(self, margins: Array, y: Array) -> bool:
        """Whether each event comes to the largest margin at risk: the loss of far larger margins vanishes then.

        A loss that vanishes without any margins has its minimum there: all events are tied, or alone at risk.
        """
        largest = float(np.abs(margins).max(initial=0.0))
        far = margins * (FAR_MARGIN / largest) if largest > 0 else margins
        weights = np.full(len(y), 1.0 / max(len(y), 1))
        at_zero, at_far = (self.total(each, y, weights) for each in (np.zeros_like(margins), far))
        return at_far <= NEGLIGIBLE_LOSS < at_zero

    def find_cancelling_size(self, value: float, at_start: float, mean: Any) -> float:
        """An event adds logarithms of the size 1 or more, which cancel in all where all events are tied."""
        return max(abs(at_start), float(mean[EVENT]))

    def bind(self, y: Array, weights: Array) -> BoundLoss:
        return BoundCoxLoss(self, y, weights)

    def average_held_out(self, training: SampleMargins, held_out: SampleMargins) -> float:
        """By how much the loss of all samples exceeds that of the training samples, for each held-out sample.

        Both are of the same coefficients: the cross-validated partial likelihood of Verweij and van Houwelingen (1993).
        Held-out samples meet the training samples in the risk sets; those alone may have no event.
        """
        if not held_out.weights.any():
            raise ZeroDivisionError("the weights sum to zero")
        together = (np.concatenate(parts) for parts in zip(training, held_out, strict=True))
        difference = self.total(*together) - self.total(*training)
        return float(difference / held_out.weights.sum())


@cache
def _load_kernels() -> Any:
    """The compiled sums over risk sets, imported when they are first needed: Numba takes half a second to import."""
    from .. import _risk_sets

    return _risk_sets


class BoundCoxLoss(BoundLoss):
    """The loss of some samples, which are sorted once."""

    def __init__(self, loss: CoxLoss, y: Array, weights: Array) -> None:
        super().__init__(loss, y, weights)
        #: The risk sets, and the least value of the negative log partial likelihood.
        self.sets, self.least = build_risk_sets(y, weights, loss.ties == "efron")
        self._latest: tuple[Array, float, Any, Array, Array] | None = None

    def _evaluate(self, margins: Array) -> tuple[float, Any, Array, Array]:
        """The loss, the sums over risk sets, expected events, and the gradient.

        The latest are kept: derivatives are asked for where the loss was.
        """
        if self._latest is None or self._latest[0] is not margins:
            self._latest = margins, *_load_kernels().evaluate_events(self.sets, margins)
        return self._latest[1:]

    def total(self, margins: Array) -> float:
        return self._evaluate(margins)[0] - self.least

    def slopes(self, margins: Array) -> Array:
        return self._evaluate(margins)[3]

    def multiply_hessian(self, margins: Array, directions: Array) -> Array:
        _, sums, expected, _ = self._evaluate(margins)
        rows = np.ascontiguousarray(directions.T)
        product: Array = _load_kernels().multiply_hessian(self.sets, sums, expected, rows).T
        return product

    def compute_gram(self, margins: Array, directions: Array) -> Array:
        _, sums, expected, _ = self._evaluate(margins)
        gram: Array = _load_kernels().weigh_gram(self.sets, sums, expected, np.ascontiguousarray(directions.T))
        return gram

    def compute_cross(self, margins: Array, directions: Array, others: Array) -> tuple[Array, Array]:
        _, sums, expected, _ = self._evaluate(margins)
        rows = (np.ascontiguousarray(columns.T) for columns in (directions, others))
        products: tuple[Array, Array] = _load_kernels().compute_cross(self.sets, sums, expected, *rows)
        return products

    def total_variances(self) -> float:
        """Each event adds the variance of v over its risk set."""
        return float(self.sets.weights[self.sets.is_event].sum())

    def hessian_diagonal(self, margins: Array) -> Array:
        _, sums, expected, _ = self._evaluate(margins)
        diagonal = np.zeros(len(margins))
        diagonal[self.sets.order] = _load_kernels().compute_diagonal(self.sets, sums, expected)
        return diagonal


def build_risk_sets(y: Array, weights: Array, is_efron: bool) -> tuple[Any, float]:
    """The risk sets of samples with a positive weight, and the least value of the negative log partial likelihood.

    Samples that are at risk at no event are left out.
    """
    chosen = (weights > 0).nonzero()[0]
    order = chosen[np.lexsort((y[chosen, EVENT], -y[chosen, TIME], y[chosen, STRATUM]))]
    time, event, entry, stratum = y[order].T
    has_event = (event > 0).nonzero()[0]
    is_new = np.ones(has_event.size, dtype=bool)
    is_new[1:] = (np.diff(time[has_event]) != 0) | (np.diff(stratum[has_event]) != 0)
    first = has_event[is_new]
    set_time, set_stratum = time[first], stratum[first]
    first_set = np.searchsorted(set_stratum, set_stratum)
    end_set = np.searchsorted(set_stratum, set_stratum, side="right")
    begins = np.zeros(order.size, dtype=np.intp)
    begins[first] = 1
    low = begins.cumsum() - (event > 0)  # an event's own set has begun
    if entry.any():
        high = _find_sets(set_time, set_stratum, entry, stratum)
    else:
        high = np.searchsorted(set_stratum, stratum, side="right")
    kept = (low < high).nonzero()[0]
    order, low, high, is_event = order[kept], low[kept], high[kept], event[kept] > 0
    first_event = is_event.nonzero()[0][is_new]
    stop = np.searchsorted(low, np.arange(set_time.size), side="right")
    leaves = (high < end_set[low]).nonzero()[0] if low.size else low
    leaving = leaves[np.argsort(high[leaves], kind="stable")]
    sets = _load_kernels().RiskSets(
        order=order,
        weights=weights[order],
        is_event=is_event,
        low=low,
        high=high,
        first_event=first_event,
        stop=stop,
        first_set=first_set,
        end_set=end_set,
        first_position=np.searchsorted(low, first_set),
        leaving=leaving,
        n_left=np.searchsorted(high[leaving], np.arange(set_time.size), side="right"),
        is_efron=is_efron,
    )
    n_events = stop - first_event
    tied = np.add.reduceat(weights[order][is_event], is_new.nonzero()[0]) if is_new.size else np.zeros(0)
    least = tied * np.log(tied)
    if is_efron:
        least += tied * (gammaln(n_events + 1.0) / n_events - np.log(n_events))
    return sets, float(least.sum())


def compute_martingale_residuals(y: Any) -> Array:
    """Observed minus expected events of each sample in a model without features.

    Examples
    --------
    >>> from ksparse import make_survival_target
    >>> from ksparse.objectives.losses.cox import compute_martingale_residuals
    >>> compute_martingale_residuals(make_survival_target([1.0, 2.0], [True, True]))
    array([ 0.5, -0.5])
    """
    target = encode_survival(y)
    return -CoxLoss("breslow").slopes(np.zeros(len(target)), target, np.ones(len(target)))


def _find_sets(set_time: Array, set_stratum: Array, time: Array, stratum: Array) -> IntArray:
    """The first risk set of a stratum that is not after a time of entry, or where the sets of the stratum end."""
    joined = np.lexsort(
        (np.repeat([0, 1], [time.size, set_time.size]), -np.append(time, set_time), np.append(stratum, set_stratum))
    )
    is_set = joined >= time.size
    before: IntArray = np.cumsum(is_set) - is_set
    found = np.empty(time.size, dtype=np.intp)
    found[joined[~is_set]] = before[~is_set]
    return found


@document_objective
class Cox(LinearObjective):
    """f(w) = (1/n)·Σᵢ dᵢ [log Σ_{j at risk at tᵢ} exp(mⱼ) − mᵢ] + (alpha/2)·‖w‖², with mᵢ = wᵀxᵢ.

    The negative log partial likelihood of proportional hazards, where d = 1 for an event. Sample j is at risk at tᵢ if
    it is in the same stratum and entryⱼ < tᵢ ≤ tⱼ. There is no intercept: it would change nothing.

    *Ties.* If d events with weights s come at the same time, Breslow's likelihood has the same sum S over the risk set
    for each of them. Efron's lets them leave it in turn: the sums are S − (l/d)·D for l = 0, …, d − 1, with D the sum
    over the events, and each of them has the weight Σs/d, as in R's survival package.

    *Weights.* A sample counts s times in the sums and its event s times in the likelihood, which is divided by the sum
    of all weights; a weight of 0 is no sample. With Breslow's ties a weight of 2 is the same as two equal samples. With
    Efron's that holds for samples without an event; two equal events are tied with each other, one of weight 2 is not.

    *Constant.* f is measured from the least value that any margins can give, so that without the ridge it is at least
    0: half the mean deviance. Without ties and weights that value is 0. In general it is, with weights that sum to 1
    and the weight W of d events at a time, the sum of W·log W over these times; with Efron's ties, of
    W·log W + W·(log d! / d − log d).

    Parameters
    ----------
    $X
    y : structured array, data frame, or array of shape (n, 2)
        Times and events; see `ksparse.make_survival_target`, which also takes entry times and strata. Further columns
        of an array are entry times and strata.
    ties : {"efron", "breslow"}
        How tied events are treated.
    alpha : float, default=0
        Ridge penalty of w.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights of the samples.
    offset : array-like of shape (n,), optional
        Known part of the log relative hazards, added to Xw.

    References
    ----------
    D. R. Cox, *Regression models and life-tables*, Journal of the Royal Statistical Society B 34 (1972), 187–220.

    B. Efron, *The efficiency of Cox's likelihood function for censored data*, JASA 72 (1977), 557–565.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 30))
    >>> time = rng.exponential(np.exp(-X[:, 4] + X[:, 9]))
    >>> y = ksparse.make_survival_target(np.minimum(time, 2.0), time < 2.0)
    >>> result = ksparse.minimize(ksparse.objectives.Cox(X, y), k=2)
    >>> result.selected, result.x[result.selected].round(2)
    (array([4, 9]), array([ 1.08, -0.82]))
    """

    def __init__(self, X: Any, y: Any, *, ties: str = "efron", **options: Any) -> None:
        self.loss = CoxLoss(ties)
        super().__init__(X, y, **options)

    def encode_target(self, y: Any, n: int) -> Array:
        return encode_survival(y, n)

    def check_weighted_target(self, target: Array) -> None:
        if not target[:, EVENT].any():
            raise ValueError("y has no event; Cox needs at least one sample with an event and a positive weight")
