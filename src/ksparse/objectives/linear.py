"""f(w) = weighted mean of a pointwise loss of Xw + b + offset, plus (alpha/2)·‖w‖²."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from .._types import Array, IntArray, Mask
from ..counters import Counters
from ..validation import check_flag, check_nonnegative_number, check_vector
from .base import Point, TwiceDifferentiable, inherit_value_at_zero
from .columns import MOST_AT_ONCE, ColumnPool
from .design import Design
from .eigenvalues import largest_eigenvalue
from .losses import Loss
from .outcome import Outcome
from .protocols import NoLipschitzConstantError, WorkingForm
from .weights import normalized_weights, without_zeros

__all__ = ["LinearObjective"]

#: Below this mean loss a separating point proves that the infimum 0 is not attained.
SEPARATED = 1e-6


class LinearObjective(TwiceDifferentiable):
    """Mean loss of a linear model with ridge penalty and optional intercept.

    ``f(w, b) = Σᵢ sᵢ ℓ(wᵀxᵢ + b + oᵢ, yᵢ) / Σᵢ sᵢ + (alpha/2)·‖w‖²``, with sample weights s and offsets o.
    The intercept b is the last coordinate (or row) of the iterate; it is not penalized and does not count in k.
    Solvers work with implicitly centred columns when there is an intercept.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p)
        Dense float64 or float32 in any memory order is used without a copy; sparse data is converted to CSC once.
    y : array-like of shape (n,), or (n, q) for several responses
        What the loss compares the margins with.
    alpha : float, default=0
        Ridge penalty.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights; a weight of 2 is the same as two equal rows.
    offset : array-like of the margins' shape, optional
        Known part of the margins.
    fit_intercept : bool, default=False
        Whether to add an intercept.
    """

    #: The pointwise loss of the margins.
    loss: Loss

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        alpha: float = 0.0,
        sample_weight: Any = None,
        offset: Any = None,
        fit_intercept: bool = False,
    ) -> None:
        super().__init__()
        self._design = Design.from_user(X, type(self).__name__)
        n, p = self._design.shape
        self._target = self._encode(y, n)
        self.total_weight, self._weights = normalized_weights(sample_weight, n)
        self._ignored: Mask | None = self._weights == 0 if (self._weights == 0).any() else None
        self._check_weighted()
        self._design.look(self._weights)
        self._offset = None if offset is None else check_vector(offset, "offset", self._target.shape)
        self.alpha = check_nonnegative_number(alpha, "alpha")
        self.fit_intercept = check_flag(fit_intercept, "fit_intercept")
        self.is_quadratic = self.loss.quadratic
        # A ridge makes all but the intercept strongly convex, and any data determines an intercept.
        self.is_strongly_convex = self.alpha > 0
        self._pattern: Mask | None = None
        self._squares: Array | None = None
        self._gram: Array | None = None
        self._pool: ColumnPool | None = None
        self._products: Callable[[], Array] | None = None
        self._level: Any = 0.0
        self._set_shape((p + self.fit_intercept, *self._target.shape[1:]))

    @abstractmethod
    def _encode(self, y: Any, n: int) -> Array:
        """Check the n responses or labels, and give them as the loss wants them."""

    def _check_weighted(self) -> None:
        """Check what must hold for the samples that have a weight; nothing by default."""

    def _set_shape(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.free = None
        if self.fit_intercept:
            self.free = np.zeros(shape, dtype=bool)
            self.free[-1] = True
        self.unit_kind = "entries" if len(shape) == 1 else "rows"
        if self.loss.coupled:
            unpenalized = shape[0] if self.alpha == 0 else int(self.fit_intercept)
            self.n_invariances = unpenalized

    def __repr__(self) -> str:
        n, p = self._design.shape
        return f"{type(self).__name__}(n={n}, p={p}, alpha={self.alpha:g}, fit_intercept={self.fit_intercept})"

    # --- evaluation -------------------------------------------------------------------------------------------

    def evaluate(self, x: Array) -> Point:
        """Evaluate f at x, touching only the columns where x is nonzero."""
        x = self.check_point(x)
        weights, intercept = self._split(x)
        margins = self._design.dot(weights, self.counters) + intercept
        if self._offset is not None:
            margins = margins + self._offset
        return Point(self, x, self._value(margins, weights), margins)

    def _value(self, margins: Array, weights: Array) -> float:
        losses = self.loss.value(margins, self._target)
        if self._ignored is not None:
            losses[self._ignored] = 0.0
        flat = weights.ravel()
        return float(self._weights @ losses) + 0.5 * self.alpha * float(flat @ flat)

    def gradient(self, point: Point) -> Array:
        """Xᵀr + alpha·w and the sum of r, with r the weighted slopes: one pass over X."""
        self.counters.passes += 1
        slopes = self._weighted(self.loss.slope(point.state, self._target))
        weights, _ = self._split(point.x)
        return self._join(self._design.transposed_dot(slopes) + self.alpha * weights, slopes.sum(axis=0))

    def _weighted(self, values: Array) -> Array:
        """Values of each sample times its weight; a sample without weight has none, whatever its value."""
        weighted = values * self._weights if values.ndim == 1 else values * self._weights[:, None]
        if self._ignored is not None:
            weighted[self._ignored] = 0.0
        return weighted

    # --- coordinates ------------------------------------------------------------------------------------------

    def _split(self, x: Array) -> tuple[Array, Any]:
        """Coefficients and intercept of an iterate; a restricted matrix iterate is a vector of its entries."""
        if self._pattern is not None:
            matrix = np.zeros(self._pattern.shape)
            matrix[self._pattern] = x
            x = matrix
        return (x[:-1], x[-1]) if self.fit_intercept else (x, 0.0)

    def _join(self, weights: Array, intercept: Any) -> Array:
        joined = np.append(weights, np.asarray(intercept)[None], axis=0) if self.fit_intercept else weights
        return joined if self._pattern is None else joined[self._pattern]

    def restrict(self, support: Mask) -> LinearObjective:
        """f on the gathered columns of `support`: O(n·k) once, and k dimensions afterwards."""
        rows: Mask = support if support.ndim == 1 else np.any(support, axis=1)
        columns = np.flatnonzero(rows[:-1] if self.fit_intercept else rows)
        restricted = copy.copy(self)
        inherit_value_at_zero(restricted, self)
        restricted.counters = Counters()
        self._gather(columns, restricted)
        restricted._squares = restricted._gram = restricted._pool = None
        restricted.fit_intercept = self.fit_intercept and bool(rows[-1])
        shape = (columns.size + restricted.fit_intercept, *self.shape[1:])
        restricted._set_shape(shape)
        if len(shape) == 2:
            restricted._pattern = support[rows]
            restricted.shape = (int(support.sum()),)
            restricted.free = None
        return restricted

    def _gather(self, columns: IntArray, restricted: LinearObjective) -> None:
        """Give a restriction its columns, and their products where these do not depend on the point."""
        restricted._design = self._columns(columns)
        restricted._products = None
        if self.is_quadratic and self._pool is not None:
            restricted._products = partial(self._pool.gram, columns)

    def _columns(self, columns: IntArray) -> Design:
        """Some columns of X; dense ones are kept for the next support."""
        if self._design.is_sparse or self._design.gathered:
            return self._design.take(columns)
        if self._pool is None:
            self._pool = ColumnPool(self._design, self._weights)
        return self._pool.take(columns)

    def working_form(self) -> WorkingForm:
        """The same function for one search: with an intercept, b is then that of the centred columns X − 1·x̄ᵀ.

        Where only residuals count, y is centred too, so that its level costs no digits. What a search gathers is its
        own: searches in other threads do not meet it, a second one is the same as the first, and none outlives its end.
        """
        working = copy.copy(self)
        working._pool = None
        if not self.fit_intercept or self._design.shift is not None:
            return WorkingForm(working, canonical=self._canonical)
        working._design = self._design.centred(self._weights)
        working._squares = working._gram = working._products = working._value_at_zero = None
        if self.loss.of_residuals:
            working._level = self._weights @ self._target
            working._target = self._target - working._level
        return WorkingForm(
            working, partial(working._shifted, sign=1.0), partial(working._shifted, sign=-1.0), self._canonical
        )

    def _shifted(self, x: Array, sign: float) -> Array:
        shift = self._design.shift
        if shift is None:
            return x
        moved = x.copy()
        moved[-1] += sign * (shift @ x[:-1] - self._level)
        return moved

    def _canonical(self, x: Array) -> Array:
        """A softmax does not see a shift of all classes: unpenalized rows are made to sum to zero."""
        if not self.loss.coupled:
            return x
        shifted = (x != 0).all(axis=1)
        if self.alpha > 0:
            shifted[: self._design.shape[1]] = False
        return np.where(shifted[:, None], x - x.mean(axis=1, keepdims=True), x)

    # --- curvature --------------------------------------------------------------------------------------------

    def hessian(self, point: Point) -> Array:
        """Xᵀ diag(c) X + alpha·I over the coefficients and the intercept, (K·r) × (K·r) for matrices."""
        if self.is_quadratic and self._gram is not None:
            return self._gram.copy()
        curvatures = self.loss.curvature(point.state, self._target)
        hessian = self._block(self._weighted(curvatures)) if curvatures.ndim == 1 else self._blocks(curvatures)
        diagonal = self._join(np.full(self._coefficient_shape(), self.alpha), np.zeros(self._intercept_shape()))
        hessian.flat[:: hessian.shape[0] + 1] += diagonal.ravel()
        self._gram = hessian.copy() if self.is_quadratic else None
        return hessian

    def cross_hessian(self, point: Point, solution: Point, inside: IntArray, columns: IntArray) -> tuple[Array, Array]:
        """X_Fᵀ diag(c) X_C, with a row of sums for the intercept, and the diagonal of X_Cᵀ diag(c) X_C + alpha·I."""
        restricted = solution.objective
        assert isinstance(restricted, LinearObjective)
        weights = self._weighted(self.loss.curvature(point.state, self._target))
        kept = columns.size <= MOST_AT_ONCE
        everything = not kept and self._design.cheaper_whole(restricted._design.shape[1], columns.size)
        others = self._design if everything else self._columns(columns)
        cross = restricted._design.cross(others, weights)
        if restricted.fit_intercept:
            cross = np.append(cross, others.transposed_dot(weights)[None], axis=0)
        known = self._squares if everything and self.is_quadratic else None
        squares = others.squares(weights) if known is None else known
        if everything:
            self.counters.passes += 1 + restricted.fit_intercept + (known is None)
            cross, squares = cross[:, columns], squares[columns]
        return cross, squares + self.alpha

    def _coefficient_shape(self) -> tuple[int, ...]:
        return (self._design.shape[1], *self._target.shape[1:])

    def _intercept_shape(self) -> tuple[int, ...]:
        return self._target.shape[1:]

    def _block(self, weights: Array) -> Array:
        """Gram matrix of the columns (and the column of ones) under sample weights."""
        gram = self._design.gram(weights) if self._products is None else self._products()
        if not self.fit_intercept:
            return gram
        size = gram.shape[0] + 1
        bordered = np.empty((size, size))
        bordered[:-1, :-1] = gram
        bordered[-1, :-1] = bordered[:-1, -1] = self._design.transposed_dot(weights)
        bordered[-1, -1] = weights.sum()
        return bordered

    def _blocks(self, curvatures: Array) -> Array:
        """Hessian of a matrix iterate in the flat (row-major) order of its entries."""
        outputs = curvatures.shape[1]
        rows = self._design.shape[1] + self.fit_intercept
        full = np.zeros((rows, outputs, rows, outputs))
        for a in range(outputs):
            own = curvatures[:, a]
            if self.loss.coupled:
                own = own * (1.0 - own)
                for b in range(a):
                    coupling = self._weighted(-curvatures[:, a] * curvatures[:, b])
                    full[:, a, :, b] = full[:, b, :, a] = self._block(coupling)
            full[:, a, :, a] = self._block(self._weighted(own))
        flat = full.reshape(rows * outputs, rows * outputs)
        if self._pattern is None or self._pattern.all():
            return flat
        kept = np.flatnonzero(self._pattern)
        return flat[np.ix_(kept, kept)]

    def hessian_operator(self, point: Point) -> LinearOperator:
        """Products with the Hessian without forming it: two products with the gathered columns."""
        curvatures = self.loss.curvature(point.state, self._target)
        size = self.size

        def product(vector: Array) -> Array:
            weights, intercept = self._split(vector.reshape(self.shape))
            bends = curvatures * (self._design.dot(weights) + intercept)
            if self.loss.coupled:
                bends = bends - curvatures * bends.sum(axis=1, keepdims=True)
            bends = self._weighted(bends)
            curved = self._design.transposed_dot(bends) + self.alpha * weights
            return self._join(curved, bends.sum(axis=0)).ravel()

        return LinearOperator((size, size), matvec=product, dtype=np.float64)

    def curvature(self, point: Point) -> Array:
        """Diagonal of the Hessian, with each sample's curvature replaced by the mean over samples.

        Exact for least squares; elsewhere within the spread of the curvatures, at no pass over X: the column
        sums of squares are computed once. The pass that gave them, and the means, is counted here.
        """
        if self._squares is None:
            self.counters.passes += 1
            self._squares = self._design.squares(self._weights)
        curvatures = self.loss.curvature(point.state, self._target)
        if self.loss.coupled:
            curvatures = curvatures * (1.0 - curvatures)
        mean = self._weighted(curvatures).sum(axis=0)
        diagonal = self._join(np.multiply.outer(self._squares, mean) + self.alpha, mean)
        return without_zeros(diagonal)

    def lipschitz(self, metric: Array | None = None) -> float:
        """bound(ℓ″)·λ_max(Xᵀ diag(s) X) + alpha, by Lanczos; a few passes over X."""
        if not np.isfinite(self.loss.bound):
            raise NoLipschitzConstantError(
                f"the gradient of {type(self).__name__} has no Lipschitz constant: the curvature of its loss is "
                "unbounded; give a constant step, or use Backtracking() or BarzilaiBorwein()"
            )
        p = self._design.shape[1]
        scale = np.ones(p + self.fit_intercept)
        if metric is not None:
            scale = 1.0 / np.sqrt(metric if metric.ndim == 1 else metric.min(axis=1))
        penalized = np.ones(scale.size)
        penalized[p:] = 0.0

        def product(vector: Array) -> Array:
            self.counters.passes += 2
            v = scale * vector.ravel()
            margins = self._weights * (self._design.dot(v[:p]) + v[p:].sum())
            curved = np.append(self._design.transposed_dot(margins), [margins.sum()] * self.fit_intercept)
            return scale * (self.loss.bound * curved + self.alpha * penalized * v)

        return largest_eigenvalue(LinearOperator((scale.size, scale.size), matvec=product, dtype=np.float64))

    def relative_change(self, before: Point, after: Point) -> float:
        """Relative change of the margins, which have the same units whatever those of the features.

        Samples without weight have no say in it, and for a softmax a shift of all classes is no change.
        """
        old, new = before.state, after.state
        if self._ignored is not None:
            old, new = old[~self._ignored], new[~self._ignored]
        moved = new - old
        if self.loss.coupled:
            moved = moved - moved.mean(axis=1, keepdims=True)
        return float(np.abs(moved).max(initial=0.0) / (1.0 + np.abs(old).max(initial=0.0)))

    def advice(self, outcome: Outcome, x: Array) -> str:
        if outcome is Outcome.NO_MINIMUM:
            return "Classes that are separated have no finite coefficients. Set alpha > 0, or lower k"
        return "Set alpha > 0 for a unique one" if outcome is Outcome.SINGULAR else ""

    def is_unbounded_below(self, point: Point) -> bool:
        """Separated classes without a ridge: scaling x up lowers f forever."""
        if self.alpha > 0 or point.value > SEPARATED:
            return False
        # Only the part of the margins that depends on x can be scaled up.
        margins = point.state if self._offset is None else point.state - self._offset
        counted = slice(None) if self._ignored is None else ~self._ignored
        return self.loss.separates(margins[counted], self._target[counted])
