"""Minimize a linear model on one support for several ridges, each start being near its solution."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._types import Array
from ..objectives.base import value_at_zero
from ..objectives.columns import LinearModel
from ._samples import SOLVED, Limits
from .base import Outcome
from .compiled import MAX_NUMBERS, collect_data, make_samples, run_compiled
from .exact import MAX_CHOLESKY_SIZE
from .newton import Directions, minimize_newton, minimize_quadratic

__all__ = ["apply_to_rows", "minimize_for_ridges"]

#: The step that shows a small decrement is taken, and squares the error; with an older Hessian it shrinks the error
#: less, and the decrement must be smaller.
LIMITS = Limits(tol=1e-10, reused_tol=1e-16, min_decrease=0.0, goal=np.inf, max_iter=50)


def minimize_for_ridges(model: LinearModel, ridges: Array, start: Array) -> Array | None:
    """The minimizers of a model on its support for several ridges in place of its own.

    Parameters
    ----------
    model : LinearModel
        f on a support, with one output and a loss of each sample alone.
    ridges : ndarray of shape (r,)
        The ridges.
    start : ndarray of shape (size,)
        Where to start.

    Returns
    -------
    ndarray of shape (r, size), or None
        A minimizer in each row, with the intercept at the end; None for other losses, for very large supports, or where
        f has no unique minimum.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.debias.ridges import minimize_for_ridges
    >>> from ksparse.objectives import LeastSquares
    >>> f = LeastSquares(np.diag([3.0, 3.0, 3.0]), [3.0, 6.0, 9.0])
    >>> minimize_for_ridges(f, np.array([0.0, 3.0]), np.zeros(3))
    array([[1. , 2. , 3. ],
           [0.5, 1. , 1.5]])
    """
    data = collect_data(model)
    if data is None:
        return _minimize_in_turn(model, ridges, start)
    ridges = ridges * model.unit * model.unit
    (n, k), columns = data.columns.shape, data.columns
    coefficients, intercept, basis = start[:k], start[k:], None
    if n < k and ridges.min(initial=np.inf) > 0:
        # Coefficients that minimize f with a ridge are combinations of the samples: there is one coordinate for each
        # sample then, in an orthonormal basis of their span, and ridges act on these in the same way.
        basis, triangle = np.linalg.qr(columns.T)
        columns, coefficients = triangle.T, coefficients @ basis
    samples, x = make_samples(data, columns, model.fit_intercept), np.append(coefficients, intercept)
    acts = np.arange(x.size) < coefficients.size  # on all but the intercept
    solutions, at_zero = np.empty((ridges.size, x.size)), value_at_zero(model)
    # From strong ridges to weak ones, each start is near its solution.
    for i in np.argsort(-ridges) if x.size else ():
        status, x, *_ = run_compiled(samples, ridges[i] * acts, x, at_zero, LIMITS)
        if status != SOLVED:
            return None
        solutions[i] = x
    if basis is None:
        return solutions
    return np.hstack([solutions[:, : coefficients.size] @ basis.T, solutions[:, coefficients.size :]])


def _minimize_in_turn(model: LinearModel, ridges: Array, start: Array) -> Array | None:
    """The same by the general method, for many samples: the Hessian of a ridge, but for the ridge, begins the next."""
    is_small = model.n_samples * model.size <= MAX_NUMBERS
    if is_small or model.size > MAX_CHOLESKY_SIZE or not model.is_sum_over_samples:
        return None
    coefficients = np.arange(model.size - model.fit_intercept)
    solutions, x, hessian = np.empty((ridges.size, start.size)), start, None
    for i in np.argsort(-ridges):
        alpha, model = model.alpha, model.with_alpha(float(ridges[i]))
        if model.is_quadratic:
            solution = minimize_quadratic(model, model.evaluate(x))  # its Hessian is known from the last ridge
        else:
            if hessian is not None:
                hessian[coefficients, coefficients] += model.alpha - alpha
            steps, point = Directions(model, None, hessian, min_decrease=0.0), model.evaluate(x)
            solution = minimize_newton(model, point, tol=LIMITS.tol, max_iter=LIMITS.max_iter, directions=steps)
            hessian = steps.hessian
        if solution.outcome is not Outcome.SOLVED:
            return None
        solutions[i] = x = solution.point.x
    return solutions


def apply_to_rows(function: Callable[[Array, Array], Array], margins: Array, y: Array) -> Array:
    """A function of the margins of samples, such as a loss, for several rows of margins of the same samples."""
    return function(margins.ravel(), np.tile(y, len(margins))).reshape(margins.shape)
