"""f of the linear models, its gradient, and its minimum on a set of features: plain formulas of NumPy and SciPy."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any

import numpy as np
from scipy.optimize import lsq_linear, minimize
from scipy.special import expit, logsumexp, softmax

from .data import Problem

__all__ = ["Truth"]

EPSILON = float(np.finfo(float).eps)
#: The same for data in single precision, which are standardized in it.
SINGLE_EPSILON = float(np.finfo(np.float32).eps)
#: How often a search by gradients begins again where the last one has ended.
RESTARTS = 10


class Truth:
    """f of a problem: the weighted mean loss plus the ridge, as a function of coefficients and intercepts.

    Coefficients have a column for each output, and the last row is the intercept (zero, without one).
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.model = problem, problem.model
        self.classes, self.codes = np.unique(problem.y, return_inverse=True)
        if self.model == "multinomial" and len(self.classes) == 2:
            self.model = "logistic"
        self.outputs = len(self.classes) if self.model == "multinomial" else 1
        X = problem.dense
        weights = np.ones(len(X)) if problem.weights is None else problem.weights
        # Rows without a weight do not matter, not even if their losses overflow.
        rows = weights > 0
        X, weights, self.y, self.codes = X[rows], weights[rows] / weights.max(), problem.y[rows], self.codes[rows]
        self.weights = weights / weights.sum()
        self.alpha = problem.alpha
        self.means = self.weights @ X if problem.fit_intercept else np.zeros(X.shape[1])
        self.units = np.ones(X.shape[1])
        if problem.parameters.get("standardize"):
            spreads = np.sqrt(self.weights @ np.square(X - self.weights @ X))
            self.units = np.where(spreads > 0, spreads, 1.0)
        #: Standardized and centred features, with an intercept's column of ones: centring loses no digits.
        self.Z = np.column_stack([(X - self.means) / self.units, np.full(len(X), float(problem.fit_intercept))])
        self.size = np.abs(X) / self.units
        if problem.fit_intercept:  # what is left of a constant column is rounding
            self.Z[:, :-1] *= np.ptp(X, axis=0) > 0

    def read(self, model: Any) -> Any:
        """The coefficients of a fitted estimator, of the centred and standardized features."""
        coefficients = np.atleast_2d(model.coef_)
        intercept = np.atleast_1d(model.intercept_) + coefficients @ self.means
        return np.vstack([coefficients.T * self.units[:, None], intercept])

    def losses(self, margins: Any) -> Any:
        """The loss of each sample."""
        y, m = self.y, margins[:, 0]
        if self.model == "linear":
            return 0.5 * np.square(m - y)
        if self.model == "huber":
            size, delta = np.abs(m - y), self.problem.parameters["delta"]
            return np.where(size <= delta, 0.5 * np.square(size), delta * (size - 0.5 * delta))
        if self.model == "poisson":
            return np.exp(m) - y * m
        if self.model == "logistic":
            return np.logaddexp(0.0, np.where(self.codes == 1, -m, m))
        return logsumexp(margins, axis=1) - margins[np.arange(len(y)), self.codes]

    def slopes(self, margins: Any) -> Any:
        """The derivative of each sample's loss in each of its margins."""
        y, m = self.y, margins[:, 0]
        if self.model == "multinomial":
            return softmax(margins, axis=1) - (self.codes[:, None] == np.arange(self.outputs))
        if self.model == "linear":
            slopes = m - y
        elif self.model == "huber":
            slopes = np.clip(m - y, -self.problem.parameters["delta"], self.problem.parameters["delta"])
        elif self.model == "poisson":
            slopes = np.exp(m) - y
        else:
            slopes = expit(m) - (self.codes == 1)
        return slopes[:, None]

    def value(self, w: Any) -> float:
        """f."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(self.weights @ self.losses(self.Z @ w) + 0.5 * self.alpha * np.sum(np.square(w[:-1])))

    def gradient(self, w: Any) -> Any:
        """The gradient of f; that of the intercept is last."""
        ridge = self.alpha * np.vstack([w[:-1], np.zeros((1, w.shape[1]))])
        with np.errstate(over="ignore", invalid="ignore"):
            return self.Z.T @ (self.weights[:, None] * self.slopes(self.Z @ w)) + ridge

    def rounding(self, w: Any) -> float:
        """How much f may differ if margins are rounded, as they are if means are large and not subtracted."""
        sizes = self.size @ np.abs(w[:-1]) + np.abs(w[-1]) + np.abs(self.means / self.units) @ np.abs(w[:-1])
        single = self.problem.X.dtype == np.float32 and self.problem.parameters.get("standardize")
        errors = 8.0 * (SINGLE_EPSILON if single else EPSILON) * sizes.sum(axis=1)
        margins = self.Z @ w
        slopes = np.abs(self.slopes(margins)).sum(axis=1)
        curvature = np.exp(margins[:, 0]) if self.model == "poisson" else 1.0
        return float(self.weights @ (errors * slopes + np.square(errors) * curvature))

    def margins(self, w: Any) -> Any:
        """The linear predictors; those of several classes without their mean, which changes no probability."""
        margins = self.Z @ w
        return margins - margins.mean(axis=1, keepdims=True) if self.outputs > 1 else margins

    @property
    def null(self) -> Any:
        """The best coefficients without features."""
        return self.minimize_on([])[0]

    def list_supports(self) -> list[list[int]]:
        """All sets of features that the constraint admits and that are not within another one."""
        p = self.Z.shape[1] - 1
        parameters = self.problem.parameters
        labels = np.asarray(parameters.get("feature_groups", np.arange(p)))
        units = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
        always = set(parameters.get("always_select", ()))
        k = min(parameters["k"], len(units))
        sets = (list(chain(*chosen)) for chosen in combinations(units, k))
        return [chosen for chosen in sets if always <= set(chosen)]

    def find_best(self) -> tuple[float, list[int]]:
        """The lowest f over all supports, and its features."""
        values = [(self.minimize_on(support)[1], support) for support in self.list_supports()]
        return min(values)

    def minimize_on(self, features: list[int]) -> tuple[Any, float]:
        """The best coefficients of these features and the lowest f."""
        used = [*features, *([self.Z.shape[1] - 1] if self.problem.fit_intercept else [])]
        w = np.zeros((self.Z.shape[1], self.outputs))
        if used:
            solve = self._minimize_squares if self.model == "linear" else self._minimize_by_gradients
            w[used] = solve(used, len(features))
        return w, self.value(w)

    def _lowest(self, used: list[int], n_features: int) -> Any:
        """Lower bounds of the coefficients."""
        bounds = np.full(len(used), -np.inf)
        bounds[:n_features] = 0.0 if self.problem.parameters.get("positive") else -np.inf
        return bounds

    def _minimize_squares(self, used: list[int], n_features: int) -> Any:
        roots = np.sqrt(self.weights)
        ridge = np.sqrt(self.alpha) * np.eye(len(used))[:n_features]
        matrix = np.vstack([roots[:, None] * self.Z[:, used], ridge])
        target = np.concatenate([roots * self.y, np.zeros(n_features)])
        if self.problem.parameters.get("positive"):
            bounds = (self._lowest(used, n_features), np.inf)
            return lsq_linear(matrix, target, bounds, method="bvls", tol=1e-14).x[:, None]
        return np.linalg.lstsq(matrix, target, rcond=1e-13)[0][:, None]

    def _minimize_by_gradients(self, used: list[int], n_features: int) -> Any:
        shape = (len(used), self.outputs)
        # Features of similar size, and multiples of a typical coefficient: the search does not depend on units.
        sizes = np.sqrt(self.weights @ np.square(self.Z[:, used]))
        sizes = np.where(sizes > 0, sizes, 1.0)[:, None]
        unit = self.problem.parameters["delta"] if self.model == "huber" else 1.0
        full = np.zeros((self.Z.shape[1], self.outputs))
        start = full[used] = self._choose_start(used, n_features)
        height = max(self.value(full), 1e-6 * unit**2) if self.model == "huber" else 1.0

        def evaluate(flat: Any) -> tuple[float, Any]:
            full[used] = flat.reshape(shape) * unit / sizes
            gradient = self.gradient(full)[used] * unit / sizes
            return self.value(full) / height, gradient.ravel() / height

        bounds = [(low, np.inf) for low in self._lowest(used, n_features) for _ in range(self.outputs)]
        options = {"maxiter": 5000, "maxfun": 20000, "ftol": 1e-16, "gtol": 1e-10, "maxcor": 30}
        flat, before = (start * sizes / unit).ravel(), np.inf
        with np.errstate(all="ignore"):
            for _ in range(RESTARTS):  # its line search may fail far from the minimum
                found = minimize(evaluate, flat, jac=True, bounds=bounds, options=options)
                flat, after = found.x, float(found.fun)
                if not after < before - 1e-12:
                    break
                before = after
        return flat.reshape(shape) * unit / sizes

    def _choose_start(self, used: list[int], n_features: int) -> Any:
        """Coefficients near the solution: where y is large, a search from zero would not come near."""
        if self.model == "huber":
            return self._minimize_squares(used, n_features)
        start = np.zeros((len(used), self.outputs))
        if self.model == "poisson" and self.problem.fit_intercept:
            start[-1] = np.log(max(float(self.weights @ self.y), 1e-12))
        return start
