"""Scores of a model on training and held-out rows, with intervals, and beside the answer that is always the same."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from .._types import AnyArray, Array, IntArray
from ..inference import (
    BaselineComparison,
    CrossValidatedScores,
    ScoreInterval,
    compare_with_baseline,
    concordance_interval,
    repeat_cross_validation,
    score_interval,
)
from ..inference.concordance import compare_concordance
from .data import Data
from .encoded_model import EncodedModel
from .row_weights import RowWeights
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
    weights : ndarray or None
        Weights of the rows; None if each counts once.
    reference : ndarray or None
        Numbers or probabilities that a model without features predicts, where offsets make them differ.
    parameters : dict
        Parameters of scores: those of the model's loss.
    """

    y: AnyArray
    prediction: AnyArray
    probabilities: Array | None
    classes: tuple[Any, ...]
    margins: Array | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)
    reference: Array | None = None
    weights: Array | None = None

    @classmethod
    def of_model(cls, model: Any, X: Any, y: AnyArray, task: Task, values: RowWeights | None = None) -> Predicted:
        """The predictions of a fitted estimator for rows with these weights and offsets."""
        values = RowWeights() if values is None else values
        shared: dict[str, Any] = {"parameters": find_parameters(model, task), "weights": values.weights}
        known = {} if values.offset is None else {"offset": values.offset}
        with np.errstate(over="ignore"):  # an exponential of a far row
            prediction = model.predict(X, **known)
            if not task.has_classes:
                return cls(y, prediction, None, (), **shared)
            classes = tuple(model.classes_.tolist())
            if hasattr(model, "predict_proba"):
                return cls(y, prediction, model.predict_proba(X, **known), classes, **shared)
            return cls(y, prediction, None, classes, model.decision_function(X, **known), **shared)

    def refer_to(self, nothing: Predicted) -> Predicted:
        """The same beside what a model without features predicts for these rows."""
        return replace(self, reference=nothing.probabilities if self.classes else nothing.prediction)

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
        found = concordance_interval(self.y, self.prediction, self.weights)
        return None if np.isnan(found.value) else found

    def _compare_order(self) -> BaselineComparison | None:
        """The concordance index beside chance, or beside that of offsets alone; None if no pair can be compared."""
        found = self._score_order()
        if found is None or self.reference is None:
            return None if found is None else compare_with_chance(found)
        return compare_concordance(self.y, self.prediction, self.reference, self.weights)

    def _list_arguments(self, name: str) -> dict[str, Any]:
        if self.classes and SHOWN_SCORES[name].of_positions:
            codes = {label: position for position, label in enumerate(self.classes)}
            y, prediction = ([codes[label] for label in part.tolist()] for part in (self.y, self.prediction))
            return {"y": y, "prediction": prediction, "sample_weight": self.weights}
        return {
            "y": self.y,
            "prediction": self.prediction,
            "probabilities": self.margins if self.probabilities is None else self.probabilities,
            "classes": self.classes or None,
            "sample_weight": self.weights,
            **self.parameters,
        }

    def score_all(self, names: Sequence[str]) -> dict[str, ScoreInterval | None]:
        """Several scores."""
        return {name: self.score(name) for name in names}

    def compute_points(self, task: Task, y_train: AnyArray, train_weights: Array | None) -> dict[str, float]:
        """Scores without intervals; for classes also that of the most frequent one of the training rows."""
        points: dict[str, float] = {}
        for name in list_score_names(task, self.y):
            found = self.score(name, resamples=0)
            points[name] = np.nan if found is None else found.value
            if name == "Accuracy":
                labels, counts = count_by_weight(y_train, train_weights)
                points[BASELINE] = float(np.average(self.y == labels[np.argmax(counts)], weights=self.weights))
        return points

    def compare(self, y_train: AnyArray, name: str, train_weights: Array | None = None) -> BaselineComparison | None:
        """The comparison with the constant that is best on the training rows; None where none is defined."""
        if not self.is_finite:
            return None
        if self.y.dtype.names:
            return self._compare_order()
        try:
            arguments = self._list_arguments(name) | {"reference": self._find_reference(name)}
            return compare_with_baseline(
                SHOWN_SCORES[name].metric, **arguments, y_train=y_train, train_weight=train_weights
            )
        except ValueError:
            return None

    def _find_reference(self, name: str) -> AnyArray | None:
        """What a model without features answers: probabilities, numbers or, for the accuracy, labels."""
        if self.reference is None or not self.classes or name == "Log loss":
            return self.reference
        labels: AnyArray = np.array(self.classes, dtype=object)[self.reference.argmax(axis=1)]
        return labels

    def split(self) -> list[Predicted]:
        """The rows with each of several targets alone."""
        columns = zip(self.y.T, self.prediction.T, strict=True)
        return [replace(self, y=y, prediction=prediction) for y, prediction in columns]

    def choose_compared(self, task: Task) -> str:
        """The score by which a model is compared with a constant."""
        if not task.has_classes:
            return task.scores[0]
        if self.reference is not None:
            return "Log loss"
        counts = count_by_weight(self.y, self.weights)[1]
        return "Accuracy" if counts.max() <= IMBALANCED * counts.sum() or len(counts) < 2 else "Balanced accuracy"


def predict_encoded(model: EncodedModel, data: Data, y: AnyArray, rows: IntArray, task: Task) -> Predicted:
    """The predictions of some rows."""
    values = data.row_values.select(rows)
    return Predicted.of_model(model.estimator, model.encode(data.X, rows), y[rows], task, values)


def count_by_weight(y: AnyArray, weights: Array | None) -> tuple[AnyArray, Array]:
    """The labels, and the sums of the weights of their rows."""
    labels, places = np.unique(y, return_inverse=True)
    return labels, np.bincount(places, weights).astype(np.float64)


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


class ModelOfRows(BaseEstimator):  # type: ignore[misc]
    """An estimator whose X are numbers of rows, so that in folds each row has its weight and its offset.

    All folds have the columns that the encoder found, even if one of them is constant in a fold, with the medians of
    their own rows.
    """

    def __init__(self, model: EncodedModel, data: Data, y: AnyArray, task: Task) -> None:
        self.model = model
        self.data = data
        self.y = y
        self.task = task

    def __sklearn_clone__(self) -> ModelOfRows:
        return ModelOfRows(self.model, self.data, self.y, self.task)  # the data are not copied

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.model.estimator)

    def fit(self, rows: IntArray, y: Any = None, sample_weight: Any = None) -> ModelOfRows:
        """Choose anew what the model chose, and fit; the rows' weights are those of the data."""
        estimator, targets = clone(self.model.estimator), self.model.targets
        self.fitted_ = EncodedModel.fit(
            self.model.encoder, estimator, self.data.X, self.y, rows[:, 0], targets, self.data.row_values
        )
        return self

    @property
    def classes_(self) -> AnyArray:
        """The classes of a fitted classifier, in its order."""
        classes: AnyArray = self.fitted_.estimator.classes_
        return classes

    def predict_rows(self, rows: IntArray) -> Predicted:
        """The predictions of some rows, with their true values."""
        return predict_encoded(self.fitted_, self.data, self.y, rows[:, 0], self.task)

    @available_if(lambda self: self.task.is_survival)  # type: ignore[untyped-decorator]
    def predict_survival_function(self, rows: IntArray, times: Any = None) -> Array:
        """The probability of no event until each time."""
        features = self.fitted_.encode(self.data.X, rows[:, 0])
        survival: Array = self.fitted_.estimator.predict_survival_function(features, times)
        return survival


@dataclass(frozen=True)
class TaskScorer:
    """A scorer as scikit-learn calls it: larger is better."""

    task: Task
    name: str

    def __call__(self, model: Any, rows: IntArray, y: AnyArray, sample_weight: Array | None = None) -> float:
        of_rows, values = hasattr(model, "predict_rows"), RowWeights(sample_weight)  # else it is a constant prediction
        predicted = model.predict_rows(rows) if of_rows else Predicted.of_model(model, rows, y, self.task, values)
        found = predicted.score(self.name, resamples=0)
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


def validate(model: EncodedModel, data: Data, y: AnyArray, task: Task, jobs: int | None) -> CrossValidatedScores | None:
    """Scores by folds in each of which all is chosen anew; None if there are too few rows, or no such scores."""
    counts = np.unique(y, return_counts=True)[1] if task.has_classes else np.array([len(y)])
    if task.is_survival:
        counts = y["event"].sum(keepdims=True)
    if counts.min() < LEAST_OF_A_CLASS_IN_FOLDS:
        return None
    rows = np.arange(len(y))[:, None]
    scorers = {name: TaskScorer(task, name) for name in list_score_names(task, y)}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of scores that a fold does not define
        with suppress(ValueError):  # predictions that are not finite
            model_of_rows = ModelOfRows(model, data, y, task)
            return repeat_cross_validation(
                model_of_rows,
                rows,
                y,
                cv=FOLDS,
                repeats=1,
                scoring=scorers,
                sample_weight=data.row_values.weights,
                n_jobs=jobs,
            )
    return None
