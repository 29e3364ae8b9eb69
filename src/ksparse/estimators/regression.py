"""Regression with k features: least squares, Poisson, Huber."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import d2_tweedie_score

from .._types import AnyArray, Array, Matrix
from ..objectives import Huber, LeastSquares, LinearObjective, Loss, Poisson
from ..objectives.losses import HuberLoss, PoissonLoss, SquaredLoss
from ..optimize import minimize
from ..solvers import Solver
from ..validation import real_array
from ._docs import documented
from ._parameters import keeps_parameters
from .base import SparseLinearModel, linear

__all__ = ["SparseHuberRegression", "SparseLinearRegression", "SparsePoissonRegression"]

#: Huber's delta in units of the spread of the residuals: 95 % as efficient as least squares on normal errors.
EFFICIENT = 1.345
#: The median absolute deviation of a standard normal variable.
NORMAL_DEVIATION = 0.6744897501960817
#: A fit that tells the spread of its residuals has so many samples for each feature.
SAMPLES_EACH = 10
#: Sums of weights that differ from one half by a smaller share are one half.
HALF_TOLERANCE = 1e-9
#: A mean square this small beside that of y is the rounding of an exact fit.
ROUNDING = 1e-24
#: Residuals with a smaller spread than this share of y's are those of an exact fit.
EXACT_FIT = 1e-3


@documented
class SparseLinearRegression(RegressorMixin, SparseLinearModel):  # type: ignore[misc]
    """Least squares with k features: the best-subset regression.

    Minimizes (1/2n)·‖y − Xw − b‖² + (alpha/2)·‖w‖² over w with at most k nonzero features (paper, equation 1). Nothing
    is scaled: with alpha = 0 the answer does not depend on the units of features; if alpha > 0, standardize them.

    Parameters
    ----------
    $k
    alpha : float, default=0
        Ridge penalty.
    $model
    $warm_start

    Attributes
    ----------
    $fitted

    See Also
    --------
    SparseLinearRegressionCV : k by cross-validation.
    SparseLinearRegressionIC : k by an information criterion.

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

    _several_responses = True

    def _objective(self, X: Matrix, y: AnyArray, sample_weight: Any, k: int) -> LinearObjective:
        return LeastSquares(X, y, alpha=self.alpha, sample_weight=sample_weight, fit_intercept=self.fit_intercept)

    def _loss(self) -> Loss:
        return SquaredLoss()

    def _deviance(self, loss: float, null_loss: float, n_samples: float, n_outputs: int) -> float:
        """n·log of the mean square: the variance is unknown, and estimated by it."""
        mean_square = max(2.0 * loss / n_outputs, ROUNDING * null_loss, np.finfo(float).tiny)
        return float(n_samples * n_outputs * np.log(mean_square))

    def predict(self, X: Any) -> Array:
        """Predict the response: Xw + b."""
        return self._margins(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = True
        tags.target_tags.multi_output = True
        return tags


@documented
class SparsePoissonRegression(RegressorMixin, SparseLinearModel):  # type: ignore[misc]
    """Poisson regression of counts with k features and a log link.

    Minimizes (1/n)·Σᵢ [exp(mᵢ) − yᵢmᵢ] + (alpha/2)·‖w‖² with mᵢ = wᵀxᵢ + b, over w with at most k nonzero features.
    Nothing is scaled: with alpha = 0 the answer does not depend on the units of features; if alpha > 0, standardize
    them. Exposures: pass y/exposure as y and the exposure as `sample_weight`.

    Parameters
    ----------
    $k
    alpha : float, default=0
        Ridge penalty.
    $model
    $warm_start

    Attributes
    ----------
    $fitted

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

    def _objective(self, X: Matrix, y: AnyArray, sample_weight: Any, k: int) -> LinearObjective:
        return Poisson(X, y, alpha=self.alpha, sample_weight=sample_weight, fit_intercept=self.fit_intercept)

    def _loss(self) -> Loss:
        return PoissonLoss()

    def predict(self, X: Any) -> Array:
        """Predict the expected count: exp(Xw + b)."""
        return np.exp(self._margins(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """D², the share of the Poisson deviance explained; R² of least squares is the same for its deviance.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            Counts.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.

        Returns
        -------
        float
            D², at most 1.
        """
        return float(d2_tweedie_score(y, self.predict(X), sample_weight=sample_weight, power=1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags


@documented
class SparseHuberRegression(RegressorMixin, SparseLinearModel):  # type: ignore[misc]
    """Robust regression with k features: Huber's loss, which is linear for large residuals.

    Minimizes (1/n)·Σᵢ huber(yᵢ − wᵀxᵢ − b) + (alpha/2)·‖w‖², with huber(r) = ½r² for |r| ≤ δ and δ|r| − ½δ² beyond,
    over w with at most k nonzero features. Nothing is scaled: with alpha = 0 the answer does not depend on the units of
    features; if alpha > 0, standardize them.

    Parameters
    ----------
    $k
    $delta
    alpha : float, default=0
        Ridge penalty.
    $model
    $warm_start

    Attributes
    ----------
    $fitted
    delta_ : float
        The delta that was used.

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

    @keeps_parameters
    def __init__(
        self,
        k: int = 10,
        *,
        delta: float | str = "auto",
        alpha: float = 0.0,
        fit_intercept: bool = True,
        groups: Any = None,
        always_select: Any = None,
        positive: bool = False,
        solver: str | Solver = "auto",
        effort: int = 0,
        warm_start: bool = False,
    ) -> None: ...

    def _objective(self, X: Matrix, y: AnyArray, sample_weight: Any, k: int) -> LinearObjective:
        if isinstance(self.delta, str):
            if self.delta != "auto":
                raise ValueError(f'delta must be a positive number or "auto", got {self.delta!r}')
            self.delta_ = self._adapted_delta(X, real_array(y, "y"), sample_weight, k)
        else:
            self.delta_ = self.delta
        return self._with_delta(self.delta_, X, y, sample_weight)

    def _with_delta(self, delta: float, X: Matrix, y: AnyArray, sample_weight: Any) -> Huber:
        return Huber(X, y, delta=delta, alpha=self.alpha, sample_weight=sample_weight, fit_intercept=self.fit_intercept)

    def _adapted_delta(self, X: Matrix, y: Array, sample_weight: Any, k: int) -> float:
        """Delta from the residuals of a first fit, whose own delta comes from y."""
        # An objective without features checks y and the weights: medians of bad ones would fail in their own ways.
        self._with_delta(1.0, np.zeros((len(y), 1)), y, sample_weight)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        deviations = y - weighted_median(y, weights) if self.fit_intercept else y
        spread = _spread(deviations, weights) or _spread(deviations, weights * (deviations != 0)) or 1.0
        first = self._with_delta(EFFICIENT * spread, X, y, sample_weight)
        # With a parameter for every few samples, residuals would say little about the errors. Weights are counts,
        # unless they sum to less than the number of samples.
        samples = max(int(weights.sum()), int(np.count_nonzero(weights)))
        always = int(self._sparsity(first, k).bind(first.shape, first.free).always.sum())
        fewer = max(min(k, samples // SAMPLES_EACH), always, 1)
        pilot = minimize(first, sparsity=self._sparsity(first, fewer), solver=self._solver())
        coefficients, intercept = self._coefficients(pilot)
        residuals = y - linear(X, coefficients) - intercept
        return EFFICIENT * max(_spread(residuals, weights), EXACT_FIT * spread)

    def _loss(self) -> Loss:
        return HuberLoss(delta=self.delta_)

    def _deviance(self, loss: float, null_loss: float, n_samples: float, n_outputs: int) -> float:
        """Of residuals in units of their spread, which delta is 1.345 times of."""
        return 2.0 * n_samples * loss * (EFFICIENT / self.delta_) ** 2

    def predict(self, X: Any) -> Array:
        """Predict the response: Xw + b."""
        return self._margins(X)


def _spread(deviations: Array, weights: Array) -> float:
    """The median absolute deviation, normalized to be the standard deviation of normal errors."""
    return weighted_median(np.abs(deviations), weights) / NORMAL_DEVIATION if weights.any() else 0.0


def weighted_median(values: Array, weights: Array) -> float:
    """The value with as much weight below as above it; the middle of two, as of an even number of values."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    # Half of the weight up to rounding, so that neither the scale nor the order of the weights decides.
    half = 0.5 * below[-1] * np.array([1.0 - HALF_TOLERANCE, 1.0 + HALF_TOLERANCE])
    return float(values[order[np.searchsorted(below, half)]].mean())
