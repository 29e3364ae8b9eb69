"""Scores of a model on training and held-out rows, with intervals, and beside the answer that is always the same."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import metrics
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._types import AnyArray, Array
from ..inference import (
    BaselineComparison,
    CrossValidatedScores,
    ScoreInterval,
    compare_with_baseline,
    repeat_cross_validation,
    score_interval,
)
from .encoded_model import STEPS, EncodedModel, RefittedEncoder
from .settings import FOLDS, Task

#: Names of scores for people, and those of `ksparse.inference.score_interval`.
SCORE_METRICS = {
    "Accuracy": "accuracy",
    "Balanced accuracy": "balanced_accuracy",
    "ROC AUC": "roc_auc",
    "Log loss": "log_loss",
    "R²": "r2",
    "D² (deviance)": "d2_poisson",
    "RMSE": "rmse",
    "Median |error|": "median_absolute_error",
}
#: The same in scikit-learn, and the sign that makes them the scores above.
SCORERS = {
    "Accuracy": ("accuracy", 1.0),
    "Balanced accuracy": ("balanced_accuracy", 1.0),
    "ROC AUC": ("roc_auc", 1.0),
    "Log loss": ("neg_log_loss", -1.0),
    "R²": ("r2", 1.0),
    "RMSE": ("neg_root_mean_squared_error", -1.0),
    "Median |error|": ("neg_median_absolute_error", -1.0),
}
#: Scores from 0 to 1.
FRACTIONS = ("Accuracy", "Balanced accuracy", "ROC AUC")
#: The accuracy of the most frequent class.
BASELINE = "Baseline accuracy (majority class)"
#: With fewer test rows than this, their scores say little, and nested cross-validation is added.
FEW_TEST_ROWS = 50
#: Nested cross-validation needs this many rows of each class, so that the folds of its folds have some.
LEAST_OF_A_CLASS_IN_FOLDS = 10
#: Above this fraction of one class, a constant is right so often that accuracy says little.
IMBALANCED = 0.8


@dataclass(frozen=True)
class Predicted:
    """Rows with the predictions of a model.

    Attributes
    ----------
    y : ndarray
        The true values or labels.
    prediction : ndarray
        The predicted ones.
    probabilities : ndarray of shape (n_rows, n_classes) or None
        Of the classes.
    classes : tuple
        The classes.
    """

    y: AnyArray
    prediction: AnyArray
    probabilities: Array | None
    classes: tuple[Any, ...]

    @classmethod
    def of_model(cls, model: Any, X: Any, y: AnyArray) -> Predicted:
        """The predictions of a fitted estimator."""
        with np.errstate(over="ignore"):  # an exponential of a far row
            if hasattr(model, "predict_proba"):
                return cls(y, model.predict(X), model.predict_proba(X), tuple(model.classes_.tolist()))
            return cls(y, model.predict(X), None, ())

    @property
    def is_finite(self) -> bool:
        """Whether all predictions are labels or finite numbers."""
        return bool(self.classes) or bool(np.isfinite(self.prediction).all())

    def score(self, names: list[str]) -> dict[str, ScoreInterval | None]:
        """Scores with intervals, by their names for people; None where one is not defined."""
        found: dict[str, ScoreInterval | None] = dict.fromkeys(names)
        for name in names if self.is_finite else ():
            try:
                found[name] = score_interval(
                    SCORE_METRICS[name],
                    self.y,
                    self.prediction,
                    probabilities=self.probabilities,
                    classes=self.classes or None,
                )
            except ValueError:  # one class only, counts that are all zero
                continue
        return found

    def compute_points(self, task: Task, y_train: AnyArray) -> dict[str, float]:
        """Scores without intervals; for classes also that of the most frequent one of the training rows."""
        if task.has_classes:
            labels, counts = np.unique(y_train, return_counts=True)
            recalls = [np.mean(self.prediction[self.y == label] == label) for label in np.unique(self.y)]
            points = {
                "Accuracy": metrics.accuracy_score(self.y, self.prediction),
                BASELINE: np.mean(self.y == labels[np.argmax(counts)]),
                "Balanced accuracy": np.mean(recalls),
                "Log loss": metrics.log_loss(self.y, self.probabilities, labels=list(self.classes)),
            }
            if self.probabilities is not None and len(self.classes) == 2 and len(np.unique(self.y)) == 2:
                points["ROC AUC"] = metrics.roc_auc_score(self.y == self.classes[1], self.probabilities[:, 1])
            return {name: float(value) for name, value in points.items()}
        name = "D² (deviance)" if task.name == "poisson" else "R²"
        if not self.is_finite:
            return {name: np.nan, "RMSE": np.nan}
        points = {name: np.nan}
        with suppress(ValueError):  # the deviance is not defined without counts above 0, or for a prediction of 0
            if len(self.y) > 1 and self.y.any():  # one row has no deviations to explain
                explain = metrics.d2_tweedie_score if task.name == "poisson" else metrics.r2_score
                points[name] = explain(self.y, self.prediction, **({"power": 1} if task.name == "poisson" else {}))
        points["RMSE"] = metrics.root_mean_squared_error(self.y, self.prediction)
        if task.name == "huber":
            points["Median |error|"] = metrics.median_absolute_error(self.y, self.prediction)
        return {name: float(value) for name, value in points.items()}

    def compare(self, y_train: AnyArray, task: Task) -> BaselineComparison | None:
        """The comparison with the constant that is best on the training rows; None where none is defined."""
        if not self.is_finite:
            return None
        metric = "d2_poisson" if task.name == "poisson" else "r2"
        if self.classes:
            balanced = np.unique(self.y, return_counts=True)[1].max() <= IMBALANCED * len(self.y)
            metric = "accuracy" if balanced or len(np.unique(self.y)) < 2 else "balanced_accuracy"
        try:
            return compare_with_baseline(
                metric,
                self.y,
                self.prediction,
                y_train=y_train,
                probabilities=self.probabilities,
                classes=self.classes or None,
            )
        except ValueError:
            return None


@dataclass(frozen=True)
class Scores:
    """Scores of a model by name, with intervals.

    Attributes
    ----------
    train, test : dict
        On training and on test rows; None where a score is not defined.
    comparison : BaselineComparison or None
        On the test rows, with a constant prediction.
    nested : CrossValidatedScores or None
        By folds in each of which all is chosen anew.
    """

    train: dict[str, ScoreInterval | None]
    test: dict[str, ScoreInterval | None]
    comparison: BaselineComparison | None
    nested: CrossValidatedScores | None

    def find_nested(self, name: str) -> tuple[float, float, float] | None:
        """The nested score of a name, with its interval."""
        if self.nested is None or name not in SCORERS:
            return None
        scorer, sign = SCORERS[name]
        row = self.nested.table.loc[scorer]
        low, high = sorted((sign * row["low"], sign * row["high"]))
        if sign < 0 or name in FRACTIONS:  # the interval of a mean of few scores may go beyond what is possible
            low = max(low, 0.0)
        return sign * row["score"], low, min(high, 1.0) if sign > 0 else high


def list_score_names(task: Task, y: AnyArray) -> list[str]:
    """The names of the scores of a task."""
    if task.has_classes:
        names = ["Accuracy", "Balanced accuracy", "Log loss"]
        return [*names, "ROC AUC"] if len(np.unique(y)) == 2 else names
    first = "D² (deviance)" if task.name == "poisson" else "R²"
    return [first, "RMSE", "Median |error|"] if task.name == "huber" else [first, "RMSE"]


def validate(model: EncodedModel, X: Any, y: AnyArray, task: Task, jobs: int | None) -> CrossValidatedScores | None:
    """Scores by folds in each of which all is chosen anew; None if there are too few rows, or no such scores."""
    counts = np.unique(y, return_counts=True)[1] if task.has_classes else np.array([len(y)])
    if counts.min() < LEAST_OF_A_CLASS_IN_FOLDS:
        return None
    estimator = clone(model.estimator)
    if model.encoder is not None:
        estimator = Pipeline(list(zip(STEPS, (RefittedEncoder.of(model.encoder), estimator), strict=True)))
    scorers = [SCORERS[name][0] for name in list_score_names(task, y) if name in SCORERS]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of scores that a fold does not define
        with suppress(ValueError):  # predictions that are not finite
            return repeat_cross_validation(estimator, X, y, cv=FOLDS, repeats=1, scoring=scorers, n_jobs=jobs)
    return None
