"""The alternating direction method for a precision matrix on a support, within its bounds (paper, Appendix B)."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from .._types import Array, Mask
from ..objectives.definite import EigenvalueBounds, cholesky

__all__ = ["Adm", "adm", "pulled_in"]

#: ρ changes, by no more than this factor, when one residual is so many times the other; looked at so often.
FACTOR, IMBALANCE, PATIENCE = 10.0, 5.0, 10
#: Where nothing bounds Ω from above, a smaller share of its largest eigenvalue makes a multiplier singular.
SINGULAR = 1e-9
#: A matrix so many times as large as Σ⁻¹ should be is on its way to infinity.
ASTRAY = 1e20


class Adm(NamedTuple):
    """Where the method ended.

    Attributes
    ----------
    omega : ndarray of shape (m, m)
        A matrix on the support and within the bounds.
    converged : bool
        Whether the residuals are as small as asked.
    """

    omega: Array
    converged: bool


def adm(
    covariance: Array,
    support: Mask,
    bounds: EigenvalueBounds,
    start: Array,
    *,
    tol: float,
    max_iter: int,
    rho: float | None = None,
) -> Adm:
    """min{−log det Ω + ⟨Σ, Ω⟩ : αI ⪯ Ω ⪯ βI, Ω = Θ, supp(Θ) ⊆ F} by alternating directions.

    Ω = V·clip((λ + √(λ² + 4/ρ))/2, α, β)·Vᵀ with VΛVᵀ = Θ − (Σ − Γ)/ρ; Θ = [Ω − Γ/ρ]_F; Γ = Γ − ρ(Ω − Θ).

    Parameters
    ----------
    covariance : ndarray of shape (m, m)
        Σ.
    support : mask of shape (m, m)
        F, symmetric, with the diagonal.
    bounds : EigenvalueBounds
        α and β.
    start : ndarray of shape (m, m)
        Θ at first.
    tol : float
        How small both residuals must be, relative to the matrices they belong to.
    max_iter : int
        Limit of iterations, each with one eigendecomposition.
    rho : float, optional
        ρ. By default it begins at the squared mean variance, and changes so that both residuals fall alike (Boyd et
        al., Distributed Optimization and Statistical Learning via the ADMM, 2011, §3.4.1).

    Returns
    -------
    Adm
        The matrix and whether the method has converged.
    """
    adapts = rho is None
    if rho is None:
        rho = max(float(covariance.diagonal().mean()), np.finfo(float).tiny ** 0.25) ** 2
    theta = np.where(support, start, 0.0)
    gamma = np.where(support, 0.0, covariance)
    # On a complete graph Γ is zero: its changes are then measured by Σ.
    size = max(float(np.linalg.norm(covariance)), np.finfo(float).tiny)
    converged = False
    for iteration in range(1, max_iter + 1):
        omega = _likeliest(theta - (covariance - gamma) / rho, rho, bounds)
        previous, theta = theta, np.where(support, omega - gamma / rho, 0.0)
        gap = omega - theta
        gamma -= rho * gap
        primal = float(np.linalg.norm(gap)) / max(float(np.linalg.norm(omega)), float(np.linalg.norm(theta)))
        dual = rho * float(np.linalg.norm(theta - previous)) / max(float(np.linalg.norm(gamma)), size)
        if primal <= tol and dual <= tol and (bounds.upper < np.inf or _has_bottom(covariance - gamma)):
            converged = True
            break
        if float(np.linalg.norm(omega)) * size > ASTRAY:
            break
        ratio = primal / max(dual, 1e-300)
        if adapts and iteration % PATIENCE == 0 and not 1.0 / IMBALANCE < ratio < IMBALANCE:
            rho *= float(np.clip(np.sqrt(ratio), 1.0 / FACTOR, FACTOR))
    found = pulled_in(theta, bounds)[0]
    if not converged:
        # Where f falls for ever the iterates go astray; no start is made worse.
        found = min(found, pulled_in(np.where(support, start, 0.0), bounds)[0], key=partial(_value, covariance))
    return Adm(found, converged)


def _likeliest(middle: Array, rho: float, bounds: EigenvalueBounds) -> Array:
    """argmin{½‖Ω − M‖² − (1/ρ)·log det Ω : αI ⪯ Ω ⪯ βI}."""
    values, vectors = np.linalg.eigh(middle)
    values = np.clip(0.5 * (values + np.sqrt(np.square(values) + 4.0 / rho)), bounds.lower, bounds.upper)
    omega = (vectors * values) @ vectors.T
    return np.asarray(0.5 * (omega + omega.T))  # a product is symmetric up to rounding only


def _has_bottom(dual: Array) -> bool:
    """Whether Σ − Γ is positive definite, as it is at a minimum, where it is at least Ω⁻¹."""
    values = np.linalg.eigvalsh(dual)
    return bool(values[0] > SINGULAR * values[-1])


def _value(covariance: Array, omega: Array) -> float:
    factor = cholesky(omega)
    return np.inf if factor is None else float(np.sum(covariance * omega) - 2.0 * np.log(factor.diagonal()).sum())


def pulled_in(theta: Array, bounds: EigenvalueBounds) -> tuple[Array, float]:
    """Θ moved towards a multiple of the identity until it is within the bounds, and by what share."""
    values = np.linalg.eigvalsh(theta)
    lowest, highest = float(values[0]), float(values[-1])
    if bounds.lower <= lowest and highest <= bounds.upper and lowest > 0:
        return theta, 0.0
    floor = bounds.lower if bounds.lower > 0 else 1e-8 * max(highest, np.finfo(float).tiny)
    centre = float(np.clip(theta.diagonal().mean(), bounds.lower, bounds.upper))
    if not bounds.lower < centre < bounds.upper:
        centre = 0.5 * (bounds.lower + min(bounds.upper, 2.0 * bounds.lower + 1.0))
    share = 0.0
    if lowest < floor:
        share = (floor - lowest) / (centre - lowest) if centre > lowest else 1.0
    if highest > bounds.upper:
        share = max(share, (highest - bounds.upper) / (highest - centre))
    share = min(share * (1.0 + 1e-12), 1.0)
    return (1.0 - share) * theta + share * centre * np.eye(len(theta)), share
