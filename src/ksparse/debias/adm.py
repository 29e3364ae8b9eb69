"""The alternating direction method for a precision matrix on a support, within its bounds (paper, Appendix B)."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from .._types import Array, Mask
from ..objectives.definite import EigenvalueBounds, cholesky

__all__ = ["AdmResult", "minimize_adm", "project_to_bounds"]

#: ρ is adapted every ADAPT_EVERY iterations, by at most a factor, when one residual is MAX_IMBALANCE times the other.
MAX_RHO_FACTOR, MAX_IMBALANCE, ADAPT_EVERY = 10.0, 5.0, 10
#: Without an upper bound, Σ − Γ is singular if its smallest eigenvalue is a smaller fraction of its largest.
SINGULAR_DUAL = 1e-9
#: The iterates diverge if ‖Ω‖·‖Σ‖ exceeds this.
DIVERGED = 1e20


class AdmResult(NamedTuple):
    """A matrix on the support and within the bounds, and whether the residuals are small enough."""

    omega: Array
    converged: bool


def minimize_adm(
    covariance: Array,
    support: Mask,
    bounds: EigenvalueBounds,
    start: Array,
    *,
    tol: float,
    max_iter: int,
    rho: float | None = None,
) -> AdmResult:
    """min{−log det Ω + ⟨Σ, Ω⟩ : αI ⪯ Ω ⪯ βI, Ω = Θ, supp(Θ) ⊆ F} by alternating directions.

    Ω = V·clip((λ + √(λ² + 4/ρ))/2, α, β)·Vᵀ with VΛVᵀ = Θ − (Σ − Γ)/ρ; Θ = [Ω − Γ/ρ]_F; Γ = Γ − ρ(Ω − Θ).

    Θ starts at `start`. `tol` is the tolerance of both residuals, relative to their matrices. Each iteration
    has one eigendecomposition. By default ρ starts at the squared mean variance, and is adapted to balance both
    residuals (Boyd et al., Distributed Optimization and Statistical Learning via the ADMM, 2011, §3.4.1).
    """
    is_adaptive = rho is None
    if rho is None:
        rho = max(float(covariance.diagonal().mean()), np.finfo(float).tiny ** 0.25) ** 2
    theta = np.where(support, start, 0.0)
    gamma = np.where(support, 0.0, covariance)
    # On a complete graph Γ is zero: its changes are then measured by Σ.
    size = max(float(np.linalg.norm(covariance)), np.finfo(float).tiny)
    converged = False
    for iteration in range(1, max_iter + 1):
        omega = _proximal_logdet(theta - (covariance - gamma) / rho, rho, bounds)
        previous, theta = theta, np.where(support, omega - gamma / rho, 0.0)
        gap = omega - theta
        gamma -= rho * gap
        primal = float(np.linalg.norm(gap)) / max(float(np.linalg.norm(omega)), float(np.linalg.norm(theta)))
        dual = rho * float(np.linalg.norm(theta - previous)) / max(float(np.linalg.norm(gamma)), size)
        if primal <= tol and dual <= tol and (bounds.upper < np.inf or _is_dual_feasible(covariance - gamma)):
            converged = True
            break
        if float(np.linalg.norm(omega)) * size > DIVERGED:
            break
        ratio = primal / max(dual, 1e-300)
        if is_adaptive and iteration % ADAPT_EVERY == 0 and not 1.0 / MAX_IMBALANCE < ratio < MAX_IMBALANCE:
            rho *= float(np.clip(np.sqrt(ratio), 1.0 / MAX_RHO_FACTOR, MAX_RHO_FACTOR))
    found = project_to_bounds(theta, bounds)[0]
    if not converged:
        # Where f is unbounded below the iterates diverge; the result is no worse than the start.
        found = min(found, project_to_bounds(np.where(support, start, 0.0), bounds)[0], key=partial(_value, covariance))
    return AdmResult(found, converged)


def _proximal_logdet(middle: Array, rho: float, bounds: EigenvalueBounds) -> Array:
    """argmin{½‖Ω − M‖² − (1/ρ)·log det Ω : αI ⪯ Ω ⪯ βI}."""
    values, vectors = np.linalg.eigh(middle)
    values = np.clip(0.5 * (values + np.sqrt(np.square(values) + 4.0 / rho)), bounds.lower, bounds.upper)
    omega = (vectors * values) @ vectors.T
    return np.asarray(0.5 * (omega + omega.T))  # a product is symmetric up to rounding only


def _is_dual_feasible(dual: Array) -> bool:
    """Whether Σ − Γ is positive definite, as it is at a minimum, where it is at least Ω⁻¹."""
    values = np.linalg.eigvalsh(dual)
    return bool(values[0] > SINGULAR_DUAL * values[-1])


def _value(covariance: Array, omega: Array) -> float:
    factor = cholesky(omega)
    return np.inf if factor is None else float(np.sum(covariance * omega) - 2.0 * np.log(factor.diagonal()).sum())


def project_to_bounds(theta: Array, bounds: EigenvalueBounds) -> tuple[Array, float]:
    """Θ moved towards a multiple of the identity until it is within the bounds, and the fraction of the way."""
    values = np.linalg.eigvalsh(theta)
    lowest, highest = float(values[0]), float(values[-1])
    if bounds.lower <= lowest and highest <= bounds.upper and lowest > 0:
        return theta, 0.0
    floor = bounds.lower if bounds.lower > 0 else 1e-8 * max(highest, np.finfo(float).tiny)
    centre = float(np.clip(theta.diagonal().mean(), bounds.lower, bounds.upper))
    if not bounds.lower < centre < bounds.upper:
        centre = 0.5 * (bounds.lower + min(bounds.upper, 2.0 * bounds.lower + 1.0))
    fraction = 0.0
    if lowest < floor:
        fraction = (floor - lowest) / (centre - lowest) if centre > lowest else 1.0
    if highest > bounds.upper:
        fraction = max(fraction, (highest - bounds.upper) / (highest - centre))
    fraction = min(fraction * (1.0 + 1e-12), 1.0)
    return (1.0 - fraction) * theta + fraction * centre * np.eye(len(theta)), fraction
