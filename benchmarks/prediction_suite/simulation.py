"""The simulation of Hastie, Tibshirani and Tibshirani, "Best Subset, Forward Stepwise or Lasso?" (Stat. Sci. 2020).

y = Xβ + σε; rows of X are normal with Σᵢⱼ = ρ^|i−j|, and σ² = βᵀΣβ/SNR.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from scipy.linalg import toeplitz
from scipy.signal import lfilter

__all__ = ["BETA_TYPES", "CORRELATIONS", "SIZES", "SNRS", "Setting", "Simulated", "Size", "list_settings", "simulate"]


@dataclass(frozen=True)
class Size:
    """n samples, p features, s of them with large coefficients."""

    n: int
    p: int
    s: int


SIZES = {
    "low": Size(100, 10, 5),
    "medium": Size(500, 100, 5),
    "high-5": Size(50, 1000, 5),
    "high-10": Size(100, 1000, 10),
}
BETA_TYPES = (1, 2, 3, 5)
CORRELATIONS = (0.0, 0.35, 0.7)
#: The ten signal-to-noise ratios of the paper, from 0.05 to 6.
SNRS = tuple(float(f"{snr:.4g}") for snr in np.exp(np.linspace(np.log(0.05), np.log(6.0), 10)))


@dataclass(frozen=True, order=True)
class Setting:
    """One of the 480 combinations."""

    size: str
    beta_type: int
    correlation: float
    snr: float


@dataclass(frozen=True)
class Simulated:
    """Data of one replication, and the truth behind them."""

    X: Any
    y: Any
    beta: Any
    covariance: Any
    noise_variance: float
    support: Any


def list_settings(sizes: tuple[str, ...] = tuple(SIZES)) -> list[Setting]:
    """Return all settings of these sizes."""
    return [Setting(*values) for values in product(sizes, BETA_TYPES, CORRELATIONS, SNRS)]


def make_beta(beta_type: int, p: int, s: int) -> Any:
    """Return the coefficients of a type: 1 spaced, 2 first, 3 decreasing, 5 first and then decaying."""
    beta = np.zeros(p)
    if beta_type == 1:
        beta[np.round(np.linspace(0, p - 1, s)).astype(int)] = 1.0
    elif beta_type == 3:
        beta[:s] = np.linspace(10.0, 0.5, s)
    elif beta_type in (2, 5):
        beta[:s] = 1.0
    else:
        raise ValueError(f"beta_type must be one of {BETA_TYPES}, got {beta_type}")
    if beta_type == 5:
        beta[s:] = 0.5 ** np.arange(1, p - s + 1)
    return beta


@lru_cache(maxsize=len(CORRELATIONS) * len(SIZES))
def make_covariance(p: int, correlation: float) -> Any:
    """Return Σᵢⱼ = ρ^|i−j|."""
    return toeplitz(correlation ** np.arange(p, dtype=float))


def draw_features(rng: np.random.Generator, n: int, p: int, correlation: float) -> Any:
    """Draw rows of an autoregressive process of variance 1, whose covariance is Σ."""
    innovations = rng.standard_normal((n, p))
    innovations[:, 1:] *= np.sqrt(1.0 - correlation**2)
    return lfilter([1.0], [1.0, -correlation], innovations, axis=1)


def seed_generator(setting: Setting, replication: int) -> np.random.Generator:
    """Return the generator of a replication, so that every method can be run on the same data at any time."""
    place = list(SIZES).index(setting.size), SNRS.index(setting.snr)
    return np.random.default_rng([*place, setting.beta_type, round(100 * setting.correlation), replication])


def simulate(setting: Setting, replication: int) -> Simulated:
    """Return the data of a replication. For type 5, the support counts only the s large coefficients."""
    size = SIZES[setting.size]
    rng = seed_generator(setting, replication)
    beta = make_beta(setting.beta_type, size.p, size.s)
    covariance = make_covariance(size.p, setting.correlation)
    noise_variance = float(beta @ covariance @ beta) / setting.snr
    X = draw_features(rng, size.n, size.p, setting.correlation)
    y = X @ beta + np.sqrt(noise_variance) * rng.standard_normal(size.n)
    support = np.sort(np.argsort(-np.abs(beta), kind="stable")[: size.s])
    return Simulated(X, y, beta, covariance, noise_variance, support)
