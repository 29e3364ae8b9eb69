"""Scores of predicted numbers: their values, and how they vary with the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats
from sklearn.utils import column_or_1d

from .._types import Array
from ..objectives.linear import normalize_weights
from ..objectives.losses import NegativeBinomialLoss, PoissonLoss, TweedieLoss
from ..objectives.losses.log_link_loss import LogLinkLoss
from ..objectives.row_checks import is_nonnegative, is_positive
from ..objectives.targets import check_responses, require_responses
from .predictions import LEAST_PROBABILITY, Predictions, Scored

__all__ = [
    "DEVIANCES",
    "NUMBER_SCORES",
    "compute_check_losses",
    "compute_deviances",
    "explain_deviance",
    "find_quantile",
]

#: A constant response is predicted perfectly within this relative error: predictions are exponentials of sums.
PERFECT_RTOL = 1e-8
#: Rounding of sums of counts, as a fraction of them.
COUNT_ROUNDING = 1e-12


def _score_r2(data: Predictions) -> Scored:
    """The mean over responses, if there are several."""
    y, prediction = data.get_numbers()
    centred = y - data.average(y)
    rows = np.column_stack([np.square(y - prediction), centred, np.square(centred)])

    def find_total(means: Array) -> Array:
        _, shift, square = np.split(means, 3, axis=1)
        return square - np.square(shift)

    return _score_explained(data, rows, find_total)


#: The losses whose deviances are compared, by the names of the scores.
DEVIANCES: dict[str, Callable[[Predictions], LogLinkLoss]] = {
    "d2_poisson": lambda _: PoissonLoss(),
    "d2_gamma": lambda _: TweedieLoss(2.0),
    "d2_tweedie": lambda data: TweedieLoss(data.power),
    "d2_negative_binomial": lambda data: NegativeBinomialLoss(data.dispersion),
}


def compute_deviances(loss: LogLinkLoss, y: Array, prediction: Array) -> Array:
    """Half the deviance of each row; a prediction of 0, which is that of a tiny number, is far off unless y is 0.

    An infinite prediction counts as the largest float.
    """
    floats = np.finfo(np.float64)
    return loss.value(np.log(np.clip(prediction, floats.tiny, floats.max)), y) - loss.find_lowest(y)


def explain_deviance(loss: LogLinkLoss, y: Any, prediction: Array, sample_weight: Any = None) -> float:
    """D², the fraction of the deviance from the mean response that a prediction explains, at most 1.

    Where y is constant there is nothing to explain: D² is 1 if y is predicted, otherwise 0, as in scikit-learn's
    `r2_score`.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.inference.number_scores import explain_deviance
    >>> from ksparse.objectives.losses import PoissonLoss
    >>> round(explain_deviance(PoissonLoss(), [1.0, 3.0], np.array([1.5, 2.5])), 3)
    0.73
    >>> [explain_deviance(PoissonLoss(), [2.0, 2.0], np.full(2, mean)) for mean in (2.0, 3.0)]
    [1.0, 0.0]
    """
    y, zeros = check_responses(column_or_1d(y), len(prediction)), loss.accepts_zeros()
    require_responses(
        y, is_nonnegative if zeros else is_positive, f"this score needs responses y {'>=' if zeros else '>'} 0"
    )
    _, weights = normalize_weights(sample_weight, len(y))
    counted = weights > 0
    y, prediction, weights = y[counted], prediction[counted], weights[counted]
    mean = np.full(len(y), weights @ y)
    with np.errstate(over="ignore"):
        left, total = (weights @ compute_deviances(loss, y, each) for each in (prediction, mean))
    if np.ptp(y) == 0 or total <= 0:
        return float(np.allclose(prediction, y, rtol=PERFECT_RTOL, atol=0.0))
    return float(1.0 - left / total)


def _score_deviance(metric: str) -> Callable[[Predictions], Scored]:
    """The score of the fraction of a deviance that is explained."""

    def score(data: Predictions) -> Scored:
        (y, prediction), loss = data.get_numbers(), DEVIANCES[metric](data)
        if (y < 0).any() or (prediction < 0).any():
            raise ValueError(f"{metric} is for amounts and counts: y and prediction must not be negative")
        if not (loss.accepts_zeros() or y.all()):
            raise ValueError(f"{metric} is for positive amounts: y must not be 0")
        if np.ptp(y) == 0:  # the deviance of the mean would be rounding error
            return np.nan, np.nan, np.nan, "constant y"
        rows = np.column_stack([compute_deviances(loss, y, prediction), loss.find_lowest(y), y])

        def find_total(means: Array) -> Array:
            """The deviance of the mean: the loss is linear in y."""
            positive = np.maximum(means[:, 2], np.finfo(np.float64).tiny)
            return np.where(means[:, 2] > 0, loss.value(np.log(positive), positive) - means[:, 1], 0.0)

        return _score_explained(data, rows, find_total)

    return score


def find_quantile(y: Array, counts: Array, quantile: float) -> float:
    """The smallest response up to which there is this fraction of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.inference.number_scores import find_quantile
    >>> find_quantile(np.array([5.0, 1.0, 9.0]), np.array([1.0, 3.0, 1.0]), 0.5)
    1.0
    """
    order = np.argsort(y, kind="stable")
    fractions = np.cumsum(counts[order]) / counts.sum() * (1.0 + COUNT_ROUNDING)
    return float(y[order[min(int(np.searchsorted(fractions, quantile)), len(y) - 1)]])


def compute_check_losses(y: Array, prediction: Array, quantile: float) -> Array:
    """The check loss of a quantile: τ(y − m) where y is above the prediction m, (1 − τ)(m − y) elsewhere."""
    return np.maximum(quantile * (y - prediction), (quantile - 1.0) * (y - prediction))


def _score_pinball(data: Predictions) -> Scored:
    y, prediction = data.get_numbers()
    losses = compute_check_losses(y, prediction, data.quantile)
    return float(data.average(losses)), *data.bootstrap(losses[:, None], lambda means: means[:, 0]), "bootstrap"


def _score_d2_pinball(data: Predictions) -> Scored:
    y, prediction = data.get_numbers()
    # The best constant is that of all rows, in resamples too.
    constant = np.full_like(y, find_quantile(y, data.counts, data.quantile))
    rows = np.column_stack([compute_check_losses(y, each, data.quantile) for each in (prediction, constant)])
    return _score_explained(data, rows, lambda means: means[:, 1])


def _score_explained(data: Predictions, rows: Array, find_total: Callable[[Array], Array]) -> Scored:
    """1 − the mean of the first column, divided by what there was to explain; the mean of several such columns."""

    def explain(means: Array) -> Array:
        total = find_total(means).reshape(len(means), -1)
        # A resample whose rows are all alike has nothing to explain.
        least = LEAST_PROBABILITY * np.abs(total).max(axis=0, initial=0.0)
        unexplained: Array = means[:, : total.shape[1]] / np.where(total > least, total, np.nan)
        return 1.0 - unexplained.mean(axis=1)

    return float(explain(data.average(rows)[None])[0]), *data.bootstrap(rows, explain), "bootstrap"


def _score_rmse(data: Predictions) -> Scored:
    y, prediction = data.get_numbers()
    rows = np.square(y - prediction)[:, None]
    return float(np.sqrt(data.average(rows)[0])), *data.bootstrap(rows, lambda means: np.sqrt(means[:, 0])), "bootstrap"


def _score_mean_absolute_error(data: Predictions) -> Scored:
    y, prediction = data.get_numbers()
    errors = np.abs(y - prediction)
    return float(data.average(errors)), *data.bootstrap(errors[:, None], lambda means: means[:, 0]), "bootstrap"


def _score_median_absolute_error(data: Predictions) -> Scored:
    y, prediction = data.get_numbers()
    errors, size = np.abs(y - prediction), round(data.size)
    order = np.argsort(errors, kind="stable")
    # Each error is as often among these as rows that its row stands for.
    ends = np.cumsum(data.counts[order]) * (size / data.size) * (1.0 + COUNT_ROUNDING)

    def get(number: int) -> float:
        """The error of this number in increasing order."""
        return float(errors[order[np.searchsorted(ends, number)]])

    median = 0.5 * (get((size + 1) // 2) + get(size // 2 + 1))
    # The median lies below the r-th smallest error with the probability that fewer than r are below it.
    position = int(stats.binom.ppf(0.5 - 0.5 * data.level, size, 0.5))
    if position == 0:
        return median, np.nan, np.nan, "too few rows"
    return median, get(position), get(size - position + 1), "order statistics"


#: The scores by name.
NUMBER_SCORES: dict[str, Callable[[Predictions], Scored]] = {
    "r2": _score_r2,
    **{metric: _score_deviance(metric) for metric in DEVIANCES},
    "d2_pinball": _score_d2_pinball,
    "pinball": _score_pinball,
    "rmse": _score_rmse,
    "mean_absolute_error": _score_mean_absolute_error,
    "median_absolute_error": _score_median_absolute_error,
}
