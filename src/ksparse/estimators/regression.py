"""Regression with k features: least squares, Poisson, Huber."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.metrics import d2_tweedie_score

from .._types import Array, Matrix
from ..objectives import Huber, LeastSquares, LinearObjective, Objective, Poisson
from ..objectives.base import value_at_zero
from ..optimize import minimize
from ..solvers import Result
from ..weights import count_weighted_samples
from ._docs import document
from .linear_model import SparseLinearModel, multiply_selected

__all__ = ["SparseHuberRegression", "SparseLinearRegression", "SparsePoissonRegression"]

#: Huber's delta in standard deviations of the errors: 95 % as efficient as least squares on normal errors.
EFFICIENT_DELTA = 1.345
#: The median absolute deviation of a standard normal variable.
NORMAL_MAD = 0.6744897501960817
#: The pilot fit has at least this many samples for each feature, so that its residuals resemble the errors.
PILOT_SAMPLES_PER_FEATURE = 10
#: Sums of weights that differ from one half by a smaller fraction are one half.
HALF_TOLERANCE = 1e-9
#: A mean squared residual below this fraction of the mean square of y is the rounding error of an exact fit.
EXACT_MEAN_SQUARE = 1e-24
#: Residuals whose spread is below this fraction of the spread of y are those of an exact fit.
EXACT_SPREAD = 1e-3


@document
@dataclass(eq=False, repr=False)
class SparseLinearRegression(MultiOutputMixin, RegressorMixin, SparseLinearModel):  # type: ignore[misc]
    """Least squares with k features: best-subset regression.

    Minimizes (1/2n)·‖y − Xw − b‖² + (alpha/2)·‖w‖² over w with at most k nonzero features (paper, equation 1).

    $fields

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from ksparse import SparseLinearRegression
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = SparseLinearRegression(k=3).fit(X, y)
    >>> model.get_feature_names_out()
    array(['bmi', 'bp', 's5'], dtype=object)
    >>> model.coef_[model.support_].round(1), round(model.score(X, y), 4)
    (array([603.1, 262.3, 543.9]), 0.4801)
    """

    def build_objective(self, X: Matrix, target: Array, **options: Any) -> LinearObjective:
        return LeastSquares(X, target, **options)

    def depends_on_moments(self) -> bool:
        hooks = ("build_objective", "fit_target", "encode_target", "weigh_samples")
        return all(getattr(type(self), hook) is getattr(SparseLinearRegression, hook) for hook in hooks)

    def deviance(self, objective: Objective, result: Result, n_samples: float) -> float:
        """n·log of the mean squared residual, which estimates the unknown variance."""
        outputs = self.count_free_outputs(result)
        smallest = max(EXACT_MEAN_SQUARE * value_at_zero(objective), np.finfo(float).tiny)
        mean_square = max(2.0 * self.mean_loss(objective, result) / outputs, smallest)
        return float(n_samples * outputs * np.log(mean_square))


@document
@dataclass(eq=False, repr=False)
class SparsePoissonRegression(RegressorMixin, SparseLinearModel):  # type: ignore[misc]
    """Poisson regression of counts with k features and a log link.

    Minimizes (1/n)·Σᵢ [exp(mᵢ) − yᵢmᵢ] + (alpha/2)·‖w‖² with mᵢ = wᵀxᵢ + b, over w with at most k nonzero features.
    Exposures: pass y/exposure as y and the exposure as `sample_weight`.

    $fields

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import SparsePoissonRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 30))
    >>> y = rng.poisson(np.exp(1 + 0.5 * X[:, 4] - 0.5 * X[:, 9]))
    >>> model = SparsePoissonRegression(k=2).fit(X, y)
    >>> model.get_support(indices=True), model.coef_[model.support_].round(2)
    (array([4, 9]), array([ 0.5 , -0.51]))
    """

    ratio_name: ClassVar[str] = "rate_ratio"

    def build_objective(self, X: Matrix, target: Array, **options: Any) -> LinearObjective:
        return Poisson(X, target, **options)

    def predict(self, X: Any) -> Array:
        """Predict the expected count: exp(Xw + b)."""
        with np.errstate(over="ignore"):  # a count beyond all floats is infinite
            return np.exp(self.linear_predictor(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """D², the fraction of the Poisson deviance explained, at most 1; R² is the same for least squares."""
        return float(d2_tweedie_score(y, self.predict(X), sample_weight=sample_weight, power=1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags


@document
@dataclass(eq=False, repr=False, kw_only=True)
class SparseHuberRegression(RegressorMixin, SparseLinearModel):  # type: ignore[misc]
    """Robust regression with k features: Huber's loss, which is linear for large residuals.

    Minimizes (1/n)·Σᵢ huber(yᵢ − wᵀxᵢ − b) + (alpha/2)·‖w‖², with huber(r) = ½r² for |r| ≤ δ and δ|r| − ½δ² beyond,
    over w with at most k nonzero features.

    $fields

    References
    ----------
    P. J. Huber, *Robust estimation of a location parameter*, Annals of Mathematical Statistics 35, 1964.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import SparseHuberRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 20))
    >>> y = 3 * X[:, 2] - X[:, 11] + 0.1 * rng.standard_normal(100)
    >>> y[::10] += 500                                       # every tenth value is wrong
    >>> model = SparseHuberRegression(k=2).fit(X, y)
    >>> model.get_support(indices=True), model.coef_[model.support_].round(1)
    (array([ 2, 11]), array([ 3., -1.]))
    """

    more_attributes: ClassVar[tuple[str, ...]] = ("delta_",)

    delta: float | str = "auto"

    def build_objective(self, X: Matrix, target: Array, **options: Any) -> LinearObjective:
        if self.delta != "auto" and isinstance(self.delta, str):
            raise ValueError(f'delta must be a positive number or "auto", got {self.delta!r}')
        self.delta_ = self._adapt_delta(X, target, options) if isinstance(self.delta, str) else self.delta
        return Huber(X, target, delta=self.delta_, **options)

    def _adapt_delta(self, X: Matrix, target: Array, options: dict[str, Any]) -> float:
        """Delta from the residuals of a pilot fit, whose own delta comes from the spread of y."""
        weights = np.ones(len(target)) if options["sample_weight"] is None else options["sample_weight"]
        deviations = target - compute_weighted_median(target, weights) if self.fit_intercept else target
        spread = (
            _estimate_spread(deviations, weights) or _estimate_spread(deviations, weights * (deviations != 0)) or 1.0
        )
        # Delta is a scale of the errors: it does not depend on the ridge, and is the same for all that are tried.
        pilot = Huber(X, target, delta=EFFICIENT_DELTA * spread, **{**options, "alpha": 0.0})
        n_samples = int(count_weighted_samples(weights))
        k = self.estimate_k()
        n_always = int(self.build_sparsity(pilot, k).bind(pilot.shape, pilot.free).always.sum())
        fewer = max(min(k, n_samples // PILOT_SAMPLES_PER_FEATURE), n_always, 1)
        result = minimize(pilot, sparsity=self.build_sparsity(pilot, fewer), solver=self.find_solver())
        coefficients, intercept = self.split_intercept(result)
        residuals = target - multiply_selected(X, coefficients) - intercept
        return EFFICIENT_DELTA * max(_estimate_spread(residuals, weights), EXACT_SPREAD * spread)

    def fix_estimates(self) -> None:
        self.delta = self.delta_

    def deviance(self, objective: Objective, result: Result, n_samples: float) -> float:
        """The deviance of residuals divided by their spread, which is delta/1.345."""
        return super().deviance(objective, result, n_samples) * (EFFICIENT_DELTA / self.delta_) ** 2


def _estimate_spread(deviations: Array, weights: Array) -> float:
    """The median absolute deviation, normalized to be the standard deviation of normal errors."""
    return compute_weighted_median(np.abs(deviations), weights) / NORMAL_MAD if weights.any() else 0.0


def compute_weighted_median(values: Array, weights: Array) -> float:
    """The value with as much weight below as above it; the mean of the middle two, where there are two."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    # Half of the weight up to rounding, so that neither the scale nor the order of the weights decides.
    half = 0.5 * below[-1] * np.array([1.0 - HALF_TOLERANCE, 1.0 + HALF_TOLERANCE])
    return float(values[order[np.searchsorted(below, half)]].mean())
