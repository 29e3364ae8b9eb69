"""Condition C(s, ζ, ρ_s) of the paper's §3, its constants, and the rates and bounds that follow from them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb, sqrt
from typing import Any

import numpy as np

from .._types import Array
from ..validation import check_number_of_units, check_positive_number

__all__ = ["ConditionC", "logistic_condition", "restricted_eigenvalues"]

#: Largest number of supports that are enumerated.
MAX_SUPPORTS = 2_000_000


@dataclass(frozen=True)
class ConditionC:
    """‖x − y − ζ∇_F f(x) + ζ∇_F f(y)‖ ≤ ρ·‖x − y‖ for all x, y supported on a common F of size s (Definition 1).

    Parameters
    ----------
    zeta : float
        ζ > 0.
    rho : float
        0 ≤ ρ < 1.

    Examples
    --------
    >>> condition = ConditionC.from_quadratic(m=0.9, M=1.1)
    >>> condition.rho.__round__(3), condition.step_limit.__round__(3)
    (0.1, 0.909)
    >>> condition.grahtp_rate(step=condition.zeta * 0.95) < 1
    True
    """

    zeta: float
    rho: float

    def __post_init__(self) -> None:
        check_positive_number(self.zeta, "zeta")
        if not 0 <= self.rho < 1:
            raise ValueError(f"rho must satisfy 0 <= rho < 1, got {self.rho!r}; the condition does not hold otherwise")

    @classmethod
    def from_convexity(cls, m: float, M: float, zeta: float | None = None) -> ConditionC:
        """Lemma 1(b): m-strongly convex and M-smooth on s-sparse vectors, ζ < 2m/M² (default: m/M²)."""
        zeta = m / M**2 if zeta is None else zeta
        if not 0 < zeta < 2 * m / M**2:
            raise ValueError(f"Lemma 1(b) needs 0 < zeta < 2m/M^2 = {2 * m / M**2:.4g}, got {zeta!r}")
        return cls(zeta, sqrt(max(1 - 2 * zeta * m + (zeta * M) ** 2, 0.0)))

    @classmethod
    def from_quadratic(cls, m: float, M: float) -> ConditionC:
        """The best constants of a quadratic whose s × s Hessian blocks have eigenvalues in [m, M].

        The condition is ‖I − ζ∇²_F f‖ ≤ ρ for a quadratic, and ζ = 2/(m + M) gives ρ = (M − m)/(M + m).
        """
        return cls(2.0 / (m + M), (M - m) / (M + m))

    @property
    def step_limit(self) -> float:
        """Theorem 1: for η < ζ/(1 + ρ_2k), GraHTP converges in finitely many iterations."""
        return self.zeta / (1.0 + self.rho)

    def grahtp_rate(self, step: float) -> float:
        """μ₁ of Theorem 2(a)."""
        ratio = step / self.zeta
        return sqrt(2.0) * (1 - ratio + (2 - ratio) * self.rho) / (1 - self.rho)

    def fgrahtp_rate(self, step: float) -> float:
        """μ₂ of Theorem 2(b)."""
        ratio = step / self.zeta
        return 2.0 * (1 - ratio + (2 - ratio) * self.rho)

    def grahtp_bound(self, step: float, t: Any, initial_error: float, gradient_norm: float) -> Any:
        """Theorem 2(a): bound of ‖x⁽ᵗ⁾ − x̄‖ from ‖x⁽⁰⁾ − x̄‖ and ‖∇_k f(x̄)‖."""
        rate = self._check_rate(self.grahtp_rate(step), step)
        floor = (2 * step + self.zeta) / ((1 - rate) * (1 - self.rho)) * gradient_norm
        return rate ** np.asarray(t) * initial_error + floor

    def fgrahtp_bound(self, step: float, t: Any, initial_error: float, gradient_norm: float) -> Any:
        """Theorem 2(b): bound of ‖x⁽ᵗ⁾ − x̄‖ from ‖x⁽⁰⁾ − x̄‖ and ‖∇_s f(x̄)‖."""
        rate = self._check_rate(self.fgrahtp_rate(step), step)
        return rate ** np.asarray(t) * initial_error + 2 * step / (1 - rate) * gradient_norm

    def _check_rate(self, rate: float, step: float) -> float:
        if not 0 < step < self.zeta:
            raise ValueError(f"Theorem 2 needs 0 < step < zeta = {self.zeta:.4g}, got {step!r}")
        if rate >= 1:
            raise ValueError(
                f"Theorem 2 needs a rate below 1, but it is {rate:.4g}; the condition must hold with a smaller rho"
            )
        return rate


def restricted_eigenvalues(hessian: Any, s: int) -> tuple[float, float]:
    """Smallest and largest eigenvalue m_s, M_s of all s × s principal blocks, by enumeration.

    Parameters
    ----------
    hessian : array-like of shape (p, p)
        The Hessian of a quadratic.
    s : int
        Size of the supports.

    Examples
    --------
    >>> import numpy as np
    >>> restricted_eigenvalues(np.diag([1.0, 2.0, 3.0]), 2)
    (1.0, 3.0)
    """
    matrix = np.asarray(hessian, dtype=np.float64)
    s = min(check_number_of_units(s), matrix.shape[0])
    n_supports = comb(matrix.shape[0], s)
    if n_supports > MAX_SUPPORTS:
        raise ValueError(
            f"there are {n_supports} supports of size {s}; at most {MAX_SUPPORTS} are enumerated; choose a smaller s"
        )
    smallest, largest = np.inf, 0.0
    chunk: list[tuple[int, ...]] = []
    for support in combinations(range(matrix.shape[0]), s):
        chunk.append(support)
        if len(chunk) == 4096:
            smallest, largest = _update_extremes(matrix, chunk, smallest, largest)
            chunk = []
    return _update_extremes(matrix, chunk, smallest, largest) if chunk else (smallest, largest)


def _update_extremes(
    matrix: Array, supports: list[tuple[int, ...]], smallest: float, largest: float
) -> tuple[float, float]:
    index = np.array(supports)
    eigenvalues = np.linalg.eigvalsh(matrix[index[:, :, None], index[:, None, :]])
    return min(smallest, float(eigenvalues[:, 0].min())), max(largest, float(eigenvalues[:, -1].max()))


def logistic_condition(X: Any, alpha: float, s: int) -> ConditionC:
    """Proposition 1: Condition C for ridge-penalized logistic regression, with ζ = alpha/(√s·R_s² + alpha)².

    R_s is the largest norm of s entries of a row of X. The paper writes 4√s·R_s² for features u; here x = 2u.

    Examples
    --------
    >>> import numpy as np
    >>> logistic_condition(np.array([[1.0, 0.0], [0.0, 2.0]]), alpha=1.0, s=1).zeta
    0.04
    """
    alpha = check_positive_number(alpha, "alpha")
    squares = np.sort(np.square(np.asarray(X, dtype=np.float64)), axis=1)
    radius_squared = float(squares[:, -s:].sum(axis=1).max())
    return ConditionC.from_convexity(alpha, sqrt(s) * radius_squared + alpha)
