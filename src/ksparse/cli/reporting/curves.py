"""How well probabilities and predictions fit what was true: curves and counts, from arrays alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve

from ..._types import AnyArray, Array, IntArray
from ...inference.score_intervals import find_wilson_interval
from .numbers import round_number, round_numbers

#: Level of all intervals.
LEVEL = 0.95
#: Points of a ROC curve; more cannot be seen.
MOST_CORNERS = 150
#: Thresholds at which decisions are counted.
THRESHOLDS = np.arange(1, 100) / 100
#: Rows that each point of a calibration curve should have, and the most points.
ROWS_OF_A_BIN, MOST_BINS = 12, 10


@dataclass(frozen=True)
class Curves:
    """A class against all others: ROC curve, calibration, and decisions at each threshold of the probability."""

    positives: int
    negatives: int
    auc: float | None
    false_positive_rate: list[float | None]
    true_positive_rate: list[float | None]
    predicted: list[float | None]  # mean probability of each bin
    observed: list[float | None]  # fraction of the class in it
    low: list[float | None]  # Wilson's 95 % interval of that fraction
    high: list[float | None]
    counts: list[int]
    hits: list[int]  # true positives at each threshold
    alarms: list[int]  # false positives


def trace_curves(truth: AnyArray, probability: Array) -> Curves:
    """The curves of a class.

    Parameters
    ----------
    truth : ndarray of bool
        Which rows are of the class.
    probability : ndarray of float
        The probability of the class that the model gives each row.
    """
    truth = np.asarray(truth, dtype=bool)
    positives = int(truth.sum())
    negatives = len(truth) - positives
    auc, false_rate, true_rate = None, np.zeros(0), np.zeros(0)
    if positives and negatives:
        auc = float(roc_auc_score(truth, probability))
        false_rate, true_rate, _ = roc_curve(truth, probability)
        if len(false_rate) > MOST_CORNERS:
            kept = np.linspace(0, len(false_rate) - 1, MOST_CORNERS).round().astype(int)
            false_rate, true_rate = false_rate[kept], true_rate[kept]
    predicted, observed, counts = calibrate(truth, probability)
    limits = [find_wilson_interval(f, n, LEVEL) for f, n in zip(observed.tolist(), counts.tolist(), strict=True)]
    called = probability[:, None] >= THRESHOLDS
    return Curves(
        positives,
        negatives,
        round_number(auc) if auc is not None else None,
        round_numbers(false_rate),
        round_numbers(true_rate),
        round_numbers(predicted),
        round_numbers(observed),
        round_numbers(low for low, _ in limits),
        round_numbers(high for _, high in limits),
        counts.tolist(),
        called[truth].sum(axis=0).tolist(),
        called[~truth].sum(axis=0).tolist(),
    )


def calibrate(truth: AnyArray, probability: Array) -> tuple[Array, Array, IntArray]:
    """Mean probability, fraction of the class and number of rows in bins of about equally many rows."""
    bins = max(2, min(MOST_BINS, len(truth) // ROWS_OF_A_BIN))
    edges = np.unique(np.quantile(probability, np.linspace(0, 1, bins + 1)))
    places = np.searchsorted(edges[1:-1], probability)
    counts = np.bincount(places)
    kept = counts > 0
    predicted, observed = (np.bincount(places, weights=part)[kept] / counts[kept] for part in (probability, truth))
    return predicted, observed, counts[kept]
