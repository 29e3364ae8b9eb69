"""Condition C(s, ζ, ρ_s) of the paper's §3, its constants, and the rates and bounds that follow from them."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from scipy import sparse

from ..designs.moments import CHUNK_ROWS
from ..validation import check_number_of_units, check_positive_number

__all__ = ["GRAHTP_LIMIT", "ConditionC", "logdet_condition", "logistic_condition"]

#: Theorem 2 needs ρ_s below these: 1/(√2 + 1) for GraHTP, as in the paper, and ½ for FGraHTP, by the same argument.
GRAHTP_LIMIT, FGRAHTP_LIMIT = 1.0 / (sqrt(2.0) + 1.0), 0.5

#: What a ρ below 1 is that would round to 1.
BELOW_ONE = float(np.nextafter(1.0, 0.0))


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
    >>> condition = ConditionC.from_hessian(m=0.9, M=1.1)
    >>> condition.rho.__round__(3), condition.step_limit.__round__(3)
    (0.1, 0.909)
    >>> low, high = condition.find_grahtp_steps()
    >>> round(low, 3), round(high, 3)
    (0.512, 1.0)
    >>> condition.grahtp_rate(step=0.95).__round__(3)
    0.244
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
        return cls(zeta, min(sqrt(max(1 - 2 * zeta * m + (zeta * M) ** 2, 0.0)), BELOW_ONE))

    @classmethod
    def from_hessian(cls, m: float, M: float) -> ConditionC:
        """The best constants if all s × s blocks of the Hessian have eigenvalues in [m, M], wherever they are taken.

        The change of ∇_F f from y to x is a mean of Hessian blocks times x − y, so that the condition holds with
        ρ = ‖I − ζ∇²_F f‖, at most (M − m)/(M + m) for ζ = 2/(m + M). If m and M are sharp, no ζ has a smaller ρ.
        """
        if not 0 < m <= M < np.inf:
            raise ValueError(f"Condition C needs 0 < m <= M < inf, got m = {m!r} and M = {M!r}")
        return cls(2.0 / (m + M), min((M - m) / (M + m), BELOW_ONE))

    @property
    def step_limit(self) -> float:
        """Theorem 1: for η < ζ/(1 + ρ_2k), GraHTP converges in finitely many iterations."""
        return self.zeta / (1.0 + self.rho)

    def find_grahtp_steps(self) -> tuple[float, float] | None:
        """Inequality (3.2) and η < ζ: the open range of steps for which μ₁ < 1; None if ρ ≥ 1/(√2 + 1)."""
        if self.rho >= GRAHTP_LIMIT:
            return None
        root = sqrt(2.0)
        return ((2 * root + 1) * self.rho + root - 1) / (root + root * self.rho) * self.zeta, self.zeta

    def find_fgrahtp_steps(self) -> tuple[float, float] | None:
        """The open range of steps for which μ₂ < 1, as (3.2) is for μ₁; None if ρ ≥ ½."""
        if self.rho >= FGRAHTP_LIMIT:
            return None
        return (1 + 4 * self.rho) / (2 + 2 * self.rho) * self.zeta, self.zeta

    def grahtp_rate(self, step: float) -> float:
        """μ₁ of Theorem 2(a)."""
        ratio = step / self.zeta
        return sqrt(2.0) * (1 - ratio + (2 - ratio) * self.rho) / (1 - self.rho)

    def fgrahtp_rate(self, step: float) -> float:
        """μ₂ of Theorem 2(b)."""
        ratio = step / self.zeta
        return 2.0 * (1 - ratio + (2 - ratio) * self.rho)

    def find_grahtp_factor(self, step: float) -> float:
        """What Theorem 2(a) multiplies ‖∇_k f(x̄)‖ by: (2η + ζ)/((1 − μ₁)(1 − ρ))."""
        rate = self._check_rate(self.grahtp_rate(step), step)
        return (2 * step + self.zeta) / ((1 - rate) * (1 - self.rho))

    def find_fgrahtp_factor(self, step: float) -> float:
        """What Theorem 2(b) multiplies ‖∇_s f(x̄)‖ by: 2η/(1 − μ₂)."""
        return 2 * step / (1 - self._check_rate(self.fgrahtp_rate(step), step))

    def grahtp_bound(self, step: float, t: Any, initial_error: float, gradient_norm: float) -> Any:
        """Theorem 2(a): bound of ‖x⁽ᵗ⁾ − x̄‖ from ‖x⁽⁰⁾ − x̄‖ and ‖∇_k f(x̄)‖."""
        factor = self.find_grahtp_factor(step)
        return self.grahtp_rate(step) ** np.asarray(t) * initial_error + factor * gradient_norm

    def fgrahtp_bound(self, step: float, t: Any, initial_error: float, gradient_norm: float) -> Any:
        """Theorem 2(b): bound of ‖x⁽ᵗ⁾ − x̄‖ from ‖x⁽⁰⁾ − x̄‖ and ‖∇_s f(x̄)‖."""
        factor = self.find_fgrahtp_factor(step)
        return self.fgrahtp_rate(step) ** np.asarray(t) * initial_error + factor * gradient_norm

    def _check_rate(self, rate: float, step: float) -> float:
        if not 0 < step < self.zeta:
            raise ValueError(f"Theorem 2 needs 0 < step < zeta = {self.zeta:.4g}, got {step!r}")
        if rate >= 1:
            raise ValueError(
                f"Theorem 2 needs a rate below 1, but it is {rate:.4g}; the condition must hold with a smaller rho"
            )
        return rate


def logistic_condition(X: Any, alpha: float, s: int) -> ConditionC:
    """Proposition 1: Condition C for ridge-penalized logistic regression, with ζ = alpha/(√s·R_s² + alpha)².

    R_s is the largest norm of s entries of a row of X. The paper writes 4√s·R_s² for features u; here x = 2u.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p)
        The features; without an intercept, which is not penalized.
    alpha : float
        The ridge, λ in the paper.
    s : int
        Size of the supports.

    Examples
    --------
    >>> import numpy as np
    >>> logistic_condition(np.array([[1.0, 0.0], [0.0, 2.0]]), alpha=1.0, s=1).zeta
    0.04
    """
    alpha, s = check_positive_number(alpha, "alpha"), check_number_of_units(s, "features")
    return ConditionC.from_convexity(alpha, sqrt(s) * measure_largest_row(X, s) ** 2 + alpha)


def measure_largest_row(X: Any, s: int) -> float:
    """R_s, the largest norm of s entries of a row of X."""
    largest = 0.0
    for start in range(0, X.shape[0], CHUNK_ROWS):
        rows = X[start : start + CHUNK_ROWS]
        squares = np.square(np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64))
        if 0 < s < squares.shape[1]:
            squares = np.partition(squares, squares.shape[1] - s, axis=1)[:, -s:]
        largest = max(largest, float(squares.sum(axis=1).max(initial=0.0)) if s else 0.0)
    return sqrt(largest)


def logdet_condition(bounds: tuple[float, float]) -> ConditionC:
    """Proposition 3: Condition C of −log det Ω + ⟨Σ, Ω⟩ for αI ⪯ Ω ⪯ βI, with ζ = α⁴/β².

    That is half of what ζ must be below. There f is β⁻²-strongly convex and α⁻²-strongly smooth, whatever s.

    Parameters
    ----------
    bounds : pair of floats
        α and β, 0 < α ≤ β < ∞, such as an `EigenvalueBounds`.

    Examples
    --------
    >>> from ksparse.theory import logdet_condition
    >>> condition = logdet_condition((1.0, 2.0))
    >>> condition.zeta, round(condition.rho, 3)
    (0.25, 0.968)
    """
    lower, upper = bounds
    if not 0 < lower <= upper < np.inf:
        raise ValueError(
            f"Proposition 3 needs bounds 0 < alpha <= beta < inf of the eigenvalues, got {lower!r}, {upper!r}"
        )
    return ConditionC.from_convexity(upper**-2, lower**-2)
