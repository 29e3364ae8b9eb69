"""Shrinkage of a covariance towards its diagonal, by a factor or by an amount, and the likelihood of what is left."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import Array
from ..validation import check_nonnegative_number
from .definite import EigenvalueBounds, cholesky
from .logdet import LogDet

__all__ = ["ShrinkageError", "ShrunkenLogDet", "check_shrinkage", "shrink_covariance"]

#: How covariances may be shrunken.
WAYS = ("factor", "amount")
#: The largest change of a correlation in the last sweep, and the limit of sweeps: a few are usual, and some dozens
#: where the amount is small and there are fewer samples than variables.
LASSO_SWEEP_TOL, MAX_LASSO_SWEEPS = 1e-8, 1000
#: Where the sweeps start: covariances times this, since a covariance of few samples is singular.
START_FACTOR = 0.95


class ShrinkageError(ValueError):
    """A shrinkage is too small for a covariance that is nearly singular."""


class ShrunkenLogDet(LogDet):
    """`LogDet` of a shrunken covariance Σ_s, which also knows the covariance Σ of the samples."""

    unshrunken: Array

    @classmethod
    def of_covariances(cls, unshrunken: Array, shrunken: Array, bounds: EigenvalueBounds) -> ShrunkenLogDet:
        """The objective of a valid covariance and what shrinkage makes of it."""
        objective = cls.of_valid(shrunken, bounds)
        assert isinstance(objective, cls)
        objective.unshrunken = unshrunken
        return objective

    def unshrunken_value(self, omega: Array, value: float) -> float:
        """−log det Ω + ⟨Σ, Ω⟩ with the covariance of the samples, where `value` is that with Σ_s."""
        return value + float(np.sum((self.unshrunken - self.covariance) * omega))


def check_shrinkage(shrinkage: Any, name: str = "shrinkage") -> float:
    """A shrinkage as a float in [0, 1)."""
    value = check_nonnegative_number(shrinkage, name)
    if value >= 1:
        raise ValueError(
            f"{name} must be at least 0 and below 1, got {shrinkage!r}; 1 would leave no covariances and no edges, "
            "for which use k=0"
        )
    return value


def shrink_covariance(covariance: Array, shrinkage: float, by: str = "factor") -> Array:
    """Shrink the covariances of a valid covariance matrix, not its variances.

    By a factor: Σ_s = (1 − s)·Σ + s·diag(Σ). By an amount: Σ_s = argmax{log det W : |W_ij − Σ_ij| ≤ s·v, W_ii = Σ_ii},
    with v the mean variance; its inverse is the matrix of the graphical lasso with the penalty s·v.

    Parameters
    ----------
    covariance : ndarray of shape (p, p)
        Σ.
    shrinkage : float
        s, at least 0 and below 1.
    by : {"factor", "amount"}, default="factor"
        Whether all covariances are shrunken by the same factor or by the same amount.

    Returns
    -------
    ndarray of shape (p, p)
        Σ_s.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.objectives.shrinkage import shrink_covariance
    >>> correlations = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> shrink_covariance(correlations, 0.2).round(6)
    array([[1. , 0.4],
           [0.4, 1. ]])
    >>> shrink_covariance(correlations, 0.2, by="amount").round(6)
    array([[1. , 0.3],
           [0.3, 1. ]])

    References
    ----------
    J. Friedman, T. Hastie and R. Tibshirani, *Sparse inverse covariance estimation with the graphical lasso*,
    Biostatistics 9 (2008), 432–441.
    """
    if not isinstance(by, str) or by not in WAYS:
        raise ValueError(f'shrink_by must be "factor" or "amount", got {by!r}')
    value = check_shrinkage(shrinkage)
    if value == 0.0:
        return covariance
    return _shrink_by_factor(covariance, value) if by == "factor" else _shrink_by_amount(covariance, value)


def _shrink_by_factor(covariance: Array, shrinkage: float) -> Array:
    shrunken = (1.0 - shrinkage) * covariance
    np.fill_diagonal(shrunken, covariance.diagonal())
    return shrunken


def _shrink_by_amount(covariance: Array, shrinkage: float) -> Array:
    from ._lasso import sweep_lasso  # compiled when it is first needed

    real = np.flatnonzero(covariance.diagonal() > 0)  # a constant variable has no covariances to shrink
    shrunken = covariance.copy()
    if real.size < 2:
        return shrunken
    part = np.ix_(real, real)
    unit = float(covariance[part].diagonal().mean())
    target = covariance[part] / unit
    W = _shrink_by_factor(target, 1.0 - START_FACTOR)
    change = sweep_lasso(target, shrinkage, W, LASSO_SWEEP_TOL, MAX_LASSO_SWEEPS)
    if change > np.sqrt(LASSO_SWEEP_TOL) or not np.isfinite(W).all() or cholesky(W) is None:
        raise ShrinkageError(
            f'shrinkage = {shrinkage:g} with shrink_by="amount" is too small for a covariance that is nearly singular: '
            'the graphical lasso does not converge; raise it, or use shrink_by="factor"'
        )
    shrunken[part] = unit * W
    return shrunken
