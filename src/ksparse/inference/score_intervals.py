"""Scores of predictions for held-out rows, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import expit, logit

from .._types import AnyArray, Array
from .number_scores import NUMBER_SCORES
from .predictions import LEAST_PROBABILITY, Predictions, Scored, check_predictions

__all__ = [
    "SCORES",
    "ScoreInterval",
    "combine_proportions",
    "compute_log_losses",
    "find_wilson_interval",
    "score_interval",
]

#: An area within this of 0 or 1 differs from it by rounding.
AREA_ROUNDING = 1e-12


@dataclass(frozen=True)
class ScoreInterval:
    """A score with an interval: what `score_interval` returns.

    Attributes
    ----------
    metric : str
        The score, one of those of `score_interval`.
    value, low, high : float
        The score, and the ends of its interval; NaN where they are not defined.
    level : float
        The level of the interval.
    method : str
        How it was made.
    n_rows : int
        Number of rows.

    Examples
    --------
    >>> from ksparse.inference import score_interval
    >>> print(score_interval("accuracy", ["a", "b", "b", "a"], ["a", "b", "a", "a"]))
    accuracy 0.750, 95 % interval 0.301 to 0.954 (4 rows, Wilson)
    """

    metric: str
    value: float
    low: float
    high: float
    level: float
    method: str
    n_rows: int

    def __str__(self) -> str:
        ends = "no interval" if np.isnan(self.low) else f"interval {self.low:#.3g} to {self.high:#.3g}"
        rows = f"{self.n_rows} row{'s' * (self.n_rows != 1)}"
        return f"{self.metric} {self.value:#.3g}, {100 * self.level:g} % {ends} ({rows}, {self.method})"


def score_interval(
    metric: str,
    y: Any,
    prediction: Any = None,
    *,
    probabilities: Any = None,
    classes: Sequence[Any] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    random_state: int = 0,
    power: float = 1.5,
    dispersion: float = 1.0,
    quantile: float = 0.5,
    sample_weight: Any = None,
) -> ScoreInterval:
    """A score of predictions for rows that were not used to fit, with an interval for it on all such rows.

    The model is taken as it is: the interval says how much the score depends on which rows were held out, not on which
    were used to fit. `repeat_cross_validation` says the latter.

    Parameters
    ----------
    metric : str
        - "accuracy": Wilson's interval (Wilson 1927);
        - "balanced_accuracy", the mean of the accuracies in the classes: their Wilson intervals, combined by squares
          (Zou and Donner 2008);
        - "roc_auc", of two classes: DeLong's standard error of the logit (DeLong et al. 1988); where no pair is ordered
          wrongly, or each is, exact limits for as many independent pairs as there are rows of the rarer class;
        - "log_loss", "r2", "rmse", "mean_absolute_error", "pinball" (the check loss of a quantile), and the fractions
          that are explained of the Poisson deviance, "d2_poisson", of other deviances, "d2_gamma", "d2_tweedie",
          "d2_negative_binomial", and of the check loss of the best constant, "d2_pinball": the BCa bootstrap over rows
          (Efron 1987);
        - "median_absolute_error": order statistics, whose level is at least `level`.
    y : array-like of shape (n,)
        The responses or labels; for "r2" also of several responses, one column each: the score is the mean over them.
    prediction : array-like of shape (n,), optional
        The predicted ones, of the shape of y; not needed for scores of probabilities.
    probabilities : array-like of shape (n, n_classes), optional
        For "log_loss" and "roc_auc"; for two classes also the probability of the second alone, and for "roc_auc" any
        number that grows with it, such as a margin.
    classes : sequence, optional
        The labels in the order of the columns; by default those of y, sorted.
    level : float, default=0.95
        The level of the interval.
    resamples, random_state : int
        Number and seed of the bootstrap resamples. Without resamples (0), the bootstrap intervals are NaN.
    power : float, default=1.5
        For "d2_tweedie": the power of the mean to which the variance is proportional, from 1 to 2.
    dispersion : float, default=1.0
        For "d2_negative_binomial": a, with the variance μ + aμ².
    quantile : float, default=0.5
        For "pinball" and "d2_pinball": which quantile was predicted.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows: a row of weight 2 counts as two equal rows, in the score and in the interval. Weights that
        are no multiples of a common unit stand for (Σs)²/Σs² rows in all (Kish 1965).

    Returns
    -------
    ScoreInterval
        The score and the interval.

    References
    ----------
    E. B. Wilson, JASA 22, 1927. E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, Biometrics 44, 1988. B. Efron,
    JASA 82, 1987. G. Y. Zou and A. Donner, Statistics in Medicine 27, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.inference import score_interval
    >>> y = np.repeat([0, 1], 9)
    >>> print(score_interval("accuracy", y, y))
    accuracy 1.00, 95 % interval 0.824 to 1.00 (18 rows, Wilson)
    >>> print(score_interval("roc_auc", y, probabilities=np.where(y == 1, 0.9, 0.2)))
    roc_auc 1.00, 95 % interval 0.664 to 1.00 (18 rows, exact for 9 pairs)
    >>> print(score_interval("accuracy", [0, 1], [0, 0], sample_weight=[3, 1]))
    accuracy 0.750, 95 % interval 0.301 to 0.954 (2 rows, Wilson)
    """
    if metric not in SCORES:
        raise ValueError(f"metric must be one of {', '.join(map(repr, SCORES))}; got {metric!r}")
    data = check_predictions(
        y,
        prediction,
        probabilities,
        classes,
        several=metric == "r2",
        level=level,
        resamples=resamples,
        random_state=random_state,
        power=power,
        dispersion=dispersion,
        quantile=quantile,
        sample_weight=sample_weight,
    )
    value, low, high, method = SCORES[metric](data)
    return ScoreInterval(metric, float(value), float(low), float(high), level, method, len(data.y))


def find_wilson_interval(fraction: float, n: float, level: float) -> tuple[float, float]:
    """Wilson's score interval of a proportion (JASA 22, 1927).

    Examples
    --------
    >>> from ksparse.inference.score_intervals import find_wilson_interval
    >>> low, high = find_wilson_interval(0.5, 10, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.2366, 0.7634)
    """
    z = float(stats.norm.ppf(0.5 + 0.5 * level))
    centre = (fraction + z * z / (2.0 * n)) / (1.0 + z * z / n)
    width = z / (1.0 + z * z / n) * np.sqrt(fraction * (1.0 - fraction) / n + z * z / (4.0 * n * n))
    return max(float(centre - width), 0.0), min(float(centre + width), 1.0)


def combine_proportions(fractions: Array, lows: Array, highs: Array) -> tuple[float, float, float]:
    """The mean of independent proportions, with the interval that follows from theirs by sums of squares."""
    mean, count = float(fractions.mean()), len(fractions)
    below = float(np.sqrt(np.square(fractions - lows).sum())) / count
    above = float(np.sqrt(np.square(highs - fractions).sum())) / count
    return mean, max(mean - below, 0.0), min(mean + above, 1.0)


def _score_accuracy(data: Predictions) -> Scored:
    fraction = float(data.average(data.get_prediction() == data.y))
    return fraction, *find_wilson_interval(fraction, data.size, data.level), "Wilson"


def _score_balanced_accuracy(data: Predictions) -> Scored:
    hits = data.get_prediction() == data.y
    members = [data.y == label for label in np.unique(data.y)]
    sizes = [float(data.counts[part].sum()) for part in members]
    fractions = np.array([data.counts[part] @ hits[part] / size for part, size in zip(members, sizes, strict=True)])
    ends = [find_wilson_interval(*part, data.level) for part in zip(fractions.tolist(), sizes, strict=True)]
    lows, highs = np.array(ends).T
    return *combine_proportions(fractions, lows, highs), "Wilson, combined over classes"


def _score_roc_auc(data: Predictions) -> Scored:
    if len(data.classes) != 2:
        raise ValueError(f"roc_auc is for two classes; there are {len(data.classes)}")
    margins = data.get_probabilities()[:, 1]
    positive = data.y == data.classes[1]
    first, second = margins[positive], margins[~positive]
    if not first.size or not second.size:
        return np.nan, np.nan, np.nan, "one class only"
    counts = data.counts[positive], data.counts[~positive]
    sizes = float(counts[0].sum()), float(counts[1].sum())
    # The fraction of rows of the other class that each row is ordered correctly with.
    of_first = _count_below(first, second, counts[1]) / sizes[1]
    of_second = 1.0 - _count_below(second, first, counts[0]) / sizes[0]
    auc = float(counts[0] @ of_first / sizes[0])
    fewest = min(sizes)
    if min(auc, 1.0 - auc) <= AREA_ROUNDING or fewest < 2:
        # As many pairs as there are rows of the rarer class have no row in common: their orders are independent.
        if min(auc, 1.0 - auc) > AREA_ROUNDING:
            return auc, 0.0, 1.0, "one row of a class says nothing"
        auc, least = float(round(auc)), float((0.5 - 0.5 * data.level) ** (1.0 / fewest))
        ends = (least, 1.0) if auc == 1.0 else (0.0, 1.0 - least)
        return auc, *ends, f"exact for {fewest:.4g} pairs"
    variance = sum(
        float(count @ np.square(values - auc)) / (size - 1.0) / size
        for values, count, size in zip((of_first, of_second), counts, sizes, strict=True)
    )
    error = np.sqrt(variance) / (auc * (1.0 - auc))
    low, high = expit(logit(auc) + error * stats.norm.ppf([0.5 - 0.5 * data.level, 0.5 + 0.5 * data.level]))
    return auc, low, high, "DeLong"


def _count_below(values: Array, others: Array, counts: Array) -> Array:
    """How many of the others are below each value, equal ones counting half."""
    order = np.argsort(others, kind="stable")
    totals = np.append(0.0, np.cumsum(counts[order]))
    below, up_to = (totals[np.searchsorted(others[order], values, side=side)] for side in ("left", "right"))
    return 0.5 * (below + up_to)


def compute_log_losses(probabilities: Array, y: AnyArray, classes: AnyArray) -> Array:
    """Minus the logarithm of the probability of each row's class."""
    columns = (y[:, None] == classes[None, :]).argmax(axis=1)
    likelihood = probabilities[np.arange(len(y)), columns] / probabilities.sum(axis=1)
    return -np.log(np.clip(likelihood, LEAST_PROBABILITY, 1.0))


def _score_log_loss(data: Predictions) -> Scored:
    losses = compute_log_losses(data.get_probabilities(), data.y, data.classes)
    return float(data.average(losses)), *data.bootstrap(losses[:, None], lambda means: means[:, 0]), "bootstrap"


#: The scores by name: what computes the value, the ends of the interval, and how they were made.
SCORES: dict[str, Callable[[Predictions], Scored]] = {
    "accuracy": _score_accuracy,
    "balanced_accuracy": _score_balanced_accuracy,
    "roc_auc": _score_roc_auc,
    "log_loss": _score_log_loss,
    **NUMBER_SCORES,
}
