"""Curvature of a quadratic form that may be moved into the ridge, where the perspective makes more of it.

Let S be positive semidefinite, and w a vector with at most k nonzeros. If wᵀSw ≥ wᵀQw + Σ d_j w_j² with Q positive
semidefinite, the smooth part may have Q in place of S, and the ridge alpha + d in place of alpha. There are two ways:

- *spectral*: Q = S − δI with δ = λ_min(S), as in OKRidge. It grows as features leave or are eliminated.
- *sparse*: wᵀSw ≥ Σ D_j w_j² with D_j = S_jj − (the k − 1 largest |S_jl|, l ≠ j), by 2|w_j w_l| ≤ w_j² + w_l². Hence
  wᵀSw ≥ θ·wᵀSw + (1 − θ)·Σ D_j w_j². It is positive also where there are more features than samples.

References
----------
J. Liu, S. Rosen, C. Zhong and C. Rudin, *OKRidge: scalable optimal k-sparse ridge regression*, NeurIPS 2023.

X. Zheng, X. Sun and D. Li, *Improving the performance of MIQP solvers for quadratic programs with cardinality and
minimum threshold constraints*, INFORMS Journal on Computing 26 (2014), 690–703.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, eigvalsh, solve_triangular
from scipy.sparse.linalg import LinearOperator, eigsh

from .._types import Array

__all__ = ["EIGENVALUE_ROUNDING", "Curvature", "find_least_eigenvalue", "find_sparse_curvature", "list_curvatures"]

#: Larger matrices are factorized, and their least eigenvalue is found by Lanczos' method for the inverse.
DENSE_SIZE = 150
#: Eigenvalues have a rounding error below this many times the size of a matrix and its trace (LAPACK Users' Guide).
EIGENVALUE_ROUNDING = 64 * 2.3e-16
#: The relative accuracy of the least eigenvalue of larger ones.
INVERSE_TOLERANCE = 1e-2
#: Fractions of the eigenvalue that are tried, until a factorization proves one of them.
PROVED_FRACTIONS = (0.99, 0.9, 0.5)
#: Fractions of the quadratic form that stay in the smooth part beside sparse curvature.
KEPT_FRACTIONS = (0.2, 0.5, 0.8)
#: Less curvature than this, of matrices with a unit diagonal, is not worth moving.
LEAST_CURVATURE = 1e-6


@dataclass(frozen=True)
class Curvature:
    """What is moved from a quadratic form into the ridge."""

    #: θ, the fraction of the form that stays.
    fraction: float
    #: e, what is subtracted from its diagonal.
    absorbed: Array
    #: d, what is added to the ridge of each feature.
    added: Array

    @classmethod
    def none(cls, count: int) -> Curvature:
        """Nothing is moved."""
        return cls(1.0, np.zeros(count), np.zeros(count))


def list_curvatures(matrix: Array, n_nonzero: int, rank: int, rounding: float) -> Iterator[Curvature]:
    """What may be moved, the most promising first.

    `rounding` bounds the spectral norm of the errors of the matrix; its rank is at most `rank`.
    """
    count = len(matrix)
    least = find_least_eigenvalue(matrix, rounding) if count <= rank else 0.0
    if least > LEAST_CURVATURE:
        moved = np.full(count, least)
        yield Curvature(1.0, moved, moved)
        return
    sparse = find_sparse_curvature(matrix, n_nonzero) - rounding
    if count and sparse.min() > LEAST_CURVATURE:
        for fraction in KEPT_FRACTIONS:
            yield Curvature(fraction, np.zeros(count), (1.0 - fraction) * sparse)
    yield Curvature.none(count)


def find_least_eigenvalue(matrix: Array, rounding: float) -> float:
    """A number that λ_min is not below, near to it; 0 if none is proved.

    The proof is that the Cholesky factorization of the matrix minus it, and minus a bound of all rounding errors, goes
    through (S. M. Rump, *Verification of positive definiteness*, BIT 46 (2006), 433–452).
    """
    count = len(matrix)
    if count == 0:
        return 0.0
    if count <= DENSE_SIZE:
        trace = float(np.abs(matrix.diagonal()).sum())
        rest = 2.0 * rounding + EIGENVALUE_ROUNDING * count * trace
        return max(float(eigvalsh(matrix, subset_by_index=[0, 0], check_finite=False)[0]) - rest, 0.0)
    shifted = matrix.T.copy(order="F")  # the order in which it is factorized in place
    shifted.flat[:: count + 1] += 2.0 * rounding
    try:
        factor = cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return 0.0
    estimate = 1.0 / _find_largest_of_inverse(factor)
    for fraction in PROVED_FRACTIONS:
        least = fraction * estimate - 2.0 * rounding
        if least <= 0:
            return 0.0
        shifted = matrix.T.copy(order="F")
        shifted.flat[:: count + 1] -= least + rounding
        try:
            cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            continue
        return least
    return 0.0


def _find_largest_of_inverse(factor: Array) -> float:
    """A lower bound of λ_max of (LLᵀ)⁻¹, near to it, by Lanczos' method."""

    def solve(vector: Array) -> Array:
        half = solve_triangular(factor, vector, lower=True, check_finite=False)
        solved: Array = solve_triangular(factor, half, lower=True, trans=1, overwrite_b=True, check_finite=False)
        return solved

    count = len(factor)
    inverse = LinearOperator((count, count), matvec=solve, dtype=np.float64)
    start = np.cos(np.arange(1.0, count + 1.0))
    return float(eigsh(inverse, k=1, which="LA", v0=start, tol=INVERSE_TOLERANCE, return_eigenvectors=False)[0])


def find_sparse_curvature(matrix: Array, n_nonzero: int) -> Array:
    """D_j = S_jj − the n_nonzero − 1 largest |S_jl|, l ≠ j."""
    count = len(matrix)
    others = min(n_nonzero, count) - 1
    diagonal = matrix.diagonal().copy()
    if others <= 0:
        return diagonal
    sizes = np.abs(matrix)
    np.fill_diagonal(sizes, 0.0)
    largest = np.partition(sizes, count - others, axis=1)[:, count - others :]
    return diagonal - largest.sum(axis=1)
