"""Regression of counts and amounts with k features and a log link: the expected response is exp(Xw + b)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, gammaln

from .._types import AnyArray, Array, Matrix
from ..designs.blocked import collect_values
from ..inference.number_scores import explain_deviance
from ..objectives import Gamma, LinearObjective, NegativeBinomial, Objective, Poisson, Tweedie
from ..objectives.base import VALUE_ROUNDING
from ..objectives.columns import LinearModel
from ..objectives.losses import NegativeBinomialLoss, TweedieLoss, estimate_dispersion
from ..objectives.losses.log_link_loss import LogLinkLoss
from ..solvers import FixedSupport, Result, Status
from ..validation import check_nonnegative_number
from ._docs import document
from .base import merge_results
from .linear_model import SparseLinearModel
from .margins import add_offset, multiply_selected
from .offset_scores import LinearRegressorMixin
from .pilot import fit_pilot, has_samples_for, make_refit
from .stored_data import weigh_alike

__all__ = [
    "LogLinkRegression",
    "SparseGammaRegression",
    "SparseNegativeBinomialRegression",
    "SparsePoissonRegression",
    "SparseTweedieRegression",
]

#: A smaller mean deviance is the rounding error of an exact fit.
EXACT_DEVIANCE = 1e-10
#: A search for a minimum at infinity stops at about this mean deviance, relative to the terms of the loss, or below.
SEPARATED_DEVIANCE = 1e-6
#: Rounds in which coefficients and dispersion are fitted in turn; in the first ones features are selected again.
DISPERSION_ROUNDS, SELECTING_ROUNDS = 50, 2
#: Relative change of the dispersion in the last round.
DISPERSION_CHANGE = 1e-9


class LogLinkRegression(LinearRegressorMixin, SparseLinearModel):
    """A regression with k features and a log link."""

    ratio_name: ClassVar[str] = "rate_ratio"
    effect_name: ClassVar[str] = "for the logarithm of the expected count"
    #: The variance of a response is proportional to this power of its mean.
    variance_power: ClassVar[float] = 1.0

    def predict(self, X: Any, offset: Any = None) -> Array:
        """Predict the expected response: exp(Xw + b), times exp(offset) if there is one."""
        with np.errstate(over="ignore"):  # a response beyond all floats is infinite
            return np.exp(self.linear_predictor(X, offset))

    def score_predictions(self, y: Any, prediction: AnyArray, sample_weight: Any = None) -> float:
        """D², the fraction of the deviance explained, at most 1; R² is the same for least squares.

        Where y is constant, it is 1 if y is predicted, otherwise 0.
        """
        return explain_deviance(self.get_deviance_loss(), y, prediction, sample_weight)

    def get_deviance_loss(self) -> LogLinkLoss:
        """The loss that is half the deviance, up to terms of y."""
        return TweedieLoss(self.get_variance_power())

    def get_variance_power(self) -> float:
        """The power of the mean to which the variance is proportional."""
        return self.variance_power

    def _half_deviance(self, objective: Objective, result: Result) -> float:
        """Half the mean deviance of the training samples."""
        assert isinstance(objective, LinearModel)
        return max(self.mean_loss(objective, result) - objective.mean_lowest, EXACT_DEVIANCE)

    def has_minimum(self, objective: Objective, result: Result) -> bool:
        """Where each response is fitted exactly, and not by a unique minimizer, means of zeros fall without end."""
        assert isinstance(objective, LinearModel)
        size = objective.value_rounding(0.0, 0.0) / VALUE_ROUNDING  # of the terms of the loss, in the units of y
        is_exact = self._half_deviance(objective, result) <= SEPARATED_DEVIANCE * size
        return result.status is not Status.NO_MINIMUM and not (is_exact and result.status is Status.SINGULAR)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags


@document
@dataclass(eq=False, repr=False)
class SparsePoissonRegression(LogLinkRegression):
    """Poisson regression of counts with k features and a log link.

    Minimizes (1/n)·Σᵢ [exp(mᵢ) − yᵢmᵢ] + (alpha/2)·‖w‖² with mᵢ = wᵀxᵢ + b, over w with at most k nonzero features.
    Exposures: pass their logarithm as `offset`, or y/exposure as y and the exposure as `sample_weight`.

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

    def build_objective(self, X: Matrix, target: Array, **options: Any) -> LinearObjective:
        return Poisson(X, target, **options)


@document
@dataclass(eq=False, repr=False)
class SparseGammaRegression(LogLinkRegression):
    """Gamma regression of positive amounts with k features and a log link.

    Minimizes (1/n)·Σᵢ [mᵢ + yᵢ·exp(−mᵢ)] + (alpha/2)·‖w‖² with mᵢ = wᵀxᵢ + b, over w with at most k nonzero features:
    half the gamma deviance. The standard deviation of a response is proportional to its mean.

    $fields

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import SparseGammaRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 30))
    >>> y = np.exp(1 + 0.5 * X[:, 4] - 0.5 * X[:, 9]) * rng.gamma(4.0, 0.25, 200)
    >>> model = SparseGammaRegression(k=2).fit(X, y)
    >>> model.get_support(indices=True), model.coef_[model.support_].round(2)
    (array([4, 9]), array([ 0.51, -0.48]))
    """

    ratio_name: ClassVar[str] = "mean_ratio"
    effect_name: ClassVar[str] = "for the logarithm of the expected response"
    variance_power: ClassVar[float] = 2.0

    def build_objective(self, X: Matrix, target: Array, **options: Any) -> LinearObjective:
        return Gamma(X, target, **options)

    def deviance(self, objective: Objective, result: Result, n_samples: float) -> float:
        """Minus twice the log-likelihood with the most likely shape ν, up to a constant: log ν − ψ(ν) = D/2.

        With D the mean deviance it is −2n·(ν·log ν − log Γ(ν) − ν·(1 + D/2)).
        """
        half = self._half_deviance(objective, result)
        # 1/(2ν) < log ν − ψ(ν) < 1/ν brackets the root.
        shape = brentq(lambda v: np.log(v) - digamma(v) - half, 0.4 / half, 1.1 / half, rtol=1e-12)
        return float(-2.0 * n_samples * (shape * np.log(shape) - gammaln(shape) - shape * (1.0 + half)))


@document
@dataclass(eq=False, repr=False, kw_only=True)
class SparseTweedieRegression(LogLinkRegression):
    """Tweedie regression with k features and a log link: amounts of which some are 0, such as insurance claims.

    Minimizes (1/n)·Σᵢ [exp((2 − p)mᵢ)/(2 − p) + yᵢ·exp(−(p − 1)mᵢ)/(p − 1)] + (alpha/2)·‖w‖² with mᵢ = wᵀxᵢ + b, over w
    with at most k nonzero features: half the Tweedie deviance. The variance of a response is proportional to the p-th
    power of its mean.

    $fields

    References
    ----------
    B. Jørgensen, *Exponential dispersion models*, Journal of the Royal Statistical Society B 49 (1987), 127–162.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import SparseTweedieRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((400, 30))
    >>> claims = rng.poisson(np.exp(0.8 * X[:, 4] - 0.8 * X[:, 9]))
    >>> y = np.array([rng.gamma(2.0, 1.0, count).sum() for count in claims])
    >>> model = SparseTweedieRegression(k=2).fit(X, y)
    >>> model.get_support(indices=True), model.coef_[model.support_].round(1)
    (array([4, 9]), array([ 0.8, -0.9]))
    """

    ratio_name: ClassVar[str] = "mean_ratio"
    effect_name: ClassVar[str] = "for the logarithm of the expected response"

    power: float = 1.5

    def build_objective(self, X: Matrix, target: Array, **options: Any) -> LinearObjective:
        return Tweedie(X, target, power=self.power, **options)

    def get_variance_power(self) -> float:
        return self.power

    def deviance(self, objective: Objective, result: Result, n_samples: float) -> float:
        """n·log of the mean deviance: the extended quasi-likelihood of Nelder and Pregibon (1987), D/φ + n·log φ."""
        return float(n_samples * np.log(2.0 * self._half_deviance(objective, result)))


@document
@dataclass(eq=False, repr=False, kw_only=True)
class SparseNegativeBinomialRegression(LogLinkRegression):
    """Negative binomial regression of counts with k features and a log link: counts that vary more than Poisson's.

    Minimizes (1/n)·Σᵢ [(yᵢ + 1/a)·log(1 + a·exp(mᵢ)) − yᵢmᵢ] + (alpha/2)·‖w‖² with mᵢ = wᵀxᵢ + b, over w with at most k
    nonzero features. The variance of a count with mean μ is μ + aμ². The dispersion a is the most likely one, found in
    turn with the coefficients in a first fit without a ridge, which has at least ten samples for each feature.

    $fields

    References
    ----------
    J. M. Hilbe, *Negative Binomial Regression*, Cambridge University Press, 2nd edition, 2011 (there NB2).

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import SparseNegativeBinomialRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((400, 30))
    >>> y = rng.poisson(np.exp(1 + 0.5 * X[:, 4] - 0.5 * X[:, 9]) * rng.gamma(2.0, 0.5, 400))
    >>> model = SparseNegativeBinomialRegression(k=2).fit(X, y)
    >>> model.get_support(indices=True), model.coef_[model.support_].round(1), round(model.dispersion_, 1)
    (array([4, 9]), array([ 0.5, -0.5]), 0.5)
    """

    more_attributes: ClassVar[tuple[str, ...]] = ("dispersion_",)

    dispersion: float | str = "auto"

    def build_objective(self, X: Matrix, target: Array, **options: Any) -> LinearObjective:
        if isinstance(self.dispersion, str):
            if self.dispersion != "auto":
                raise ValueError(f'dispersion must be a number from 0, or "auto"; got {self.dispersion!r}')
            self.dispersion_ = self._estimate_dispersion(X, target, options)
        else:
            self.dispersion_ = check_nonnegative_number(self.dispersion, "dispersion")
        return NegativeBinomial(X, target, dispersion=self.dispersion_, **options)

    def _estimate_dispersion(self, X: Matrix, target: Array, options: dict[str, Any]) -> float:
        """The most likely dispersion, in turn with the coefficients: from those of Poisson regression on."""
        # The likelihood of a dispersion looks at the counts of all rows: they come into this process for it.
        target, weights = collect_values(target), collect_values(weigh_alike(target, options["sample_weight"]))
        if not target[weights > 0].any():
            return 0.0  # counts that are all zero have no dispersion
        options = {**options, "alpha": 0.0, "offset": collect_values(options["offset"])}
        # Without a dispersion it is Poisson regression.
        result, dispersion = fit_pilot(self, NegativeBinomial(X, target, dispersion=0.0, **options), weights), 0.0
        for number in range(DISPERSION_ROUNDS):
            coefficients, intercept = self.split_intercept(result)
            margins = add_offset(multiply_selected(X, coefficients) + intercept, options["offset"])
            with np.errstate(over="ignore"):
                before, dispersion = dispersion, estimate_dispersion(target, np.exp(margins), weights)
            if abs(dispersion - before) <= DISPERSION_CHANGE * dispersion:
                break
            pilot = NegativeBinomial(X, target, dispersion=dispersion, **options)
            solver = None if number < SELECTING_ROUNDS else FixedSupport()
            result = fit_pilot(self, pilot, weights, solver, result.x)
        return dispersion

    def adapt_to_size(self, objective: Objective, result: Result, k: int) -> Result:
        """The dispersion of a model with k features, in turn with their coefficients without a ridge; then the refit.

        With fewer than ten samples for each feature it stays that of the first fit.
        """
        assert isinstance(objective, LinearModel)
        _, target, weights = objective.collect_margins(result.x)
        self._dispersions = {**getattr(self, "_dispersions", {}), k: self.dispersion_}
        is_given = not isinstance(self.dispersion, str)
        if is_given or not target[weights > 0].any() or not has_samples_for(k, weights):
            return result
        refit, x, dispersion = make_refit(self, objective, k), result.x, self.dispersion_
        for _ in range(DISPERSION_ROUNDS):
            x = refit(NegativeBinomialLoss(dispersion), 0.0, x).x
            with np.errstate(over="ignore"):
                means = np.exp(objective.collect_margins(x).margins)
            before, dispersion = dispersion, estimate_dispersion(target, means, weights)
            if abs(dispersion - before) <= DISPERSION_CHANGE * dispersion:
                break
        self._dispersions[k] = dispersion
        refitted = refit(NegativeBinomialLoss(dispersion), objective.alpha, result.x)
        return merge_results(result, refitted, "the dispersion of this k")

    def adopt_estimates(self, k: int) -> None:
        self.dispersion_ = getattr(self, "_dispersions", {}).get(k, self.dispersion_)

    def fix_estimates(self) -> None:
        self.dispersion = self.dispersion_

    def get_deviance_loss(self) -> LogLinkLoss:
        return NegativeBinomialLoss(self.dispersion_)
