"""Tangents of the mean loss of a linear model, from the conjugate of its loss."""

from __future__ import annotations

from dataclasses import astuple
from functools import cached_property
from math import fsum
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh
from scipy.sparse.linalg import LinearOperator

from .._types import Array, IntArray
from ..clock import read_clock
from ..debias._samples import SampleArrays
from ..debias.compiled import LOSSES
from ..objectives.margin_form import MarginForm
from ..objectives.protocols import largest_eigenvalue
from ._margin_nodes import ENOUGH, Descent, MarginNode, descend, evaluate_perspective
from .intercepts import find_intercept
from .linearization import EPS, Approach, Linearization, SmoothPart, StepLimits
from .relaxation import Perspective

__all__ = ["MeanLoss"]

#: Steps of second order on one relaxation.
MAX_DESCENT_STEPS = 25
#: With more entries of X than this the clock is looked at after each step.
MAX_NUMBERS_AT_ONCE = 1_000_000
#: Features of a working set at least, where X is not copied.
LEAST_PART = 100
#: Products with few columns gather them, if they are at most this fraction of many entries.
MAX_FRACTION_GATHERED, LEAST_GATHERED = 0.05, 500_000
#: Slopes below the least number with all its digits are zero: their products with weights have none left.
LEAST_SLOPE = float(np.finfo(np.float64).tiny)
#: Largest number of entries of X that are copied for compiled steps: 320 MB.
MAX_COMPILED_NUMBERS = 40_000_000


class MeanLoss(SmoothPart):
    """F(w) = min over b of Σᵢ sᵢ ℓ(mᵢ, yᵢ), with m = X·w/c + b + offset.

    Parameters
    ----------
    form : MarginForm
        The model.
    scale : ndarray
        c, of each coordinate.
    """

    def __init__(self, form: MarginForm, scale: Array) -> None:
        self._form, self._scale = form, scale
        self._weighted = form.weights > 0
        self._rooted = np.sqrt(form.weights)
        self._intercept: Array = np.zeros(form.shape[1:])
        outputs = scale.size // max(len(form.sizes), 1)
        self._sizes = np.repeat(form.sizes, outputs) / scale
        self.is_lipschitz = bool(np.isfinite(form.loss.curvature_bound))

    @cached_property
    def lipschitz(self) -> float:  # type: ignore[override]
        """Computed when it is first needed."""
        form = self._form
        bound = form.loss.curvature_bound
        if not self.is_lipschitz:
            margins = self.find_margins(np.zeros(self._scale.size))
            curvatures = form.loss.hessian_diagonal(form.loss.curvature(margins, form.target))
            bound = float(np.max(form.weights[self._weighted] @ curvatures[self._weighted]))
        return max(bound * self._find_largest_eigenvalue(), float(np.finfo(float).tiny))

    @property
    def _is_compiled(self) -> bool:
        """Whether there are steps of second order for the loss."""
        return type(self._form.loss) in LOSSES and len(self._form.shape) == 1

    @cached_property
    def samples(self) -> SampleArrays | None:
        """The scaled columns and the samples that count, if the loss is compiled and they are not too many."""
        form, rows = self._form, self._weighted
        if not self._is_compiled or form.shape[0] * form.n_samples > MAX_COMPILED_NUMBERS:
            return None
        offset = np.zeros(form.n_samples) if form.offset is None else form.offset
        design = np.ascontiguousarray((form.collect()[rows] / self._scale).T)
        return SampleArrays(
            LOSSES[type(form.loss)],
            np.array(astuple(form.loss), dtype=np.float64),
            design,
            form.target[rows],
            form.weights[rows],
            offset[rows],
            1.0,
        )

    def approach(self, perspective: Perspective, x: Array, target: float, limits: StepLimits) -> Approach | None:
        is_late = limits.steps < 1 or read_clock() > limits.deadline
        if is_late or not perspective.has_single_features or not self._is_compiled:
            return None
        fixings = perspective.fixings
        has_box = bool(np.isfinite(perspective.lower).any() or np.isfinite(perspective.upper).any())
        node = MarginNode(
            perspective.ridge,
            perspective.lower,
            perspective.upper,
            fixings.inside,
            fixings.outside,
            perspective.budget,
            has_box,
            self._form.fit_intercept,
        )
        x = np.where(fixings.outside, 0.0, x)
        if self.samples is None:
            return self._approach_on_parts(perspective, node, x, target, limits)
        found = self._descend(self.samples, node, x, target, min(limits.steps, MAX_DESCENT_STEPS), limits.deadline)
        return Approach(found.x, found.z, found.is_near, found.steps)

    def _descend(
        self, samples: SampleArrays, node: MarginNode, x: Array, target: float, steps: int, deadline: float
    ) -> Descent:
        """The compiled steps, with looks at the clock where they take long."""
        at_once = steps if samples.design.size <= MAX_NUMBERS_AT_ONCE else 2
        intercept, taken = float(self._intercept), 0
        while True:
            wanted = min(at_once, steps - taken)
            found = descend(samples, node, x, intercept, target, wanted)
            taken += found.steps
            is_over = found.steps < wanted or taken >= steps or np.array_equal(found.x, x)
            x, intercept = found.x, found.intercept
            if found.is_near or is_over or read_clock() > deadline:
                break
        self._intercept = np.array(intercept)
        return found._replace(steps=taken)

    def _approach_on_parts(
        self, perspective: Perspective, node: MarginNode, x: Array, target: float, limits: StepLimits
    ) -> Approach:
        """The same on working sets, with a pass over all features between, where they are too many to copy."""
        best, best_bound = Approach(x, node.selected.astype(np.float64), False, 0), -np.inf
        for taken in range(1, min(limits.steps, MAX_DESCENT_STEPS) + 1):
            tangent = self.linearize(x)
            scores = perspective.score(tangent.slopes, tangent.errors)
            bound = tangent.base - perspective.add_scores(scores)
            if not bound > best_bound:
                break
            z, penalty = evaluate_perspective(node, x)
            is_near = tangent.value + penalty - bound <= ENOUGH * (target - bound)
            best, best_bound = Approach(x, z, is_near, taken), bound
            if is_near or bound >= target or read_clock() > limits.deadline:
                break
            chosen = self._choose_part(node, x, scores)
            part = MeanLoss(self._form.restrict(chosen), self._scale[chosen])
            part._intercept = self._intercept
            inner = node._replace(
                ridge=node.ridge[chosen],
                lower=node.lower[chosen],
                upper=node.upper[chosen],
                selected=node.selected[chosen],
                outside=node.outside[chosen],
            )
            assert part.samples is not None
            found = part._descend(part.samples, inner, x[chosen], target, MAX_DESCENT_STEPS, limits.deadline)
            x = np.zeros(x.size)
            x[chosen] = found.x
        return best

    def _choose_part(self, node: MarginNode, x: Array, scores: Array) -> IntArray:
        """The features that are selected or nonzero, and those with the largest scores."""
        chosen = node.selected | (x != 0)
        room = MAX_COMPILED_NUMBERS // max(self._form.n_samples, 1) - int(chosen.sum())
        wanted = min(max(int(chosen.sum()), LEAST_PART), max(room, 0))
        ranks = np.where(chosen | node.outside, -1.0, scores)
        chosen[np.argsort(-ranks, kind="stable")[:wanted]] = True
        return np.flatnonzero(chosen & ~node.outside)

    def linearize(self, x: Array) -> Linearization:
        form = self._form
        margins = self.find_margins(x)
        slopes = np.where(self._expand(self._weighted), form.loss.slope(margins, form.target), 0.0)
        slopes[np.abs(slopes) < LEAST_SLOPE] = 0.0
        balancing = -1
        if form.fit_intercept:
            slopes, balancing = self._balance(slopes, margins)
        base = self._compute_base(slopes, margins, balancing)
        weighted = slopes * self._expand(form.weights)
        products = -form.multiply_transposed(weighted).ravel() / self._scale
        # Cauchy–Schwarz bounds the sum of the sizes of all terms of a product, whatever their order.
        norm = float(np.linalg.norm(slopes * self._expand(self._rooted)))
        terms = form.n_samples + 16.0 + (2.0 / self._rooted[balancing] if balancing >= 0 else 0.0)
        return Linearization(base, products, EPS * terms * norm * self._sizes, self._average(margins), slopes)

    def evaluate_at(self, x: Array) -> float:
        return self._average(self.find_margins(x))

    @property
    def form(self) -> MarginForm:
        """The model."""
        return self._form

    @property
    def scale(self) -> Array:
        """What each coordinate was multiplied by."""
        return self._scale

    @property
    def intercept(self) -> Array:
        """The intercept where the margins were last computed."""
        return self._intercept

    @cached_property
    def least_eigenvalue(self) -> float:
        """About λ_min of the scaled Gram matrix of X; 0 without compiled samples, or if they are not more."""
        samples = self.samples
        if samples is None or samples.design.shape[0] >= samples.design.shape[1]:
            return 0.0
        gram = (samples.design * samples.weights) @ samples.design.T
        return float(eigvalsh(gram, subset_by_index=(0, 0), check_finite=False)[0])

    def find_margins(self, x: Array) -> Array:
        """The margins at x, with the intercept that is best there."""
        form = self._form
        coefficients = (x / self._scale).reshape(form.shape)
        nonzero = np.flatnonzero(coefficients.reshape(len(coefficients), -1).any(axis=1))
        if nonzero.size * form.n_samples <= MAX_FRACTION_GATHERED * x.size * form.n_samples - LEAST_GATHERED:
            margins = form.restrict(nonzero).multiply(coefficients[nonzero])
        else:
            margins = form.multiply(coefficients)
        if form.offset is not None:
            margins = margins + form.offset
        if form.fit_intercept:
            rows = self._weighted
            self._intercept = find_intercept(
                form.loss, margins[rows], form.target[rows], form.weights[rows], self._intercept
            )
            margins = margins + self._intercept
        return margins

    def _average(self, margins: Array) -> float:
        rows, form = self._weighted, self._form
        return float(form.weights[rows] @ form.loss.value(margins[rows], form.target[rows]))

    def _balance(self, slopes: Array, margins: Array) -> tuple[Array, int]:
        """The slopes with a weighted sum of zero, which those of one sample give them; and which one that is.

        It is one whose slope is well inside its domain. Where there is none, such as with Huber loss and all residuals
        beyond delta, the slopes are made smaller before: all domains are convex and contain 0.
        """
        form = self._form
        curvatures = form.loss.hessian_diagonal(form.loss.curvature(margins, form.target))
        curvatures = curvatures if curvatures.ndim == 1 else curvatures.min(axis=1)
        with np.errstate(invalid="ignore"):
            sample = int(np.argmax(np.where(self._weighted, form.weights * np.minimum(curvatures, 1.0), -1.0)))
        balanced = self._put_rest(slopes, sample)
        if slopes.ndim > 1 or np.isfinite(self._find_ends(balanced, sample)).all():
            return balanced, sample
        above = float(form.weights @ np.maximum(slopes, 0.0))
        below = float(form.weights @ np.maximum(-slopes, 0.0))
        common = min(above, below) * (1.0 - 8.0 * EPS * form.n_samples)
        tiny = float(np.finfo(np.float64).tiny)
        shrunk = slopes * np.where(slopes > 0, common / max(above, tiny), common / max(below, tiny))
        sample = int(np.argmax(form.weights * np.abs(shrunk)))
        return self._put_rest(shrunk, sample), sample

    def _put_rest(self, slopes: Array, sample: int) -> Array:
        """The slopes with another one of a sample, such that their weighted sum is zero."""
        form, slopes = self._form, slopes.copy()
        for _ in range(2):  # what the first division leaves
            weighted = slopes * self._expand(form.weights)
            sums = np.array([fsum(column) for column in np.atleast_2d(weighted.T)]).reshape(slopes.shape[1:])
            slopes[sample] -= sums / form.weights[sample]
        return slopes

    def _find_ends(self, slopes: Array, balancing: int) -> Array:
        """ℓ* of the balancing sample at both ends of what its exact slope may be, and at the number between.

        The exact slopes sum to zero: that of this sample differs from the floating-point number by their rest.
        """
        form = self._form
        rest = 2.0 * EPS * float(np.sum(np.abs(slopes * self._expand(form.weights)))) / form.weights[balancing]
        own, row = slopes[[balancing]], form.target[[balancing]]
        return np.array([_require(form.loss.conjugate(own + move, row))[0] for move in (-rest, 0.0, rest)])

    def _compute_base(self, slopes: Array, margins: Array, balancing: int) -> float:
        """−Σ sᵢℓ*(aᵢ) + Σ sᵢaᵢoᵢ, rounded down; −∞ outside the domain of ℓ*."""
        form, rows = self._form, self._weighted
        target, weights = form.target[rows], form.weights[rows]
        conjugates = _require(form.loss.conjugate(slopes[rows], target))
        if not np.isfinite(conjugates).all():
            return -np.inf
        terms = -weights * conjugates
        if balancing >= 0:
            ends = self._find_ends(slopes, balancing)
            if not np.isfinite(ends).all():
                return -np.inf
            terms = np.append(terms, -form.weights[balancing] * (ends.max() - ends[1]))
        inner = margins[rows] * slopes[rows]
        inner = np.abs(inner) if inner.ndim == 1 else np.abs(inner).sum(axis=1)
        sizes = np.abs(conjugates) + inner + np.abs(form.loss.value(margins[rows], target))
        if form.offset is not None:
            shifted = self._expand(form.weights) * slopes * form.offset
            terms = np.append(terms, shifted[rows].ravel())
            sizes = sizes + np.abs(slopes * form.offset).reshape(len(slopes), -1).sum(axis=1)[rows]
        return fsum(terms) - 16.0 * EPS * float(weights @ sizes)

    def _expand(self, rows: Any) -> Any:
        """Numbers of each row, for each output."""
        return rows if len(self._form.shape) == 1 else rows[:, None]

    def _find_largest_eigenvalue(self) -> float:
        """λ_max of the scaled Gram matrix of X."""
        form = self._form
        p = form.shape[0]
        if p == 0:
            return 1.0
        scale = self._scale.reshape(form.shape)
        scale = scale if scale.ndim == 1 else scale[:, 0]

        def multiply(vector: Array) -> Array:
            if len(form.shape) > 1:
                full = np.zeros(form.shape)
                full[:, 0] = vector.ravel() / scale
                rows = form.multiply(full) * form.weights[:, None]
                return form.multiply_transposed(rows)[:, 0] / scale
            return form.multiply_transposed(form.weights * form.multiply(vector.ravel() / scale)) / scale

        return 1.01 * largest_eigenvalue(LinearOperator((p, p), matvec=multiply, dtype=np.float64))


def _require(conjugates: Array | None) -> Array:
    assert conjugates is not None
    return conjugates
