"""Harrell's concordance index: how well a risk orders the times until an event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import expit, logit

from .._types import Array
from ..objectives.linear import normalize_weights
from ..objectives.losses.cox import build_risk_sets
from ..objectives.survival import encode_survival
from ..validation import check_positive_number, check_vector
from ..weights import count_each_sample
from .baselines import BaselineComparison
from .score_intervals import ScoreInterval

__all__ = ["compare_concordance", "concordance_index", "concordance_interval"]


#: An index within this of 0 or 1 has all pairs on one side.
NEARLY_ONE = 1e-9


@dataclass(frozen=True)
class ComparablePairs:
    """The comparable pairs of each sample, by weight, and those that are ordered right."""

    compared: Array
    right: Array
    weights: Array
    n_events: int

    @property
    def index(self) -> float:
        """The fraction that is ordered right; NaN where no pair is comparable."""
        total = float(self.weights @ self.compared)
        return float(self.weights @ self.right) / total if total > 0 else np.nan

    @property
    def influences(self) -> Array:
        """How much each sample changes the index; a pair belongs to two, so that their total weight is half the sum."""
        return 2.0 * self.weights * (self.right - self.index * self.compared) / float(self.weights @ self.compared)

    def estimate_error(self, influences: Array) -> float:
        """The standard error by influences: a sample that stands for several has parts of its own in theirs."""
        weighted = self.weights > 0
        squares = np.square(influences[weighted]) / count_each_sample(self.weights[weighted])
        return float(np.sqrt(squares.sum()))


def concordance_index(y: Any, risk: Any, sample_weight: Any = None) -> float:
    """Harrell's concordance index of a risk, from 0 to 1: ½ for one that says nothing.

    A pair is comparable if one sample has an event while the other is at risk and has none at the same time: it is seen
    longer, has entered before, and is in the same stratum. The index is the fraction of these pairs in which the event
    has the higher risk; equal risks count half.

    Parameters
    ----------
    y : structured array, data frame or array of shape (n, 2)
        Times and events, as `ksparse.SparseCoxRegression` takes them.
    risk : array-like of shape (n,)
        Larger for earlier events, such as what `SparseCoxRegression.predict` gives.
    sample_weight : array-like of shape (n,), optional
        Weights of the samples; a pair has the product of two.

    Returns
    -------
    float
        The index; NaN if no pair is comparable.

    References
    ----------
    F. E. Harrell, K. L. Lee and D. B. Mark, *Multivariable prognostic models*, Statistics in Medicine 15 (1996),
    361–387.

    Examples
    --------
    >>> from ksparse import make_survival_target
    >>> from ksparse.inference import concordance_index
    >>> y = make_survival_target([1.0, 2.0, 3.0, 4.0], [True, False, True, True])
    >>> concordance_index(y, [0.9, 0.2, 0.1, 0.4])
    0.75
    """
    return _find_pairs(y, risk, sample_weight).index


def concordance_interval(y: Any, risk: Any, sample_weight: Any = None, *, level: float = 0.95) -> ScoreInterval:
    """The concordance index of predictions for rows that were not used to fit, with an interval.

    The standard error is that of the infinitesimal jackknife, and the interval is of the logit; a sample of weight 2
    counts as two. Where all pairs are
    ordered right, or all wrong, the limits are exact for half as many independent pairs as there are events, or one.

    Parameters
    ----------
    y, risk, sample_weight
        As in `concordance_index`.
    level : float, default=0.95
        The level of the interval.

    Returns
    -------
    ScoreInterval
        The index and its interval.

    References
    ----------
    T. M. Therneau and E. Atkinson, *Concordance*, vignette of the R package survival, 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import make_survival_target
    >>> from ksparse.inference import concordance_interval
    >>> rng = np.random.default_rng(0)
    >>> risk = rng.standard_normal(200)
    >>> print(concordance_interval(make_survival_target(rng.exponential(np.exp(-risk)), np.ones(200, bool)), risk))
    C-index 0.704, 95 % interval 0.664 to 0.740 (200 rows, jackknife)
    """
    if check_positive_number(level, "level") >= 1.0:
        raise ValueError(f"level must lie between 0 and 1, such as 0.95; got {level!r}")
    pairs = _find_pairs(y, risk, sample_weight)
    index, n_rows = pairs.index, len(pairs.weights)
    tail = 0.5 - 0.5 * level
    if np.isnan(index):
        return ScoreInterval("C-index", np.nan, np.nan, np.nan, level, "no comparable pairs", n_rows)
    if min(index, 1.0 - index) < NEARLY_ONE:
        count = max(pairs.n_events // 2, 1)
        least = float(tail ** (1.0 / count))
        low, high = (least, 1.0) if index > 0.5 else (0.0, 1.0 - least)
        return ScoreInterval("C-index", index, low, high, level, f"exact for {count} pairs", n_rows)
    error = pairs.estimate_error(pairs.influences) / (index * (1.0 - index))
    low, high = expit(logit(index) + error * stats.norm.ppf([tail, 1.0 - tail]))
    return ScoreInterval("C-index", index, float(low), float(high), level, "jackknife", n_rows)


def compare_concordance(y: Any, risk: Any, reference: Any, sample_weight: Any = None) -> BaselineComparison:
    """The concordance index of a risk beside that of another one, with a 95 % interval of their difference.

    The standard error is that of the infinitesimal jackknife of the difference. Where all pairs are ordered right, or
    all wrong, the interval is that of the index alone.

    Parameters
    ----------
    y, risk, sample_weight
        As in `concordance_index`.
    reference : array-like of shape (n,)
        The other risk, such as what is known of the samples without a model.

    Examples
    --------
    >>> from ksparse import make_survival_target
    >>> from ksparse.inference.concordance import compare_concordance
    >>> y = make_survival_target([1.0, 2.0, 3.0, 4.0], [True, False, True, True])
    >>> found = compare_concordance(y, [0.9, 0.2, 0.1, 0.4], [0.0, 0.0, 0.0, 0.0])
    >>> found.score.value, found.baseline, found.is_better
    (0.75, 0.5, False)
    """
    score = concordance_interval(y, risk, sample_weight)
    ours, other = _find_pairs(y, risk, sample_weight), _find_pairs(y, reference, sample_weight)
    difference = score.value - other.index
    low, high = score.low - other.index, score.high - other.index
    if min(score.value, 1.0 - score.value) >= NEARLY_ONE:
        error = ours.estimate_error(ours.influences - other.influences)
        low, high = difference + error * stats.norm.ppf([0.025, 0.975])
    return BaselineComparison(score, other.index, None, difference, float(low), float(high))


def _find_pairs(y: Any, risk: Any, sample_weight: Any) -> ComparablePairs:
    from ._comparable_pairs import count_pairs

    target = encode_survival(y)
    risk = check_vector(risk, "risk", (len(target),))
    _, weights = normalize_weights(sample_weight, len(target))
    sets, _ = build_risk_sets(target, weights, False)
    distinct, rank = np.unique(risk[sets.order], return_inverse=True)
    parts = count_pairs(sets, rank.reshape(-1), distinct.size)
    compared, right = np.zeros(len(target)), np.zeros(len(target))
    compared[sets.order], right[sets.order] = parts
    n_events = round(float(count_each_sample(weights)[sets.order] @ sets.is_event))
    return ComparablePairs(compared, right, weights, n_events)
