"""Whether a model predicts better than a constant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from .._types import AnyArray, Array
from ..objectives.linear import normalize_weights
from ..validation import as_real_array
from ..wording import quote
from .number_scores import DEVIANCES, compute_check_losses, compute_deviances, find_quantile
from .predictions import Predictions, check_predictions
from .score_intervals import SCORES, ScoreInterval, compute_log_losses, find_wilson_interval

__all__ = ["BaselineComparison", "compare_with_baseline"]

#: The scores that compare with a constant.
OF_CLASSES = ("accuracy", "balanced_accuracy", "log_loss", "roc_auc")
OF_NUMBERS = ("r2", "rmse", *DEVIANCES, "pinball", "d2_pinball")
#: Those of which a constant's is known without its predictions.
#: Sums of weights that differ by no larger fraction are the same.
TIE_ROUNDING = 1e-12
OF_RANKS = ("balanced_accuracy", "roc_auc")
COMPARED = (*OF_CLASSES, *OF_NUMBERS)


@dataclass(frozen=True)
class BaselineComparison:
    """A model's score beside that of a constant prediction: what `compare_with_baseline` returns.

    Attributes
    ----------
    score : ScoreInterval
        The model's score.
    baseline : float
        The score of the constant.
    answer : object
        The constant: the most frequent label, the mean or the quantile of the training rows; a tuple of the means of
        several responses. None if the model is compared with other predictions, row by row.
    difference, low, high : float
        By how much the model is better (negative: worse), with an interval.
    is_better : bool
        Whether the interval of the difference is above 0.

    Examples
    --------
    >>> from ksparse.inference import compare_with_baseline
    >>> y = ["sick"] * 6 + ["well"] * 14
    >>> print(compare_with_baseline("accuracy", y, ["well"] * 19 + ["sick"], y_train=y))
    no better than always answering 'well': accuracy 0.650 against 0.700, difference -0.0500
    (95 % interval -0.187 to 0.0876)
    """

    score: ScoreInterval
    baseline: float
    answer: Any
    difference: float
    low: float
    high: float

    @property
    def is_better(self) -> bool:
        """Whether the interval of the difference is above 0."""
        return bool(self.low > 0)

    def __str__(self) -> str:
        parts = self.answer if isinstance(self.answer, tuple) else (self.answer,)
        answer = f"always answering {', '.join(_write_answer(part) for part in parts)}"
        if self.answer is None:
            answer = "the reference"
        verdict = "better" if self.is_better else "no better"
        level = f"{100 * self.score.level:g} %"
        return (
            f"{verdict} than {answer}: {self.score.metric} {self.score.value:#.3g} against "
            f"{self.baseline:#.3g}, difference {self.difference:#.3g} "
            f"({level} interval {self.low:#.3g} to {self.high:#.3g})"
        )


def compare_with_baseline(
    metric: str,
    y: Any,
    prediction: Any = None,
    *,
    y_train: Any,
    probabilities: Any = None,
    classes: Sequence[Any] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    random_state: int = 0,
    power: float = 1.5,
    dispersion: float = 1.0,
    quantile: float = 0.5,
    reference: Any = None,
    sample_weight: Any = None,
    train_weight: Any = None,
) -> BaselineComparison:
    """Compare predictions for held-out rows with the constant that is best on the training rows.

    The constant is the most frequent label ("accuracy", "balanced_accuracy", "roc_auc"), the frequencies of the labels
    ("log_loss"), the quantile ("pinball", "d2_pinball"), or the mean (the others). Differences in "r2" and "d2_…" are 1
    minus the model's mean loss divided by that of the constant. Differences are positive if the model is better.

    Intervals are of differences on the same rows: of Newcombe (1998, method 10) for accuracies, otherwise of the BCa
    bootstrap over rows; those of the balanced accuracy and of the area are the model's: the constant has 1/K and ½.

    Parameters
    ----------
    metric : str
        A score of `score_interval`, other than absolute errors. With rare classes, a constant has a high accuracy:
        "balanced_accuracy" or "log_loss" say more.
    y, prediction, probabilities, classes, level, resamples, random_state, power, dispersion, quantile, sample_weight
        As in `score_interval`.
    y_train : array-like
        The responses or labels of the training rows.
    reference : array-like of shape (n,) or (n, n_classes), optional
        Predictions of a model without features that take the place of the constant, where offsets make them differ from
        row to row: labels for "accuracy", probabilities for "log_loss", numbers for scores of numbers.
    train_weight : array-like, optional
        Weights of the training rows, by which the constant is the best.

    Returns
    -------
    BaselineComparison
        Both scores, and the interval of their difference; ``print`` it for a sentence.

    References
    ----------
    R. G. Newcombe, *Improved confidence intervals for the difference between binomial proportions based on paired
    data*, Statistics in Medicine 17, 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.inference import compare_with_baseline
    >>> rng = np.random.default_rng(0)
    >>> y = rng.standard_normal(50)
    >>> compare_with_baseline("r2", y, y + 0.5 * rng.standard_normal(50), y_train=y).is_better
    True
    """
    if metric not in COMPARED:
        raise ValueError(f"metric must be one of {', '.join(map(repr, COMPARED))}; got {metric!r}")
    y_train = np.asarray(y_train)
    if classes is None and metric in OF_CLASSES:
        classes = np.union1d(np.unique(y_train), np.unique(np.asarray(y))).tolist()
    options: dict[str, Any] = {
        "several": metric == "r2",
        "sample_weight": sample_weight,
        "level": level,
        "resamples": resamples,
        "random_state": random_state,
        "power": power,
        "dispersion": dispersion,
        "quantile": quantile,
    }
    data = check_predictions(y, prediction, probabilities, classes, **options)
    _, weights = normalize_weights(train_weight, len(y_train))
    value, low, high, method = SCORES[metric](data)
    score = ScoreInterval(metric, float(value), float(low), float(high), level, method, len(data.y))
    other = None
    if reference is not None:
        if metric in OF_RANKS:
            raise ValueError(f"reference is for other scores than {metric}, such as 'log_loss'; leave it out")
        numbers, chances = (None, reference) if metric == "log_loss" else (reference, None)
        other = check_predictions(y, numbers, chances, data.classes.tolist(), **options)
    if metric in OF_NUMBERS:
        return _compare_numbers(score, data, as_real_array(y_train, "y_train"), weights, other)
    labels, places = np.unique(y_train, return_inverse=True)
    counts: Array = np.bincount(places, weights).astype(np.float64)
    answer = labels[find_largest(counts)]
    if metric == "accuracy":
        hits = data.y == (answer if other is None else other.get_prediction())
        return _compare_accuracies(score, data, None if other is not None else answer, hits)
    if metric == "log_loss":
        if other is not None:
            return _compare_log_losses(score, data, None, other.get_probabilities())
        frequencies = np.zeros(len(data.classes))
        for label, count in zip(labels, counts, strict=True):
            frequencies[data.classes == label] = count / counts.sum()
        return _compare_log_losses(score, data, answer, np.tile(frequencies, (len(data.y), 1)))
    baseline = 0.5 if metric == "roc_auc" else 1.0 / len(np.unique(data.y))
    return BaselineComparison(score, baseline, answer, value - baseline, low - baseline, high - baseline)


def find_largest(counts: Array) -> int:
    """The first of the largest of some sums, which rounding does not tell apart."""
    return int(np.argmax(counts >= (1.0 - TIE_ROUNDING) * counts.max()))


def _compare_accuracies(score: ScoreInterval, data: Predictions, answer: Any, theirs: AnyArray) -> BaselineComparison:
    ours = data.get_prediction() == data.y
    n, level = data.size, score.level
    first, second = float(data.average(ours)), float(data.average(theirs))
    (low, high), (low_2, high_2) = (find_wilson_interval(each, n, level) for each in (first, second))
    correlation = _correlate_hits(ours, theirs, data.counts)
    difference = first - second

    def combine(one: float, other: float) -> float:
        return float(np.sqrt(max(one**2 - 2.0 * correlation * one * other + other**2, 0.0)))

    return BaselineComparison(
        score,
        second,
        answer,
        difference,
        difference - combine(first - low, high_2 - second),
        difference + combine(high - first, second - low_2),
    )


def _correlate_hits(ours: AnyArray, theirs: AnyArray, counts: Array) -> float:
    """Newcombe's φ: the correlation of the hits, with a correction for continuity where it is positive."""
    both, only, other, none = (
        float(counts @ (a & b)) for a, b in ((ours, theirs), (ours, ~theirs), (~ours, theirs), (~ours, ~theirs))
    )
    margins = float(both + only) * (other + none) * (both + other) * (only + none)
    if margins == 0:
        return 0.0
    covariance = float(both * none - only * other)
    if covariance > 0:
        covariance = max(covariance - counts.sum() / 2.0, 0.0)
    return float(covariance / np.sqrt(margins))


def _compare_log_losses(score: ScoreInterval, data: Predictions, answer: Any, others: Array) -> BaselineComparison:
    losses, constant = (
        compute_log_losses(probabilities, data.y, data.classes) for probabilities in (data.get_probabilities(), others)
    )
    low, high = data.bootstrap((constant - losses)[:, None], lambda means: means[:, 0])
    baseline = float(data.average(constant))
    return BaselineComparison(score, baseline, answer, baseline - score.value, low, high)


def _compare_numbers(
    score: ScoreInterval, data: Predictions, y_train: Array, train_weights: Array, reference: Predictions | None
) -> BaselineComparison:
    y, prediction = data.get_numbers()
    is_error = score.metric in ("rmse", "pinball")
    answer: Any
    if reference is not None:
        answer = reference.get_numbers()[1]
    elif score.metric.endswith("pinball"):
        answer = find_quantile(y_train, train_weights, data.quantile)
    else:
        answer = train_weights @ y_train

    def find_losses(predicted: Array) -> Array:
        if score.metric in DEVIANCES:
            return compute_deviances(DEVIANCES[score.metric](data), y, predicted)
        if score.metric.endswith("pinball"):
            return compute_check_losses(y, predicted, data.quantile)
        return np.square(y - predicted)

    rows = np.column_stack([find_losses(each) for each in (prediction, np.broadcast_to(answer, y.shape))])

    def compare(means: Array) -> Array:
        if score.metric == "rmse":
            means = np.sqrt(means)
        if is_error:
            return means[:, 1] - means[:, 0]
        ours, constant = np.split(means, 2, axis=1)
        return 1.0 - (ours / np.where(constant > 0, constant, np.nan)).mean(axis=1)

    low, high = data.bootstrap(rows, compare)
    difference = float(compare(data.average(rows)[None])[0])
    baseline = score.value + difference if is_error else score.value - difference
    if reference is not None:
        return BaselineComparison(score, float(SCORES[score.metric](reference)[0]), None, difference, low, high)
    shown: Any = np.asarray(answer).tolist()
    return BaselineComparison(score, baseline, tuple(shown) if y.ndim == 2 else shown, difference, low, high)


def _write_answer(answer: Any) -> str:
    is_number = isinstance(answer, Real) and not isinstance(answer, bool)
    return f"{answer:.4g}" if is_number else quote(answer)
