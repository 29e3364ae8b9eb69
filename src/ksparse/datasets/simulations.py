"""Generators of linear models with k relevant features: those of the paper's §5.1, and compressed sensing."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import expit

from .._types import Array
from ..validation import check_nonnegative_number, check_number_of_units, check_size, real_array

__all__ = [
    "LinearModelData",
    "Seed",
    "Values",
    "make_coefficients",
    "make_compressed_sensing",
    "make_linear",
    "make_logistic",
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

    Returns
    -------
    ndarray of shape (p,)
        The coefficients.

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
    n: int = 500,
    p: int = 1000,
    k: int = 100,
    correlation: float = 0.5,
    random_state: Seed = 0,
    coef: Any = None,
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
    u, true = _features_and_coefficients(n, p, k, correlation, rng, coef)
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
    n, p, k : int
        Numbers of samples, of features, and of relevant features.
    correlation : float, default=0
        ρ, the correlation of neighbouring features.
    noise : float, default=1
        σ, the standard deviation of the noise.
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
    >>> from ksparse import minimize
    >>> from ksparse.datasets import make_linear
    >>> from ksparse.objectives import LeastSquares
    >>> X, y, coef = make_linear(n=200, p=50, k=5, noise=0.1)
    >>> bool((minimize(LeastSquares(X, y), k=5).support == (coef != 0)).all())
    True
    """
    noise = check_nonnegative_number(noise, "noise")
    rng = np.random.default_rng(random_state)
    X, true = _features_and_coefficients(n, p, k, correlation, rng, coef)
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
    values : {"normal", "signs"}, default="normal"
        The nonzero entries: standard normal, or −1 and +1 with the same probability.
    random_state : int, sequence of int or numpy.random.Generator, default=0
        Seed, or a generator to draw from.

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


def _autoregressive(n: int, p: int, correlation: float, rng: np.random.Generator) -> Array:
    """Rows u with u₁ ~ N(0, 1) and u_{j+1} = ρu_j + √(1−ρ²)·a_j, all of unit variance."""
    if not -1 < correlation < 1:
        raise ValueError(f"correlation must lie between -1 and 1, got {correlation!r}")
    u = rng.standard_normal((check_size(n, "n"), check_size(p, "p")))
    for j in range(1, p):
        u[:, j] = correlation * u[:, j - 1] + sqrt(1 - correlation**2) * u[:, j]
    return u


def _features_and_coefficients(
    n: int, p: int, k: int, correlation: float, rng: np.random.Generator, coef: Any
) -> tuple[Array, Array]:
    """Autoregressive features, and the given coefficients or p random ones, k of them nonzero."""
    if coef is None:
        u = _autoregressive(n, p, correlation, rng)
        return u, make_coefficients(p, k, random_state=rng)
    given = real_array(coef, "coef").copy()
    if given.ndim != 1 or not given.size or not np.isfinite(given).all():
        raise ValueError(f"coef must be a vector of finite numbers, got {coef!r}")
    return _autoregressive(n, given.size, correlation, rng), given
