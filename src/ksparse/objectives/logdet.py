"""The Gaussian likelihood of a precision matrix, −log det Ω + ⟨Σ, Ω⟩, within eigenvalue bounds."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.utils import check_array

from ..sparsity import Pairs, Sparsity
from ..typing import Array, IntArray, Mask
from ..validation import check_positive_number
from .base import NoLipschitzConstantError, Objective, Point

__all__ = ["EigenvalueBounds", "Inverse", "LogDet", "LogDetOnSupport", "eigenvalue_bounds"]

#: Share by which a matrix may miss symmetry or positive semidefiniteness through rounding.
ROUNDING = 1e-8
#: Share by which eigenvalues may miss their bounds through rounding.
SLACK = 1e-10
#: Inflation of a variance, Σ_ii·Ω_ii, at which nothing of it is left.
EXPLAINED = 1e10
#: Largest size for which all eigenvalues are found faster than one by Lanczos' method.
SMALL = 100


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

    def narrowed(self, share: float) -> EigenvalueBounds:
        """Bounds that are by a share tighter."""
        return EigenvalueBounds(self.lower * (1.0 + share), self.upper * (1.0 - share))

    def admit(self, omega: Array) -> bool:
        """Whether a symmetric matrix is within the bounds, by Cholesky's factorization of Ω − αI and βI − Ω."""
        # Gershgorin's discs often tell without a factorization.
        radius = np.abs(omega).sum(axis=1) - np.abs(omega.diagonal())
        lowest, highest = (omega.diagonal() - radius).min(), (omega.diagonal() + radius).max()
        below = lowest >= self.lower or cholesky(omega, -self.lower * (1.0 - SLACK)) is not None
        return below and (highest <= self.upper or cholesky(-omega, self.upper * (1.0 + SLACK)) is not None)


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
        m: by default p, the size of the matrix, which it is in Lu's proposition. The paper writes n for it.

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
    alpha = 1.0 / (_norm(matrix) + m * xi)
    beta = (m - alpha * float(np.trace(matrix))) / xi
    if size is None:
        beta = max(beta, alpha)  # what rounding takes from p = 1, where they are equal
    if beta < alpha:
        raise ValueError(
            f"size = {m:g} gives the bounds {alpha:.3g} and {beta:.3g}, which no matrix is within; raise it"
        )
    return EigenvalueBounds(alpha, beta)


def _norm(matrix: Array) -> float:
    """‖Σ‖₂ of a positive semidefinite matrix."""
    if len(matrix) <= SMALL or not matrix.any():
        return max(float(np.linalg.eigvalsh(matrix)[-1]), 0.0)
    start = np.cos(np.arange(1.0, len(matrix) + 1.0))  # a fixed start: the same matrix has the same bounds
    return float(eigsh(matrix, k=1, which="LA", v0=start, tol=1e-9, return_eigenvectors=False)[0])


class Inverse:
    """Ω⁻¹, made when it is asked for from the factors of Ω's connected blocks.

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

    @cached_property
    def matrix(self) -> Array:
        """W = Ω⁻¹."""
        inverse = np.zeros((self._size, self._size))
        for index, factor in self._blocks:
            if factor.ndim == 1:
                inverse[index, index] = 1.0 / np.square(factor)
                continue
            block = dpotri(factor, lower=1)[0]
            block = np.tril(block) + np.tril(block, -1).T
            if len(index) == self._size:
                return block
            inverse[index[:, None], index] = block
        return inverse


class LogDet(Objective):
    """f(Ω) = −log det Ω + ⟨Σ, Ω⟩ for αI ⪯ Ω ⪯ βI, infinite elsewhere (paper, §4.2): twice the Gaussian −log-likelihood.

    Its gradient is Σ − Ω⁻¹. Sparsity is counted in pairs: k edges of the graph of Ω, with its diagonal always in. Where
    x is not symmetric, f is that of its symmetric part.

    Parameters
    ----------
    covariance : array-like of shape (p, p)
        Σ, symmetric and positive semidefinite; it may be singular.
    bounds : "paper", pair of floats, or None, default="paper"
        α and β; "paper" takes `eigenvalue_bounds`. With None there are none: Ω need only be positive definite, and
        with fewer samples than variables f may have no minimum on a support.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> from ksparse.objectives import LogDet
    >>> covariance = np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.0], [0.1, 0.0, 1.0]])
    >>> result = ksparse.minimize(LogDet(covariance), k=1)
    >>> result.selected
    array([[0, 1]])
    >>> result.x.round(3)
    array([[ 1.333, -0.667,  0.   ],
           [-0.667,  1.333,  0.   ],
           [ 0.   ,  0.   ,  1.   ]])

    References
    ----------
    Z. Lu, Smooth Optimization Approach for Sparse Covariance Selection, SIAM J. Optim. 19 (2009), 1807–1827.
    """

    strongly_convex = True
    largest_model = 200

    def __init__(self, covariance: Any, bounds: Any = "paper") -> None:
        super().__init__()
        matrix = _check_covariance(covariance)
        self._set(matrix, _check_bounds(bounds, matrix))

    @classmethod
    def of_valid(cls, covariance: Array, bounds: EigenvalueBounds) -> LogDet:
        """The same of a matrix that is known to be a covariance, without checking it again."""
        objective = object.__new__(cls)
        Objective.__init__(objective)
        objective._set(covariance, bounds)
        return objective

    def _set(self, covariance: Array, bounds: EigenvalueBounds) -> None:
        self.covariance, self.bounds = covariance, bounds
        self.shape = covariance.shape
        self.free = np.eye(len(covariance), dtype=bool)
        self.edged = bounds != (0.0, np.inf)

    @property
    def start(self) -> Array:
        """Ω⁽⁰⁾ = αI (paper, Algorithm 2); without bounds, the inverse of the largest variance instead of α."""
        alpha = self.bounds.lower or 1.0 / max(float(self.covariance.diagonal().max()), np.finfo(float).tiny)
        return alpha * np.eye(len(self.covariance))

    def at(self, x: Array) -> Point:
        x = self.check_point(x)
        omega = 0.5 * (x + x.T)
        factor = cholesky(omega)
        if factor is None or not self.bounds.admit(omega):
            return Point(self, x, np.inf)
        inverse = Inverse(len(omega), [(np.arange(len(omega)), factor)])
        return Point(self, x, inverse.log_det + float(np.sum(self.covariance * omega)), inverse)

    def gradient(self, point: Point) -> Array:
        """Σ − Ω⁻¹."""
        self._passes.total += 1
        return self.covariance - _inverse_at(point)

    def curvature(self, point: Point) -> Array:
        """W_ii·W_jj + W_ij² for the pair x_ij = x_ji, half its second derivative; W_ii² on the diagonal."""
        inverse = _inverse_at(point)
        diagonal = inverse.diagonal()
        curvature = np.square(inverse)
        curvature += np.multiply.outer(diagonal, diagonal)
        curvature.flat[:: len(inverse) + 1] *= 0.5
        return curvature

    def leaving_costs(self, point: Point) -> Array:
        """By how much f rises if a pair is set to zero and its two diagonal entries refitted, half for each entry.

        With B = {i, j} and V = (Ω⁻¹)_B⁻¹, removing the pair sets V_ij to c = V_ij − Ω_ij, and the best diagonal has
        det V = D with Σ_iiΣ_jj·D² = D + c².
        """
        rows, columns = np.nonzero(np.triu(point.x, 1))
        inverse, sigma = _inverse_at(point), self.covariance
        a, b, s = sigma[rows, rows], sigma[columns, columns], sigma[rows, columns]
        u, v, w = inverse[rows, rows], inverse[columns, columns], inverse[rows, columns]
        determinant = u * v - w * w
        before = np.log(determinant) + (a * v + b * u - 2.0 * s * w) / determinant
        c = -w / determinant - point.x[rows, columns]
        product = np.maximum(a * b, np.finfo(float).tiny)
        after = (1.0 + np.sqrt(1.0 + 4.0 * product * c * c)) / (2.0 * product)
        costs = np.zeros(self.shape)
        rise = -np.log(after) + 2.0 * a * b * after + 2.0 * s * c - before
        costs[rows, columns] = costs[columns, rows] = 0.5 * np.maximum(rise, 0.0)
        return costs

    def quadratic_model(self, point: Point, look: Mask) -> tuple[Mask, Array, Array]:
        """The same in the entries on and above the diagonal, which stand for those below too."""
        rows, columns = np.nonzero(np.triu(look))
        inverse = _inverse_at(point)
        # E_a = s(e_i·e_jᵀ + e_j·e_iᵀ), with s = ½ on the diagonal, gives H_ab = tr(W·E_a·W·E_b).
        share = np.where(rows == columns, 0.5, 1.0)
        crossed = inverse[np.ix_(rows, columns)]
        hessian = inverse[np.ix_(rows, rows)] * inverse[np.ix_(columns, columns)] + crossed * crossed.T
        hessian *= 2.0 * np.multiply.outer(share, share)
        slopes = 2.0 * share * point.gradient[rows, columns]
        return np.triu(look), hessian, hessian @ point.x[rows, columns] - slopes

    def lipschitz(self, metric: Array | None = None) -> float:
        """1/α², the largest eigenvalue of Ω⁻¹ ⊗ Ω⁻¹ within the bounds (paper, Proposition 3)."""
        if not self.bounds.lower:
            raise NoLipschitzConstantError(
                "without a lower bound of the eigenvalues the gradient of LogDet has no Lipschitz constant; "
                "set bounds, give a constant step, or use Backtracking()"
            )
        smallest = 1.0 if metric is None else float(metric.min())
        return 1.0 / (self.bounds.lower**2 * smallest)

    def canonical(self, x: Array) -> Array:
        """The symmetric part of x, which is all that f sees."""
        return 0.5 * (x + x.T)

    def sparsity(self, k: int) -> Sparsity:
        """K pairs off the diagonal."""
        return Pairs(k)

    def restrict(self, support: Mask) -> LogDetOnSupport:
        return LogDetOnSupport(self, support)


class LogDetOnSupport(Objective):
    """`LogDet` as a function of the entries in a symmetric support, in the order of its rows.

    Parameters
    ----------
    whole : LogDet
        f.
    support : mask of shape (p, p)
        Symmetric, with the diagonal.
    """

    has_hessian = True
    strongly_convex = True

    def __init__(self, whole: LogDet, support: Mask) -> None:
        super().__init__()
        self._passes = whole._passes
        self.whole = whole
        self.rows, self.columns = np.nonzero(support)
        if not (support[self.columns, self.rows].all() and support.diagonal().all()):
            raise ValueError("the support of a precision matrix must be symmetric, with the diagonal; use Pairs")
        self.shape = (self.rows.size,)
        self._value_at_zero = np.inf

    def matrix(self, x: Array) -> Array:
        """The matrix with these entries."""
        omega = np.zeros(self.whole.shape)
        omega[self.rows, self.columns] = x
        return omega

    def at(self, x: Array) -> Point:
        point = self.whole.at(self.matrix(x))
        return Point(self, x, point.value, point.state)

    def gradient(self, point: Point) -> Array:
        return self.whole.covariance[self.rows, self.columns] - _inverse_at(point)[self.rows, self.columns]

    def restrict(self, support: Mask) -> LogDetOnSupport:
        return self.whole.restrict(self.matrix(support.astype(np.float64)) != 0)

    def hessian(self, point: Point) -> Array:
        """(W ⊗ W) on the support, which for symmetric matrices is the second derivative."""
        inverse = _inverse_at(point)
        return inverse[np.ix_(self.rows, self.rows)] * inverse[np.ix_(self.columns, self.columns)]

    def hessian_operator(self, point: Point) -> LinearOperator:
        inverse = _inverse_at(point)

        def product(entries: Array) -> Array:
            step = sparse.csr_array((entries.ravel(), (self.rows, self.columns)), shape=self.whole.shape)
            return (inverse @ (step @ inverse))[self.rows, self.columns]

        return LinearOperator((self.size, self.size), matvec=product, dtype=np.float64)

    def curvature(self, point: Point) -> Array:
        return self.whole.curvature(point)[self.rows, self.columns]

    def lacks_minimum(self, point: Point) -> bool:
        """Whether a variable without an upper bound is explained by the others as well as rounding can tell."""
        if self.whole.bounds.upper < np.inf:
            return False
        diagonal = self.rows == self.columns
        return bool((point.x[diagonal] * self.whole.covariance.diagonal()).max() > EXPLAINED)


def _inverse_at(point: Point) -> Array:
    if point.state is None:
        raise ValueError("Ω is not positive definite or not within its eigenvalue bounds; pass a feasible matrix")
    inverse: Array = point.state.matrix
    return inverse


def _check_covariance(covariance: Any) -> Array:
    matrix = check_array(covariance, dtype=np.float64, input_name="covariance", estimator="LogDet")
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"covariance has shape {matrix.shape}; it must be square. For samples, use SparsePrecision, or pass "
            "numpy.cov(X, rowvar=False)"
        )
    scale = float(np.abs(matrix).max())
    asymmetry = float(np.abs(matrix - matrix.T).max())
    if asymmetry > ROUNDING * scale:
        raise ValueError(
            f"covariance is not symmetric: it and its transpose differ by {asymmetry:.3g}; pass (A + A.T) / 2"
        )
    symmetric = 0.5 * (matrix + matrix.T)
    slack = ROUNDING * max(float(np.trace(symmetric)), np.finfo(float).tiny)
    if symmetric.diagonal().min() < 0 or cholesky(symmetric, slack) is None:
        lowest = float(np.linalg.eigvalsh(symmetric)[0])
        raise ValueError(
            f"covariance is indefinite: its smallest eigenvalue is {lowest:.3g}; a covariance has none below 0. "
            "If it was estimated pair by pair, project it or add a multiple of the identity"
        )
    return symmetric


def _check_bounds(bounds: Any, covariance: Array) -> EigenvalueBounds:
    if bounds is None:
        return EigenvalueBounds(0.0, np.inf)
    if isinstance(bounds, str):
        if bounds != "paper":
            raise ValueError(f'bounds must be "paper", a pair (alpha, beta) or None, got {bounds!r}')
        return eigenvalue_bounds(covariance)
    try:
        lower, upper = (float(value) for value in bounds)
    except (TypeError, ValueError) as error:
        raise ValueError(f'bounds must be "paper", a pair (alpha, beta) or None, got {bounds!r}') from error
    if not 0 <= lower <= upper or upper == 0 or not np.isfinite(lower):
        raise ValueError(
            f"bounds must satisfy 0 <= alpha <= beta with beta > 0, got alpha = {lower:g} and beta = {upper:g}; "
            "they are the smallest and the largest eigenvalue that the precision matrix may have"
        )
    return EigenvalueBounds(lower, upper)
