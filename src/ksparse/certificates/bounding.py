"""The problem that bounds are computed for: f and a sparsity set as a smooth part and a perspective."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .._types import Array, IntArray
from ..objectives import Objective
from ..objectives.base import describe_objective
from ..objectives.columns import LinearModel
from ..objectives.losses.ordinal import OrdinalLoss
from ..objectives.margin_form import MarginForm
from ..objectives.protocols import WorkingForm
from ..sparsity import Units
from .gram_form import GramForm, QuadraticPart
from .level_set import tighten_on_level_set
from .linearization import SmoothPart, StepLimits
from .mean_loss import MeanLoss
from .moved_curvature import Curvature, list_curvatures
from .moved_diagonal import find_proved_diagonal
from .relaxation import Fixings, Perspective
from .tightening import Tightened, tighten

__all__ = [
    "BoundedProblem",
    "NoCertificateError",
    "Relaxed",
    "anticipate_gram",
    "explain_missing",
    "needs_whole_gram",
    "suits_gram",
]

#: Least squares with more features than this are not bounded by their Gram matrix, which would take half a gigabyte;
#: nor with more than so many for each sample, where a product with X costs less and there is hardly any curvature.
MAX_GRAM_FEATURES, MAX_GRAM_RATIO = 8000, 2
#: Within bounds of the coefficients, curvature is worth the whole Gram matrix up to so many features for each sample.
MAX_BOXED_RATIO = 0.75
#: Steps that compare one way of moving curvature with another.
TRIAL_STEPS = 20
#: What the best diagonal takes for the cube of the number of features, and curvature on a level set for their square
#: for each sample, relative to what a pass takes for each number of X; measured with 100 to 500 features.
DIAGONAL_WORK, LEVEL_SET_WORK = 2.0, 0.3
#: So many passes, or some hundredths of a second, are little.
CHEAP_PASSES, SMALL_WORK = 30, 3e7
#: Features are gathered again when at most this fraction of them is left.
COMPACTED = 0.6
#: Features whose root mean square is below this fraction of the largest are scaled like that.
LEAST_SCALE = 1e-8


class NoCertificateError(TypeError):
    """No lower bound is known for an objective."""


class Relaxed(NamedTuple):
    """The best bound of a relaxation, with what it is a relaxation of."""

    tightened: Tightened
    #: The perspective of the units that were not eliminated.
    perspective: Perspective
    #: These units.
    units: IntArray
    #: Their coordinates.
    coordinates: IntArray


@dataclass(frozen=True)
class BoundedProblem:
    """f of a linear model with at most k units, in coordinates scaled by the size of each feature."""

    form: MarginForm
    perspective: Perspective
    scale: Array
    #: Coordinates that are looked at; the others belong to units that are left out.
    coordinates: IntArray
    #: The user's units that the units are.
    units: IntArray
    #: Whether bounds follow from the Gram matrix.
    uses_gram: bool

    @classmethod
    def of(cls, form: WorkingForm, units: Units) -> BoundedProblem:
        """The problem of an objective in its working coordinates and a sparsity set."""
        margins = find_margin_form(form.objective)
        p = margins.shape[0]
        outputs = int(np.prod(margins.shape[1:], dtype=int))
        number = units.number.reshape(-1, outputs)[:p].ravel()
        scale = find_scale(margins, number, units.count)
        if units.lower is None or units.upper is None:
            lower, upper = np.full(number.size, -np.inf), np.full(number.size, np.inf)
        else:
            lower, upper = (b.reshape(-1, outputs)[:p].ravel() * scale for b in (units.lower, units.upper))
        fixings = Fixings(units.always.copy(), np.zeros(units.count, dtype=bool))
        ridge = margins.alpha / np.square(scale)
        perspective = Perspective(number, fixings, units.k, ridge, lower, upper)
        return cls(margins, perspective, scale, np.arange(number.size), np.arange(units.count), suits_gram(margins))

    def compact(self, fixings: Fixings) -> BoundedProblem:
        """The same problem without the features that are left out, if they are many."""
        outputs = self.outputs
        kept = ~fixings.outside[self.perspective.number[self.coordinates]].reshape(-1, outputs).all(axis=1)
        if self.uses_gram or kept.sum() > COMPACTED * kept.size or not kept.any():
            return self
        coordinates = self.coordinates.reshape(-1, outputs)[kept].ravel()
        return replace(self, form=self.form.restrict(np.flatnonzero(kept)), coordinates=coordinates)

    @property
    def outputs(self) -> int:
        """Number of outputs."""
        return int(np.prod(self.form.shape[1:], dtype=int))

    @property
    def has_box(self) -> bool:
        """Whether some coefficients have bounds."""
        return bool(np.isfinite(self.perspective.lower).any() or np.isfinite(self.perspective.upper).any())

    @cached_property
    def least_value(self) -> float:
        """A lower bound that needs no ridge: the mean of the least loss of each sample."""
        rows = self.form.weights > 0
        lowest = np.broadcast_to(self.form.loss.find_lowest(self.form.target[rows]), rows.sum())
        return float(self.form.weights[rows] @ lowest)

    @cached_property
    def gram_form(self) -> GramForm:
        """The Gram form, for least squares."""
        return GramForm.of_model(self.form, self.scale[:: self.outputs])

    @cached_property
    def mean_loss(self) -> MeanLoss:
        """The smooth part, for other losses."""
        return MeanLoss(self.form, self.scale[self.coordinates])

    def relax(self, fixings: Fixings, x: Array, target: float, limits: StepLimits) -> Relaxed | None:
        """A lower bound of f with these fixings, from a start in scaled coordinates; None if there is none."""
        best: Relaxed | None = None
        ways = list(self._list_relaxations(self.perspective.with_fixings(fixings)))
        for part, perspective, units, coordinates in ways:
            steps = limits.steps if len(ways) == 1 else TRIAL_STEPS
            start = x[coordinates] if best is None else best.tightened.x
            found = tighten(part, perspective, start, target, replace(limits, steps=steps))
            if best is None or found.bound > best.tightened.bound:
                best, best_part = Relaxed(found, perspective, units, coordinates), part
        if best is not None and len(ways) > 1 and limits.steps > TRIAL_STEPS:
            found = tighten(best_part, best.perspective, best.tightened.x, target, limits)
            if found.bound > best.tightened.bound:
                best = best._replace(tightened=found)
        return best

    def relax_further(
        self, relaxed: Relaxed, upper: float, target: float, limits: StepLimits, least_gain: float
    ) -> Relaxed | None:
        """A better bound for all solutions with f ≤ `upper`; None if there is none."""
        if self.uses_gram:
            return None
        perspective, found = relaxed.perspective, relaxed.tightened
        better = tighten_on_level_set(self.mean_loss, perspective, found, upper, target, limits, least_gain)
        if better is None:
            return None
        tightened, moved = better
        tangent = tightened.linearization
        dual = tangent.dual.expand(relaxed.coordinates, self.perspective.number.size)
        tightened = replace(tightened, linearization=replace(tangent, dual=dual))
        return relaxed._replace(tightened=tightened, perspective=moved)

    def is_further_cheap(self, fixings: Fixings) -> bool:
        """Whether `move_diagonal` or `relax_further` costs little, by the number of features that are left."""
        n = self.form.n_samples
        if self.uses_gram:
            work = DIAGONAL_WORK * float(fixings.open.sum()) ** 3
        else:
            work = LEVEL_SET_WORK * n * float((~fixings.outside).sum()) ** 2
        return work <= max(CHEAP_PASSES * n * float(self.form.shape[0]), SMALL_WORK)

    def move_diagonal(self, relaxed: Relaxed, fixings: Fixings, target: float, limits: StepLimits) -> Relaxed | None:
        """A better bound for least squares by the best diagonal, where features are units; None if there is none."""
        perspective = self.perspective.with_fixings(fixings)
        has_single_features = self.outputs == 1 and perspective.has_single_features
        if not (self.uses_gram and has_single_features) or self.has_box:
            return None
        if fixings.open.sum() > self.gram_form.n_samples:
            return None
        reduced = self.gram_form.reduce(np.flatnonzero(fixings.open), np.flatnonzero(fixings.inside))
        if reduced is None or not np.array_equal(reduced.kept, relaxed.units):
            return None
        form, start = reduced.as_perspective_form(perspective.budget), relaxed.tightened.x
        proved = find_proved_diagonal(form, start, self.gram_form.matrix_rounding, target, limits.deadline)
        if proved is None:
            return None
        moved = proved[0] + proved[1]  # of features that are functions of others it may be a little below 0
        inner = relaxed.perspective.with_ridge(reduced.ridge + moved)
        if not (inner.ridge > 0).all():
            return None
        part = QuadraticPart(reduced, Curvature(1.0, moved, moved))
        better = tighten(part, inner, relaxed.tightened.x, target, limits)
        if better.bound <= relaxed.tightened.bound:
            return None
        return relaxed._replace(tightened=better, perspective=inner)

    def _list_relaxations(
        self, perspective: Perspective
    ) -> Iterator[tuple[SmoothPart, Perspective, IntArray, IntArray]]:
        """Smooth parts with their perspectives, units and coordinates."""
        if not self.uses_gram:
            nothing = np.zeros(perspective.count, dtype=bool)
            inner, units = perspective.restrict(self.coordinates, nothing)
            if inner.is_bounded:
                yield self.mean_loss, inner, units, self.coordinates
            return
        yield from self._list_gram_relaxations(perspective)

    def _list_gram_relaxations(
        self, perspective: Perspective
    ) -> Iterator[tuple[SmoothPart, Perspective, IntArray, IntArray]]:
        form, fixings = self.gram_form, perspective.fixings
        outputs = self.outputs
        number = perspective.number.reshape(-1, outputs)
        is_out = fixings.outside[number].all(axis=1)
        is_in = fixings.inside[number].all(axis=1) & (not self.has_box)
        reduced = form.reduce(np.flatnonzero(~(is_out | is_in)), np.flatnonzero(is_in))
        if reduced is None:
            reduced = form.reduce(np.flatnonzero(~is_out), np.array([], dtype=np.intp))
            assert reduced is not None
        eliminated = np.zeros(perspective.count, dtype=bool)
        eliminated[number[reduced.eliminated]] = True
        coordinates = np.add.outer(reduced.kept * outputs, np.arange(outputs)).ravel()
        rank = form.n_samples - self.form.fit_intercept
        largest_unit = max(int(np.bincount(column, minlength=1).max()) for column in number[reduced.kept].T)
        n_nonzero = largest_unit * max(perspective.k - int(eliminated.sum()), 1)
        inner, units = perspective.restrict(coordinates, eliminated)
        for curvature in list_curvatures(reduced.gram, n_nonzero, rank, form.matrix_rounding):
            added = np.repeat(reduced.ridge + curvature.added, outputs)
            moved = inner.with_ridge(added)
            if moved.is_bounded:
                yield QuadraticPart(reduced, curvature), moved, units, coordinates


def suits_gram(form: MarginForm) -> bool:
    """Whether there is a Gram matrix that is worth computing."""
    return form.loss.is_quadratic and form.shape[0] <= min(MAX_GRAM_FEATURES, MAX_GRAM_RATIO * form.n_samples)


def needs_whole_gram(form: MarginForm, count: int, has_box: bool) -> bool:
    """Whether curvature in all directions, of some features that are left, is worth the whole Gram matrix."""
    rank = form.n_samples - form.fit_intercept
    return suits_gram(form) and count <= (MAX_BOXED_RATIO * rank if has_box else rank)


def anticipate_gram(form: WorkingForm, units: Units) -> None:
    """Compute the Gram matrix before the first solution is looked for, if a proof will need it: it serves both."""
    model = form.objective
    if not isinstance(model, LinearModel):
        return
    margins = model.margin_form()
    if margins is not None and needs_whole_gram(margins, margins.shape[0], units.lower is not None):
        model.know_products()


def find_margin_form(objective: Objective) -> MarginForm:
    """The data of a linear model whose loss has a known conjugate; otherwise an error that says what is missing."""
    reason = explain_missing(objective)
    if reason:
        raise NoCertificateError(f"there is no certificate for {describe_objective(objective)}: {reason}")
    form: Any = objective
    found: MarginForm = form.margin_form()
    return found


def explain_missing(objective: Objective) -> str:
    """Why there is no certificate for an objective; "" if there is one."""
    if isinstance(objective, LinearModel) and isinstance(objective.loss, OrdinalLoss):
        return "its thresholds are parameters that the lower bounds do not cover"
    form = objective.margin_form() if isinstance(objective, LinearModel) else None
    if form is None:
        return (
            "lower bounds are known for linear models whose loss is a sum over samples in memory, such as least "
            "squares, logistic or Poisson regression"
        )
    rows = form.weights > 0
    slopes = form.loss.slope(np.zeros((1, *form.shape[1:])), form.target[rows][:1])
    if form.loss.conjugate(slopes, form.target[rows][:1]) is None:
        return (
            f"the conjugate of {form.loss} is not known; a loss of your own gets certificates by its method `conjugate`"
        )
    return ""


def find_scale(form: MarginForm, number: IntArray, count: int) -> Array:
    """The root mean square of each feature; the same for all coordinates of a unit."""
    sizes = np.sqrt(form.squares)
    largest = float(sizes.max(initial=0.0)) or 1.0
    outputs = number.size // max(len(sizes), 1)
    coordinate = np.repeat(np.maximum(sizes, LEAST_SCALE * largest), outputs)
    by_unit = np.zeros(count)
    np.maximum.at(by_unit, number, coordinate)
    return by_unit[number]
