"""The largest eigenvalue of an operator, for Lipschitz constants."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

__all__ = ["largest_eigenvalue"]

#: Relative tolerance of Lanczos, which underestimates the largest eigenvalue by no more.
LANCZOS_TOLERANCE = 1e-3


def largest_eigenvalue(operator: LinearOperator) -> float:
    """Largest eigenvalue of a positive semidefinite operator, rounded up by Lanczos' tolerance."""
    size = operator.shape[0]
    start = np.cos(np.arange(1.0, size + 1.0))  # a fixed start: the same call gives the same bytes
    if not np.any(operator @ start):
        return 1.0  # f is linear: any constant bounds its curvature
    if size <= 3:
        return float(np.linalg.eigvalsh(operator @ np.eye(size))[-1])
    top = eigsh(operator, k=1, which="LA", v0=start, tol=LANCZOS_TOLERANCE, return_eigenvectors=False)
    return float(top[0]) * (1.0 + LANCZOS_TOLERANCE)
