"""Responses or labels with predictions of them, from which scores are computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d

from .._types import AnyArray, Array
from ..objectives.linear import normalize_weights
from ..validation import as_real_array, check_iterations, check_number, check_positive_number
from ..weights import count_each_sample
from .row_bootstrap import bootstrap_means

__all__ = ["LEAST_PROBABILITY", "Predictions", "Scored", "check_predictions"]

#: Smallest probability in a logarithm.
LEAST_PROBABILITY = float(np.finfo(np.float64).eps)
#: A score, the ends of its interval, and how that was made.
Scored = tuple[float, float, float, str]


@dataclass(frozen=True)
class Predictions:
    """Responses or labels of some rows with predictions of them, checked."""

    y: AnyArray
    prediction: AnyArray | None
    #: A column for each of `classes`.
    probabilities: Array | None
    classes: AnyArray
    level: float
    resamples: int
    random_state: int
    power: float
    dispersion: float
    quantile: float
    #: How many rows each row stands for, by its weight.
    counts: Array

    @property
    def size(self) -> float:
        """How many rows all rows stand for."""
        return float(self.counts.sum())

    def average(self, rows: Array) -> Any:
        """The mean over rows of numbers or of columns, by their weights."""
        return self.counts @ rows / self.size

    def bootstrap(self, rows: Array, combine: Callable[[Array], Array]) -> tuple[float, float]:
        """The BCa interval of a function of the means of columns; NaN without resamples."""
        if not self.resamples:
            return np.nan, np.nan
        return bootstrap_means(
            rows,
            combine,
            level=self.level,
            resamples=self.resamples,
            random_state=self.random_state,
            counts=self.counts,
        )

    def get_prediction(self) -> AnyArray:
        """The predicted labels or responses."""
        if self.prediction is None:
            raise ValueError("this score needs the predictions: pass what model.predict(X) gives as prediction")
        return self.prediction

    def get_probabilities(self) -> Array:
        """The predicted probabilities."""
        if self.probabilities is None:
            raise ValueError("this score needs probabilities: pass what model.predict_proba(X) gives as probabilities")
        return self.probabilities

    def get_numbers(self) -> tuple[Array, Array]:
        """Responses and predictions as numbers."""
        return as_real_array(self.y, "y"), as_real_array(self.get_prediction(), "prediction")


def check_predictions(
    y: Any,
    prediction: Any,
    probabilities: Any,
    classes: Sequence[Any] | None,
    *,
    several: bool = False,
    sample_weight: Any = None,
    **options: Any,
) -> Predictions:
    """What a score is computed from, checked; `several` scores take a column for each response.

    Rows of weight 0 are left out.
    """
    if check_positive_number(options["level"], "level") >= 1.0:
        raise ValueError(f"level must lie between 0 and 1, such as 0.95; got {options['level']!r}")
    check_iterations(options["resamples"], "resamples")
    check_iterations(options["random_state"], "random_state")
    check_number(options["quantile"], "quantile", "between 0 and 1 (0.5 is the median)", lambda level: 0 < level < 1)
    if several and np.ndim(y) == 2 and np.shape(y) == np.shape(prediction):
        y, prediction = as_real_array(y, "y"), as_real_array(prediction, "prediction")
    else:
        y = column_or_1d(y)
        prediction = None if prediction is None else column_or_1d(prediction)
    if not len(y):
        raise ValueError("there are no rows to score")
    labels: AnyArray = np.unique(y) if classes is None else np.asarray(classes)
    if labels.dtype.kind == "U":
        labels = labels.astype(object)  # an array of text takes the memory of the longest label for each row
    if probabilities is not None:
        probabilities = as_real_array(probabilities, "probabilities")
        if probabilities.ndim == 1 and len(labels) == 2:
            probabilities = np.column_stack([1.0 - probabilities, probabilities])
        if probabilities.ndim != 2 or probabilities.shape[1] != len(labels):
            raise ValueError(
                f"probabilities has shape {probabilities.shape} for {len(labels)} classes; pass one column for each, "
                "and classes, the labels in their order"
            )
        if not np.isin(y, labels).all():
            raise ValueError("y has a label that is not among classes; pass the labels of all columns as classes")
    check_consistent_length(y, prediction, probabilities)
    if sample_weight is None:
        return Predictions(y, prediction, probabilities, labels, **options, counts=np.ones(len(y)))
    _, weights = normalize_weights(sample_weight, len(y))
    kept = weights > 0
    y, prediction, probabilities = (None if part is None else part[kept] for part in (y, prediction, probabilities))
    return Predictions(y, prediction, probabilities, labels, **options, counts=count_each_sample(weights[kept]))
