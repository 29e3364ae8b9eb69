"""Sparse problems as functions in JAX: the models and sizes of skscope's README, of its paper and of its gallery.

Each is a function of one vector that closes over NumPy arrays, written as in skscope's documentation, sums and means
included. The data are simulated here: features have the correlations 0.2^|i−j| and coefficients are ±1 as in skscope's
gallery; for the rest the docstrings say what was drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.linalg import lstsq
from scipy.special import expit

from ksparse.objectives import LeastSquares, Logistic, Objective

__all__ = ["MAKERS", "JaxProblem", "refit_logistic"]

#: Most Newton steps of the evaluator, and the decrease of f, relative to its size, that ends them.
MAX_NEWTON_STEPS, LEAST_DECREASE = 100, 1e-12
#: Width of the Gaussian kernels.
KERNEL_WIDTH = 0.7


@dataclass(frozen=True)
class JaxProblem:
    """A function in JAX of a vector with p units of a few coordinates each, k of which may be nonzero."""

    function: Callable[[Any], Any]
    #: The same function of the coordinates of some units alone, and of their indices.
    of_columns: Callable[[Any, Any], Any]
    p: int
    k: int
    #: The lowest f with some units, by code that no method uses.
    refit: Callable[[Any], float]
    #: The same model as an objective of ksparse, whose f differs by a factor.
    make_own: Callable[[], Objective]
    #: The true units; None if there is no truth.
    truth: Any
    #: Coordinates of a unit.
    outputs: int = 1


def _draw_features(n: int, p: int, rng: np.random.Generator) -> Any:
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = 0.2 * X[:, j - 1] + np.sqrt(1 - 0.2**2) * X[:, j]
    return X


def _draw_coefficients(p: int, k: int, rng: np.random.Generator) -> Any:
    coef = np.zeros(p)
    coef[rng.choice(p, k, replace=False)] = rng.choice([-1.0, 1.0], k)
    return coef


def _refit_squares(X: Any, y: Any, scale: float = 1.0) -> Callable[[Any], float]:
    """The lowest sum of squares on some columns, times a scale."""

    def refit(units: Any) -> float:
        residuals = y - X[:, units] @ lstsq(X[:, units], y)[0]
        return float(scale * np.sum(residuals**2))

    return refit


def refit_logistic(X: Any, y: Any) -> Callable[[Any], float]:
    """The lowest sum of log(1 + exp(m)) − ym on some columns by damped Newton steps; y is 0 or 1."""

    def compute(m: Any) -> float:
        return float(np.sum(np.logaddexp(0.0, m) - y * m))

    def refit(units: Any) -> float:
        A = X[:, units]
        w, value = np.zeros(A.shape[1]), len(y) * np.log(2.0)
        for _ in range(MAX_NEWTON_STEPS):
            rates = expit(A @ w)
            step = lstsq((A * (rates * (1 - rates))[:, None]).T @ A, A.T @ (y - rates))[0]
            size = 1.0
            while compute(A @ (w + size * step)) > value and size > 1e-6:
                size /= 2
            w = w + size * step
            previous, value = value, compute(A @ w)
            if previous - value <= LEAST_DECREASE * previous:
                break
        return value

    return refit


def make_linear(n: int, p: int, k: int, rng: np.random.Generator) -> JaxProblem:
    """Least squares; the noise has variance 1."""
    X, coef = _draw_features(n, p, rng), _draw_coefficients(p, k, rng)
    y = X @ coef + rng.standard_normal(n)
    return JaxProblem(
        lambda w: jnp.mean((y - X @ w) ** 2),
        lambda w, columns: jnp.mean((y - jnp.asarray(X)[:, columns] @ w) ** 2),
        p, k, _refit_squares(X, y, 1 / n), lambda: LeastSquares(X, y), np.flatnonzero(coef),
    )  # fmt: skip


def make_logistic(n: int, p: int, k: int, rng: np.random.Generator) -> JaxProblem:
    """Logistic regression with labels 0 and 1."""
    X, coef = _draw_features(n, p, rng), _draw_coefficients(p, k, rng)
    y = (rng.random(n) < expit(X @ coef)).astype(float)

    def compute_loss(margins: Any) -> Any:
        return jnp.sum(jnp.logaddexp(0.0, margins) - y * margins)

    return JaxProblem(
        lambda w: compute_loss(X @ w),
        lambda w, columns: compute_loss(jnp.asarray(X)[:, columns] @ w),
        p, k, refit_logistic(X, y), lambda: Logistic(X, y), np.flatnonzero(coef),
    )  # fmt: skip


def make_multitask(n: int, p: int, k: int, rng: np.random.Generator, tasks: int = 3) -> JaxProblem:
    """Three responses that depend on the same features, with coefficients ±1 and noise of variance 1."""
    X, coef = _draw_features(n, p, rng), _draw_coefficients(p, k, rng)
    W = coef[:, None] * rng.choice([-1.0, 1.0], (p, tasks))
    Y = X @ W + rng.standard_normal((n, tasks))
    return JaxProblem(
        lambda w: jnp.sum((Y - X @ w.reshape(p, tasks)) ** 2),
        lambda w, columns: jnp.sum((Y - jnp.asarray(X)[:, columns] @ w) ** 2),
        p, k, _refit_squares(X, Y), lambda: LeastSquares(X, Y), np.flatnonzero(coef), tasks,
    )  # fmt: skip


def make_trend(n: int, p: int, k: int, rng: np.random.Generator) -> JaxProblem:
    """Piecewise constant trend: jumps of ±1 and noise of standard deviation 0.5, so that neighbours are confused."""
    coef = _draw_coefficients(p, k, rng)
    return _filter_trend(np.cumsum(coef) + 0.5 * rng.standard_normal(n), k, np.flatnonzero(coef))


def make_random_walk(n: int, p: int, k: int, rng: np.random.Generator) -> JaxProblem:
    """Piecewise constant trend of a random walk, where nothing is true."""
    return _filter_trend(np.cumsum(rng.standard_normal(n)), k, None)


def _filter_trend(y: Any, k: int, truth: Any) -> JaxProblem:
    n = len(y)
    steps = np.tril(np.ones((n, n)))

    def refit(units: Any) -> float:
        """The sum of squares about the means of the segments; before the first jump the trend is zero."""
        bounds = [0, *np.sort(units), n]
        parts = [y[i:j] for i, j in pairwise(bounds)]
        return float(
            sum(np.sum((part - (part.mean() if i else 0.0)) ** 2) for i, part in enumerate(parts) if part.size)
        )

    def of_columns(w: Any, columns: Any) -> Any:
        return jnp.sum((y - jnp.cumsum(jnp.zeros(n).at[columns].set(w))) ** 2)

    return JaxProblem(
        lambda w: jnp.sum((y - jnp.cumsum(w)) ** 2),
        of_columns, n, k, refit, lambda: LeastSquares(steps, y), truth,
    )  # fmt: skip


def make_ising(n: int, p: int, k: int, rng: np.random.Generator) -> JaxProblem:
    """Pseudo-likelihood of the Ising model of 10 or 20 spins with k edges ±1 (10 spins) or ±0.5 (20 spins).

    With 10 spins the samples are drawn from all states, and the function sums over the states with their counts;
    with 20 spins they come from Gibbs' sampler, and it sums over the samples.
    """
    spins = round((1 + np.sqrt(1 + 8 * p)) / 2)
    first, second = np.triu_indices(spins, 1)
    coef = _draw_coefficients(p, k, rng) * (1.0 if spins <= 10 else 0.5)
    J = np.zeros((spins, spins))
    J[first, second] = J[second, first] = coef
    if spins <= 10:
        states = 2.0 * (np.arange(2**spins)[:, None] >> np.arange(spins) & 1) - 1
        weights = np.exp(0.5 * np.sum((states @ J) * states, axis=1))
        counts = rng.multinomial(n, weights / weights.sum()).astype(float)
    else:
        states, counts = _sample_spins(J, n, rng), np.ones(n)

    def function(w: Any) -> Any:
        matrix = jnp.zeros((spins, spins)).at[first, second].set(w)
        margins = 2.0 * states * (states @ (matrix + matrix.T))
        return counts @ jnp.sum(jnp.logaddexp(0.0, -margins), axis=1)

    def of_columns(w: Any, columns: Any) -> Any:
        i, j = jnp.asarray(first)[columns], jnp.asarray(second)[columns]
        matrix = jnp.zeros((spins, spins)).at[i, j].set(w).at[j, i].set(w)
        return counts @ jnp.sum(jnp.logaddexp(0.0, -2.0 * states * (states @ matrix)), axis=1)

    X, y, weights = _write_as_logistic(states, counts, first, second)
    return JaxProblem(
        function, of_columns, p, k, refit_logistic(np.repeat(X, weights, axis=0), np.repeat(y, weights)),
        lambda: Logistic(X, y, sample_weight=weights.astype(float)), np.flatnonzero(coef),
    )  # fmt: skip


def _sample_spins(J: Any, n: int, rng: np.random.Generator, sweeps: int = 300) -> Any:
    """Independent chains of Gibbs' sampler."""
    x = rng.choice([-1.0, 1.0], (n, len(J)))
    for _ in range(sweeps):
        for i in range(len(J)):
            x[:, i] = np.where(rng.random(n) < expit(2 * x @ J[:, i]), 1.0, -1.0)
    return x


def _write_as_logistic(states: Any, counts: Any, first: Any, second: Any) -> tuple[Any, Any, Any]:
    """The pseudo-likelihood as a logistic regression: a row for each state and spin, and how often it occurs."""
    seen, spins = states[counts > 0], states.shape[1]
    X = np.zeros((len(seen), spins, len(first)))
    edges = np.arange(len(first))
    X[:, first, edges], X[:, second, edges] = 2 * seen[:, second], 2 * seen[:, first]
    return X.reshape(-1, len(first)), (seen.ravel() + 1) / 2, np.repeat(counts[counts > 0], spins).astype(int)


def make_nonlinear(n: int, p: int, k: int, rng: np.random.Generator) -> JaxProblem:
    """Nonlinear dependence by kernels: the kernel matrix of y is a combination of those of the features.

    f is the mean square of L − Σⱼ wⱼKⱼ with centred Gaussian kernel matrices (Yamada et al., 2014). The features are
    correlated, and y is not additive in them: a sum of x·exp(x′) over pairs of true features, with noise of variance 1.
    """
    X = _draw_features(n, p, rng)
    truth = rng.choice(p, k, replace=False)
    y = sum(X[:, i] * np.exp(X[:, j]) for i, j in truth.reshape(-1, 2)) + rng.standard_normal(n)
    K = np.column_stack([_compute_kernel(x) for x in X.T])
    target = _compute_kernel(y)
    moments, products, square = K.T @ K, K.T @ target, target @ target

    def refit(units: Any) -> float:
        w = lstsq(moments[np.ix_(units, units)], products[units])[0]
        return float((square - products[units] @ w) / target.size)

    return JaxProblem(
        lambda w: jnp.mean((target - K @ w) ** 2),
        lambda w, columns: jnp.mean((target - jnp.asarray(K)[:, columns] @ w) ** 2),
        p, k, refit, lambda: LeastSquares(K, target), np.sort(truth),
    )  # fmt: skip


def _compute_kernel(x: Any) -> Any:
    """A centred Gaussian kernel matrix as a vector."""
    kernel = np.exp(-KERNEL_WIDTH * (x[:, None] - x) ** 2)
    centred = kernel - kernel.mean(axis=0)
    return (centred - centred.mean(axis=1, keepdims=True)).ravel()


#: The problems with n, p and k: of the benchmark in skscope's README and paper first, then those of its examples.
MAKERS: dict[str, tuple[Callable[..., JaxProblem], tuple[int, int, int]]] = {
    "linear": (make_linear, (600, 500, 50)),
    "logistic": (make_logistic, (600, 500, 50)),
    "multitask": (make_multitask, (600, 500, 50)),
    "trend filtering": (make_trend, (600, 600, 50)),
    "Ising": (make_ising, (600, 190, 40)),
    "nonlinear": (make_nonlinear, (600, 50, 10)),
    "linear, gallery": (make_linear, (150, 30, 3)),
    "logistic, gallery": (make_logistic, (500, 500, 5)),
    "multitask, gallery": (make_multitask, (500, 20, 5)),
    "random walk, README": (make_random_walk, (500, 500, 10)),
    "Ising, gallery": (make_ising, (250, 45, 10)),
}
