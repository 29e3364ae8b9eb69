"""Classifiers: labels as integer codes, predictions from margins, and logistic regression with k features."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from .._types import AnyArray, Array, IntArray, Matrix
from ..objectives import LinearObjective, Logistic, Multinomial
from ..solvers import Result
from ..validation import check_nonnegative_number
from ._docs import document
from .base import Samples
from .linear_model import SparseLinearModel

__all__ = ["MarginClassifier", "SparseLogisticRegression"]

M = TypeVar("M", bound="SparseLogisticRegression")


class MarginClassifier(ClassifierMixin):  # type: ignore[misc]
    """A classifier whose class probabilities are the logistic function, or the softmax, of its margins."""

    classes_: AnyArray
    #: Xw + b, which estimators implement.
    linear_predictor: Callable[[Any], Array]

    def decision_function(self, X: Any) -> Array:
        """Margins of each sample: a column for each class; for two classes, a vector of the second over the first."""
        margins = self.linear_predictor(X)
        return margins[:, 0] if margins.shape[1:] == (1,) else margins

    def predict(self, X: Any) -> AnyArray:
        """The most probable class of each sample."""
        margins = self.decision_function(X)
        codes = (margins > 0).astype(int) if margins.ndim == 1 else margins.argmax(axis=1)
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, in the order of `classes_`."""
        margins = self.decision_function(X)
        return np.column_stack([expit(-margins), expit(margins)]) if margins.ndim == 1 else softmax(margins, axis=1)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of `predict_proba`, without loss of precision where probabilities are small."""
        margins = self.decision_function(X)
        if margins.ndim == 1:
            return np.column_stack([log_expit(-margins), log_expit(margins)])
        return log_softmax(margins, axis=1)

    def fit_labels(self, y: AnyArray) -> IntArray:
        """Set `classes_`, of which there must be at least two, and return the position of each label in it."""
        if np.asarray(y).dtype.kind == "S" or (np.asarray(y).dtype == object and isinstance(y[0], bytes)):
            raise ValueError("y has labels of bytes; decode them to text first, such as by np.char.decode(y)")
        try:
            check_classification_targets(y)
        except TypeError as error:
            raise ValueError(f"y has labels of different types ({error}); use one type, without None") from error
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y has only one class: {self.classes_.tolist()[0]!r}; a classifier needs samples of at least 2 classes"
            )
        return codes

    def encode_labels(self, y: AnyArray) -> IntArray:
        """The position of each label of other samples in `classes_`."""
        positions = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
        unknown = np.unique(y[self.classes_[positions] != y])
        if unknown.size:
            raise ValueError(
                f"y has the class {unknown.tolist()[0]!r}, which does not occur in the training data; use fewer folds"
            )
        return positions


@document
@dataclass(eq=False, repr=False, kw_only=True)
class SparseLogisticRegression(MarginClassifier, SparseLinearModel):
    """Logistic regression with k features, of two classes or more.

    Minimizes the mean of log(1 + exp(−yᵢ(wᵀxᵢ + b))) plus (alpha/2)·‖w‖² over w with at most k nonzero features (paper,
    §4.1). With three classes or more the loss is −log softmax(Wᵀxᵢ + b)_yᵢ, and a feature has one coefficient for each
    class. The default ridge makes a minimum exist where features separate the classes, as they do when there are more
    features than samples; without a ridge, coefficients would then grow without bound.

    $fields

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ksparse import SparseLogisticRegression
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = SparseLogisticRegression(k=2).fit(X, y)
    >>> model.get_feature_names_out()
    array(['petal length (cm)', 'petal width (cm)'], dtype=object)
    >>> model.coef_.shape, round(model.score(X, y), 2)
    ((3, 4), 0.96)
    """

    more_attributes: ClassVar[tuple[str, ...]] = ("classes_",)
    ratio_name: ClassVar[str] = "odds_ratio"

    alpha: float = 1e-3
    class_weight: Any = None

    def fit_target(self, y: AnyArray) -> Array:
        return self._as_target(self.fit_labels(y))

    def encode_target(self, y: AnyArray) -> Array:
        return self._as_target(self.encode_labels(y))

    def _as_target(self, codes: IntArray) -> Array:
        """±1 for two classes, otherwise rows of zeros with a one for the class."""
        if len(self.classes_) == 2:
            return np.where(codes == 1, 1.0, -1.0)
        return (codes[:, None] == np.arange(len(self.classes_))).astype(np.float64)

    @staticmethod
    def _as_codes(target: Array) -> IntArray:
        """Undo `_as_target`."""
        return (target > 0).astype(np.intp) if target.ndim == 1 else target.argmax(axis=1)

    def build_objective(self, X: Matrix, target: Array, **options: Any) -> LinearObjective:
        codes = self._as_codes(target)
        # The objective would check this too, but it does not know the labels.
        empty = np.bincount(codes, options["sample_weight"], minlength=len(self.classes_)) == 0
        if empty.any():
            labels = self.classes_[empty].tolist()
            raise ValueError(f"no sample of class {labels} has a positive sample_weight; remove it from y")
        return Logistic(X, target, **options) if len(self.classes_) == 2 else Multinomial(X, codes, **options)

    def weigh_samples(self, target: Array, sample_weight: Array | None) -> Array | None:
        """Sample weights times class weights."""
        if self.class_weight is None:
            return sample_weight
        codes = self._as_codes(target)
        weights = np.ones(len(codes)) if sample_weight is None else sample_weight
        return weights * self._class_weights(codes, weights)[codes]

    def _class_weights(self, codes: IntArray, weights: Array) -> Array:
        """Weight of each class, for samples of these classes and weights."""
        labels = self.classes_.tolist()
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            totals = np.bincount(codes, weights, minlength=len(labels))
            present = totals > 0
            return np.where(present, weights.sum() / (present.sum() * np.where(present, totals, 1.0)), 0.0)
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

    def coefficients(self, result: Result) -> tuple[Array, Any]:
        coefficients, intercept = super().coefficients(result)
        return np.atleast_2d(coefficients), np.atleast_1d(intercept)

    def count_free_outputs(self, result: Result) -> int:
        """One less than the number of classes: a softmax does not change if all its margins do by the same number."""
        return len(self.classes_) - 1

    def limit_auto_k(self, n_samples: float) -> int:
        return super().limit_auto_k(n_samples) // (len(self.classes_) - 1)
