"""The generator of the paper's §5.2: Gaussian samples with a sparse random precision matrix."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from .._types import Array
from ..validation import check_positive_number, check_size, real_array
from .simulations import Seed

__all__ = ["PrecisionData", "make_precision", "sample_precision"]


class PrecisionData(NamedTuple):
    """Samples, and the precision matrix of their distribution."""

    X: Array
    precision: Array


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
        ``X, precision``, of shapes (n, p) and (p, p).

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.datasets import make_precision
    >>> X, precision = make_precision(n=50, p=20)
    >>> X.shape, precision.shape
    ((50, 20), (20, 20))
    >>> round(float(np.linalg.cond(precision)), 6)
    20.0
    """
    check_size(n, "n")
    check_size(p, "p")
    edge_probability = _edge_probability(p, probability, degree)
    condition_number = float(p) if condition is None else check_positive_number(condition, "condition")
    if condition_number <= 1 and p > 1:
        raise ValueError(f"condition must be above 1, which only multiples of the identity have; got {condition!r}")
    rng = np.random.default_rng(random_state)
    B = np.triu(rng.random((p, p)) < edge_probability, 1).astype(np.float64)
    B += B.T
    precision = _shift_diagonal(B, condition_number)
    return PrecisionData(sample_precision(precision, n, rng), precision)


def sample_precision(precision: Any, n: int = 100, random_state: Seed = 0) -> Array:
    """Draw samples of N(0, Ω⁻¹) for a given precision matrix Ω.

    Parameters
    ----------
    precision : array-like of shape (p, p)
        Ω, symmetric and positive definite.
    n : int, default=100
        Number of samples.
    random_state : int, sequence of int or numpy.random.Generator, default=0
        Seed, or a generator to draw from.

    Returns
    -------
    ndarray of shape (n, p)
        The samples.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.datasets import sample_precision
    >>> X = sample_precision([[2.0, 1.0], [1.0, 2.0]], n=100_000)
    >>> np.round(np.linalg.inv(np.cov(X.T)), 1)
    array([[2., 1.],
           [1., 2.]])
    """
    matrix = real_array(precision, "precision")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.array_equal(matrix, matrix.T):
        raise ValueError(f"precision must be a symmetric matrix, got an array of shape {matrix.shape}")
    try:
        factor = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError as error:
        raise ValueError("precision must be positive definite, the inverse of a covariance matrix") from error
    noise = np.random.default_rng(random_state).standard_normal((len(matrix), check_size(n, "n")))
    # Ω = LLᵀ, and L⁻ᵀ times standard normal columns have the covariance Ω⁻¹.
    return np.ascontiguousarray(solve_triangular(factor, noise, trans="T", lower=True).T)


def _edge_probability(p: int, probability: float, degree: float | None) -> float:
    if degree is not None:
        if not 0 <= degree <= p - 1:
            raise ValueError(
                f"degree must lie between 0 and p - 1 = {p - 1}, the number of other nodes; got {degree!r}"
            )
        return degree / max(p - 1, 1)
    if not 0 <= probability <= 1:
        raise ValueError(f"probability must lie between 0 and 1, got {probability!r}")
    return probability


def _shift_diagonal(B: Array, condition: float) -> Array:
    """B + σI with (λ_max(B) + σ) = condition·(λ_min(B) + σ); the identity if B = 0."""
    if not B.any():
        return np.eye(len(B))
    values = np.linalg.eigvalsh(B)
    precision = B.copy()
    # The trace of B is zero, hence λ_min < 0 < λ_max and σ > 0.
    np.fill_diagonal(precision, (values[-1] - condition * values[0]) / (condition - 1))
    return precision
