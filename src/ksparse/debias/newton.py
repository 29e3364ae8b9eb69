"""Newton's method on a support: by Cholesky in few dimensions, by conjugate gradients in many.

Bounds are enforced by projection (D. P. Bertsekas, SIAM J. Control Optim. 20, 1982): coordinates that descent
pushes against their bound are held, and the step of the others is projected.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.sparse.linalg import LinearOperator, cg

from .._types import Array, Mask
from ..objectives.base import (
    VALUE_ROUNDING,
    Objective,
    Point,
    TwiceDifferentiable,
    compute_hessian,
    compute_hessian_operator,
    is_quadratic,
    value_at_zero,
)
from ..objectives.protocols import HasMajorizer, evaluate_each, is_unbounded_below
from .base import Bounds, Outcome, Solution

__all__ = [
    "Direction",
    "Directions",
    "check_uniqueness",
    "find_least_decrease",
    "line_search",
    "minimize_newton",
    "minimize_quadratic",
    "solve_by_cholesky",
    "solve_by_conjugate_gradients",
]

#: Sufficient decrease, as a fraction of the predicted one (Armijo).
SUFFICIENT_DECREASE = 1e-4
#: Halvings of a step before the line search gives up.
MAX_HALVINGS = 40
#: So many shorter steps share a round trip, where X is in blocks elsewhere.
TRIALS_TOGETHER = 4
#: A Newton step with a larger relative change of the point has not converged, however flat f is.
MAX_FINAL_CHANGE = 1e-3
#: All further steps together are expected to gain at most this fraction of the last decrement.
REMAINING_GAIN = 0.5
#: Smaller pivots, relative to the diagonal of the Hessian, make it singular.
SINGULAR_PIVOT = 1e-13
#: The stopping rule treats values of f below this fraction of what f was, or has lost, as zero: rounding leaves more.
SMALLEST_FRACTION = 1e-16
#: Where a quadratic is unbounded below, the point that shows it is this far away.
FAR_AWAY = 1e6
#: Largest support whose Hessian is factorized only to check that a minimizer is unique.
MAX_RANK_CHECK = 2000
#: A step with a smaller predicted decrease, relative to f, does not change f.
NEGLIGIBLE_DECREASE = 1e-10
#: This many long steps in a row that do not change f lead to a minimum at infinity.
MAX_DRIFT = 5
#: A Hessian is used for another step if the predicted decrease is at most this fraction of that of the step before,
MAX_REUSE_RATIO = 0.1
#: and, unless a support is only compared, more than this fraction of f: the last step has a Hessian of its own.
MIN_REUSE_DECREASE = 1e-8
#: Steps of an older Hessian converge more slowly: they continue to this fraction of the tolerance.
REUSED_TOL_FACTOR = 1e-6
#: A remaining gradient larger than this fraction of its terms has no curvature to stop it.
UNBALANCED_GRADIENT = 1e-6


class Direction(NamedTuple):
    """A Newton step, and what the Hessian showed."""

    step: Array
    nullity: int = 0
    #: The part of the descent direction in which f has a slope but no curvature.
    flat: Array | None = None
    #: The direction of the most negative curvature.
    falling: Array | None = None
    #: Coordinates without any curvature.
    uncurved: Mask | None = None


Solve = Callable[[Objective, Point, Array, "Mask | None"], Direction]
#: Newton steps for a Hessian that was factorized.
Factor = Callable[[Array], Direction]


def minimize_newton(
    objective: Objective,
    start: Point,
    bounds: Bounds | None = None,
    *,
    solve: Solve | None = None,
    tol: float = 1e-12,
    max_iter: int = 100,
    target: float | None = None,
    hessian: Array | None = None,
    directions: Directions | None = None,
) -> Solution:
    """Minimize a restricted objective by Newton steps with backtracking, from a start within the bounds.

    `solve` computes the directions; by default they come from the k × k Hessian, which may serve several steps, the
    first of them being `hessian` if it is known; or they are those of `directions`. The end is a Newton decrement of at
    most ``tol * |f|``; the step that shows it is still taken. With a `target`, the method gives up once f is unlikely
    to come below it.
    """
    if directions is None:
        least = find_least_decrease(tol, target)
        directions = Directions(objective, solve, hessian if bounds is None else None, least)
    point, drift, remaining_gain, smallest = start, 0, np.inf, None
    for _ in range(max_iter):
        gradient = point.gradient.ravel()
        movable = None if bounds is None else bounds.find_movable(point.x, gradient)
        if target is not None and point.value - remaining_gain > target:
            return Solution(point, Outcome.UNFINISHED)
        direction = directions.compute(point, gradient, movable)
        step = _leave_plateau(direction, point, gradient)
        decrement = -float(gradient @ step)
        if smallest is None:
            smallest = SMALLEST_FRACTION * _measure_f(objective, start, decrement)
        remaining_gain = REMAINING_GAIN * decrement
        objective.counters.newton_steps += 1
        trial = line_search(objective, point, gradient, step, bounds)
        if trial.value == -np.inf:
            return Solution(point, Outcome.NO_MINIMUM)
        if is_unbounded_below(objective, trial):
            return Solution(trial, Outcome.NO_MINIMUM)
        scale = max(abs(point.value), smallest)
        steady = objective.relative_change(point, trial) <= MAX_FINAL_CHANGE
        accuracy = tol * (REUSED_TOL_FACTOR if directions.is_reused else 1.0)
        if decrement <= accuracy * scale and steady:
            return Solution(trial, _judge_nullity(objective, direction.nullity))
        drift = drift + 1 if decrement <= NEGLIGIBLE_DECREASE * scale and not steady else 0
        if drift == MAX_DRIFT:
            return Solution(trial, Outcome.NO_MINIMUM)
        if trial is point and not directions.is_reused:
            break
        point = trial
    return Solution(point, Outcome.UNFINISHED)


def find_least_decrease(tol: float, target: float | None) -> float:
    """The fraction of f that an older Hessian must be predicted to gain, for a tolerance and a target."""
    is_trial = target is not None and np.isfinite(target) and tol > MIN_REUSE_DECREASE
    return 0.0 if is_trial else max(MIN_REUSE_DECREASE, tol)


class Directions:
    """Newton steps; a factorized Hessian is reused as long as its steps shrink fast (V. E. Shamanskii, 1967).

    Such a step costs O(k²), a Hessian O(nk²). Where a step did not lower f, the next has the same predicted decrease,
    and so a Hessian of its own. `hessian` is the last one that served.
    """

    def __init__(self, objective: Objective, solve: Solve | None, hessian: Array | None, min_decrease: float) -> None:
        self._objective, self._solve, self._min_decrease, self.hessian = objective, solve, min_decrease, hessian
        self._factor = None if hessian is None else _factorize(hessian)
        self._last_decrease = np.inf
        self.is_reused = False

    def compute(self, point: Point, gradient: Array, movable: Mask | None) -> Direction:
        """The step from a point."""
        if self._solve is not None:
            return self._solve(self._objective, point, gradient, movable)
        if movable is not None:
            return solve_by_cholesky(self._objective, point, gradient, movable)
        if self._factor is not None:
            direction = self._factor(-gradient)
            decrease = -float(gradient @ direction.step)
            is_enough = decrease > self._min_decrease * abs(point.value)
            shrinks = decrease <= MAX_REUSE_RATIO * self._last_decrease
            self.is_reused = direction.nullity == 0 and is_enough and shrinks
            if self.is_reused:
                self._last_decrease = decrease
                return direction
        self.hessian = compute_hessian(self._objective, point)
        self._factor, self.is_reused = _factorize(self.hessian), False
        direction = self._factor(-gradient)
        self._last_decrease = -float(gradient @ direction.step)
        return direction


def _measure_f(objective: Objective, start: Point, decrement: float) -> float:
    """The size of what f loses: its values, its terms that cancel, and what the first step is expected to gain."""
    at_zero = value_at_zero(objective)
    terms = objective.value_rounding(start.value, at_zero) / VALUE_ROUNDING
    sizes = (abs(start.value), abs(at_zero), terms, abs(decrement))
    return max(size for size in sizes if np.isfinite(size))


def _leave_plateau(direction: Direction, point: Point, gradient: Array) -> Array:
    """The Newton step, with a gradient step where f has a slope but no curvature (Huber's linear part).

    The length of that step is in the units of x, whatever they are. Along coordinates that have curvature, it is that
    at which the curvature would change f by |f|; each of the others goes as far as would lower f by its part of |f|.
    """
    if direction.flat is None or direction.uncurved is None:
        return direction.step
    size, uncurved = abs(point.value) or 1.0, direction.uncurved  # where f is zero, it has no units to go by
    slopes, x = gradient[uncurved], point.x.ravel()[uncurved]
    curved = np.where(uncurved, 0.0, direction.flat)
    squared = -float(gradient @ curved)
    is_level = (slopes == 0) | ((x != 0) & (np.abs(slopes * x) <= NEGLIGIBLE_DECREASE * size))
    if squared <= NEGLIGIBLE_DECREASE**2 * size and is_level.all():
        return direction.step
    step = direction.step.copy()
    if squared > 0:
        step += curved * float(np.sqrt(size / squared))
    step[uncurved] -= np.divide(size / max(x.size, 1), slopes, out=np.zeros_like(slopes), where=slopes != 0)
    return step


def _judge_nullity(objective: Objective, nullity: int) -> Outcome:
    expected = objective.n_invariances if isinstance(objective, TwiceDifferentiable) else 0
    return Outcome.SINGULAR if nullity > expected else Outcome.SOLVED


def line_search(objective: Objective, point: Point, gradient: Array, step: Array, bounds: Bounds | None) -> Point:
    """The first of x + step, x + step/2, … that lowers f enough; `point` itself if none does."""
    slack = 4.0 * np.finfo(float).eps * abs(point.value)
    # The first step is nearly always taken; where it is not, several are needed.
    for first in (0, *range(1, MAX_HALVINGS, TRIALS_TOGETHER)):
        halvings = [0] if first == 0 else range(first, min(first + TRIALS_TOGETHER, MAX_HALVINGS))
        trials = [point.x + 0.5**number * step for number in halvings]
        if bounds is not None:
            trials = [bounds.clip(x) for x in trials]
        for trial in evaluate_each(objective, trials):
            predicted = float(gradient @ (trial.x - point.x))
            if trial.value <= point.value + SUFFICIENT_DECREASE * predicted + slack:
                return trial
    return point


def minimize_quadratic(objective: Objective, start: Point, refine: bool = True) -> Solution:
    """Solve Hx = b on the support with one factorization, and one step of refinement where f must be accurate."""
    hessian = compute_hessian(objective, start)
    solver = _factorize(hessian)
    first = solver(-start.gradient.ravel())
    point = objective.evaluate(start.x + first.step)
    if not refine and first.nullity == 0 and first.falling is None:
        return Solution(point, Outcome.SOLVED)
    point = objective.evaluate(point.x + solver(-point.gradient.ravel()).step)
    curvature = float(np.abs(hessian).max(initial=0.0))
    scale = max(curvature * float(np.abs(point.x).max(initial=0.0)), float(np.abs(start.gradient).max(initial=0.0)))
    scale = max(scale, float(np.sqrt(curvature * abs(start.value))))  # the size of a slope where f vanishes
    direction = solver(-point.gradient.ravel())
    if direction.falling is not None:
        return Solution(_move_far(objective, start, direction.falling), Outcome.NO_MINIMUM)
    unbalanced = float(np.abs(point.gradient).max(initial=0.0)) > UNBALANCED_GRADIENT * scale
    if unbalanced and direction.flat is not None and direction.flat.any():
        return Solution(_move_far(objective, point, direction.flat), Outcome.NO_MINIMUM)
    return Solution(point, _judge_nullity(objective, direction.nullity))


def _move_far(objective: Objective, point: Point, direction: Array) -> Point:
    """A point far along a direction in which f is unbounded below."""
    move = FAR_AWAY * (1.0 + np.linalg.norm(point.x)) * direction / np.linalg.norm(direction)
    return min(objective.evaluate(point.x + move), objective.evaluate(point.x - move), key=lambda trial: trial.value)


def check_uniqueness(objective: Objective, point: Point) -> Outcome:
    """SOLVED if a minimizer, however it was found, is the only one, otherwise SINGULAR."""
    if (
        not isinstance(objective, TwiceDifferentiable)
        or objective.is_strongly_convex
        or objective.size > MAX_RANK_CHECK
    ):
        return Outcome.SOLVED
    return _judge_nullity(objective, _factorize(compute_hessian(objective, point))(-point.gradient.ravel()).nullity)


def solve_by_cholesky(objective: Objective, point: Point, gradient: Array, movable: Mask | None) -> Direction:
    """The Newton step from the k × k Hessian."""
    return _solve_movable(compute_hessian(objective, point), gradient, movable)


def solve_by_majorizing(objective: Objective, point: Point, gradient: Array, movable: Mask | None) -> Direction:
    """The step to the minimum of a quadratic that is above f, if the objective has one; otherwise a Newton step."""
    majorizer = objective.majorizer(point) if isinstance(objective, HasMajorizer) else None
    if majorizer is None:
        return solve_by_cholesky(objective, point, gradient, movable)
    return _solve_movable(majorizer, gradient, movable)


def _solve_movable(hessian: Array, gradient: Array, movable: Mask | None) -> Direction:
    if movable is None:
        return _factorize(hessian)(-gradient)
    kept = np.flatnonzero(movable)
    inner = _factorize(hessian[np.ix_(kept, kept)])(-gradient[kept])

    def full(part: Array | None) -> Array | None:
        if part is None:
            return None
        whole = np.zeros_like(gradient)
        whole[kept] = part
        return whole

    step = full(inner.step)
    assert step is not None
    uncurved = None if inner.uncurved is None else np.isin(np.arange(gradient.size), kept[inner.uncurved])
    return Direction(step, inner.nullity, full(inner.flat), full(inner.falling), uncurved)


def _factorize(hessian: Array) -> Factor:
    """A solver for the Hessian: Cholesky, or eigenvectors with |λ| where it is singular or indefinite.

    Pivots are compared with the curvatures of their coordinates, whose units do not decide what counts as singular.
    """
    if hessian.shape[0] == 0:
        return Direction
    diagonal = np.abs(hessian.diagonal())
    # LAPACK reads columns; the transpose avoids a copy, and a symmetric matrix is its own transpose.
    factor, failed = dpotrf(hessian.T, lower=1, clean=0)
    if not failed and (np.square(factor.diagonal()) > SINGULAR_PIVOT * diagonal).all():
        return lambda right: Direction(dpotrs(factor, right, lower=1)[0])
    scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = hessian * scale * scale[:, None]
    eigenvalues, vectors = eigh(scaled, check_finite=False)
    sizes = np.abs(eigenvalues)
    kept = sizes > 10.0 * hessian.shape[0] * np.finfo(float).eps * sizes.max(initial=0.0)
    nullity = int((~kept).sum())
    falling = scale * vectors[:, 0] if kept[0] and eigenvalues[0] < 0 else None
    curved, sizes, null = vectors[:, kept], sizes[kept], vectors[:, ~kept]

    def solve(right: Array) -> Direction:
        right = scale * right
        flat = scale * (null @ (null.T @ right)) if nullity else None
        step = scale * (curved @ ((curved.T @ right) / sizes))
        # A constant column has neither curvature nor slope: its coefficient must not be rounding error.
        step[(diagonal == 0) & (right == 0)] = 0.0
        return Direction(step, nullity, flat, falling, diagonal == 0)

    return solve


def solve_by_conjugate_gradients(
    objective: Objective, point: Point, gradient: Array, movable: Mask | None
) -> Direction:
    """An inexact Newton step from products with the Hessian; superlinear as the gradient vanishes."""
    operator = compute_hessian_operator(objective, point)
    if movable is not None:
        held = movable.astype(np.float64)
        inner = operator
        operator = LinearOperator(inner.shape, matvec=lambda v: held * (inner @ (held * v)) + (1.0 - held) * v)
        gradient = held * gradient
    size = float(np.linalg.norm(gradient))
    if size == 0.0:
        return Direction(np.zeros_like(gradient))
    scale = objective.curvature(point).ravel()
    preconditioner = LinearOperator(operator.shape, matvec=lambda v: v / scale, dtype=np.float64)
    expected = float(gradient @ (gradient / scale))
    fraction = expected / abs(point.value) if expected < abs(point.value) else 1.0
    accuracy = 1e-12 if is_quadratic(objective) else min(0.1, float(np.sqrt(fraction)))
    step, _ = cg(operator, -gradient, rtol=max(accuracy, 1e-12), maxiter=10 * gradient.size, M=preconditioner)
    return Direction(step if float(gradient @ step) < 0 else -gradient / scale)
