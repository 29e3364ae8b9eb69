"""Least squares by its Gram matrix: reduced to the features that are open, with curvature moved into the ridge."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import aslinearoperator

from .._types import Array, IntArray
from ..objectives.margin_form import MarginForm
from ..objectives.protocols import largest_eigenvalue
from .duals import QuadraticDual
from .linearization import EPS, Linearization, SmoothPart
from .moved_curvature import Curvature
from .moved_diagonal import PerspectiveForm

__all__ = ["GramForm", "QuadraticPart"]

#: Rounding errors of sums are bounded by this many times those of one elimination.
ELIMINATIONS = 4.0


@dataclass(frozen=True)
class GramForm:
    """½·constant − ⟨c, W⟩ + ½⟨W, GW⟩ + ½Σ r_j‖W_j‖², with features scaled so that G has a unit diagonal."""

    #: The model.
    model: MarginForm
    #: c, of shape (p, q).
    linear: Array
    #: Σ s‖y‖², about the means where there is an intercept.
    constant: float
    #: r.
    ridge: Array
    #: What each coefficient was multiplied by.
    scale: Array
    #: By how much the rounding errors of each feature's products exceed those of a column of this size.
    inflation: Array
    #: Root mean square of y as given.
    response_size: float
    #: Number of samples.
    n_samples: int

    @classmethod
    def of_model(cls, form: MarginForm, scale: Array) -> GramForm:
        """The Gram form of a model of least squares."""
        target = form.target if form.offset is None else form.target - form.offset
        size = float(np.sqrt(np.sum(form.weights @ np.square(target))))
        if form.fit_intercept:
            target = target - form.weights @ target
        target = target.reshape(form.n_samples, -1)
        linear = form.multiply_transposed(
            form.weights[:, None] * target if len(form.shape) > 1 else form.weights * target[:, 0]
        ).reshape(form.shape[0], -1)
        return cls(
            form,
            linear / scale[:, None],
            float(np.sum(form.weights @ np.square(target))),
            form.alpha / np.square(scale),
            scale,
            np.maximum(form.sizes / scale, 1.0),
            size,
            form.n_samples,
        )

    @cached_property
    def gram(self) -> Array:
        """G: as much work as p/2 passes."""
        gram = self.model.gram()
        gram /= self.scale
        gram /= self.scale[:, None]
        return gram

    def make_rows(self, features: IntArray) -> Array:
        """Some rows of G: as much work as a pass for each."""
        rows = self.model.cross(features)
        rows /= self.scale
        rows /= self.scale[features, None]
        return rows

    def make_columns(self, features: IntArray) -> Array:
        """Some columns of X, centred and scaled, one in each row."""
        return self.model.gather(features) / self.scale[features, None]

    @property
    def matrix_rounding(self) -> float:
        """A bound of the spectral norm of the rounding errors of G, its eliminations and factorizations.

        Errors of products are below n·ε·√(G_ii·G_jj), and those of a Cholesky factorization below p·ε·trace(G) (N. J.
        Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd edition, section 10.1).
        """
        p = len(self.scale)
        return EPS * (self.n_samples + ELIMINATIONS * p + 16.0) * float(np.sum(np.square(self.inflation)))

    def reduce(self, kept: IntArray, eliminated: IntArray) -> ReducedForm | None:
        """The form minimized over some features, as a function of others; None if that has no unique minimizer."""
        is_all = kept.size == len(self.scale)  # a large matrix is not copied for nothing
        gram, linear = self.gram if is_all else self.gram[np.ix_(kept, kept)], self.linear[kept]
        if not eliminated.size:
            return ReducedForm(
                self,
                kept,
                eliminated,
                gram,
                linear,
                self.constant,
                np.zeros((0, kept.size)),
                np.zeros((0, linear.shape[1])),
            )
        inner = self.gram[np.ix_(eliminated, eliminated)] + np.diag(self.ridge[eliminated])
        cross = self.gram[np.ix_(eliminated, kept)]
        try:
            factor = cho_factor(inner, lower=True)
        except np.linalg.LinAlgError:
            return None
        if np.diag(factor[0]).min() ** 2 <= self.matrix_rounding:
            return None
        solved = cho_solve(factor, np.column_stack([cross, self.linear[eliminated]]))
        response, minimizer = solved[:, : kept.size], solved[:, kept.size :]
        schur = gram - cross.T @ response
        constant = self.constant - float(np.sum(self.linear[eliminated] * minimizer))
        return ReducedForm(
            self, kept, eliminated, 0.5 * (schur + schur.T), linear - cross.T @ minimizer, constant, response, minimizer
        )


@dataclass(frozen=True)
class ReducedForm:
    """A Gram form minimized over some features, as a function of the kept ones."""

    whole: GramForm
    kept: IntArray
    eliminated: IntArray
    #: The Schur complement, without the ridge of the kept features.
    gram: Array
    linear: Array
    constant: float
    #: (G_II + r)⁻¹G_IK and (G_II + r)⁻¹c_I.
    response: Array
    minimizer: Array

    @property
    def ridge(self) -> Array:
        """The ridge of each kept feature."""
        return self.whole.ridge[self.kept]

    def as_perspective_form(self, k: int) -> PerspectiveForm:
        """The same for one response, with at most k of the kept features."""
        return PerspectiveForm(self.gram, np.ascontiguousarray(self.linear[:, 0]), self.constant, self.ridge, k)


class QuadraticPart(SmoothPart):
    """F(W) = ½·constant − ⟨c, W⟩ + ½⟨W, (θS − diag(e))W⟩: a reduced form without the curvature that was moved."""

    def __init__(self, form: ReducedForm, curvature: Curvature) -> None:
        self.form, self.curvature = form, curvature
        self._inflation = form.whole.inflation[form.kept]
        p = form.kept.size
        self.lipschitz = 1.0
        if p:
            self.lipschitz = max(curvature.fraction * largest_eigenvalue(aslinearoperator(form.gram)), 1e-300)

    def linearize(self, x: Array) -> Linearization:
        form, curvature = self.form, self.curvature
        point = x.reshape(form.linear.shape)
        product = curvature.fraction * (form.gram @ point) - curvature.absorbed[:, None] * point
        inner = float(np.sum(point * product))
        slopes = form.linear - product
        # Each product with x is bounded by the sum of the sizes of its terms, and so is its rounding error.
        whole = form.whole
        eliminated = form.minimizer - form.response @ point
        size = whole.response_size + float(
            np.sum(self._inflation @ np.abs(point)) + np.sum(whole.inflation[form.eliminated] @ np.abs(eliminated))
        )
        rounding = EPS * (whole.n_samples + ELIMINATIONS * len(whole.scale) + 16.0)
        errors = np.repeat(rounding * size * self._inflation, form.linear.shape[1])
        base = 0.5 * (form.constant - inner) - rounding * size * size
        value = 0.5 * (form.constant + inner) - float(np.sum(form.linear * point))
        return Linearization(base, slopes.ravel(), errors, value, self._make_dual(point))

    def evaluate_at(self, x: Array) -> float:
        return self.linearize(x).value

    def _make_dual(self, point: Array) -> QuadraticDual:
        whole, kept = self.form.whole, self.form.kept
        coefficients = np.zeros(whole.linear.shape)
        coefficients[kept] = point / whole.scale[kept][:, None]
        curvature = np.zeros(len(whole.scale))
        curvature[kept] = self.curvature.added * np.square(whole.scale[kept])
        eliminated = np.zeros(len(whole.scale), dtype=bool)
        eliminated[self.form.eliminated] = True
        return QuadraticDual(coefficients, curvature, self.curvature.fraction, eliminated, whole.scale)
