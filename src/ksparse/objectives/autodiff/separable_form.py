"""A user's function that is a sum of functions of one margin each, as those of generalized linear models are."""

from __future__ import annotations

import copy
from typing import NamedTuple, Protocol

import numpy as np

from ..._types import Array, IntArray, Mask
from ..base import Objective, Outcome, Point, TwiceDifferentiable, describe_objective, inherit
from ..protocols import HasCrossHessian, HasGroups, find_labels
from ..user import check_gradient, check_hessian
from .quadratic_form import bound_curvature

__all__ = ["MarginDerivatives", "Margins", "SeparableForm"]


class MarginDerivatives(NamedTuple):
    """f with its derivatives where f(x) = Σᵢ φᵢ(mᵢ) + Σⱼ ψⱼ(xⱼ)."""

    value: float
    #: φᵢ′(mᵢ) and φᵢ″(mᵢ).
    slopes: Array
    curvatures: Array
    #: ψⱼ′(xⱼ) and ψⱼ″(xⱼ); None if there are no such terms.
    own_slopes: Array | None = None
    own_curvatures: Array | None = None


class Margins(Protocol):
    """The margins m = Ax + b of a function of a flat vector x, and its derivatives in them."""

    @property
    def is_quadratic(self) -> bool:
        """Whether f is quadratic."""

    @property
    def count(self) -> int:
        """How many margins there are."""

    #: Whether there are ψⱼ.
    has_own_terms: bool

    @property
    def compilations(self) -> int:
        """How many functions have been compiled."""

    def compute_map(self) -> tuple[Array, Array] | None:
        """b, and the columns of A as rows; None if they would take long."""

    def differentiate(self, margins: Array, x: Array) -> MarginDerivatives:
        """The derivatives at some margins, those of x."""


class SeparableForm(TwiceDifferentiable, HasGroups, HasCrossHessian):
    """f(x) = Σᵢ φᵢ(mᵢ) + Σⱼ ψⱼ(xⱼ) with m = Ax + b, which is what a user's function is.

    Its Hessian is Aᵀ diag(φ″) A + diag(ψ″): on a support it costs as much as that of a generalized linear model.

    Parameters
    ----------
    function : Objective
        The function.
    margins : Margins
        Its margins and derivatives.
    columns : ndarray
        The columns of A, as rows.
    offset : ndarray
        b.
    origin : ndarray
        The user's parameters where x is zero.
    """

    def __init__(self, function: Objective, margins: Margins, columns: Array, offset: Array, origin: Array) -> None:
        super().__init__()
        self.counters, self.shape, self.free = function.counters, function.shape, function.free
        self._function, self._margins, self._origin = function, margins, origin
        self._offset = offset + origin @ columns
        self._support = np.arange(origin.size)
        self._columns = columns
        self._squares: Array | None = None
        self._curvatures_at_zero = margins.differentiate(self._offset, origin).curvatures
        self._total_at_zero = float(self._curvatures_at_zero.sum())
        #: The diagonal of the Hessian at zero, without that of ψ.
        self._at_zero: Array | None = None
        self._diagonal: tuple[MarginDerivatives, Array] | None = None
        self._is_whole = True
        self._name = describe_objective(function)

    def restrict(self, support: Mask) -> SeparableForm:
        self.counters.restrictions += 1
        kept = np.flatnonzero(support)
        restricted = copy.copy(self)
        restricted.shape, restricted.free, restricted._is_whole = (kept.size,), None, False
        restricted._squares = restricted._diagonal = None
        restricted._at_zero = None if self._at_zero is None else self._at_zero[kept]
        restricted._support, restricted._columns = self._support[kept], self._columns[kept]
        inherit(restricted, self)
        return restricted

    @property
    def labels(self) -> IntArray | None:
        return find_labels(self._function)

    def evaluate(self, x: Array) -> Point:
        x = self.check_point(x)
        values = x.ravel()
        kept = np.flatnonzero(values) if self._is_whole else slice(None)
        parameters = self._origin
        if self._margins.has_own_terms:
            parameters = parameters.copy()
            parameters[self._support] += values
        derivatives = self._margins.differentiate(self._offset + values[kept] @ self._columns[kept], parameters)
        self.counters.compilations = self._margins.compilations
        return Point(self, x, derivatives.value, derivatives)

    def gradient(self, point: Point) -> Array:
        """Aᵀφ′ + ψ′: a pass, except on a support."""
        self.counters.passes += self._is_whole
        derivatives: MarginDerivatives = point.state
        gradient = self._columns @ derivatives.slopes
        if derivatives.own_slopes is not None:
            gradient += derivatives.own_slopes[self._support]
        parameters = self._origin.copy()
        parameters[self._support] += point.x.ravel()
        return check_gradient(gradient.reshape(self.shape), point.value, parameters)

    def differentiate_on(self, x: Array, coordinates: IntArray) -> tuple[float, Array]:
        """f and its gradient in some coordinates at a flat vector."""
        point = self.evaluate(x.reshape(self.shape))
        derivatives: MarginDerivatives = point.state
        gradient = self._columns[coordinates] @ derivatives.slopes
        if derivatives.own_slopes is not None:
            gradient += derivatives.own_slopes[self._support[coordinates]]
        return point.value, gradient

    def compute_rows(self, coordinates: IntArray) -> Array:
        """Rows of the Hessian at zero, over the flat vector."""
        derivatives: MarginDerivatives = self.evaluate(np.zeros(self.shape)).state
        rows = (self._columns[coordinates] * derivatives.curvatures) @ self._columns.T
        if derivatives.own_curvatures is not None:
            rows[np.arange(coordinates.size), coordinates] += derivatives.own_curvatures[self._support[coordinates]]
        return check_hessian(rows, self.evaluate(np.zeros(self.shape)).value)

    def hessian(self, point: Point) -> Array:
        derivatives: MarginDerivatives = point.state
        hessian = (self._columns * derivatives.curvatures) @ self._columns.T
        if derivatives.own_curvatures is not None:
            hessian.flat[:: hessian.shape[0] + 1] += derivatives.own_curvatures[self._support]
        return check_hessian(hessian, point.value)

    def cross_hessian(
        self, point: Point, restricted: Point, inside: IntArray, columns: IntArray
    ) -> tuple[Array, Array]:
        derivatives: MarginDerivatives = point.state
        others = self._columns[columns]
        weighted = self._columns[inside] * derivatives.curvatures
        return weighted @ others.T, self._compute_diagonal(derivatives)[columns]

    def _square_columns(self) -> Array:
        """A∘A, computed once."""
        if self._squares is None:
            self._squares = np.square(self._columns)
        return self._squares

    def _compute_diagonal(self, derivatives: MarginDerivatives) -> Array:
        """The diagonal of the Hessian, which is computed once for each point."""
        if self._diagonal is None or self._diagonal[0] is not derivatives:
            diagonal = self._square_columns() @ derivatives.curvatures
            if derivatives.own_curvatures is not None:
                diagonal += derivatives.own_curvatures[self._support]
            self._diagonal = derivatives, diagonal
        return self._diagonal[1]

    def curvature(self, point: Point) -> Array:
        """The diagonal of the Hessian with each φ″ as at zero, times the change of their mean since then.

        For a generalized linear model this is the curvature of `LinearModel`, so that both find the same supports. It
        takes no pass.
        """
        now: MarginDerivatives = point.state
        change = float(now.curvatures.sum()) / self._total_at_zero if self._total_at_zero > 0 else 0.0
        if not 0.0 < change < np.inf:
            return bound_curvature(np.abs(self._compute_diagonal(now))).reshape(self.shape)
        if self._at_zero is None:
            self._at_zero = self._square_columns() @ self._curvatures_at_zero
        diagonal = change * self._at_zero
        if now.own_curvatures is not None:
            diagonal = diagonal + now.own_curvatures[self._support]
        return bound_curvature(np.abs(diagonal)).reshape(self.shape)

    def advice(self, outcome: Outcome, x: Array) -> str:
        return self._function.advice(outcome, x)
