"""What the evaluator and the methods know of survival and generalized linear models: losses, refits and test errors.

The losses are written out here, with SciPy's minimizer: nothing is shared with a solver. All but Cox's have intercepts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logsumexp

__all__ = ["FAMILIES", "Coefficients", "Family", "compute_discordance"]

#: Value and gradient of a mean loss at some parameters; the features have a column of ones where there are intercepts.
LossFunction = Callable[[Any, Any, Any], tuple[float, Any]]
#: Largest entry of the gradient at which the evaluator's refits stop.
GRADIENT_TOLERANCE = 1e-8
#: The largest exponent that is used, so that far trial steps of the minimizer are rejected and not NaN.
LARGEST_EXPONENT = 500.0


@dataclass(frozen=True)
class Coefficients:
    """The output of a method whose own coefficients are evaluated, instead of a refit of its features."""

    values: Any


@dataclass(frozen=True)
class Family:
    """A loss, and the estimators for it.

    Attributes
    ----------
    estimator, peer : str
        Names of the estimators of ksparse and of abess.
    loss : callable
        Value and gradient of the mean loss in the parameters.
    start : callable
        Parameters of the model without features, from their number and y.
    test_error : callable
        The error of some parameters on test data.
    options : dict
        Parameters of the estimator of ksparse.
    has_intercept : bool
        Whether the features get a column of ones.
    """

    estimator: str
    peer: str
    loss: LossFunction
    start: Callable[[int, Any], Any]
    test_error: Callable[[Any, Any, Any], float]
    options: tuple[tuple[str, Any], ...] = ()
    has_intercept: bool = True

    def extend(self, X: Any) -> Any:
        """The features, with a column of ones if the family has an intercept."""
        return np.column_stack([X, np.ones(len(X))]) if self.has_intercept else X

    def compute_loss(self, parameters: Any, X: Any, y: Any) -> float:
        """The mean loss."""
        return self.loss(parameters, self.extend(X), y)[0]

    def refit(self, X: Any, y: Any) -> Any:
        """The parameters with the least mean loss."""
        start = self.start(X.shape[1], y)
        if not start.size:
            return start
        options = {"gtol": GRADIENT_TOLERANCE, "maxiter": 5000}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # steps too far are rejected
            return minimize(self.loss, start, (self.extend(X), y), "BFGS", jac=True, options=options).x

    def compute_test_error(self, parameters: Any, X: Any, y: Any) -> float:
        """The error of some parameters on test data."""
        return self.test_error(parameters, self.extend(X), y)


# --- numbers with a logarithmic link --------------------------------------------------------------------------


def _compute_poisson_loss(parameters: Any, X: Any, y: Any) -> tuple[float, Any]:
    """Half the mean deviance of counts: y·log(y/μ) − y + μ with log μ = Xw + b."""
    margins = np.minimum(X @ parameters, LARGEST_EXPONENT)
    means = np.exp(margins)
    logs = np.where(y > 0, y * (np.log(np.maximum(y, 1e-300)) - margins), 0.0)
    return float(np.mean(logs - y + means)), X.T @ (means - y) / len(y)


def _compute_gamma_loss(parameters: Any, X: Any, y: Any) -> tuple[float, Any]:
    """Half the mean deviance of positive numbers: y/μ − log(y/μ) − 1 with log μ = Xw + b."""
    ratios = y * np.exp(np.minimum(-(X @ parameters), LARGEST_EXPONENT))
    return float(np.mean(ratios - np.log(ratios) - 1.0)), X.T @ (1.0 - ratios) / len(y)


def _start_at_log_mean(features: int, y: Any) -> Any:
    return np.append(np.zeros(features), np.log(np.mean(y)))


def _find_unexplained(loss: LossFunction) -> Callable[[Any, Any, Any], float]:
    """The fraction of the deviance that is left of that of the mean."""

    def compute(parameters: Any, X: Any, y: Any) -> float:
        constant = np.append(np.zeros(X.shape[1] - 1), np.log(np.mean(y)))
        return loss(parameters, X, y)[0] / loss(constant, X, y)[0]

    return compute


# --- classes --------------------------------------------------------------------------------------------------


def _compute_multinomial_loss(parameters: Any, X: Any, y: Any) -> tuple[float, Any]:
    """The mean log loss of several classes, the last of which has margin 0."""
    margins = _predict_classes(parameters, X)
    logs = margins - logsumexp(margins, axis=1, keepdims=True)
    rows = np.arange(len(y))
    slopes = np.exp(logs)
    slopes[rows, y.astype(int)] -= 1.0
    return float(-np.mean(logs[rows, y.astype(int)])), (X.T @ slopes[:, :-1] / len(y)).ravel()


def _predict_classes(parameters: Any, X: Any) -> Any:
    return np.column_stack([X @ parameters.reshape(X.shape[1], -1), np.zeros(len(X))])


def _compute_multinomial_error(parameters: Any, X: Any, y: Any) -> float:
    return float(np.mean(np.argmax(_predict_classes(parameters, X), axis=1) != y))


def _compute_ordinal_loss(parameters: Any, X: Any, y: Any) -> tuple[float, Any]:
    """The mean log loss of classes in order: P(y ≤ j) = expit(cⱼ − Xw), with logarithms of the steps from cⱼ to cⱼ₊₁.

    With a and b the margins at the upper and lower end of a class, P = expit(a)·expit(−b)·(1 − exp(b − a)).
    """
    features = X.shape[1] - 1
    margins, cuts, steps = _split_ordinal(parameters, X)
    codes = y.astype(int)
    upper = np.append(cuts, np.inf)[codes] - margins
    lower = np.insert(cuts, 0, -np.inf)[codes] - margins
    width = np.insert(np.append(steps, np.inf), 0, np.inf)[codes]
    value = -np.mean(log_expit(upper) + log_expit(-lower) + np.log(-np.expm1(-width)))
    upper_slope, lower_slope = -expit(-upper), expit(lower)
    inside = np.isfinite(width)
    width_slope = np.zeros(len(y))
    width_slope[inside] = -1.0 / np.expm1(width[inside])
    n_cuts = len(cuts)
    of_cuts = np.bincount(codes, upper_slope, n_cuts + 1)[:-1] + np.bincount(codes, lower_slope, n_cuts + 1)[1:]
    of_steps = np.bincount(codes, width_slope, n_cuts + 1)[1:-1] + np.cumsum(of_cuts[::-1])[::-1][1:]
    gradient = np.concatenate(
        [-X[:, :features].T @ (upper_slope + lower_slope), [of_cuts.sum()], of_steps * steps]
    ) / len(y)
    return float(value), gradient


def _split_ordinal(parameters: Any, X: Any) -> tuple[Any, Any, Any]:
    """Margins, cuts between classes, and the steps between cuts."""
    features = X.shape[1] - 1
    steps = np.exp(np.clip(parameters[features + 1 :], -LARGEST_EXPONENT, LARGEST_EXPONENT))
    cuts = parameters[features] + np.insert(np.cumsum(steps), 0, 0.0)
    return X[:, :features] @ parameters[:features], cuts, steps


def _start_ordinal(features: int, y: Any) -> Any:
    fractions = np.cumsum(np.bincount(y.astype(int)))[:-1] / len(y)
    cuts = np.log(fractions / (1.0 - fractions))
    return np.concatenate([np.zeros(features), cuts[:1], np.log(np.diff(cuts))])


def _compute_ordinal_error(parameters: Any, X: Any, y: Any) -> float:
    margins, cuts, _ = _split_ordinal(parameters, X)
    below = np.column_stack([np.zeros(len(X)), expit(cuts - margins[:, None]), np.ones(len(X))])
    return float(np.mean(np.argmax(np.diff(below, axis=1), axis=1) != y))


# --- survival -------------------------------------------------------------------------------------------------


def _compute_cox_loss(parameters: Any, X: Any, y: Any) -> tuple[float, Any]:
    """The mean negative log partial likelihood with Breslow's ties, with the columns time and event in y."""
    order = np.argsort(-y[:, 0], kind="stable")
    time, event, features = y[order, 0], y[order, 1] > 0, X[order]
    margins = features @ parameters
    largest = margins.max()
    risks = np.exp(margins - largest)
    # The risk set of a sample ends with the last of those that have its time.
    ends = np.searchsorted(-time, -time, side="right") - 1
    sums, weighted = np.cumsum(risks)[ends], np.cumsum(risks[:, None] * features, axis=0)[ends]
    value = (np.log(sums[event]) + largest - margins[event]).sum()
    gradient = (weighted[event] / sums[event, None] - features[event]).sum(axis=0)
    # With tied events the likelihood has a lower bound above 0, from which f is measured.
    counts = np.unique(time[event], return_counts=True)[1]
    return float((value - (counts * np.log(counts)).sum()) / len(y)), gradient / len(y)


def _start_cox(features: int, y: Any) -> Any:
    return np.zeros(features)


def compute_discordance(margins: Any, y: Any) -> float:
    """1 − Harrell's concordance index: a pair counts if the sample with the shorter time has an event."""
    time, event = y[:, 0], y[:, 1] > 0
    comparable = concordant = 0.0
    for i in np.flatnonzero(event):
        later = (time > time[i]) | ((time == time[i]) & ~event)
        comparable += later.sum()
        concordant += (margins[later] < margins[i]).sum() + 0.5 * (margins[later] == margins[i]).sum()
    return float(1.0 - concordant / comparable)


FAMILIES: dict[str, Family] = {
    "cox": Family(
        "SparseCoxRegression",
        "CoxPHSurvivalAnalysis",
        _compute_cox_loss,
        _start_cox,
        lambda parameters, X, y: compute_discordance(X @ parameters, y),
        (("ties", "breslow"),),
        has_intercept=False,
    ),
    "poisson": Family(
        "SparsePoissonRegression",
        "PoissonRegression",
        _compute_poisson_loss,
        _start_at_log_mean,
        _find_unexplained(_compute_poisson_loss),
    ),
    "gamma": Family(
        "SparseGammaRegression",
        "GammaRegression",
        _compute_gamma_loss,
        _start_at_log_mean,
        _find_unexplained(_compute_gamma_loss),
    ),
    "multinomial": Family(
        "SparseLogisticRegression",
        "MultinomialRegression",
        _compute_multinomial_loss,
        lambda features, y: np.zeros((features + 1) * int(y.max())),
        _compute_multinomial_error,
    ),
    "ordinal": Family(
        "SparseOrdinalRegression",
        "OrdinalRegression",
        _compute_ordinal_loss,
        _start_ordinal,
        _compute_ordinal_error,
    ),
}
