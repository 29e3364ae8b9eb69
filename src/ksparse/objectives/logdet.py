"""The Gaussian likelihood of a precision matrix, −log det Ω + ⟨Σ, Ω⟩, within eigenvalue bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from .._types import Array, Mask
from .base import Objective, Outcome, Point, TwiceDifferentiable
from .definite import EigenvalueBounds, Inverse, check_bounds, check_covariance
from .protocols import (
    DetectsUnboundedness,
    HasHeavyState,
    HasLipschitzConstant,
    HasSwapScores,
    HasWorkingForm,
    NoLipschitzConstantError,
    QuadraticModel,
    WorkingForm,
)

__all__ = ["LogDet", "LogDetOnSupport"]

#: A bound binds if an eigenvalue is within this relative distance of it.
BINDING_DISTANCE = 1e-6
#: Two variables are equal if the determinant of their correlation matrix is smaller.
MIN_PAIR_DETERMINANT = 1e-12
#: Variance inflation Σ_ii·Ω_ii at which a variable is a linear function of the others.
MAX_INFLATION = 1e10


class LogDet(Objective, HasSwapScores, HasLipschitzConstant, HasHeavyState, HasWorkingForm):
    """f(Ω) = −log det Ω + ⟨Σ, Ω⟩ for αI ⪯ Ω ⪯ βI, infinite elsewhere (paper, §4.2): twice the Gaussian −log-likelihood.

    Its gradient is Σ − Ω⁻¹. Sparsity is counted in pairs: k edges of the graph of Ω, with its diagonal always in. Where
    x is not symmetric, f is that of its symmetric part.

    Parameters
    ----------
    covariance : array-like of shape (p, p)
        Σ, symmetric and positive semidefinite; it may be singular.
    bounds : "paper", "auto", pair of floats, or None, default="paper"
        α and β; "paper" takes `eigenvalue_bounds`. With None there are none: Ω need only be positive definite, and
        with fewer samples than variables f may have no minimum on a support. "auto" is None for a regular covariance,
        for which f has a minimum on every support, and "paper" for a singular one.

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

    unit_kind = "pairs"

    def __init__(self, covariance: Any, bounds: Any = "paper") -> None:
        super().__init__()
        matrix = check_covariance(covariance)
        self._initialize(matrix, check_bounds(bounds, matrix))

    @classmethod
    def of_valid(cls, covariance: Array, bounds: EigenvalueBounds) -> LogDet:
        """The objective of a matrix that is known to be a covariance, without checking it again."""
        objective = object.__new__(cls)
        Objective.__init__(objective)
        objective._initialize(covariance, bounds)
        return objective

    def _initialize(self, covariance: Array, bounds: EigenvalueBounds) -> None:
        self.covariance, self.bounds = covariance, bounds
        self.shape = covariance.shape
        self.free = np.eye(len(covariance), dtype=bool)

    @property
    def start(self) -> Array:
        """Ω⁽⁰⁾ = αI (paper, Algorithm 2); without bounds, the inverse of the largest variance instead of α."""
        alpha = self.bounds.lower or 1.0 / max(float(self.covariance.diagonal().max()), np.finfo(float).tiny)
        return alpha * np.eye(len(self.covariance))

    def evaluate(self, x: Array) -> Point:
        x = self.check_point(x)
        omega = 0.5 * (x + x.T)
        inverse = Inverse.from_matrix(omega)
        if inverse is None or not self.bounds.admit(omega):
            return Point(self, x, np.inf)
        return Point(self, x, inverse.log_det + float(np.sum(self.covariance * omega)), inverse)

    def gradient(self, point: Point) -> Array:
        """Σ − Ω⁻¹."""
        self.counters.passes += 1
        return self.covariance - _inverse_at(point)

    def curvature(self, point: Point) -> Array:
        """W_ii·W_jj + W_ij² for the pair x_ij = x_ji, half its second derivative; W_ii² on the diagonal."""
        inverse = _inverse_at(point)
        diagonal = inverse.diagonal()
        curvature = np.square(inverse)
        curvature += np.multiply.outer(diagonal, diagonal)
        curvature.flat[:: len(inverse) + 1] *= 0.5
        return curvature

    def entering_gains(self, point: Point, slopes: Array) -> Array:
        """The decrease of f if a pair and its two diagonal entries are refitted, half for each entry of the pair.

        With B = {i, j} and W = Ω⁻¹ it is log(det W_B/det Σ_B) + ⟨Σ_B, W_B⁻¹⟩ − 2.
        """
        from ._pair_gains import compute_pair_gains  # compiled when it is first needed

        return compute_pair_gains(self.covariance, _inverse_at(point), MIN_PAIR_DETERMINANT)

    def leaving_costs(self, point: Point) -> Array:
        """The increase of f if a pair is set to zero and its two diagonal entries refitted, half for each entry.

        With B = {i, j} and V = (Ω⁻¹)_B⁻¹, removing the pair sets V_ij to c = V_ij − Ω_ij, and the best diagonal has
        det V = D with Σ_iiΣ_jj·D² = D + c².
        """
        rows, columns = np.nonzero(point.x)
        above = rows < columns
        rows, columns = rows[above], columns[above]
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

    def quadratic_model(self, point: Point, coordinates: Mask) -> QuadraticModel:
        """The quadratic model in the entries on and above the diagonal, each of which moves its mirror image too."""
        rows, columns = np.nonzero(np.triu(coordinates))
        inverse = _inverse_at(point)
        # E_a = s(e_i·e_jᵀ + e_j·e_iᵀ), with s = ½ on the diagonal, gives H_ab = tr(W·E_a·W·E_b).
        scale = np.where(rows == columns, 0.5, 1.0)
        crossed = inverse[np.ix_(rows, columns)]
        hessian = inverse[np.ix_(rows, rows)] * inverse[np.ix_(columns, columns)] + crossed * crossed.T
        hessian *= 2.0 * np.multiply.outer(scale, scale)
        slopes = 2.0 * scale * point.gradient[rows, columns]
        return QuadraticModel(np.triu(coordinates), hessian, hessian @ point.x[rows, columns] - slopes)

    def lipschitz(self, metric: Array | None = None) -> float:
        """1/α², the largest eigenvalue of Ω⁻¹ ⊗ Ω⁻¹ within the bounds (paper, Proposition 3)."""
        if not self.bounds.lower:
            raise NoLipschitzConstantError(
                "without a lower bound of the eigenvalues the gradient of LogDet has no Lipschitz constant; "
                "set bounds, give a constant step, or use Backtracking()"
            )
        smallest = 1.0 if metric is None else float(metric.min())
        return 1.0 / (self.bounds.lower**2 * smallest)

    def working_form(self) -> WorkingForm:
        """f itself; of all x with the same symmetric part, on which alone f depends, that part is returned."""
        return WorkingForm(self, canonical=lambda x: 0.5 * (x + x.T))

    def without_state(self, point: Point) -> Point:
        """Without Ω⁻¹."""
        return Point(self, point.x, point.value)

    def advice(self, outcome: Outcome, x: Array) -> str:
        if outcome is Outcome.NO_MINIMUM:
            return (
                "There are more edges than the samples determine, or a constant variable. "
                "Set bounds of the eigenvalues, or lower k"
            )
        if outcome is Outcome.UNFINISHED:
            unbounded = self.bounds == EigenvalueBounds(0.0, np.inf)
            return "Set bounds of the eigenvalues" if unbounded else "Widen the bounds of the eigenvalues"
        return "" if self.bounds.tighten(BINDING_DISTANCE).admit(x) else "a bound of the eigenvalues binds"

    def restrict(self, support: Mask) -> LogDetOnSupport:
        return LogDetOnSupport(self, support)


class LogDetOnSupport(TwiceDifferentiable, DetectsUnboundedness):
    """`LogDet` as a function of the entries in a symmetric support, in the order of its rows."""

    is_strongly_convex = True

    def __init__(self, whole: LogDet, support: Mask) -> None:
        super().__init__()
        self.counters = whole.counters
        self.counters.restrictions += 1
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

    def evaluate(self, x: Array) -> Point:
        point = self.whole.evaluate(self.matrix(x))
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

    def is_unbounded_below(self, point: Point) -> bool:
        """Whether, without an upper bound, a variable is a linear function of the others up to rounding."""
        if self.whole.bounds.upper < np.inf:
            return False
        diagonal = self.rows == self.columns
        return bool((point.x[diagonal] * self.whole.covariance.diagonal()).max() > MAX_INFLATION)


def _inverse_at(point: Point) -> Array:
    if point.state is None and np.isfinite(point.value):
        point.state = Inverse.from_matrix(point.x)
    if point.state is None:
        raise ValueError("Ω is not positive definite or not within its eigenvalue bounds; pass a feasible matrix")
    inverse: Array = point.state.matrix
    return inverse
