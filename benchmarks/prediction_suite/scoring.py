"""The evaluator: measures of coefficients and of predictions, with no code of the methods."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

__all__ = ["Classification", "score_classification", "score_coefficients", "score_regression", "score_support"]

#: Probabilities of a class closer to 0 or 1 than this are moved: the log loss of a certain error is infinite.
SMALLEST_PROBABILITY = 1e-15


def score_coefficients(coef: Any, intercept: float, beta: Any, covariance: Any, noise_variance: float) -> float:
    """Return the relative test error: the expected squared error of a new sample, divided by σ².

    The features have mean 0 and the true intercept is 0.
    """
    difference = coef - beta
    excess = float(difference @ covariance @ difference) + float(intercept) ** 2
    return (excess + noise_variance) / noise_variance


def score_support(coef: Any, support: Any) -> tuple[int, float, float]:
    """Return the number of nonzeros, and recall and F-score of the true support."""
    selected = np.flatnonzero(coef)
    hits = np.intersect1d(selected, support).size
    return selected.size, hits / len(support), 2 * hits / (selected.size + len(support))


class Classification(NamedTuple):
    """Log loss, area under the ROC curve, and accuracy."""

    loss: float
    auc: float
    accuracy: float


def score_classification(probabilities: Any, positive: Any) -> Classification:
    """Return the measures of probabilities of the positive class."""
    truth = np.asarray(positive, dtype=bool)
    of_truth = np.where(truth, probabilities, 1.0 - probabilities)
    losses = -np.log(np.clip(of_truth, SMALLEST_PROBABILITY, 1.0))
    accuracy = float(np.mean((probabilities > 0.5) == truth))
    return Classification(float(losses.mean()), _compute_auc(probabilities, truth), accuracy)


def _compute_auc(scores: Any, truth: Any) -> float:
    """Return the fraction of pairs in the right order; ties count one half."""
    low, high = np.sort(scores[~truth]), scores[truth]
    below, not_above = (np.searchsorted(low, high, side=side) for side in ("left", "right"))
    return float((below + not_above).mean() / (2 * low.size))


def score_regression(predictions: Any, y: Any, training_mean: float) -> float:
    """Return the squared error relative to that of the training mean: 1 − R²."""
    return float(np.sum((y - predictions) ** 2) / np.sum((y - training_mean) ** 2))
