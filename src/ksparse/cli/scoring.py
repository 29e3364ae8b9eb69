"""Scores of a model on training and held-out rows, with intervals, and beside the answer that is always the same."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._types import AnyArray, Array
from ..inference import (
    BaselineComparison,
    CrossValidatedScores,
    ScoreInterval,
    compare_with_baseline,
    concordance_interval,
    repeat_cross_validation,
    score_interval,
)
from .encoded_model import STEPS, EncodedModel, RefittedEncoder
from .settings import FOLDS
from .tasks import SHOWN_SCORES, Task

#: Bootstrap resamples of the rows that are scored.
SCORE_RESAMPLES = 2000
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
    margins : ndarray or None
        What ranks rows, where there are no probabilities.
    parameters : dict
        Parameters of scores: those of the model's loss.
    """

    y: AnyArray
    prediction: AnyArray
    probabilities: Array | None
    classes: tuple[Any, ...]
    margins: Array | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of_model(cls, model: Any, X: Any, y: AnyArray, task: Task) -> Predicted:
        """The predictions of a fitted estimator."""
        parameters = find_parameters(model, task)
        with np.errstate(over="ignore"):  # an exponential of a far row
            prediction = model.predict(X)
            if not task.has_classes:
                return cls(y, prediction, None, (), parameters=parameters)
            classes = tuple(model.classes_.tolist())
            if hasattr(model, "predict_proba"):
                return cls(y, prediction, model.predict_proba(X), classes, parameters=parameters)
            return cls(y, prediction, None, classes, model.decision_function(X), parameters)

    @property
    def is_finite(self) -> bool:
        """Whether all predictions are labels or finite numbers."""
        return bool(self.classes) or bool(np.isfinite(self.prediction).all())

    def score(self, name: str, resamples: int = SCORE_RESAMPLES) -> ScoreInterval | None:
        """A score, by its name for people, with an interval unless `resamples` is 0; None where it is not defined."""
        if not self.is_finite:
            return None
        if self.y.dtype.names:
            return self._score_order()
        try:
            return score_interval(SHOWN_SCORES[name].metric, **self._list_arguments(name), resamples=resamples)
        except ValueError:  # one class only, counts that are all zero
            return None

    def _score_order(self) -> ScoreInterval | None:
        """The concordance index of times until an event; None if no pair of rows can be compared."""
        found = concordance_interval(self.y, self.prediction)
        return None if np.isnan(found.value) else found

    def _list_arguments(self, name: str) -> dict[str, Any]:
        if self.classes and SHOWN_SCORES[name].of_positions:
            codes = {label: position for position, label in enumerate(self.classes)}
            y, prediction = ([codes[label] for label in part.tolist()] for part in (self.y, self.prediction))
            return {"y": y, "prediction": prediction}
        return {
            "y": self.y,
            "prediction": self.prediction,
            "probabilities": self.margins if self.probabilities is None else self.probabilities,
            "classes": self.classes or None,
            **self.parameters,
        }

    def score_all(self, names: Sequence[str]) -> dict[str, ScoreInterval | None]:
        """Several scores."""
        return {name: self.score(name) for name in names}

    def compute_points(self, task: Task, y_train: AnyArray) -> dict[str, float]:
        """Scores without intervals; for classes also that of the most frequent one of the training rows."""
        points: dict[str, float] = {}
        for name in list_score_names(task, self.y):
            found = self.score(name, resamples=0)
            points[name] = np.nan if found is None else found.value
            if name == "Accuracy":
                labels, counts = np.unique(y_train, return_counts=True)
                points[BASELINE] = float(np.mean(self.y == labels[np.argmax(counts)]))
        return points

    def compare(self, y_train: AnyArray, name: str) -> BaselineComparison | None:
        """The comparison with the constant that is best on the training rows; None where none is defined."""
        if not self.is_finite:
            return None
        if self.y.dtype.names:
            found = self._score_order()
            return None if found is None else compare_with_chance(found)
        try:
            return compare_with_baseline(SHOWN_SCORES[name].metric, **self._list_arguments(name), y_train=y_train)
        except ValueError:
            return None

    def split(self) -> list[Predicted]:
        """The rows with each of several targets alone."""
        columns = zip(self.y.T, self.prediction.T, strict=True)
        return [replace(self, y=y, prediction=prediction) for y, prediction in columns]

    def choose_compared(self, task: Task) -> str:
        """The score by which a model is compared with a constant."""
        if not task.has_classes:
            return task.scores[0]
        counts = np.unique(self.y, return_counts=True)[1]
        return "Accuracy" if counts.max() <= IMBALANCED * len(self.y) or len(counts) < 2 else "Balanced accuracy"


def find_parameters(model: Any, task: Task) -> dict[str, float]:
    """The parameters of a task's model that its scores have too; none of a model of another kind."""
    last = model[-1] if isinstance(model, Pipeline) else model
    values = {name: getattr(last, f"{name}_", getattr(last, name, None)) for name in task.parameters}
    return {name: float(value) for name, value in values.items() if value is not None}


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
        if self.nested is None or name not in self.nested.table.index:
            return None
        row, score = self.nested.table.loc[name], SHOWN_SCORES[name]
        sign = -1.0 if score.is_loss else 1.0
        low, high = sorted((sign * row["low"], sign * row["high"]))
        if score.is_loss or score.is_fraction:  # the interval of a mean of few scores may go beyond what is possible
            low = max(low, 0.0)
        return sign * row["score"], low, high if score.is_loss else min(high, 1.0)

    def compare_in_folds(self, name: str) -> NestedComparison | None:
        """The nested score of a name beside that of a constant."""
        if self.nested is None or name not in self.nested.table.index:
            return None
        row, sign = self.nested.table.loc[name], -1.0 if SHOWN_SCORES[name].is_loss else 1.0
        return NestedComparison(sign * float(row["score"]), sign * float(row["baseline"]), bool(row["is_better"]))


class NestedComparison(NamedTuple):
    """A score by nested folds, that of a constant, and whether the model's is better beyond chance."""

    score: float
    baseline: float
    is_better: bool


@dataclass(frozen=True)
class TaskScorer:
    """A scorer as scikit-learn calls it: larger is better."""

    task: Task
    name: str

    def __call__(self, model: Any, X: Any, y: AnyArray) -> float:
        found = Predicted.of_model(model, X, y, self.task).score(self.name, resamples=0)
        if found is None:
            raise ValueError(f"{self.name} is not defined")
        return -found.value if SHOWN_SCORES[self.name].is_loss else found.value


def compare_with_chance(score: ScoreInterval) -> BaselineComparison:
    """A concordance index beside ½, that of a risk that is always the same."""
    ends = (score.value - 0.5, score.low - 0.5, score.high - 0.5)
    return BaselineComparison(score, 0.5, "the same risk", *ends)


def list_score_names(task: Task, y: AnyArray) -> list[str]:
    """The names of the scores of a task."""
    two = task.has_classes and len(np.unique(y)) == 2
    return [name for name in task.scores if two or not SHOWN_SCORES[name].of_two_classes]


def validate(model: EncodedModel, X: Any, y: AnyArray, task: Task, jobs: int | None) -> CrossValidatedScores | None:
    """Scores by folds in each of which all is chosen anew; None if there are too few rows, or no such scores."""
    counts = np.unique(y, return_counts=True)[1] if task.has_classes else np.array([len(y)])
    if task.is_survival:
        counts = y["event"].sum(keepdims=True)
    if counts.min() < LEAST_OF_A_CLASS_IN_FOLDS:
        return None
    estimator = clone(model.estimator)
    if model.encoder is not None:
        estimator = Pipeline(list(zip(STEPS, (RefittedEncoder.of(model.encoder), estimator), strict=True)))
    scorers = {name: TaskScorer(task, name) for name in list_score_names(task, y)}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of scores that a fold does not define
        with suppress(ValueError):  # predictions that are not finite
            return repeat_cross_validation(estimator, X, y, cv=FOLDS, repeats=1, scoring=scorers, n_jobs=jobs)
    return None
