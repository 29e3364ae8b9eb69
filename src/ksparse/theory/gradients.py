"""‖∇_s f(x̄)‖, which Theorem 2 multiplies into the error that remains, and Proposition 2's bound of it."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import Any

import numpy as np
from scipy import sparse

from .._types import Array
from ..objectives import Objective
from ..objectives.protocols import find_labels
from ..sparsity import Units, make_set
from ..validation import check_nonnegative_number, check_number_of_units, check_positive_number

__all__ = ["GradientBound", "bind_units", "logistic_gradient_bound", "norm_of_largest"]


@dataclass(frozen=True)
class GradientBound:
    """A bound of ‖∇_s f(w̄)‖, the s largest entries of the gradient at the true coefficients.

    Examples
    --------
    >>> from ksparse.theory import GradientBound
    >>> GradientBound(noise=0.5, shrinkage=0.25, probability=0.9).value
    0.75
    """

    #: The part of the noise, 4σ√(s·ln p/n).
    noise: float
    #: The part of the ridge, λ‖w̄_s‖.
    shrinkage: float
    #: The bound holds with at least this probability, 1 − 4/p; not positive for up to 4 features.
    probability: float

    @property
    def value(self) -> float:
        """The bound."""
        return self.noise + self.shrinkage


def logistic_gradient_bound(
    X: Any, s: int, *, alpha: float = 0.0, norm: float = 0.0, sigma: float | None = None
) -> GradientBound:
    """Proposition 2: ‖∇_s f(w̄)‖ ≤ 4σ√(s·ln p/n) + λ‖w̄_s‖ for logistic regression with a ridge.

    The paper's σ is that of features u, with P(v = 1 | u) = 1/(1 + exp(−2w̄ᵀu)); here x = 2u, which halves it. v·x_j
    minus its mean must be sub-Gaussian with the constant `sigma`: the mean, which Assumption 1 does not mention, is
    subtracted in its proof. By default `sigma` is the largest root mean square of a feature: by Hoeffding's
    inequality the bound then holds for these features, whatever their distribution, and fails with probability at most
    2/p⁷.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p)
        Features.
    s : int
        How many entries of the gradient: k for GraHTP, 2k + k̄ for FGraHTP.
    alpha : float, default=0
        The ridge, λ in the paper.
    norm : float, default=0
        ‖w̄‖, or that of its s largest entries.
    sigma : float, optional
        The sub-Gaussian constant of v·x_j.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.theory import logistic_gradient_bound
    >>> X = np.random.default_rng(0).choice([-1.0, 1.0], (10_000, 100))
    >>> bound = logistic_gradient_bound(X, s=10)
    >>> round(bound.value, 3), bound.probability
    (0.136, 0.96)
    """
    s = check_number_of_units(s, "features")
    alpha, norm = check_nonnegative_number(alpha, "alpha"), check_nonnegative_number(norm, "norm")
    n, p = X.shape
    if sigma is None:
        squares = np.asarray(X.multiply(X).mean(axis=0)) if sparse.issparse(X) else np.mean(np.square(X), axis=0)
        sigma = sqrt(float(squares.max(initial=0.0)))
    else:
        sigma = check_positive_number(sigma, "sigma")
    return GradientBound(2.0 * sigma * sqrt(min(s, p) * log(p) / n), alpha * norm, 1.0 - 4.0 / p)


def norm_of_largest(objective: Objective, gradient: Array, s: int) -> float:
    """‖∇_s f‖: the norm of the s units of a gradient that are largest, with the free coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.objectives import Quadratic
    >>> from ksparse.theory import norm_of_largest
    >>> norm_of_largest(Quadratic(np.eye(4), np.zeros(4)), np.array([3.0, 1.0, -4.0, 2.0]), s=2)
    5.0
    """
    units = bind_units(objective, s)
    return float(np.linalg.norm(gradient[units.select(gradient)]))


def bind_units(objective: Objective, s: int) -> Units:
    """Supports of s units of an objective, and the free coordinates."""
    return make_set(objective.unit_kind, s, find_labels(objective)).bind(objective.shape, objective.free)
