"""Generators: linear models with k relevant features, compressed sensing, and Gaussian graphs."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import expit

from .._types import Array
from ..validation import (
    as_real_array,
    check_nonnegative_number,
    check_number_of_units,
    check_positive_number,
    check_size,
    check_vector,
)

__all__ = [
    "LinearModelData",
    "PrecisionData",
    "make_coefficients",
    "make_compressed_sensing",
    "make_linear",
    "make_logistic",
    "make_precision",
    "sample_precision",
]

#: A seed, a sequence of integers that together are a seed, or a generator.
Seed = int | Sequence[int] | np.random.Generator
#: Distribution of nonzero coefficients: standard normal, or −1 and +1 with the same probability.
Values = Literal["normal", "signs"]


class LinearModelData(NamedTuple):
    """Features, responses (of logistic models: labels in {−1, +1}), and the true coefficients."""

    X: Array
    y: Array
    coef: Array


class PrecisionData(NamedTuple):
    """Samples, and the precision matrix of their distribution."""

    X: Array
    precision: Array


def make_coefficients(p: int = 1000, k: int = 100, values: Values = "normal", random_state: Seed = 0) -> Array:
    """Draw p coefficients, k of them nonzero, at random positions.

    Parameters
    ----------
    p, k : int
        Numbers of coefficients and of nonzero coefficients.
    values : {"normal", "signs"}, default="normal"
        Standard normal, or −1 and +1 with the same probability.
    random_state : int, sequence of int or numpy.random.Generator, default=0
        Seed, or a generator to draw from.

    Examples
    --------
    >>> from ksparse.datasets import make_coefficients
    >>> coef = make_coefficients(p=20, k=3, values="signs")
    >>> int((coef != 0).sum()), float(abs(coef).sum())
    (3, 3.0)
    """
    if check_number_of_units(k, "relevant features") > check_size(p, "p"):
        raise ValueError(f"k = {k} relevant features of p = {p}; k must not exceed p")
    if values not in ("normal", "signs"):
        raise ValueError(f"values must be 'normal' or 'signs', got {values!r}")
    rng = np.random.default_rng(random_state)
    nonzero = rng.choice((-1.0, 1.0), k) if values == "signs" else rng.standard_normal(k)
    coef = np.zeros(p)
    coef[rng.choice(p, k, replace=False)] = nonzero
    return coef


def make_logistic(
    n: int = 500, p: int = 1000, k: int = 100, correlation: float = 0.5, random_state: Seed = 0, coef: Any = None
) -> LinearModelData:
    """Simulate the paper's sparse logistic model (§5.1): correlated features, k of them relevant.

    Rows are autoregressive, u₁ ~ N(0, 1) and u_{j+1} = ρu_j + √(1−ρ²)·a_j; k coefficients w̄ are standard normal; and
    P(v = 1 | u) = 1/(1 + exp(−2w̄ᵀu)). The features returned are x = 2u, on which the ordinary logistic loss of
    `ksparse.objectives.Logistic` is the paper's.

    Parameters
    ----------
    n, p, k : int
        Numbers of samples, of features, and of relevant features.
    correlation : float, default=0.5
        ρ, the correlation of neighbouring features.
    random_state : int, sequence of int or numpy.random.Generator, default=0
        Seed, or a generator to draw from.
    coef : array-like of shape (n_features,), optional
        w̄; p and k are then ignored.

    Returns
    -------
    LinearModelData
        ``X, y, coef``.

    Examples
    --------
    >>> from ksparse.datasets import make_logistic
    >>> X, y, coef = make_logistic(n=200, p=50, k=5)
    >>> X.shape, int((coef != 0).sum())
    ((200, 50), 5)
    """
    rng = np.random.default_rng(random_state)
    u, true = _draw_features_and_coefficients(n, p, k, correlation, rng, coef)
    y = np.where(rng.random(n) < expit(2 * u @ true), 1.0, -1.0)
    return LinearModelData(2 * u, y, true)


def make_linear(
    n: int = 500,
    p: int = 1000,
    k: int = 100,
    correlation: float = 0.0,
    noise: float = 1.0,
    random_state: Seed = 0,
    coef: Any = None,
) -> LinearModelData:
    """Simulate a sparse linear model: y = Xw̄ + σε, where ε and k of the coefficients w̄ are standard normal.

    Rows of X are autoregressive as in `make_logistic`, with unit variances: cov(x_i, x_j) = ρ^|i−j|.

    Parameters
    ----------
    n, p, k, correlation, random_state, coef
        As in `make_logistic`; features are independent by default.
    noise : float, default=1
        σ, the standard deviation of the noise.

    Examples
    --------
    >>> from ksparse import minimize
    >>> from ksparse.datasets import make_linear
    >>> from ksparse.objectives import LeastSquares
    >>> X, y, coef = make_linear(n=200, p=50, k=5, noise=0.1)
    >>> bool((minimize(LeastSquares(X, y), k=5).support == (coef != 0)).all())
    True
    """
    noise = check_nonnegative_number(noise, "noise")
    rng = np.random.default_rng(random_state)
    X, true = _draw_features_and_coefficients(n, p, k, correlation, rng, coef)
    return LinearModelData(X, X @ true + noise * rng.standard_normal(n), true)


def make_compressed_sensing(
    n: int = 100, p: int = 256, k: int = 20, values: Values = "normal", random_state: Seed = 0
) -> LinearModelData:
    """Simulate compressed sensing, the paper's special case (§2): y = Ax̄ without noise, with k nonzero entries of x̄.

    Entries of A are standard normal; its columns are then scaled to unit norm.

    Parameters
    ----------
    n, p, k : int
        Numbers of measurements, of entries of x̄, and of its nonzero entries.
    values, random_state
        Distribution of the nonzero entries, and seed, as in `make_coefficients`.

    Returns
    -------
    LinearModelData
        ``X, y, coef``: A, y and x̄.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import HTP, minimize
    >>> from ksparse.datasets import make_compressed_sensing
    >>> from ksparse.objectives import LeastSquares
    >>> A, y, coef = make_compressed_sensing(k=10)
    >>> bool(np.allclose(minimize(LeastSquares(A, y), k=10, solver=HTP(step=1.0)).x, coef))
    True
    """
    rng = np.random.default_rng(random_state)
    A = rng.standard_normal((check_size(n, "n"), check_size(p, "p")))
    A /= np.linalg.norm(A, axis=0)
    coef = make_coefficients(p, k, values, rng)
    return LinearModelData(A, A @ coef, coef)


def make_precision(
    n: int = 100,
    p: int = 60,
    probability: float = 0.1,
    degree: float | None = None,
    condition: float | None = None,
    random_state: Seed = 0,
) -> PrecisionData:
    """Simulate the paper's sparse precision model (§5.2.1): samples of N(0, Ω⁻¹) whose graph is random.

    Ω = B + σI, where B is symmetric with a zero diagonal. Its entries above the diagonal are independent, 1 with the
    given probability and 0 otherwise. σ is chosen such that Ω has the given condition number; if B is zero, Ω is the
    identity.

    Parameters
    ----------
    n, p : int, default=100, 60
        Numbers of samples and variables. The paper has n = 100 and p = 30, 60, 120 and 200.
    probability : float, default=0.1
        P, the probability of each edge.
    degree : float, optional
        Expected number of neighbours of a node, in place of `probability`, which is then degree/(p − 1).
    condition : float, optional
        Condition number of Ω, above 1; p by default.
    random_state : int, sequence of int or numpy.random.Generator, default=0
        Seed, or a generator to draw from.

    Returns
    -------
    PrecisionData
        ``X, precision``.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.datasets import make_precision
    >>> X, precision = make_precision(n=50, p=20)
    >>> X.shape, round(float(np.linalg.cond(precision)), 6)
    ((50, 20), 20.0)
    """
    check_size(p, "p")
    edge_probability = probability if degree is None else degree / max(p - 1, 1)
    if not 0 <= edge_probability <= 1:
        limits = "probability must lie between 0 and 1" if degree is None else f"degree must lie between 0 and {p - 1}"
        raise ValueError(f"{limits}, got {probability if degree is None else degree!r}")
    condition_number = float(p) if condition is None else check_positive_number(condition, "condition")
    if condition_number <= 1 and p > 1:
        raise ValueError(f"condition must be above 1, which only multiples of the identity have; got {condition!r}")
    rng = np.random.default_rng(random_state)
    B = np.triu(rng.random((p, p)) < edge_probability, 1).astype(np.float64)
    B += B.T
    values = np.linalg.eigvalsh(B)
    # (λ_max + σ) = condition·(λ_min + σ). The trace of B is zero: unless B = 0, λ_min < 0 < λ_max, and σ > 0.
    diagonal = (values[-1] - condition_number * values[0]) / (condition_number - 1) if B.any() else 1.0
    precision = B + diagonal * np.eye(p)
    return PrecisionData(sample_precision(precision, n, rng), precision)


def sample_precision(precision: Any, n: int = 100, random_state: Seed = 0) -> Array:
    """Draw n samples of N(0, Ω⁻¹) for a given precision matrix Ω.

    Parameters
    ----------
    precision : array-like of shape (p, p)
        Ω, symmetric and positive definite.
    n : int, default=100
        Number of samples.
    random_state
        As in `make_precision`.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.datasets import sample_precision
    >>> X = sample_precision([[2.0, 1.0], [1.0, 2.0]], n=100_000)
    >>> np.round(np.linalg.inv(np.cov(X.T)), 1)
    array([[2., 1.],
           [1., 2.]])
    """
    matrix = as_real_array(precision, "precision")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.array_equal(matrix, matrix.T):
        raise ValueError(f"precision must be a symmetric matrix, got an array of shape {matrix.shape}")
    try:
        factor = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError as error:
        raise ValueError("precision must be positive definite, the inverse of a covariance matrix") from error
    noise = np.random.default_rng(random_state).standard_normal((len(matrix), check_size(n, "n")))
    # Ω = LLᵀ, and L⁻ᵀ times standard normal columns have the covariance Ω⁻¹.
    return np.ascontiguousarray(solve_triangular(factor, noise, trans="T", lower=True).T)


def _draw_features_and_coefficients(
    n: int, p: int, k: int, correlation: float, rng: np.random.Generator, coef: Any
) -> tuple[Array, Array]:
    """Rows u with u₁ ~ N(0, 1) and u_{j+1} = ρu_j + √(1−ρ²)·a_j; and the given coefficients, or k random ones."""
    if not -1 < correlation < 1:
        raise ValueError(f"correlation must lie between -1 and 1, got {correlation!r}")
    given = None if coef is None else check_vector(coef, "coef", (np.size(coef),)).copy()
    p = p if given is None else given.size
    u = rng.standard_normal((check_size(n, "n"), check_size(p, "p")))
    for j in range(1, p):
        u[:, j] = correlation * u[:, j - 1] + sqrt(1 - correlation**2) * u[:, j]
    return u, make_coefficients(p, k, random_state=rng) if given is None else given
