"""Fits without a ridge to features that are given, with ordinary standard errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse, stats

from .._types import Array, IntArray
from ..debias import Outcome
from ..objectives import Cox, Logistic, Loss, Multinomial, NegativeBinomial, Ordinal, Poisson
from ..objectives.base import Point
from ..objectives.columns import LinearModel
from ..objectives.linear import normalize_weights
from ..objectives.protocols import working_form
from ..solvers import Problem
from ..sparsity import Entries, Rows

__all__ = ["OrdinaryFit", "find_deviations", "fit_ordinary", "take_columns"]

#: Models whose standard errors are the inverse Fisher information.
INVERSE_INFORMATION = (Logistic, Multinomial, Poisson, NegativeBinomial, Cox, Ordinal)
#: An eigenvalue of the Hessian of standardized features below this fraction of the largest is zero.
SINGULAR = 1e-10


@dataclass(frozen=True)
class OrdinaryFit:
    """Coefficients of some features with standard errors, as if these features had been given.

    Attributes
    ----------
    features : ndarray of int
        Indices of the features.
    coefficients, errors : ndarray of shape (n_outputs, n_features)
        Coefficients and their standard errors, which are infinite where the samples do not determine them.
    degrees : float
        Degrees of freedom of Student's distribution; infinite for a normal distribution.
    """

    features: IntArray
    coefficients: Array
    errors: Array
    degrees: float

    def compute_intervals(self, level: float) -> tuple[Array, Array]:
        """Lower and upper ends of the intervals of a level."""
        quantile = float(stats.t.ppf(0.5 + 0.5 * level, self.degrees))
        with np.errstate(invalid="ignore"):
            return self.coefficients - quantile * self.errors, self.coefficients + quantile * self.errors

    def compute_p_values(self) -> Array:
        """Two-sided p-values of the hypotheses that a coefficient is 0."""
        return np.where(np.isinf(self.errors), 1.0, 2.0 * stats.t.sf(self._find_ratios(), self.degrees))

    def _find_ratios(self) -> Array:
        safe = np.where(self.errors > 0, self.errors, 1.0)
        ratios = np.abs(self.coefficients) / safe
        return np.where(self.errors > 0, ratios, np.where(self.coefficients == 0, 0.0, np.inf))


def take_columns(X: Any, features: IntArray) -> Array:
    """Some columns of dense or sparse X, as dense float64."""
    columns = X[:, features]
    return np.asarray(columns.toarray() if sparse.issparse(columns) else columns, dtype=np.float64)


def find_deviations(columns: Array, weights: Array) -> tuple[Array, Array]:
    """Weighted means and standard deviations of columns; weights sum to 1."""
    means = weights @ columns
    return means, np.sqrt(weights @ np.square(columns - means))


def fit_ordinary(model: Any, samples: Any, features: IntArray) -> OrdinaryFit:
    """Minimize the loss without a ridge on some features, with the standard errors of textbooks.

    Least squares: the residual variance times (XᵀX)⁻¹, and Student's distribution. Logistic, Poisson, negative
    binomial and Cox regression: the inverse Fisher information, and the normal distribution. Other losses, and class
    weights: the sandwich H⁻¹JH⁻¹ of M-estimators (Huber 1967), with H the Hessian and J the mean outer product of the
    slopes.
    """
    n_outputs = len(np.atleast_2d(model.coef_))
    unknown = OrdinaryFit(
        features, np.zeros((n_outputs, features.size)), np.full((n_outputs, features.size), np.inf), np.inf
    )
    if not features.size:
        return unknown
    fold = model.copy_for_fold(samples)
    target = fold.fit_target(samples.y)
    sample_weight = fold.weigh_samples(target, samples.sample_weight)
    columns = take_columns(samples.X, features)
    _, weights = normalize_weights(sample_weight, len(columns))
    means, deviations = find_deviations(columns, weights)
    scales = np.where(deviations > 0, deviations, 1.0)
    columns = (columns - means if model.fit_intercept else columns) / scales
    objective = fold.bind_samples(columns, samples, 0.0)
    has_information = isinstance(objective, INVERSE_INFORMATION) and getattr(model, "class_weight", None) is None
    if not isinstance(objective.loss, Loss) and not has_information:
        raise ValueError(
            f"{type(model).__name__} has a loss of all samples together, for which there are no ordinary intervals; "
            'use intervals="bootstrap"'
        )
    degrees = np.inf
    if objective.loss.is_quadratic:
        degrees = objective.effective_samples - columns.shape[1] - bool(model.fit_intercept)
    # Without constant columns, whose coefficients nothing determines.
    point = _minimize(objective) if degrees > 0 and deviations.all() else None
    if point is None:
        return unknown
    if has_information:
        variances = _invert_hessian(objective, point).diagonal()
    else:
        variances = _compute_robust_variances(objective, point, target, weights, columns, degrees)
    errors = np.sqrt(np.maximum(variances, 0.0) / objective.effective_samples)
    coefficients = point.x[: columns.shape[1]].reshape(columns.shape[1], -1).T
    errors = errors.reshape(-1, n_outputs)[: columns.shape[1]].T
    return OrdinaryFit(features, coefficients / scales, errors / scales, float(degrees))


def _compute_robust_variances(
    objective: LinearModel, point: Point, target: Array, weights: Array, columns: Array, degrees: float
) -> Array:
    """n times the variances of least squares, or of an M-estimator."""
    assert isinstance(objective.loss, Loss)
    slopes = objective.loss.slope(point.state, target.reshape(point.state.shape)).reshape(len(columns), -1)
    if objective.loss.is_quadratic:
        return _compute_residual_variances(objective, point, slopes, weights, degrees)
    return _compute_sandwich(objective, point, slopes, weights, columns)


def _minimize(objective: LinearModel) -> Point | None:
    """The minimum over all coefficients; None if there is none, or it is not unique."""
    constraint = (Entries if len(objective.shape) == 1 else Rows)(objective.shape[0])
    form = working_form(objective)
    problem = Problem(form, constraint.bind(objective.shape, objective.free))
    everything = np.ones(objective.shape, dtype=bool)
    iterate = problem.refit(everything, np.zeros(objective.shape))
    if iterate.outcome not in (Outcome.SOLVED, Outcome.SINGULAR):
        return None
    point = objective.evaluate(form.canonical(form.to_user(iterate.point.x)))
    eigenvalues = np.linalg.eigvalsh(_find_hessian(objective, point))
    rank = int((eigenvalues > SINGULAR * eigenvalues.max(initial=0.0)).sum())
    return point if rank >= objective.size - objective.n_invariances else None


def _find_hessian(objective: LinearModel, point: Point) -> Array:
    everything = np.ones(objective.shape, dtype=bool)
    restricted = point.restrict(everything)
    hessian: Array = restricted.objective.hessian(restricted)  # type: ignore[attr-defined]
    return hessian


def _invert_hessian(objective: LinearModel, point: Point) -> Array:
    return np.asarray(np.linalg.pinv(_find_hessian(objective, point), rcond=SINGULAR, hermitian=True), np.float64)


def _compute_residual_variances(
    objective: LinearModel, point: Point, residuals: Array, weights: Array, degrees: float
) -> Array:
    """n times the variances of least squares: the residual variance of each response times the inverse Hessian."""
    variances = weights @ np.square(residuals) * (objective.effective_samples / degrees)
    return _invert_hessian(objective, point).diagonal() * np.tile(variances, objective.shape[0])


def _compute_sandwich(objective: LinearModel, point: Point, slopes: Array, weights: Array, columns: Array) -> Array:
    """n times the variances of an M-estimator: the diagonal of H⁻¹JH⁻¹."""
    full = np.column_stack([columns, np.ones(len(columns))]) if objective.fit_intercept else columns
    scores = (full[:, :, None] * slopes[:, None, :]).reshape(len(full), -1)
    inverse = _invert_hessian(objective, point)
    return np.diag(inverse @ (scores.T @ (weights[:, None] * scores)) @ inverse)
