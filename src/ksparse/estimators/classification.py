"""Classification with k features: logistic regression of two or more classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._types import AnyArray, Array, Matrix
from ..objectives import LinearObjective, Logistic, Loss, Multinomial
from ..objectives.losses import LogisticLoss, MultinomialLoss
from ..solvers import Result, Solver
from ..validation import check_nonnegative_number, check_vector
from ._docs import documented
from ._margins import MarginClassifier, check_labels
from ._parameters import keeps_parameters
from .base import SparseLinearModel

__all__ = ["SparseLogisticRegression"]


@documented
class SparseLogisticRegression(MarginClassifier, SparseLinearModel):
    """Logistic regression with k features, of two classes or more.

    Minimizes the mean of log(1 + exp(−yᵢ(wᵀxᵢ + b))) plus (alpha/2)·‖w‖² over w with at most k nonzero features (paper,
    §4.1). Three classes are three classes: the loss is then −log softmax(Wᵀxᵢ + b)_yᵢ, and a feature has one
    coefficient for each class. Nothing is scaled: with alpha = 0 the answer does not depend on the units of features;
    if alpha > 0, standardize them.

    Parameters
    ----------
    $k
    alpha : float, default=1e-4
        Ridge penalty. The default is just enough for a minimum to exist where features separate the classes, as they
        do when there are more of them than samples; without penalty, coefficients would then grow forever.
    $class_weight
    $model
    $warm_start

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    $fitted

    See Also
    --------
    SparseLogisticRegressionCV : k by cross-validation.
    SparseLogisticRegressionIC : k by an information criterion.

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

    @keeps_parameters
    def __init__(
        self,
        k: int = 10,
        *,
        alpha: float = 1e-4,
        class_weight: Any = None,
        fit_intercept: bool = True,
        groups: Any = None,
        always_select: Any = None,
        positive: bool = False,
        solver: str | Solver = "auto",
        effort: int = 0,
        warm_start: bool = False,
    ) -> None: ...

    def _objective(self, X: Matrix, y: AnyArray, sample_weight: Any, k: int) -> LinearObjective:
        self.classes_ = check_labels(y)
        kind = Logistic if len(self.classes_) == 2 else Multinomial
        weights = self._weights(y, sample_weight)
        return kind(X, y, alpha=self.alpha, sample_weight=weights, fit_intercept=self.fit_intercept)

    def _weights(self, y: AnyArray, sample_weight: Any) -> Any:
        if self.class_weight is None:
            return sample_weight
        codes = np.searchsorted(self.classes_, y)
        weights = np.ones(len(codes))
        if sample_weight is not None:
            weights = check_vector(sample_weight, "sample_weight", codes.shape)
        return weights * self._class_weights(codes, weights)[codes]

    def _class_weights(self, codes: AnyArray, weights: Array) -> Array:
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
            raise ValueError(f"class_weight has the label {unknown[0]!r}, which y has not; its labels are {labels}")
        return np.array(
            [
                check_nonnegative_number(self.class_weight.get(label, 1.0), f"class_weight[{label!r}]")
                for label in labels
            ]
        )

    def _loss(self) -> Loss:
        return LogisticLoss() if len(self.classes_) == 2 else MultinomialLoss()

    def _target(self, y: AnyArray) -> AnyArray:
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            raise ValueError(f"y has the class {unknown.tolist()[0]!r}, which the training data lacks; use fewer folds")
        codes = np.searchsorted(self.classes_, y)
        if len(self.classes_) == 2:
            return 2.0 * codes - 1.0
        return (codes[:, None] == np.arange(len(self.classes_))).astype(np.float64)

    def _coefficients(self, result: Result) -> tuple[Array, Any]:
        coefficients, intercept = super()._coefficients(result)
        return np.atleast_2d(coefficients), np.atleast_1d(intercept)

    def decision_function(self, X: Any) -> Array:
        """Margins Xw + b: of the second class for two classes, otherwise one column for each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The margins.
        """
        margins = self._margins(X)
        return margins[:, 0] if margins.shape[1] == 1 else margins
