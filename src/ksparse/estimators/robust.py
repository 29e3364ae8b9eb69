"""Regression with k features that does not trust the mean: Huber's loss, and quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import d2_pinball_score

from .._types import AnyArray, Array, Matrix
from ..designs.blocked import map_values
from ..objectives import Huber, LinearObjective, Objective, Quantile
from ..solvers import Result
from ..validation import check_positive_number
from ..weights import count_weighted_samples
from ._docs import document
from .linear_model import SparseLinearModel
from .offset_scores import LinearRegressorMixin
from .pilot import compute_weighted_median, estimate_residuals, estimate_spread
from .stored_data import weigh_alike

__all__ = ["SparseHuberRegression", "SparseQuantileRegression"]

#: Huber's delta in standard deviations of the errors: 95 % as efficient as least squares on normal errors.
EFFICIENT_DELTA = 1.345
#: Residuals whose spread is below this fraction of the spread of y are those of an exact fit.
EXACT_SPREAD = 1e-3
#: The standard deviation of the smoothing of quantiles is that of the residuals times ((k + log n)/n)^0.4, the rate of
#: He et al. (2023), and this fraction at least; that of the logistic density of scale 1 is π/√3.
SMOOTHING_RATE, LEAST_SMOOTHING = 0.4, 0.05
#: Bandwidths below this fraction of the spread of y are refused: Newton steps fail from a tenth of it on.
LEAST_BANDWIDTH = 1e-5
LOGISTIC_DEVIATION = np.pi / np.sqrt(3.0)


@document
@dataclass(eq=False, repr=False, kw_only=True)
class SparseHuberRegression(LinearRegressorMixin, SparseLinearModel):
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
        weights, spread = _measure_target(target, options, self.fit_intercept)
        # Delta is a scale of the errors: it does not depend on the ridge, and is the same for all that are tried.
        pilot = Huber(X, target, delta=EFFICIENT_DELTA * spread, **{**options, "alpha": 0.0})
        residuals = estimate_residuals(self, pilot, X, target, weights, options["offset"])
        return EFFICIENT_DELTA * max(estimate_spread(residuals, weights), EXACT_SPREAD * spread)

    def fix_estimates(self) -> None:
        self.delta = self.delta_

    def deviance(self, objective: Objective, result: Result, n_samples: float) -> float:
        """The deviance of residuals divided by their spread, which is delta/1.345."""
        return super().deviance(objective, result, n_samples) * (EFFICIENT_DELTA / self.delta_) ** 2


@document
@dataclass(eq=False, repr=False, kw_only=True)
class SparseQuantileRegression(LinearRegressorMixin, SparseLinearModel):
    """Regression of a quantile with k features, such as the median, or the value that 90 % of responses do not exceed.

    Minimizes (1/n)·Σᵢ [τrᵢ + h·log(1 + exp(−rᵢ/h))] + (alpha/2)·‖w‖² with rᵢ = yᵢ − wᵀxᵢ − b, over w with at most k
    nonzero features. The check loss max(τr, (τ − 1)r) of quantile regression is smoothed by a logistic density of scale
    h, which lies above it by at most h·log 2: smoothing makes estimates less variable, and selection fast.

    $fields

    References
    ----------
    R. Koenker and G. Bassett, *Regression quantiles*, Econometrica 46 (1978), 33–50.

    X. He, X. Pan, K. M. Tan and W.-X. Zhou, *Smoothed quantile regression with large-scale inference*, Journal of
    Econometrics 232 (2023), 367–388.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import SparseQuantileRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((500, 20))
    >>> y = 2 * X[:, 2] + (4 + X[:, 11]) * rng.uniform(size=500)      # the other feature makes y spread
    >>> model = SparseQuantileRegression(k=2, quantile=0.9).fit(X, y)
    >>> model.get_support(indices=True), float(np.mean(y <= model.predict(X)).round(2))
    (array([ 2, 11]), 0.91)
    """

    more_attributes: ClassVar[tuple[str, ...]] = ("bandwidth_",)

    quantile: float = 0.5
    bandwidth: float | str = "auto"

    def build_objective(self, X: Matrix, target: Array, **options: Any) -> LinearObjective:
        if self.bandwidth != "auto" and isinstance(self.bandwidth, str):
            raise ValueError(f'bandwidth must be a positive number or "auto", got {self.bandwidth!r}')
        given = self.bandwidth
        self.bandwidth_ = (
            self._adapt_bandwidth(X, target, options)
            if isinstance(given, str)
            else self._check_bandwidth(given, target, options)
        )
        return Quantile(X, target, quantile=self.quantile, bandwidth=self.bandwidth_, **options)

    def _check_bandwidth(self, bandwidth: float, target: Array, options: dict[str, Any]) -> float:
        smallest = LEAST_BANDWIDTH * _measure_target(target, options, self.fit_intercept)[1]
        if check_positive_number(bandwidth, "bandwidth") < smallest:
            raise ValueError(
                f"bandwidth must be at least {smallest:.2g} for this y, got {bandwidth:g}, with which the loss has "
                'kinks; take a larger one, or "auto"'
            )
        return bandwidth

    def _adapt_bandwidth(self, X: Matrix, target: Array, options: dict[str, Any]) -> float:
        """The bandwidth from the residuals of a pilot fit, whose own bandwidth comes from the spread of y."""
        weights, spread = _measure_target(target, options, self.fit_intercept)
        n_samples = count_weighted_samples(weights)
        crowding = (min(self.estimate_k(), X.shape[1], n_samples) + np.log(n_samples)) / n_samples
        smoothing = min(max(crowding**SMOOTHING_RATE, LEAST_SMOOTHING), 1.0) / LOGISTIC_DEVIATION
        pilot = Quantile(X, target, quantile=self.quantile, bandwidth=smoothing * spread, **{**options, "alpha": 0.0})
        residuals = estimate_residuals(self, pilot, X, target, weights, options["offset"])
        deviations = _subtract_number(residuals, compute_weighted_median(residuals, weights))
        return smoothing * max(estimate_spread(deviations, weights), EXACT_SPREAD * spread)

    def fix_estimates(self) -> None:
        self.bandwidth = self.bandwidth_

    def deviance(self, objective: Objective, result: Result, n_samples: float) -> float:
        """2n·log of the mean loss, which estimates the unknown scale of an asymmetric Laplace distribution."""
        return float(2.0 * n_samples * np.log(max(self.mean_loss(objective, result), np.finfo(float).tiny)))

    def score_predictions(self, y: Any, prediction: AnyArray, sample_weight: Any = None) -> float:
        """The fraction of the check loss of the best constant that is explained, at most 1."""
        return float(d2_pinball_score(y, prediction, sample_weight=sample_weight, alpha=self.quantile))


def _measure_target(target: Any, options: dict[str, Any], fit_intercept: bool) -> tuple[Any, float]:
    """The weights of the samples, and the spread of what is to be explained."""
    weights = weigh_alike(target, options["sample_weight"])
    deviations = target if options["offset"] is None else map_values(np.subtract, target, options["offset"])
    if fit_intercept:
        deviations = _subtract_number(deviations, compute_weighted_median(deviations, weights))
    spread = estimate_spread(deviations, weights)
    return weights, spread or estimate_spread(deviations, map_values(_weigh_nonzero, deviations, weights)) or 1.0


def _subtract_number(values: Any, number: float) -> Any:
    return map_values(partial(np.add, -number), values)


def _weigh_nonzero(deviations: Array, weights: Array) -> Array:
    return weights * (deviations != 0)
