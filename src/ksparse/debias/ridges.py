"""Minimize a linear model on one support for several ridges at once: Newton's method on all of them together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

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
#: Rounding of f, as a fraction of it; and the least that counts as f.
SLACK, TINY = 4.0 * float(np.finfo(np.float64).eps), float(np.finfo(np.float64).tiny)
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
    if type(data.loss).__name__ == "LogisticLoss":
        return _compiled(model, data, ridges * model.unit * model.unit, start)
    problem = _Ridges(data, ridges * model.unit * model.unit, start)
    active: IntArray = np.arange(len(ridges) if start.size else 0)
    for number in range(MAX_STEPS):
        if not active.size:
            return problem.get_solutions()
        active = active[~problem.step(active, reuse=number % STEPS_PER_HESSIAN > 0)]
        if not np.isfinite(problem.x[active]).all():
            return None
    return None


def _compiled(model, data, ridges, start):
    from .compiled import SmallProblem, Settings
    (n, k), columns = data.columns.shape, data.columns
    coefficients, intercept = start[:k], start[k:]
    basis = None
    if n < k and ridges.min(initial=np.inf) > 0:
        basis, triangle = np.linalg.qr(columns.T)
        data = data._replace(columns=triangle.T)
        coefficients = coefficients @ basis
    problem = SmallProblem(data, intercept.size)
    x = np.append(coefficients, intercept)
    m = x.size - intercept.size
    out = np.empty((ridges.size, x.size))
    for i in np.argsort(-ridges):
        ridge = np.full(x.size, ridges[i]); ridge[m:] = 0
        status, x, value, margins, steps, hessians = problem.minimize(ridge, x, Settings(1e-8, 1e-14, 0.0, np.inf, 0.0, 50))
        STAT[0] += 1; STAT[1] += steps; STAT[2] += hessians
        if status: return None
        out[i] = x
    if basis is None: return out
    return np.hstack([out[:, :m] @ basis.T, out[:, m:]])
STAT=[0,0,0]

def apply_to_rows(function: Callable[[Array, Array], Array], margins: Array, y: Array) -> Array:
    """A function of the margins of samples, such as a loss, for several rows of margins of the same samples."""
    return function(margins.ravel(), np.tile(y, len(margins))).reshape(margins.shape)


class _Ridges:
    """f for several ridges, at iterates in the rows of a matrix.

    With more features than samples, coefficients that minimize f with a ridge are combinations of the samples: there is
    one coordinate for each sample then, in an orthonormal basis of their span, and ridges act on these in the same way.
    """

    def __init__(self, data: PointwiseData, ridges: Array, start: Array) -> None:
        self._loss, self._weights, self._offset = data.loss, data.weights, data.offset
        (n, k), columns = data.columns.shape, data.columns
        coefficients, intercept = start[:k], start[k:]
        self._basis: Array | None = None
        if n < k and ridges.min(initial=np.inf) > 0:
            self._basis, triangle = np.linalg.qr(columns.T)
            columns, coefficients = triangle.T, coefficients @ self._basis
        self._columns = np.hstack([columns, np.ones((n, intercept.size))])
        # The intercept has no ridge.
        self._ridges = np.outer(ridges, np.arange(self._columns.shape[1]) < columns.shape[1])
        self._factors: list[Array | None] = [None] * len(ridges)
        self._targets = np.tile(data.target, len(ridges))
        #: The iterates.
        self.x = np.tile(np.append(coefficients, intercept), (len(ridges), 1))
        self._margins, self._values = self._evaluate(self.x, self._ridges)

    def get_solutions(self) -> Array:
        """The iterates in the coordinates of the features."""
        if self._basis is None:
            return self.x
        size = self._basis.shape[1]
        return np.hstack([self.x[:, :size] @ self._basis.T, self.x[:, size:]])

    def _evaluate(self, x: Array, ridges: Array) -> tuple[Array, Array]:
        """The margins, and f."""
        margins: Array = x @ self._columns.T
        if self._offset is not None:
            margins += self._offset
        losses = self._apply(self._loss.value, margins) @ self._weights
        return margins, losses + 0.5 * (ridges * np.square(x)).sum(axis=1)

    def _apply(self, function: Callable[[Array, Array], Array], margins: Array) -> Array:
        """`apply_to_rows` with the targets of all rows at hand."""
        return function(margins.ravel(), self._targets[: margins.size]).reshape(margins.shape)

    def step(self, active: IntArray, reuse: bool) -> Mask:
        """Take a Newton step in the active rows of x; returns which of them have converged.

        With `reuse`, the Hessians are those of the last step without it.
        """
        values = self._values[active]
        slopes = self._apply(self._loss.slope, self._margins[active]) * self._weights
        gradients = slopes @ self._columns + self._ridges[active] * self.x[active]
        if not reuse:
            self._factorize_hessians(active)
        steps = np.array([self._solve(row, gradient) for row, gradient in zip(active, gradients, strict=True)])
        predicted = (gradients * steps).sum(axis=1)
        if not np.isfinite(predicted).all():
            self.x[active] = np.nan
            return np.zeros(len(active), dtype=bool)
        self._search(active, steps, predicted)
        tol = REUSED_TOL if reuse else RELATIVE_TOL
        converged: Mask = -predicted <= tol * np.maximum(np.abs(values), TINY)
        return converged

    def _factorize_hessians(self, active: IntArray) -> None:
        curvatures = self._apply(self._loss.curvature, self._margins[active]) * self._weights
        for row, curvature in zip(active, curvatures, strict=True):
            hessian = (self._columns.T * curvature) @ self._columns
            hessian.flat[:: len(hessian) + 1] += self._ridges[row]
            self._factors[row] = _factorize(hessian)

    def _solve(self, row: int, gradient: Array) -> Array:
        """Newton's step of a row; NaN where the Hessian is singular."""
        factor = self._factors[row]
        return np.full_like(gradient, np.nan) if factor is None else -dpotrs(factor, gradient, lower=1)[0]

    def _search(self, active: IntArray, steps: Array, predicted: Array) -> None:
        """Add the longest of the halved steps that lowers f enough to each active row of x; none where none does."""
        length = 1.0
        for _ in range(MAX_RIDGE_HALVINGS):
            values = self._values[active]
            trial = self.x[active] + length * steps
            margins, found = self._evaluate(trial, self._ridges[active])
            good = found <= values + RIDGE_DECREASE * length * predicted + SLACK * np.abs(values)
            taken = active[good]
            self.x[taken], self._margins[taken], self._values[taken] = trial[good], margins[good], found[good]
            if len(taken) == len(active):
                break
            active, steps, predicted = active[~good], steps[~good], predicted[~good]
            length *= 0.5


def _factorize(hessian: Array) -> Array | None:
    """The lower Cholesky factor of a symmetric matrix, which is overwritten; None if it is singular up to rounding."""
    diagonal = hessian.diagonal().copy()
    factor, failed = dpotrf(hessian.T, lower=1, clean=0, overwrite_a=1)
    if failed or np.min(np.square(factor.diagonal()) / diagonal) < MIN_PIVOT:
        return None
    return np.asarray(factor)
