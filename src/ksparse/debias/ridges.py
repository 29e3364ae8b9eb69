"""Minimize a linear model on one support for several ridges at once: Newton's method on all of them together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._types import Array, IntArray, Mask
from ..objectives.columns import LinearModel, PointwiseData

__all__ = ["apply_to_rows", "minimize_for_ridges"]

#: Largest number of entries of X on the support. With more, arithmetic costs more than calls, sparse columns should
#: stay sparse, and one ridge after the other is faster.
MAX_NUMBERS = 50_000
#: Steps with the same Hessians: a step costs O(nk), a Hessian O(nk²) (V. E. Shamanskii, 1967).
STEPS_PER_HESSIAN = 3
#: Pivots of the Cholesky factor below this fraction of the diagonal are those of a singular Hessian.
MIN_PIVOT = 1e-10
#: Newton steps, and halvings of a step; what has not converged then is left to the caller.
MAX_STEPS, MAX_RIDGE_HALVINGS = 50, 40
#: The fraction of the predicted decrease that a step must achieve.
RIDGE_DECREASE = 1e-4
#: The end is a Newton decrement below this fraction of f. The step that shows it is taken, and squares the error; with
#: an older Hessian it shrinks the error less, and the decrement must be smaller.
RELATIVE_TOL, REUSED_TOL = 1e-8, 1e-12


def minimize_for_ridges(model: LinearModel, ridges: Array, start: Array) -> Array | None:
    """The minimizers of a model on its support for several ridges in place of its own.

    A model with tens of features costs a Newton method little arithmetic and many calls; here all ridges share the
    calls.

    Parameters
    ----------
    model : LinearModel
        f on a support; its loss is a sum over samples with one output each.
    ridges : ndarray of shape (r,)
        The ridges.
    start : ndarray of shape (size,)
        Where to start.

    Returns
    -------
    ndarray of shape (r, size), or None
        A minimizer in each row, with the intercept at the end; None for other losses, for large supports, or where f
        has no unique minimum.

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
    data = model.collect_samples() if model.n_samples * model.size <= MAX_NUMBERS else None
    if data is None:
        return None
    problem = _Ridges(data, ridges * model.unit * model.unit, model.fit_intercept)
    x = np.tile(start, (len(ridges), 1))
    active: IntArray = np.arange(len(ridges))
    for number in range(MAX_STEPS):
        active = active[~problem.step(x, active, reuse=number % STEPS_PER_HESSIAN > 0)]
        if not active.size:
            return x
        if not np.isfinite(x[active]).all():
            return None
    return None


def apply_to_rows(function: Callable[[Array, Array], Array], margins: Array, y: Array) -> Array:
    """A function of the margins of samples, such as a loss, for several rows of margins of the same samples."""
    return function(margins.ravel(), np.tile(y, len(margins))).reshape(margins.shape)


class _Ridges:
    """f for several ridges, of iterates in the rows of a matrix."""

    def __init__(self, data: PointwiseData, ridges: Array, fit_intercept: bool) -> None:
        self._loss, self._y, self._weights, self._offset = data.loss, data.target, data.weights, data.offset
        ones = np.ones((len(data.columns), int(fit_intercept)))
        self._columns = np.hstack([data.columns, ones])
        # The intercept has no ridge.
        penalized = np.arange(self._columns.shape[1]) < data.columns.shape[1]
        self._ridges = np.outer(ridges, penalized)
        self._inverses = np.zeros((len(ridges), len(penalized), len(penalized)))

    def _margins(self, x: Array) -> Array:
        margins: Array = x @ self._columns.T
        return margins if self._offset is None else margins + self._offset

    def _values(self, x: Array, ridges: Array) -> Array:
        losses = apply_to_rows(self._loss.value, self._margins(x), self._y) @ self._weights
        return losses + 0.5 * np.sum(ridges * np.square(x), axis=1)

    def step(self, x: Array, active: IntArray, reuse: bool) -> Mask:
        """Take a Newton step in the active rows of x; returns which of them have converged.

        With `reuse`, the Hessians are those of the last step without it.
        """
        ridges, at = self._ridges[active], x[active]
        margins = self._margins(at)
        losses, slopes = (
            apply_to_rows(function, margins, self._y) * self._weights
            for function in (self._loss.value, self._loss.slope)
        )
        values = losses.sum(axis=1) + 0.5 * np.sum(ridges * np.square(at), axis=1)
        gradients = slopes @ self._columns + ridges * at
        if not reuse:
            self._inverses[active] = self._invert_hessians(margins, ridges)
        steps = -np.einsum("rij,rj->ri", self._inverses[active], gradients)
        predicted = np.sum(gradients * steps, axis=1)
        if not np.isfinite(predicted).all():
            x[active] = np.nan
            return np.zeros(len(active), dtype=bool)
        x[active] = self._search(at, values, steps, predicted, ridges)
        tol = REUSED_TOL if reuse else RELATIVE_TOL
        converged: Mask = -predicted <= tol * np.maximum(np.abs(values), np.finfo(float).tiny)
        return converged

    def _invert_hessians(self, margins: Array, ridges: Array) -> Array:
        curvatures = apply_to_rows(self._loss.curvature, margins, self._y) * self._weights
        hessians = np.array([(self._columns.T * curvature) @ self._columns for curvature in curvatures])
        diagonal = np.arange(hessians.shape[1])
        hessians[:, diagonal, diagonal] += ridges
        try:
            roots = np.linalg.cholesky(hessians)
        except np.linalg.LinAlgError:
            return np.full_like(hessians, np.nan)
        pivots = np.square(roots[:, diagonal, diagonal]) / hessians[:, diagonal, diagonal]
        if pivots.min(initial=1.0) < MIN_PIVOT:
            return np.full_like(hessians, np.nan)  # singular up to rounding
        inverse_roots = np.linalg.inv(roots)
        inverses: Array = np.swapaxes(inverse_roots, 1, 2) @ inverse_roots
        return inverses

    def _search(self, x: Array, values: Array, steps: Array, predicted: Array, ridges: Array) -> Array:
        """x plus the longest of the halved steps that lowers f enough; x itself where none does."""
        lengths, found = np.ones(len(x)), x.copy()
        slack = 4.0 * np.finfo(float).eps * np.abs(values)
        open_rows = np.arange(len(x))
        for _ in range(MAX_RIDGE_HALVINGS):
            trial = x[open_rows] + lengths[open_rows, None] * steps[open_rows]
            enough = values[open_rows] + RIDGE_DECREASE * lengths[open_rows] * predicted[open_rows]
            good = self._values(trial, ridges[open_rows]) <= enough + slack[open_rows]
            found[open_rows[good]] = trial[good]
            open_rows = open_rows[~good]
            if not open_rows.size:
                break
            lengths[open_rows] *= 0.5
        return found
