"""Linear models with k features: from X, y and parameters to an objective, and from its solution to coefficients."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from scipy.linalg import pinvh
from sklearn.base import MultiOutputMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._types import AnyArray, Array, Mask, Matrix
from ..certificates.certified import Certified
from ..designs import BlockedDesign, Design
from ..designs.blocked import RowValues, collect_if_dask, open_row_values
from ..inference.summarized import Summarized
from ..objectives import LinearObjective, Objective
from ..objectives.columns import LinearModel
from ..objectives.linear import normalize_weights
from ..objectives.row_checks import check_row_values
from ..solvers import Result, Solver
from ..sparsity import Entries, Groups, Rows, Sparsity
from ..tables.encoding import RowEncoder, find_columns_of, find_encoding
from ..validation import check_flag, check_nonnegative_number
from .base import Samples
from .feature_sets import (
    explain_text_columns,
    find_features,
    find_groups,
    label_features,
    pick_columns,
    require_columns,
)
from .held_out_losses import HeldOutLosses
from .margins import add_offset, check_offset, multiply_selected
from .paths import SparsityPath
from .ridge_grid import suggest_ridges
from .sample_moments import compress_stored_samples
from .standardizing import standardize_columns
from .stored_data import check_stored_data, is_stored_elsewhere, open_design, require_one_column, standardize_design

__all__ = ["ACCEPTED", "FeatureSelector", "SparseLinearModel"]

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
class SparseLinearModel(Summarized, Certified, FeatureSelector, HeldOutLosses):
    """A linear model with k features, f = mean loss + (alpha/2)·‖w‖²: all that does not depend on the loss.

    A subclass implements `build_objective`. It may override `predict`, `fit_target` and `encode_target` (y as the loss
    takes it), `weigh_samples` and `deviance`. With scikit-learn's `MultiOutputMixin`, y may have several columns.
    """

    penalty_names: ClassVar[tuple[str, ...]] = ("alpha", "refit_alpha")
    #: Whether data frames to predict may have other columns besides those of the model, in any order; a loaded model
    #: takes what it needs by name.
    picks_columns: ClassVar[bool] = False

    k: int = 10
    _: KW_ONLY
    alpha: float = 0.0
    refit_alpha: float | None = None
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
        """f, of what `fit_target` returned; `options` are `alpha`, `fit_intercept`, `sample_weight` and `offset`."""

    def predict(self, X: Any, offset: Any = None) -> AnyArray:
        """Predict the response: Xw + b, plus the offset if there is one."""
        return self.linear_predictor(X, offset)

    def fit_target(self, y: AnyArray) -> Array:
        """Training responses as the loss takes them; sets what `encode_target` needs, such as the classes."""
        return self.encode_target(y)

    def encode_target(self, y: AnyArray) -> Array:
        target: Array = check_row_values(y, "y", y.shape)
        return target

    def weigh_samples(self, target: Array, sample_weight: Array | None) -> Array | None:
        return sample_weight

    def deviance(self, objective: Objective, result: Result, n_samples: float) -> float:
        """Minus twice the log-likelihood, 2n times the mean loss without the ridge; override it for other losses."""
        return 2.0 * n_samples * self.mean_loss(objective, result)

    def fit(self: M, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> M:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The response or the labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples; a weight of 2 is the same as two equal samples.
        offset : array-like of shape (n_samples,), optional
            Known part of the margins, such as the logarithm of an exposure: Xw + b is added to it. A column for each
            output where there are several.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self.fit_samples(self.check_samples(X, y, sample_weight, offset))

    def check_samples(self, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None) -> Samples:
        encoding, table_columns = find_encoding(X), find_columns_of(X)
        # The objective checks X for NaN and infinity when it first reads it: a second pass here would be wasted.
        with explain_text_columns(X):
            X, y = self.check_data(X, y)
        sample_weight = open_row_values(sample_weight, X, "sample_weight")
        offset = open_row_values(offset, X, "offset")
        if sample_weight is not None and not isinstance(sample_weight, RowValues):  # objectives check those
            normalize_weights(sample_weight, len(y))  # checks them
            sample_weight = np.asarray(sample_weight, dtype=np.float64)
        offset = None if offset is None else check_offset(offset, len(y))
        self._labels: AnyArray | None = None
        if self.feature_groups is not None:
            given = self.feature_groups
            if isinstance(given, str) and given == "columns":
                given = require_columns(table_columns)
            self._labels = label_features(given, self._get_feature_names(), self.n_features_in_)
        samples = Samples(X, y, sample_weight, encoding, offset)
        # A model refers to samples in memory only: blocks that are kept on workers are released after the fit.
        self._samples = None if isinstance(X, Design) else samples
        return samples

    def check_data(self, X: Any, y: Any) -> tuple[Matrix, AnyArray]:
        """Validate X, whose entries may be NaN or infinite, and y, as rows that can be selected."""
        if is_stored_elsewhere(X):
            X, y = check_stored_data(self, X, y)
        else:
            y = collect_if_dask(y)
            X, y = validate_data(self, X, y, **ACCEPTED, ensure_all_finite=False, multi_output=True)
        return X, y if isinstance(self, MultiOutputMixin) else require_one_column(y)

    def copy_for_fold(self: M, training: Samples) -> M:
        fold = super().copy_for_fold(training)
        if training.encoding is not None:
            fold.adopt_encoding(training.encoding.encoder)
        return fold

    def adopt_encoding(self, encoder: RowEncoder) -> None:
        """Take the features of an encoder in place of those that `check_samples` saw."""
        self.n_features_in_ = encoder.n_features_out_
        self.feature_names_in_ = encoder.get_feature_names_out()
        if self._labels is not None:
            self._labels = encoder.feature_columns_
            if self.always_select is not None:  # a column may be constant in the training part of a fold
                there = set(self._labels.tolist())
                self.always_select = [label for label in np.atleast_1d(self.always_select).tolist() if label in there]

    def prepare(self, samples: Samples) -> LinearObjective:
        samples = self._condense(samples)
        X = samples.X
        self._scale: Array | None = None
        if check_flag(self.standardize, "standardize"):
            # Not centred: sparse X stays sparse, and the intercept, which is not penalized, takes care of the means.
            standardize = standardize_design if isinstance(X, Design) else standardize_columns
            X, self._scale = standardize(X, samples.sample_weight)
        alpha = 0.0 if self.alpha is None else self.alpha  # where it is yet to be chosen, each value takes its place
        return self.bind_samples(X, samples, alpha)

    def _condense(self, samples: Samples) -> Samples:
        """Few rows in place of samples in blocks, if the model depends on moments only."""
        if not isinstance(samples.X, BlockedDesign) or samples.offset is not None or not self.depends_on_moments():
            return samples
        return compress_stored_samples(samples) or samples

    def bind_samples(self, X: Matrix, samples: Samples, alpha: float) -> LinearObjective:
        """f of some features of samples."""
        target = self.fit_target(samples.y)
        return self.build_objective(
            X,
            target,
            alpha=alpha,
            fit_intercept=self.fit_intercept,
            sample_weight=self.weigh_samples(target, samples.sample_weight),
            offset=samples.offset,
        )

    def get_refit_penalty(self) -> float | None:
        if self.refit_alpha is not None:
            check_nonnegative_number(self.refit_alpha, "refit_alpha")
        return super().get_refit_penalty()

    def with_penalty(self, objective: Objective, value: float) -> LinearModel:
        assert isinstance(objective, LinearModel)
        return objective.with_alpha(value)

    def suggest_penalties(self, objective: Objective) -> tuple[list[float], list[float]]:
        return suggest_ridges(objective, self.n_features_in_)

    def build_sparsity(self, objective: Objective, k: int) -> Sparsity:
        lower = 0.0 if check_flag(self.positive, "positive") else -np.inf
        if self._labels is not None:
            return Groups(k, self._labels, always=find_groups(self.always_select, self._labels), lower=lower)
        always = find_features(self.always_select, self.n_features_in_, self._get_feature_names())
        return (Rows if len(objective.shape) == 2 else Entries)(k, always=always, lower=lower)

    def choose_start(self, objective: Objective) -> Array | None:
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
        self.result_ = result = self._release(result)
        self.coef_, self.intercept_ = self.coefficients(result)
        self.support_ = self._find_selected_features(result)
        self.n_iter_ = result.n_iter
        return self

    def _release(self, result: Result) -> Result:
        """A result that does not keep X, if that is not in memory."""
        return result if getattr(self, "_samples", None) is not None else replace(result, solved=None)

    def coefficients(self, result: Result) -> tuple[Array, Any]:
        weights, intercept = self.split_intercept(result)
        return (weights.T.copy() if self._scale is None else weights.T / self._scale), intercept

    def split_intercept(self, result: Result) -> tuple[Array, Any]:
        """Coefficients, one row for each feature, and intercept of a solution, in the units of the objective."""
        if not self.fit_intercept:
            return result.x, 0.0 if result.x.ndim == 1 else np.zeros(result.x.shape[1])
        return result.x[:-1], float(result.x[-1]) if result.x.ndim == 1 else result.x[-1].copy()

    def _find_selected_features(self, result: Result) -> Mask:
        """The selected features: those with a coefficient, the always-selected ones, and whole groups."""
        if self._labels is not None:
            return np.isin(self._labels, result.selected)
        selected = np.zeros(self.n_features_in_, dtype=bool)
        selected[result.selected] = True
        return selected

    def build_path(self, results: Mapping[int, Result], passes: int) -> SparsityPath:
        ks = sorted(results)
        solutions = [self.coefficients(results[k]) for k in ks]
        return SparsityPath(
            ks=np.array(ks),
            coef=np.array([coefficients for coefficients, _ in solutions]),
            intercept=np.array([intercept for _, intercept in solutions]),
            results=tuple(self._release(results[k]) for k in ks),
            passes=passes,
            feature_names=self._get_feature_names(),
        )

    def mean_loss(self, objective: Objective, result: Result) -> float:
        """Mean loss of the training samples at a solution: f without the ridge."""
        assert isinstance(objective, LinearModel)
        weights, _ = self.split_intercept(result)
        return float(result.value - objective.penalty(weights))

    def count_parameters(self, objective: Objective, result: Result) -> float:
        """The effective degrees of freedom: the number of coefficients the data determine, less what the ridge takes.

        With H the Hessian of f on the selected features and λ the ridge, Σⱼ (1 − λ·(H⁻¹)ⱼⱼ) over their coefficients,
        which is the trace of H⁻¹(H − λI), plus the intercepts.
        """
        assert isinstance(objective, LinearModel)
        outputs, features = self.count_free_outputs(result), self._find_selected_features(result)
        intercepts = bool(self.fit_intercept) * outputs
        if objective.alpha == 0 or not features.any():
            return int(features.sum()) * outputs + intercepts
        support = np.zeros(objective.shape, dtype=bool)
        support[: len(features)][features] = True
        n_coefficients = int(support.sum())
        support[len(features) :] = True
        restricted = objective.restrict(support)
        hessian = restricted.hessian(restricted.evaluate(result.x[support]))
        variances = pinvh(hessian).diagonal()[:n_coefficients]
        return float(n_coefficients - objective.alpha * variances.sum() + intercepts)

    def count_free_outputs(self, result: Result) -> int:
        """Number of coefficients of a feature that the data determine."""
        return 1 if result.x.ndim == 1 else int(result.x.shape[1])

    def count_samples(self, objective: Objective, samples: Samples) -> float:
        assert isinstance(objective, LinearModel)
        return objective.total_weight

    def limit_auto_k(self, n_samples: float) -> int:
        """Twice the number of samples: with a ridge, models with more features than samples may predict well."""
        return int(2 * n_samples)

    def linear_predictor(self, X: Any, offset: Any = None) -> Array:
        """Xw + b + offset for new samples: of shape (n_samples,), or (n_samples, n_outputs) for several outputs."""
        check_is_fitted(self)
        if self.picks_columns:
            X = pick_columns(X, self._get_feature_names(), self.support_)
        if is_stored_elsewhere(X):
            X, offset = open_design(self, X, reset=False), collect_if_dask(offset)
            X = X.with_finite_blocks() if isinstance(X, BlockedDesign) else X
        else:
            with explain_text_columns(X):
                X = validate_data(self, X, **ACCEPTED, reset=False)
        if offset is not None:
            offset = check_offset(offset, X.shape[0])
        return add_offset(multiply_selected(X, self.coef_) + self.intercept_, offset)
