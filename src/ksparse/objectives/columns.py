"""A loss of the margins of some columns of a design, with ridge and intercept: what solvers restrict and refit."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from .._types import Array, IntArray, Mask
from ..counters import Counters
from ..designs import ColumnBlock, Design
from ..validation import check_nonnegative_number
from .base import VALUE_ROUNDING, Outcome, Point, describe_objective, inherit
from .coefficient_layout import CoefficientLayout
from .coordinates import CentredCoordinates, replace_zeros, rescale_alpha
from .curvature_bounds import CurvatureBounds
from .loss import AnyLoss
from .protocols import (
    DetectsUnboundedness,
    HasCrossHessian,
    HasLipschitzConstant,
    HasMajorizer,
    HasPenalty,
    HasWorkingForm,
    NoLipschitzConstantError,
    WorkingForm,
)
from .sample_data import HasSamples
from .terms import Terms, bind_loss

__all__ = ["LinearModel"]

#: Columns whose squares about the mean are below this fraction of the largest are constant.
CONSTANT_SQUARES = 1e-20
#: Below this loss a separating point proves that the infimum 0 is not attained.
SEPARATED_LOSS = 1e-6


class LinearModel(
    HasSamples,
    HasCrossHessian,
    HasLipschitzConstant,
    HasMajorizer,
    HasPenalty,
    HasWorkingForm,
    DetectsUnboundedness,
):
    """A loss of the margins of some columns of a design, with ridge and optional intercept.

    The coordinates are the coefficients of the columns, then the intercept if there is one; rows of a matrix where
    there are several outputs. `LinearObjective` is the one of all columns that users make; its restrictions are others.

    With `columns`, the model sees these columns of the design only. With a `pattern`, a mask of the coefficient matrix,
    the iterate is the vector of its entries.
    """

    def __init__(
        self,
        design: Design,
        terms: Terms,
        alpha: float,
        fit_intercept: bool,
        columns: IntArray | None = None,
        pattern: Mask | None = None,
        counters: Counters | None = None,
        unit: float = 1.0,
        block: ColumnBlock | None = None,
    ) -> None:
        super().__init__(counters)
        self._design, self._terms, self._columns, self._pattern = design, terms, columns, pattern
        self._is_restricted = columns is not None
        if block is None:
            block = design.select_all() if columns is None else design.select(columns)
        self._block = block
        self.loss: AnyLoss = terms.loss
        self.alpha, self.fit_intercept = alpha, fit_intercept
        #: What X was multiplied by; a user's ridge is that of X as it was.
        self.unit = unit
        self._outputs = terms.samples.output_shape
        self._quadratic_hessian: Array | None = None
        self._squares: Array | None = None
        self._layout = layout = CoefficientLayout(self._block.width, self._outputs, fit_intercept, pattern)
        self.shape = layout.shape
        if pattern is None:
            self.unit_kind = "rows" if self._outputs else "entries"
            if fit_intercept:
                self.free = layout.find_intercept()
        self.is_quadratic = self.loss.is_quadratic
        # A ridge makes f strongly convex in all but the intercept, and any data determines an intercept.
        self.is_strongly_convex = alpha > 0
        if self.loss.shift_invariant:
            self.n_invariances = self._layout.n_rows if alpha == 0 else int(fit_intercept)

    @property
    def start(self) -> Array:
        """Zero; with an offset, its mean is taken from the intercept, since f at zero may be beyond all floats."""
        start = super().start
        if self.fit_intercept and self.has_offset and self._pattern is None and not self._terms.is_centred:
            start[-1] = self._terms.null_margin
        return start

    # --- evaluation -------------------------------------------------------------------------------------------

    def penalty(self, weights: Array) -> float:
        """(alpha/2)·‖w‖²."""
        if self.alpha == 0:
            return 0.0  # whatever the coefficients, whose squares may overflow
        flat = weights.ravel()
        return 0.5 * self.alpha * float(flat @ flat)

    def gradient(self, point: Point) -> Array:
        """Xᵀr + alpha·w and the sum of r, with r the slopes of the loss: one pass over X."""
        slopes = self._terms.slopes(point.state)
        self._current_margins = point.state
        self._design.anticipate(self._list_gradient_sums(slopes))
        weights, _ = self._layout.split(point.x)
        return self._layout.join(self._block.rmatvec(slopes) + self.alpha * weights, self._sum_rows(slopes))

    def penalty_gradient(self, point: Point) -> Array:
        """alpha·w, and 0 for the intercept."""
        return self._layout.join(self.alpha * self._layout.split(point.x)[0], np.zeros(self._outputs))

    def make_point(self, x: Array, value: float, margins: Array) -> Point:
        """The point of coordinates at which f and the margins are known; the margins go to where the rows are."""
        return Point(self, x, value, self._design.to_rows(margins))

    # --- another ridge, other columns, other coordinates --------------------------------------------------------

    def with_alpha(self, alpha: float) -> LinearModel:
        """The same loss of the same columns with another ridge; the columns that were gathered are shared."""
        alpha = rescale_alpha(check_nonnegative_number(alpha, "alpha"), self.unit)
        model = self._with_terms(self._terms, alpha)
        model._name, model._squares, model._value_at_zero = describe_objective(self), self._squares, self._value_at_zero
        if self._quadratic_hessian is not None:
            model._quadratic_hessian = self._quadratic_hessian.copy()
            model._quadratic_hessian.flat[:: self.size + 1] += model._ridge - self._ridge
        return model

    def with_loss(self, loss: AnyLoss) -> LinearModel:
        """Another loss of the same columns, samples and ridge."""
        terms = replace(bind_loss(loss, self._design, self._terms.samples), is_centred=self._terms.is_centred)
        return self._with_terms(terms, self.alpha)

    def _with_terms(self, terms: Terms, alpha: float) -> LinearModel:
        return LinearModel(
            self._design,
            terms,
            alpha,
            self.fit_intercept,
            self._columns,
            self._pattern,
            self.counters,
            self.unit,
            self._block,
        )

    def restrict(self, support: Mask) -> LinearModel:
        """f on the columns of `support`, which the design gathers once: k dimensions afterwards."""
        known = self._find_refit_ahead(support)
        if known is not None:
            assert isinstance(known, LinearModel)
            return known
        self.counters.restrictions += 1
        support = self._layout.embed(support)
        rows: Mask = support if support.ndim == 1 else np.any(support, axis=1)
        chosen = (rows[:-1] if self.fit_intercept else rows).nonzero()[0]
        restricted = LinearModel(
            self._design,
            self._terms,
            self.alpha,
            self.fit_intercept and bool(rows[-1]),
            chosen if self._columns is None else self._columns[chosen],
            support[rows] if support.ndim == 2 else None,
            self.counters,
            self.unit,
        )
        inherit(restricted, self)
        return restricted

    def working_form(self) -> WorkingForm:
        """f for one search, with a column cache of its own; with an intercept, of the centred columns X − 1·x̄ᵀ.

        They are centred too where an intercept would change nothing. Where only residuals count, y is centred as well,
        so that a large mean costs no precision. X whose squares would overflow or underflow is multiplied by a power
        of two, and its coefficients are divided by it.
        """
        weights = self._terms.samples.weights
        design, unit = self._design.normalize(weights)
        terms, null = self._terms, 0.0
        shift, ignores_means = None, self.fit_intercept or not self.loss.allows_intercept
        if not ignores_means or self._design.shift is not None or self._pattern is not None:
            design = design.with_own_cache() if design is self._design else design
        else:
            design = design.center(weights)
            assert design.shift is not None
            if self.fit_intercept:
                terms, null = self._terms.center()
                shift = design.shift if self._columns is None else design.shift[self._columns]
        if shift is None and unit == 1.0:
            return WorkingForm(
                self._with(design, terms), canonical=self._make_canonical, find_nuisance=self.find_nuisance
            )
        factors = np.where(self._layout.find_intercept(), 1.0, unit)
        coordinates = CentredCoordinates(factors, shift, null)
        model = self._with(design, terms, unit)
        return WorkingForm(
            model, coordinates.to_working, coordinates.to_user, self._make_canonical, self.find_nuisance, unit
        )

    def _with(self, design: Design, terms: Terms, unit: float = 1.0) -> LinearModel:
        terms = terms.with_rows(design)
        model = LinearModel(
            design,
            terms,
            rescale_alpha(self.alpha, unit),
            self.fit_intercept,
            self._columns,
            self._pattern,
            self.counters,
            self.unit * unit,
        )
        model._name = describe_objective(self)
        return model

    def _make_canonical(self, x: Array) -> Array:
        """A softmax is invariant to a shift of all classes: unpenalized rows are made to sum to zero."""
        if not self.loss.shift_invariant:
            return x
        matrix = self._layout.to_matrix(x)
        shifted = (matrix != 0).all(axis=1)
        if self.alpha > 0:
            shifted[: self._block.width] = False
        canonical = np.where(shifted[:, None], matrix - matrix.mean(axis=1, keepdims=True), matrix)
        return canonical if self._pattern is None else canonical[self._pattern]

    # --- second order -----------------------------------------------------------------------------------------

    def hessian(self, point: Point) -> Array:
        """XᵀMX + alpha·I over the coefficients and the intercept, with M the Hessian of the loss in the margins."""
        if self._quadratic_hessian is not None:
            return self._quadratic_hessian.copy()
        hessian = self._terms.hessian(self._block, point.state, self.fit_intercept)
        if self._pattern is not None and not self._pattern.all():
            kept = np.flatnonzero(self._pattern)
            hessian = hessian[np.ix_(kept, kept)]
        hessian.flat[:: hessian.shape[0] + 1] += self._ridge
        if self.is_quadratic:
            self._quadratic_hessian = hessian.copy()
        return hessian

    def majorizer(self, point: Point) -> Array | None:
        """For losses of residuals: the Hessian of reweighted least squares."""
        majorizer = self._terms.majorizer(self._block, point.state, self.fit_intercept)
        if majorizer is not None:
            majorizer.flat[:: majorizer.shape[0] + 1] += self._ridge
        return majorizer

    @cached_property
    def _ridge(self) -> Array:
        """The diagonal of the ridge's Hessian."""
        ridge = np.full((self._block.width, *self._outputs), self.alpha)
        return self._layout.join(ridge, np.zeros(self._outputs)).ravel()

    def hessian_operator(self, point: Point) -> LinearOperator:
        """Products with the Hessian without forming it: two products with the columns."""
        multiply = self._terms.hessian_product(point.state)

        def product(vector: Array) -> Array:
            weights, intercept = self._layout.split(vector.reshape(self.shape))
            moved = self._design.map_rows(lambda m: m + intercept, self._block.matvec(weights))
            curved = multiply(moved)
            return self._layout.join(self._block.rmatvec(curved) + self.alpha * weights, self._sum_rows(curved)).ravel()

        return LinearOperator((self.size, self.size), matvec=product, dtype=np.float64)

    def cross_hessian(
        self, point: Point, restricted: Point, inside: IntArray, columns: IntArray
    ) -> tuple[Array, Array]:
        """X_FᵀMX_C, with a row for the intercept, and the diagonal of X_CᵀMX_C + alpha·I."""
        model = restricted.objective
        assert isinstance(model, LinearModel)
        cross, diagonal = self._terms.cross_hessian(model._block, columns, point.state, model.fit_intercept)
        return cross, diagonal + self.alpha

    def curvature(self, point: Point) -> Array:
        """Diagonal of the Hessian, with each sample's curvature replaced by the mean over samples.

        Exact for least squares; elsewhere within the spread of the curvatures, at no pass over X: the squares of the
        columns are computed once. The pass that gave them, with the means, is counted here.
        """
        if self._squares is None:
            self.counters.passes += self._columns is None
            self._squares = self._block.squares(self._terms.samples.weights)
        mean = self._terms.mean_curvature(point.state)
        return replace_zeros(self._layout.join(np.multiply.outer(self._squares, mean) + self.alpha, mean))

    def typical_curvature(self, point: Point) -> float:
        """Mean over the columns that vary of the curvature of the loss in a coefficient: the scale of ridges."""
        squares = self._block.squares(self._terms.samples.weights)
        varying = squares[squares > CONSTANT_SQUARES * squares.max(initial=0.0)]
        if not varying.size:
            return 1.0
        return float(np.mean(varying) * np.mean(self._terms.typical_curvature(point.state)) / self.unit / self.unit)

    def lipschitz(self, metric: Array | None = None) -> float:
        """By bounds of the curvatures of samples, or of variances by the ranges of margins."""
        scale = np.ones(self._layout.n_rows)
        if metric is not None:
            scale = 1.0 / np.sqrt(metric if metric.ndim == 1 else metric.min(axis=1))
        ridge = np.full(scale.size, self.alpha)
        ridge[self._block.width :] = 0.0
        bound = self.curvature_bounds.find_lipschitz(ridge, scale)
        if np.isfinite(bound):
            return bound
        raise NoLipschitzConstantError(
            f"no bound of the curvature of {describe_objective(self)} is known, so its gradient has no known Lipschitz "
            "constant; give a constant step, or use Backtracking() or BarzilaiBorwein()"
        )

    @cached_property
    def curvature_bounds(self) -> CurvatureBounds:
        """What bounds the Hessian everywhere, without the ridge."""
        columns = np.arange(self._block.width) if self._columns is None else self._columns
        return CurvatureBounds(self._block, columns, self._terms)

    # --- what solvers and users should know ---------------------------------------------------------------------

    def relative_change(self, before: Point, after: Point) -> float:
        """Relative change of the margins, which have the same units whatever those of the features."""
        return self._terms.relative_change(before.state, after.state)

    def value_rounding(self, value: float, at_start: float) -> float:
        """What the loss makes of the rounding of margins; of a close fit it leaves more digits than of f at zero."""
        if not np.isfinite(at_start):
            return 0.0
        return VALUE_ROUNDING * self.loss.find_cancelling_size(value, at_start, self._mean_target)

    @cached_property
    def mean_lowest(self) -> float:
        """The mean over samples of the least loss that a margin can give each of them."""
        return self._terms.mean_lowest()

    @cached_property
    def _mean_target(self) -> Any:
        return self._terms.mean_target()

    def is_unbounded_below(self, point: Point) -> bool:
        """Separated classes without a ridge: scaling x up lowers f without end."""
        return self.alpha == 0 and point.value <= SEPARATED_LOSS and self._terms.separates(point.state)

    def advice(self, outcome: Outcome, x: Array) -> str:
        if outcome is Outcome.NO_MINIMUM:
            remedy = "Set alpha > 0, or lower k" if self.alpha == 0 else "No ridge bounds the intercept: check y"
            return f"{self.loss.no_minimum_reason}. {remedy}"
        return "Set alpha > 0 for a unique one" if outcome is Outcome.SINGULAR else ""
