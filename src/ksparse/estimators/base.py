"""What all estimators share: from X, y and parameters to an objective and a sparsity set, and back to coefficients.

f = mean loss + (alpha/2)·‖w‖² on the features as they are given: nothing is scaled. With alpha = 0 the answer does not
depend on a feature's units (1000 times the column has a coefficient 1000 times smaller); with alpha > 0 it does, so
standardize features whose units differ, with a `StandardScaler` in a pipeline.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from .._types import AnyArray, Array, Mask, Matrix
from ..designs import as_design
from ..objectives import LinearObjective, Loss
from ..optimize import minimize
from ..solvers import Result, Solver
from ..sparsity import Sparsity
from ..validation import check_flag, check_number_of_units
from ._parameters import keeps_parameters
from ._solvers import LINEAR_SOLVERS, find_solver
from .features import labels_of_features, sparsity_of_features

__all__ = ["SparseLinearModel", "linear"]

M = TypeVar("M", bound="SparseLinearModel")


class SparseLinearModel(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """A linear model with k features: the part that does not depend on the loss.

    A subclass binds data to its objective (`_objective`), and says what y means to its loss (`_target`).
    """

    #: Whether y may have several columns.
    _several_responses = False

    @keeps_parameters
    def __init__(
        self,
        k: int = 10,
        *,
        alpha: float = 0.0,
        fit_intercept: bool = True,
        groups: Any = None,
        always_select: Any = None,
        positive: bool = False,
        solver: str | Solver = "auto",
        effort: int = 0,
        warm_start: bool = False,
    ) -> None: ...

    @abstractmethod
    def _objective(self, X: Matrix, y: AnyArray, sample_weight: Any, k: int) -> LinearObjective:
        """f on checked data; k is how many features are to be selected at most."""

    @abstractmethod
    def _loss(self) -> Loss:
        """The loss that was fitted."""

    def _weights(self, y: AnyArray, sample_weight: Any) -> Any:
        """Weights of the samples in the loss."""
        return sample_weight

    def _target(self, y: AnyArray) -> AnyArray:
        """y as the loss wants it."""
        return y.astype(np.float64)

    def _deviance(self, loss: float, null_loss: float, n_samples: float, n_outputs: int) -> float:
        """Minus twice the log-likelihood up to a constant, from the mean loss of a model and that of none."""
        return 2.0 * n_samples * loss

    def fit(self: M, X: Any, y: Any, sample_weight: Any = None) -> M:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The response.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.

        Returns
        -------
        self
            The fitted estimator.
        """
        X, y = self._check_data(X, y)
        k = check_number_of_units(self.k)
        objective = self._objective(X, y, sample_weight, k)
        start = self._last_solution(objective) if check_flag(self.warm_start, "warm_start") else None
        result = minimize(objective, sparsity=self._sparsity(objective, k), solver=self._solver(), x0=start)
        return self._keep(result)

    # --- what is fitted -----------------------------------------------------------------------------------------

    def _check_data(self, X: Any, y: Any) -> tuple[Matrix, AnyArray]:
        """X and y as arrays; names and number of features are remembered."""
        # The objective looks for NaN and infinity itself: once over the data is enough.
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse=["csc", "csr"],
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            multi_output=True,
        )
        if not self._several_responses:
            y = column_or_1d(y, warn=True)
        return X, y

    def _sparsity(self, objective: LinearObjective, k: int) -> Sparsity:
        return sparsity_of_features(
            k,
            self.n_features_in_,
            names=getattr(self, "feature_names_in_", None),
            rows=len(objective.shape) == 2,
            groups=self.groups,
            always=self.always_select,
            positive=self.positive,
        )

    def _solver(self) -> Solver:
        return find_solver(self.solver, LINEAR_SOLVERS, self.effort)

    def _last_solution(self, objective: LinearObjective) -> Array | None:
        """The point of the last fit, if it has the shape of this objective."""
        if not hasattr(self, "coef_"):
            return None
        coefficients = self.coef_.reshape(-1, self.coef_.shape[-1]).T
        if self.fit_intercept:
            intercept = np.broadcast_to(self.intercept_, coefficients.shape[1:])
            coefficients = np.vstack([coefficients, intercept])
        return coefficients.reshape(objective.shape) if coefficients.size == objective.size else None

    # --- what was found -----------------------------------------------------------------------------------------

    def _keep(self: M, result: Result) -> M:
        """Set the fitted attributes from a result."""
        self.result_ = result
        self.coef_, self.intercept_ = self._coefficients(result)
        self.support_ = self._selected_features(result)
        self.n_iter_ = result.n_iter
        return self

    def _coefficients(self, result: Result) -> tuple[Array, Any]:
        """Coefficients and intercept in scikit-learn's shapes."""
        if not self.fit_intercept:
            return result.x.T.copy(), 0.0 if result.x.ndim == 1 else np.zeros(result.x.shape[1])
        intercept = float(result.x[-1]) if result.x.ndim == 1 else result.x[-1].copy()
        return result.x[:-1].T.copy(), intercept

    def _selected_features(self, result: Result) -> Mask:
        """Features of the selected units: those with a coefficient, the always-selected ones, and whole groups."""
        if self.groups is not None:
            labels = labels_of_features(self.groups, getattr(self, "feature_names_in_", None), self.n_features_in_)
            return np.isin(labels, result.selected)
        selected: Mask = np.isin(np.arange(self.n_features_in_), result.selected)
        return selected

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self)
        return self.support_

    def _margins(self, X: Any) -> Array:
        """Xw + b for new samples, reading only the selected columns of dense data."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=["csr", "csc"], dtype=[np.float64, np.float32], reset=False)
        return linear(X, self.coef_) + self.intercept_

    def _mean_loss(self, X: Matrix, y: AnyArray, sample_weight: Any, result: Result) -> float:
        """Mean loss of checked samples for some result."""
        coefficients, intercept = self._coefficients(result)
        target = self._target(y)
        margins = (linear(X, coefficients) + intercept).reshape(target.shape)
        return float(np.average(self._loss().value(margins, target), weights=self._weights(y, sample_weight)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def linear(X: Matrix, coefficients: Array) -> Array:
    """X wᵀ, reading only the columns of dense X that have a coefficient."""
    return X @ coefficients.T if sparse.issparse(X) else as_design(X).matvec(None, coefficients.T)
