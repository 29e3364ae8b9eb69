"""Generators of the paper's §5."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from ..typing import Array
from ..validation import check_number_of_units

__all__ = ["LogisticData", "make_logistic"]


class LogisticData(NamedTuple):
    """Features, labels in {−1, +1}, and the coefficients that made them."""

    X: Array
    y: Array
    coef: Array


def make_logistic(
    n: int = 500, p: int = 1000, k: int = 100, correlation: float = 0.5, random_state: int = 0
) -> LogisticData:
    """Simulate the paper's sparse logistic model (§5.1): correlated features, k of them relevant.

    Rows are autoregressive, u₁ ~ N(0, 1) and u_{j+1} = ρu_j + √(1−ρ²)·a_j; k coefficients w̄ are standard normal; and
    P(v = 1 | u) = 1/(1 + exp(−2w̄ᵀu)). The features returned are x = 2u, on which the ordinary logistic loss of
    `ksparse.objectives.Logistic` is the paper's.

    Parameters
    ----------
    n, p, k : int
        Samples, features, and relevant features.
    correlation : float, default=0.5
        ρ, between neighbouring features.
    random_state : int, default=0
        Seed.

    Returns
    -------
    LogisticData
        ``X, y, coef``.

    Examples
    --------
    >>> X, y, coef = make_logistic(n=200, p=50, k=5)
    >>> X.shape, int((coef != 0).sum())
    ((200, 50), 5)
    """
    if check_number_of_units(k) > p:
        raise ValueError(f"k = {k} relevant features of p = {p}; k must not exceed p")
    if not -1 < correlation < 1:
        raise ValueError(f"correlation must lie between -1 and 1, got {correlation!r}")
    rng = np.random.default_rng(random_state)
    u = rng.standard_normal((n, p))
    for j in range(1, p):
        u[:, j] = correlation * u[:, j - 1] + np.sqrt(1 - correlation**2) * u[:, j]
    coef = np.zeros(p)
    coef[rng.choice(p, k, replace=False)] = rng.standard_normal(k)
    y = np.where(rng.random(n) < expit(2 * u @ coef), 1.0, -1.0)
    return LogisticData(2 * u, y, coef)
