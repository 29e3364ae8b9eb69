"""Least squares, for one response or several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._types import Array
from .._linear_docs import document_objective
from ..linear import LinearObjective
from ..loss import Loss
from ..targets import check_responses, check_squares

__all__ = ["LeastSquares", "SquaredLoss"]

#: f of exact fits is at most this fraction of f at the start, in units of its relative rounding error of 1e-15.
EXACT_FIT = 1e-9


@dataclass(frozen=True)
class SquaredLoss(Loss):
    """½(m − y)²."""

    curvature_bound = 1.0
    is_quadratic = True
    of_residuals = True

    def find_cancelling_size(self, value: float, at_start: float, mean: Any) -> float:
        """A residual r has an error ε·|y|, and its square one of r·ε·|y|: less than ε·y² where the fit is close.

        Coefficients magnify the error: what is left of an exact fit is a larger multiple of ε²·y².
        """
        return float(np.sqrt(abs(value)) * np.sqrt(abs(at_start))) + EXACT_FIT * abs(at_start)

    def value(self, margins: Array, y: Array) -> Array:
        squares = 0.5 * np.square(margins - y)
        return squares if squares.ndim == 1 else squares.sum(axis=1)

    def slope(self, margins: Array, y: Array) -> Array:
        return margins - y

    def curvature(self, margins: Array, y: Array) -> Array:
        return np.ones_like(margins)

    def conjugate(self, slopes: Array, y: Array) -> Array:
        """½a² + ay; the sum over several outputs."""
        values = slopes * (0.5 * slopes + y)
        return values if values.ndim == 1 else values.sum(axis=1)


@document_objective
class LeastSquares(LinearObjective):
    """f(w) = (1/2n)·‖y − Xw‖² + (alpha/2)·‖w‖²: half the mean squared residual.

    On it GraHTP is HTP and FGraHTP is IHT (paper, §2). Several responses, y of shape (n, q), give a matrix of
    coefficients of shape (p, q), of which k rows are selected.

    Parameters
    ----------
    $X
    y : array-like of shape (n,) or (n, q)
        The responses.
    $options

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> from ksparse.objectives import LeastSquares
    >>> X = np.eye(4)
    >>> ksparse.minimize(LeastSquares(X, [0.0, 3.0, -5.0, 1.0]), k=2).x
    array([ 0.,  3., -5.,  0.])
    """

    loss = SquaredLoss()

    def encode_target(self, y: Any, n: int) -> Array:
        return check_squares(check_responses(y, n, allow_matrix=True))
