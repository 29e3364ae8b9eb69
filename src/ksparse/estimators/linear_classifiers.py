"""Linear classifiers with k features: logistic regression and support vector machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .._types import Array, Matrix
from ..objectives import LinearObjective, Logistic, Multinomial, SquaredHinge
from ..objectives.targets import encode_rows_of_ones
from ..solvers import Result
from ._docs import document
from .classification import LinearClassifier, ProbabilityClassifier

__all__ = ["SparseLinearSVC", "SparseLogisticRegression"]


@document
@dataclass(eq=False, repr=False, kw_only=True)
class SparseLogisticRegression(ProbabilityClassifier, LinearClassifier):
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
    effect_name: ClassVar[str] = "for the log-odds"

    alpha: float = 1e-3
    class_weight: Any = None

    def build_objective(self, X: Matrix, target: Array, **options: Any) -> LinearObjective:
        self.check_weights(target, options["sample_weight"])
        if len(self.classes_) == 2:
            return Logistic(X, target, **options)
        return Multinomial(X, self._as_codes(target), **options)

    def count_free_outputs(self, result: Result) -> int:
        """One less than the number of classes: a softmax does not change if all its margins do by the same number."""
        return len(self.classes_) - 1

    def limit_auto_k(self, n_samples: float) -> int:
        return super().limit_auto_k(n_samples) // (len(self.classes_) - 1)


@document
@dataclass(eq=False, repr=False, kw_only=True)
class SparseLinearSVC(LinearClassifier):
    """Support vector machine with k features, for two classes or more, with the squared hinge loss.

    Minimizes the mean of max(0, 1 − yᵢ(wᵀxᵢ + b))² plus (alpha/2)·‖w‖² over w with at most k nonzero features: that of
    scikit-learn's `LinearSVC` with ``C = 1/(n·alpha)``, ``loss="squared_hinge"`` and an intercept that is not
    penalized. With three classes or more, each class is told from all others by coefficients of its own, of the same k
    features. It predicts classes, not probabilities.

    $fields

    References
    ----------
    C. Cortes and V. Vapnik, *Support-vector networks*, Machine Learning 20 (1995), 273–297.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from ksparse import SparseLinearSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SparseLinearSVC(k=4).fit(scale(X), y)
    >>> model.get_support(indices=True), round(model.score(scale(X), y), 3)
    (array([10, 21, 23, 27]), 0.967)
    """

    more_attributes: ClassVar[tuple[str, ...]] = ("classes_",)
    effect_name: ClassVar[str] = "for the margin"

    alpha: float = 1e-3
    class_weight: Any = None

    def _as_target(self, codes: Any) -> Any:
        """±1: the class against all others."""
        if len(self.classes_) == 2:
            return super()._as_target(codes)
        return encode_rows_of_ones(self.classes_, codes, other=-1.0)

    def build_objective(self, X: Matrix, target: Array, **options: Any) -> LinearObjective:
        self.check_weights(target, options["sample_weight"])
        return SquaredHinge(X, self._as_codes(target), **options)
