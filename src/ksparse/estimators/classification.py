"""Classifiers: labels as integer codes, predictions from margins, and class weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, TypeVar

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.utils.multiclass import check_classification_targets

from .._types import AnyArray, Array, IntArray
from ..designs.blocked import RowValues, map_values, reduce_values
from ..objectives.targets import encode_labels, encode_rows_of_ones
from ..solvers import Result
from ..validation import check_nonnegative_number
from ..wording import quote
from .base import Samples
from .linear_model import SparseLinearModel
from .offset_scores import OffsetClassifierMixin
from .stored_data import weigh_alike

__all__ = ["LabelEncoder", "LinearClassifier", "MarginClassifier", "ProbabilityClassifier", "WeightedClassifier"]

M = TypeVar("M", bound="WeightedClassifier")
#: Labels that are numbers, more than these and more than this fraction of the samples, are hardly classes.
MANY_CLASSES, MANY_CLASSES_FRACTION = 20, 1 / 3


class LabelEncoder(OffsetClassifierMixin):
    """A classifier as it takes labels."""

    classes_: AnyArray

    def fit_labels(self, y: Any) -> Any:
        """Set `classes_`, of which there must be at least two, and return the position of each label in it."""
        if isinstance(y, RowValues):
            labels, codes = encode_labels(y, len(y))
            self.refuse_other_labels(labels)
        else:
            self.refuse_other_labels(y)
            labels, codes = np.unique(y, return_inverse=True)
        self.classes_ = labels
        if len(self.classes_) < 2:
            raise ValueError(
                f"y has only one class: {self.classes_.tolist()[0]!r}; a classifier needs samples of at least 2 classes"
            )
        self._warn_of_numbers(len(y))
        return codes

    def refuse_other_labels(self, y: AnyArray) -> None:
        """Refuse what cannot be labels of classes."""
        if np.asarray(y).dtype.kind == "S" or (np.asarray(y).dtype == object and isinstance(y[0], bytes)):
            raise ValueError("y has labels of bytes; decode them to text first, such as by np.char.decode(y)")
        try:
            check_classification_targets(y)
        except TypeError as error:
            raise ValueError(f"y has labels of different types ({error}); use one type, without None") from error

    def _warn_of_numbers(self, n_samples: int) -> None:
        """Say that labels look like measured numbers: each class has coefficients, which takes long."""
        count = len(self.classes_)
        if count > max(MANY_CLASSES, MANY_CLASSES_FRACTION * n_samples) and self.classes_.dtype.kind in "iuf":
            warnings.warn(
                f"y has {count} classes for {n_samples} samples; for numbers use a regression, such as "
                "SparseLinearRegression",
                UserWarning,
                stacklevel=6,
            )

    def check_splits(self, y: AnyArray, splits: Sequence[tuple[IntArray, IntArray]], by_loss: bool) -> None:
        """A class of one row has no training sample where it is held out."""
        labels, first, counts = np.unique(y, return_index=True, return_counts=True)
        held_out = np.unique(np.concatenate([np.setdiff1d(test, train) for train, test in splits]))
        alone = labels[(counts == 1) & np.isin(first, held_out)]
        if by_loss and alone.size:
            raise ValueError(
                f"the class {alone.tolist()[0]!r} of y has 1 row, and no training data where that row is held out; "
                "merge the class with another, or remove it"
            )

    def encode_labels(self, y: AnyArray) -> IntArray:
        """The position of each label of other samples in `classes_`."""
        order = np.argsort(self.classes_, kind="stable")  # ordered classes have an order of their own
        places = np.searchsorted(self.classes_[order], y)
        positions = order[np.minimum(places, len(self.classes_) - 1)]
        unknown = np.unique(y[self.classes_[positions] != y])
        if unknown.size:
            raise ValueError(
                f"y has the class {unknown.tolist()[0]!r}, which does not occur in the training data; use fewer folds"
            )
        return positions


class MarginClassifier(LabelEncoder):
    """A classifier that predicts the class with the largest margin."""

    #: Xw + b + offset, which estimators implement.
    linear_predictor: Callable[..., Array]

    def decision_function(self, X: Any, offset: Any = None) -> Array:
        """Margins of each sample: a column for each class; for two classes, a vector of the second over the first."""
        margins = self.linear_predictor(X, offset)
        return margins[:, 0] if margins.shape[1:] == (1,) else margins

    def predict(self, X: Any, offset: Any = None) -> AnyArray:
        """The class of each sample with the largest margin."""
        margins = self.decision_function(X, offset)
        codes = (margins > 0).astype(int) if margins.ndim == 1 else margins.argmax(axis=1)
        return self.classes_[codes]


class ProbabilityClassifier(MarginClassifier):
    """A classifier whose class probabilities are the logistic function, or the softmax, of its margins."""

    def predict_proba(self, X: Any, offset: Any = None) -> Array:
        """Probability of each class, in the order of `classes_`."""
        margins = self.decision_function(X, offset)
        return np.column_stack([expit(-margins), expit(margins)]) if margins.ndim == 1 else softmax(margins, axis=1)

    def predict_log_proba(self, X: Any, offset: Any = None) -> Array:
        """Logarithm of `predict_proba`, without loss of precision where probabilities are small."""
        margins = self.decision_function(X, offset)
        if margins.ndim == 1:
            return np.column_stack([log_expit(-margins), log_expit(margins)])
        return log_softmax(margins, axis=1)


class WeightedClassifier(LabelEncoder, SparseLinearModel):
    """A linear model of labels, with weights of the classes."""

    class_weight: Any

    def fit_target(self, y: Any) -> Any:
        return self._as_target(self.fit_labels(y))

    def encode_target(self, y: AnyArray) -> Array:
        return self._as_target(self.encode_labels(y))

    def _as_target(self, codes: Any) -> Any:
        """±1 for two classes, otherwise rows of zeros with a one for the class."""
        if len(self.classes_) == 2:
            return map_values(_as_signs, codes)
        return encode_rows_of_ones(self.classes_, codes)

    @staticmethod
    def _as_codes(target: Any) -> Any:
        """Undo `_as_target`."""
        return map_values(_as_codes, target, dtype=np.intp)

    def _sum_class_weights(self, codes: Any, weights: Any) -> Array:
        """The sum of the weights of each class."""
        return np.asarray(reduce_values(partial(_count_codes, len(self.classes_)), codes, weights))

    def check_weights(self, target: Any, sample_weight: Any) -> None:
        """Each class must have a sample with a positive weight: objectives check this too, but know no labels."""
        empty = self._sum_class_weights(self._as_codes(target), weigh_alike(target, sample_weight)) == 0
        if empty.any():
            labels = self.classes_[empty].tolist()
            raise ValueError(f"no sample of class {labels} has a positive sample_weight; remove it from y")

    def weigh_samples(self, target: Any, sample_weight: Any) -> Any:
        """Sample weights times class weights."""
        if self.class_weight is None:
            return sample_weight
        codes = self._as_codes(target)
        weights = weigh_alike(target, sample_weight)
        return map_values(partial(_weigh_codes, self._class_weights(codes, weights)), codes, weights)

    def _class_weights(self, codes: Any, weights: Any) -> Array:
        """Weight of each class, for samples of these classes and weights."""
        labels = self.classes_.tolist()
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            totals = self._sum_class_weights(codes, weights)
            present = totals > 0
            return np.where(
                present, reduce_values(np.sum, weights) / (present.sum() * np.where(present, totals, 1.0)), 0.0
            )
        if not isinstance(self.class_weight, Mapping):
            raise ValueError(
                f'class_weight must be a dict of labels and weights, or "balanced"; got {self.class_weight!r}'
            )
        unknown = [label for label in self.class_weight if label not in labels]
        if unknown:
            raise ValueError(
                f"class_weight has the label {unknown[0]!r}, which does not occur in y; its labels are {labels}"
            )
        given = self.class_weight
        return np.array(
            [check_nonnegative_number(given.get(label, 1.0), f"class_weight[{label!r}]") for label in labels]
        )

    def copy_for_fold(self: M, training: Samples) -> M:
        fold = super().copy_for_fold(training)
        if isinstance(self.class_weight, Mapping):  # the training part of a fold may lack a class
            present = set(training.y.tolist())
            fold.class_weight = {label: weight for label, weight in self.class_weight.items() if label in present}
        return fold


def _as_signs(codes: IntArray) -> Array:
    return np.where(codes == 1, 1.0, -1.0)


def _as_codes(target: Array) -> IntArray:
    return (target > 0).astype(np.intp) if target.ndim == 1 else target.argmax(axis=1)


def _count_codes(count: int, codes: IntArray, weights: Array) -> Array:
    return np.bincount(codes, weights, minlength=count).astype(np.float64, copy=False)


def _weigh_codes(class_weights: Array, codes: IntArray, weights: Array) -> Array:
    return weights * class_weights[codes]


class LinearClassifier(MarginClassifier, WeightedClassifier):
    """A linear model of labels that predicts the class with the largest margin."""

    has_several_outputs: ClassVar[bool] = True

    def describe_coefficients(self) -> str:
        if len(self.classes_) == 2:
            return f"coefficients are {self.effect_name} of {quote(self.classes_[1])} versus {quote(self.classes_[0])}"
        return "a larger coefficient makes its class more likely as the feature grows"

    def coefficients(self, result: Result) -> tuple[Array, Any]:
        coefficients, intercept = super().coefficients(result)
        return np.atleast_2d(coefficients), np.atleast_1d(intercept)
