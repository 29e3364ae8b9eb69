"""Ordinal regression with k features: classes that have an order."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from .._types import AnyArray, Array, IntArray, Matrix
from ..objectives import LinearObjective, Ordinal
from ..objectives.losses.ordinal import compute_log_probabilities
from ..objectives.targets import encode_ordered_labels, find_order
from ..solvers import Result
from ..wording import cut_text
from ._docs import document
from .base import Samples
from .classification import WeightedClassifier
from .stored_data import refuse_stored_data

__all__ = ["SparseOrdinalRegression"]


@document
@dataclass(eq=False, repr=False, kw_only=True)
class SparseOrdinalRegression(WeightedClassifier):
    """Ordinal regression with k features: proportional odds of ordered classes, such as grades.

    The odds of a class above c are exp(wᵀx − θ_c), for each c: a feature multiplies them by exp(w), its odds ratio,
    whatever c is. Minimizes the mean of −log P(yᵢ) plus (alpha/2)·‖w‖² over thresholds θ₀ < θ₁ < … and w with at most
    k nonzero features. The thresholds take the place of an intercept. The order of the classes is that of numbers, of
    an ordered categorical of pandas, or of `categories`; text without an order is an error.

    Columns of probabilities are in this order. Scores of scikit-learn, such as ``scoring="neg_log_loss"``, take them to
    be sorted by label, which ordered text seldom is: pass `cross_val_score` and the like a scorer of
    `ksparse.inference.find_scorer`. `SparseOrdinalRegressionCV` does so by itself.

    $fields

    References
    ----------
    P. McCullagh, *Regression models for ordinal data*, Journal of the Royal Statistical Society B 42 (1980), 109–142.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import SparseOrdinalRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((400, 30))
    >>> y = np.array(["mild", "severe", "fatal"])[np.digitize(2 * X[:, 4] - X[:, 9] + rng.logistic(size=400), [-1, 2])]
    >>> model = SparseOrdinalRegression(k=2, categories=["mild", "severe", "fatal"]).fit(X, y)
    >>> model.get_support(indices=True), model.coef_[model.support_].round(1), model.thresholds_.round(1)
    (array([4, 9]), array([ 1.9, -1.1]), array([-1. ,  1.9]))
    """

    has_certificate: ClassVar[bool] = False
    more_attributes: ClassVar[tuple[str, ...]] = ("classes_", "thresholds_")
    ratio_name: ClassVar[str] = "odds_ratio"
    effect_name: ClassVar[str] = "for the log-odds of a higher class"

    #: Labels may have another order than their text.
    has_class_order: ClassVar[bool] = True

    # The thresholds take its place.
    fit_intercept: bool = field(default=False, init=False)

    alpha: float = 1e-3
    categories: Any = None
    class_weight: Any = None

    def check_samples(self, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None) -> Samples:
        refuse_stored_data(self, X)
        order = find_order(y)
        samples = super().check_samples(X, y, sample_weight, offset)
        #: The labels in their order, where numbers do not tell it.
        self._order: AnyArray | None = None
        if order is not None or self.categories is not None:
            labels = samples.y if order is None else y
            self._order = encode_ordered_labels(labels, len(samples), self.categories)[0]
        return samples

    def refuse_other_labels(self, y: AnyArray) -> None:
        """Numbers between grades, such as half grades, are labels if the categories are given."""
        if type_of_target(y) != "continuous":
            super().refuse_other_labels(y)
        elif self._order is None:
            between = y[y != np.floor(y)].tolist()[0]
            raise ValueError(
                f"Unknown label type: continuous. y has the number {between}, which is no whole number; if it is a "
                "grade, pass categories, all labels from the lowest to the highest, and otherwise use a regression, "
                "such as SparseLinearRegression"
            )

    def stratify(self, y: AnyArray) -> AnyArray:
        codes: IntArray = np.unique(y, return_inverse=True)[1]  # scikit-learn takes half grades for measured numbers
        return codes

    def score_predictions(self, y: Any, prediction: AnyArray, sample_weight: Any = None) -> float:
        y = column_or_1d(y)
        check_consistent_length(y, prediction)
        if type_of_target(y) == "continuous" or type_of_target(prediction) == "continuous":
            codes = np.unique(np.concatenate([y, prediction]), return_inverse=True)[1]
            y, prediction = codes[: len(y)], codes[len(y) :]
        return super().score_predictions(y, prediction, sample_weight)

    def fit_labels(self, y: AnyArray) -> IntArray:
        super().fit_labels(y)  # checks them
        self.classes_, codes = encode_ordered_labels(y, len(y), self._order)
        return codes

    def _as_target(self, codes: IntArray) -> Array:
        return codes.astype(np.float64)

    @staticmethod
    def _as_codes(target: Array) -> IntArray:
        return target.astype(np.intp)

    def build_objective(self, X: Matrix, target: Array, **options: Any) -> LinearObjective:
        self.check_weights(target, options["sample_weight"])
        return Ordinal(X, target, **options)

    def store_result(self, result: Result) -> SparseOrdinalRegression:
        super().store_result(result)
        assert result.nuisance is not None
        self.thresholds_: Array = result.nuisance
        return self

    def list_constants(self) -> dict[str, Any]:
        names = [f"(threshold {lower} | {higher})" for lower, higher in pairwise(map(cut_text, self.classes_.tolist()))]
        return dict(zip(names, self.thresholds_[:, None], strict=True))

    def predict_log_proba(self, X: Any, offset: Any = None) -> Array:
        """Logarithm of `predict_proba`, without loss of precision where probabilities are small."""
        check_is_fitted(self)
        return compute_log_probabilities(self.linear_predictor(X, offset), self.thresholds_)

    def predict_proba(self, X: Any, offset: Any = None) -> Array:
        """Probability of each class, in the order of `classes_`."""
        return np.exp(self.predict_log_proba(X, offset))

    def predict(self, X: Any, offset: Any = None) -> AnyArray:
        """The most probable class of each sample."""
        codes = self.predict_log_proba(X, offset).argmax(axis=1)
        return self.classes_[codes]
