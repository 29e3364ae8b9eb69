"""The general quadratic ½xᵀAx − bᵀx."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from sklearn.utils import check_array

from .._types import Array, Mask
from ..validation import check_vector
from .base import Objective, Outcome, Point, TwiceDifferentiable
from .protocols import HasLipschitzConstant, largest_eigenvalue

__all__ = ["Quadratic"]


class Quadratic(TwiceDifferentiable, HasLipschitzConstant):
    """f(x) = ½xᵀAx − bᵀx.

    Parameters
    ----------
    A : array-like or sparse matrix of shape (p, p)
        Symmetric. Where it is not positive semidefinite on a support, f has no minimum there, and the result says so.
    b : array-like of shape (p,)
        The linear term.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> from ksparse.objectives import Quadratic
    >>> ksparse.minimize(Quadratic(np.diag([1.0, 2.0, 4.0]), [1.0, 2.0, 2.0]), k=2).x
    array([1., 1., 0.])
    """

    is_quadratic = True
    _is_restricted = False

    def __init__(self, A: Any, b: Any) -> None:
        super().__init__()
        matrix = check_array(A, accept_sparse="csc", dtype=np.float64, input_name="A", estimator="Quadratic")
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"A has shape {matrix.shape}; a quadratic form needs a square matrix")
        asymmetry = abs(matrix - matrix.T).max()
        if asymmetry > 1e-8 * max(abs(matrix).max(), np.finfo(float).tiny):
            raise ValueError(f"A is not symmetric: A and its transpose differ by {asymmetry:.3g}; pass (A + A.T) / 2")
        self._A = matrix
        self._b = check_vector(b, "b", (matrix.shape[0],))
        self.shape = (matrix.shape[0],)

    def evaluate(self, x: Array) -> Point:
        x = self.check_point(x)
        support = np.flatnonzero(x)
        values = x[support]
        inner = self._A[np.ix_(support, support)] @ values
        return Point(self, x, float(0.5 * values @ inner - self._b[support] @ values))

    def gradient(self, point: Point) -> Array:
        """Ax − b, from the columns where x is nonzero: a pass, except on a support."""
        self.counters.passes += not self._is_restricted
        support = np.flatnonzero(point.x)
        return np.asarray(self._A[:, support] @ point.x[support]) - self._b

    def restrict(self, support: Mask) -> Quadratic:
        self.counters.restrictions += 1
        columns = np.flatnonzero(support)
        block = self._A[np.ix_(columns, columns)]
        restricted = object.__new__(Quadratic)
        Objective.__init__(restricted)
        restricted.counters = self.counters
        restricted._is_restricted = True
        restricted._A = block.toarray() if sparse.issparse(block) else block
        restricted._b = self._b[columns]
        restricted._value_at_zero = 0.0
        restricted.shape = (columns.size,)
        return restricted

    def advice(self, outcome: Outcome, x: Array) -> str:
        if outcome is Outcome.NO_MINIMUM:
            return "A is not positive semidefinite on the support, or b is not in its range; lower k, or change A"
        return "Add a multiple of the identity to A for a unique one" if outcome is Outcome.SINGULAR else ""

    def hessian(self, point: Point) -> Array:
        return np.array(self._A.toarray() if sparse.issparse(self._A) else self._A)

    def hessian_operator(self, point: Point) -> LinearOperator:
        return LinearOperator(self._A.shape, matvec=lambda v: self._A @ v, dtype=np.float64)

    def curvature(self, point: Point) -> Array:
        diagonal = np.asarray(self._A.diagonal(), dtype=np.float64)
        largest = float(np.abs(diagonal).max(initial=0.0)) or 1.0
        return np.maximum(diagonal, 1e-10 * largest)

    def lipschitz(self, metric: Array | None = None) -> float:
        scale = np.ones(self.shape[0]) if metric is None else 1.0 / np.sqrt(metric)

        def product(vector: Array) -> Array:
            self.counters.passes += 1
            return scale * (self._A @ (scale * vector.ravel()))

        return largest_eigenvalue(LinearOperator(self._A.shape, matvec=product, dtype=np.float64))
