"""Positive definite matrices: eigenvalue bounds, inverses from factors, and checks of a covariance."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.sparse.linalg import eigsh
from sklearn.utils import check_array

from .._types import Array, IntArray
from ..validation import check_positive_number

__all__ = [
    "EigenvalueBounds",
    "Inverse",
    "check_bounds",
    "check_covariance",
    "cholesky",
    "eigenvalue_bounds",
    "is_regular",
]

#: Relative deviation from symmetry or positive semidefiniteness that is taken for rounding.
MAX_ASYMMETRY = 1e-8
#: A covariance is regular if all its eigenvalues are a larger fraction of its largest variance.
MIN_REGULAR_EIGENVALUE = 1e-8
#: Relative violation of eigenvalue bounds that is taken for rounding.
BOUND_SLACK = 1e-10
#: Largest size for which all eigenvalues take less time than one by Lanczos' method.
MAX_FULL_EIGENVALUES = 100


class EigenvalueBounds(NamedTuple):
    """αI ⪯ Ω ⪯ βI.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.objectives import EigenvalueBounds
    >>> EigenvalueBounds(0.5, 2.0).admit(np.array([[1.0, 0.6], [0.6, 1.0]]))
    False
    """

    lower: float
    upper: float

    def tighten(self, fraction: float) -> EigenvalueBounds:
        """Bounds that are tighter by a fraction."""
        return EigenvalueBounds(self.lower * (1.0 + fraction), self.upper * (1.0 - fraction))

    def admit(self, omega: Array) -> bool:
        """Whether a symmetric matrix is within the bounds, by Cholesky's factorization of Ω − αI and βI − Ω."""
        # Gershgorin's discs often decide without a factorization.
        radius = np.abs(omega).sum(axis=1) - np.abs(omega.diagonal())
        lowest, highest = (omega.diagonal() - radius).min(), (omega.diagonal() + radius).max()
        below = lowest >= self.lower or cholesky(omega, -self.lower * (1.0 - BOUND_SLACK)) is not None
        return below and (highest <= self.upper or cholesky(-omega, self.upper * (1.0 + BOUND_SLACK)) is not None)


def cholesky(matrix: Array, shift: float = 0.0) -> Array | None:
    """Lower Cholesky factor of matrix + shift·I; None if it is not positive definite."""
    if shift:
        matrix = matrix.copy()
        matrix.flat[:: len(matrix) + 1] += shift
    factor, failed = dpotrf(matrix, lower=1)
    return None if failed else factor


def eigenvalue_bounds(covariance: Any, xi: float = 1e-2, size: float | None = None) -> EigenvalueBounds:
    """The paper's rule for the eigenvalues of Ω (§4.2; Lu 2009, Proposition 3.1).

    α = 1/(‖Σ‖₂ + m·ξ) and β = (m − α·tr Σ)/ξ, which contain the solution of the problem with the penalty ξ‖Ω‖₁.

    Parameters
    ----------
    covariance : array-like of shape (p, p)
        Σ.
    xi : float, default=1e-2
        ξ; the smaller, the wider the bounds.
    size : float, optional
        m: by default p, the size of the matrix, as in Lu's proposition. The paper writes n for it.

    Returns
    -------
    EigenvalueBounds
        The pair (α, β).

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.objectives import eigenvalue_bounds
    >>> alpha, beta = eigenvalue_bounds(np.diag([3.0, 1.0, 1.0, 1.0]), xi=0.25)
    >>> alpha, beta
    (0.25, 10.0)
    """
    matrix = np.asarray(covariance, dtype=np.float64)
    check_positive_number(xi, "xi")
    m = float(len(matrix)) if size is None else check_positive_number(size, "size")
    alpha = 1.0 / (_compute_norm(matrix) + m * xi)
    beta = (m - alpha * float(np.trace(matrix))) / xi
    if size is None:
        beta = max(beta, alpha)  # for p = 1 they are equal up to rounding
    if beta < alpha:
        raise ValueError(
            f"size = {m:g} gives the bounds {alpha:.3g} and {beta:.3g}, which no matrix is within; raise it"
        )
    return EigenvalueBounds(alpha, beta)


def _compute_norm(matrix: Array) -> float:
    """‖Σ‖₂ of a positive semidefinite matrix."""
    if len(matrix) <= MAX_FULL_EIGENVALUES or not matrix.any():
        return max(float(np.linalg.eigvalsh(matrix)[-1]), 0.0)
    start = np.cos(np.arange(1.0, len(matrix) + 1.0))  # a fixed start: the same matrix has the same bounds
    return float(eigsh(matrix, k=1, which="LA", v0=start, tol=1e-9, return_eigenvectors=False)[0])


class Inverse:
    """Ω⁻¹, computed on first use from the factors of Ω's connected blocks.

    Parameters
    ----------
    size : int
        p.
    blocks : list of pairs of an index array and a lower Cholesky factor
        Together they cover all indices. A diagonal factor may be given by its diagonal.
    """

    def __init__(self, size: int, blocks: list[tuple[IntArray, Array]]) -> None:
        self._size = size
        self._blocks = blocks
        pivots = (factor if factor.ndim == 1 else factor.diagonal() for _, factor in blocks)
        self.log_det = -2.0 * sum(float(np.log(values).sum()) for values in pivots)

    @classmethod
    def from_matrix(cls, omega: Array) -> Inverse | None:
        """The inverse of a symmetric matrix; None if it is not positive definite."""
        factor = cholesky(omega)
        return None if factor is None else cls(len(omega), [(np.arange(len(omega)), factor)])

    @cached_property
    def matrix(self) -> Array:
        """W = Ω⁻¹."""
        inverse = np.zeros((self._size, self._size))
        for index, factor in self._blocks:
            if factor.ndim == 1:
                inverse[index, index] = 1.0 / np.square(factor)
                continue
            lower = dpotri(factor, lower=1)[0]  # above the diagonal there are zeros
            lower.flat[:: len(lower) + 1] *= 0.5
            block = lower + lower.T
            if len(index) == self._size:
                return block
            inverse[index[:, None], index] = block
        return inverse


def check_covariance(covariance: Any) -> Array:
    """A user's covariance matrix, checked to be symmetric and positive semidefinite up to rounding."""
    matrix = check_array(covariance, dtype=np.float64, input_name="covariance", estimator="LogDet")
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"covariance has shape {matrix.shape}; it must be square. For samples, use SparsePrecision without "
            'covariance="precomputed", or pass numpy.cov(X, rowvar=False)'
        )
    scale = float(np.abs(matrix).max())
    asymmetry = float(np.abs(matrix - matrix.T).max())
    if asymmetry > MAX_ASYMMETRY * scale:
        raise ValueError(
            f"covariance is not symmetric: it and its transpose differ by {asymmetry:.3g}; pass (A + A.T) / 2"
        )
    symmetric = 0.5 * (matrix + matrix.T)
    slack = MAX_ASYMMETRY * max(float(np.trace(symmetric)), np.finfo(float).tiny)
    if symmetric.diagonal().min() < 0 or cholesky(symmetric, slack) is None:
        lowest = float(np.linalg.eigvalsh(symmetric)[0])
        raise ValueError(
            f"covariance is indefinite: its smallest eigenvalue is {lowest:.3g}; a covariance has none below 0. "
            "If it was estimated pair by pair, project it or add a multiple of the identity"
        )
    return symmetric


def is_regular(covariance: Array) -> bool:
    """Whether a covariance is so far from singular that every graph has a maximum-likelihood Ω."""
    return cholesky(covariance, -MIN_REGULAR_EIGENVALUE * float(covariance.diagonal().max())) is not None


def check_bounds(bounds: Any, covariance: Array, xi: float = 1e-2) -> EigenvalueBounds:
    """A user's bounds, checked, or the bounds that a name means for a covariance."""
    check_positive_number(xi, "xi")
    if bounds is None:
        return EigenvalueBounds(0.0, np.inf)
    if isinstance(bounds, str):
        if bounds not in ("auto", "paper"):
            raise ValueError(f'bounds must be "auto", "paper", a pair (alpha, beta) or None, got {bounds!r}')
        unbounded = bounds == "auto" and is_regular(covariance)
        return EigenvalueBounds(0.0, np.inf) if unbounded else eigenvalue_bounds(covariance, xi)
    try:
        lower, upper = (float(value) for value in bounds)
    except (TypeError, ValueError) as error:
        raise ValueError(f'bounds must be "auto", "paper", a pair (alpha, beta) or None, got {bounds!r}') from error
    if not 0 <= lower <= upper or upper == 0 or not np.isfinite(lower):
        raise ValueError(
            f"bounds must satisfy 0 <= alpha <= beta with beta > 0, got alpha = {lower:g} and beta = {upper:g}; "
            "they are the smallest and the largest eigenvalue that the precision matrix may have"
        )
    return EigenvalueBounds(lower, upper)
