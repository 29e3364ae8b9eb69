"""Linear models with k features: from X, y and parameters to an objective, and from its solution to coefficients."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import MultiOutputMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from .._types import AnyArray, Array, Mask, Matrix
from ..objectives import LinearObjective, Objective
from ..objectives.linear import normalize_weights
from ..solvers import Result, Solver
from ..sparsity import Entries, Groups, Rows, Sparsity
from ..validation import check_flag, check_vector
from .base import Samples, SparseEstimator
from .feature_sets import find_features, find_groups, label_features
from .paths import SparsityPath

__all__ = ["ACCEPTED", "FeatureSelector", "SparseLinearModel", "multiply_selected"]

M = TypeVar("M", bound="SparseLinearModel")
#: The forms of X that are used without a copy.
ACCEPTED: dict[str, Any] = {"accept_sparse": ["csc", "csr"], "dtype": [np.float64, np.float32]}


class FeatureSelector(SelectorMixin):  # type: ignore[misc]
    """A selector of features, in sparse or dense data with a response; `fit` sets `support_`."""

    support_: Mask

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


@dataclass(eq=False, repr=False)
class SparseLinearModel(FeatureSelector, SparseEstimator):
    """A linear model with k features, f = mean loss + (alpha/2)·‖w‖²: all that does not depend on the loss.

    A subclass implements `build_objective`. It may override `predict`, `fit_target` and `encode_target` (y as the loss
    takes it), `weigh_samples` and `deviance`. With scikit-learn's `MultiOutputMixin`, y may have several columns.
    """

    k: int = 10
    _: KW_ONLY
    alpha: float = 0.0
    fit_intercept: bool = True
    standardize: bool = False
    feature_groups: Any = None
    always_select: Any = None
    positive: bool = False
    solver: str | Solver = "auto"
    effort: int = 0
    warm_start: bool = False

    @abstractmethod
    def build_objective(self, X: Matrix, target: Array, **options: Any) -> LinearObjective:
        """f, of what `fit_target` returned; `options` are `alpha`, `fit_intercept` and `sample_weight`."""

    def predict(self, X: Any) -> AnyArray:
        """Predict the response: Xw + b."""
        return self.linear_predictor(X)

    def fit_target(self, y: AnyArray) -> Array:
        """Training responses as the loss takes them; sets what `encode_target` needs, such as the classes."""
        return self.encode_target(y)

    def encode_target(self, y: AnyArray) -> Array:
        """Responses of other samples as the loss takes them."""
        return check_vector(y, "y", y.shape)

    def weigh_samples(self, target: Array, sample_weight: Array | None) -> Array | None:
        """Weights of the samples in the loss."""
        return sample_weight

    def deviance(self, objective: Objective, result: Result, n_samples: float) -> float:
        """Minus twice the log-likelihood, 2n times the mean loss without the ridge; override it for other losses."""
        return 2.0 * n_samples * self.mean_loss(objective, result)

    def fit(self: M, X: Any, y: Any, sample_weight: Any = None) -> M:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The response or the labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples; a weight of 2 is the same as two equal samples.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self.fit_samples(self.check_samples(X, y, sample_weight))

    def check_samples(self, X: Any, y: Any = None, sample_weight: Any = None) -> Samples:
        # The objective checks X for NaN and infinity when it first reads it: a second pass here would be wasted.
        X, y = validate_data(self, X, y, **ACCEPTED, ensure_all_finite=False, multi_output=True)
        if not isinstance(self, MultiOutputMixin):
            y = column_or_1d(y, warn=True)
        if sample_weight is not None:
            normalize_weights(sample_weight, len(y))  # checks them
            sample_weight = np.asarray(sample_weight, dtype=np.float64)
        self._labels: AnyArray | None = None
        if self.feature_groups is not None:
            self._labels = label_features(self.feature_groups, self._feature_names(), self.n_features_in_)
        return Samples(X, y, sample_weight)

    def prepare(self, samples: Samples) -> LinearObjective:
        X = samples.X
        self._scale: Array | None = None
        if check_flag(self.standardize, "standardize"):
            # Not centred: sparse X stays sparse, and the intercept, which is not penalized, takes care of the means.
            scaler = StandardScaler(with_mean=False).fit(X, sample_weight=samples.sample_weight)
            self._scale, X = scaler.scale_, scaler.transform(X)
        target = self.fit_target(samples.y)
        sample_weight = self.weigh_samples(target, samples.sample_weight)
        options = {"alpha": self.alpha, "fit_intercept": self.fit_intercept, "sample_weight": sample_weight}
        return self.build_objective(X, target, **options)

    def build_sparsity(self, objective: Objective, k: int) -> Sparsity:
        lower = 0.0 if check_flag(self.positive, "positive") else -np.inf
        if self._labels is not None:
            return Groups(k, self._labels, always=find_groups(self.always_select, self._labels), lower=lower)
        always = find_features(self.always_select, self.n_features_in_, self._feature_names())
        return (Rows if len(objective.shape) == 2 else Entries)(k, always=always, lower=lower)

    def starting_point(self, objective: Objective) -> Array | None:
        """With `warm_start`, the solution of the last fit, if it has the shape of this objective."""
        if not check_flag(self.warm_start, "warm_start") or not hasattr(self, "coef_"):
            return None
        coefficients = self.coef_.reshape(-1, self.coef_.shape[-1]).T
        if self._scale is not None and len(self._scale) == len(coefficients):
            coefficients = coefficients * self._scale[:, None]
        if self.fit_intercept:
            intercept = np.broadcast_to(self.intercept_, coefficients.shape[1:])
            coefficients = np.vstack([coefficients, intercept])
        return coefficients.reshape(objective.shape) if coefficients.size == objective.size else None

    def store_result(self: M, result: Result) -> M:
        self.result_ = result
        self.coef_, self.intercept_ = self.coefficients(result)
        self.support_ = self._selected_features(result)
        self.n_iter_ = result.n_iter
        return self

    def coefficients(self, result: Result) -> tuple[Array, Any]:
        """Coefficients and intercept of a solution, in scikit-learn's shapes and the units of the data."""
        weights, intercept = self.split_intercept(result)
        return (weights.T.copy() if self._scale is None else weights.T / self._scale), intercept

    def split_intercept(self, result: Result) -> tuple[Array, Any]:
        """Coefficients, one row for each feature, and intercept of a solution, in the units of the objective."""
        if not self.fit_intercept:
            return result.x, 0.0 if result.x.ndim == 1 else np.zeros(result.x.shape[1])
        return result.x[:-1], float(result.x[-1]) if result.x.ndim == 1 else result.x[-1].copy()

    def _selected_features(self, result: Result) -> Mask:
        """The selected features: those with a coefficient, the always-selected ones, and whole groups."""
        units = np.arange(self.n_features_in_) if self._labels is None else self._labels
        selected: Mask = np.isin(units, result.selected)
        return selected

    def build_path(self, results: Mapping[int, Result], passes: int) -> SparsityPath:
        ks = sorted(results)
        solutions = [self.coefficients(results[k]) for k in ks]
        return SparsityPath(
            ks=np.array(ks),
            coef=np.array([coefficients for coefficients, _ in solutions]),
            intercept=np.array([intercept for _, intercept in solutions]),
            results=tuple(results[k] for k in ks),
            passes=passes,
            feature_names=self._feature_names(),
        )

    def held_out_score(self, objective: Objective, result: Result, held_out: Samples) -> float:
        """Minus the mean loss of the held-out samples."""
        assert isinstance(objective, LinearObjective)
        coefficients, intercept = self.coefficients(result)
        target = self.encode_target(held_out.y)
        margins = (multiply_selected(held_out.X, coefficients) + intercept).reshape(target.shape)
        try:
            return -objective.loss.average(margins, target, self.weigh_samples(target, held_out.sample_weight))
        except ZeroDivisionError as error:
            raise ValueError(
                "all held-out samples of a fold have weight 0; use fewer folds, or leave out samples without weight"
            ) from error

    def mean_loss(self, objective: Objective, result: Result) -> float:
        """Mean loss of the training samples at a solution: f without the ridge."""
        assert isinstance(objective, LinearObjective)
        weights, _ = self.split_intercept(result)
        return float(result.value - 0.5 * objective.alpha * np.sum(np.square(weights)))

    def count_parameters(self, objective: Objective, result: Result) -> int:
        features = int(self._selected_features(result).sum())
        return (features + bool(self.fit_intercept)) * self.free_outputs(result)

    def free_outputs(self, result: Result) -> int:
        """Number of coefficients of a feature that the data determine."""
        return 1 if result.x.ndim == 1 else int(result.x.shape[1])

    def count_samples(self, objective: Objective, samples: Samples) -> float:
        assert isinstance(objective, LinearObjective)
        return objective.total_weight

    def largest_auto_k(self, n_samples: float) -> int:
        """Half the number of samples: with more features, little is left to compare models by."""
        return int(n_samples // 2)

    def linear_predictor(self, X: Any) -> Array:
        """Xw + b for new samples: of shape (n_samples,), or (n_samples, n_outputs) for several outputs."""
        check_is_fitted(self)
        X = validate_data(self, X, **ACCEPTED, reset=False)
        return multiply_selected(X, self.coef_) + self.intercept_


def multiply_selected(X: Matrix, coefficients: Array) -> Array:
    """X wᵀ, which reads only the columns of dense X that have a nonzero coefficient."""
    if sparse.issparse(X):
        return X @ coefficients.T
    used = np.flatnonzero(np.atleast_2d(coefficients).any(axis=0))
    return X[:, used] @ coefficients[..., used].T
