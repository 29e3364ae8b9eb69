"""Newton's method on few dimensions, compiled: a few operations on small arrays, where calls would cost the most."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._types import Array, Mask
from ..compiling import jit_compile
from ..objectives import _risk_sets
from ..objectives.losses import hinge, huber, logistic, negative_binomial, poisson, quantile, tweedie
from ._samples import (
    FAILED,
    HINGE,
    HUBER,
    LOGISTIC,
    NEGATIVE_BINOMIAL,
    POISSON,
    QUANTILE,
    SOLVED,
    TWEEDIE,
    UNFINISHED,
    Limits,
    SampleArrays,
)
from .newton import (
    MAX_DRIFT,
    MAX_FINAL_CHANGE,
    MAX_HALVINGS,
    MAX_REUSE_RATIO,
    NEGLIGIBLE_DECREASE,
    REMAINING_GAIN,
    SINGULAR_PIVOT,
    SMALLEST_FRACTION,
    SUFFICIENT_DECREASE,
)

__all__ = ["count_failing_refits", "minimize_samples"]

#: Rounding of f, as a fraction of it.
ROUNDING = 4.0 * float(np.finfo(np.float64).eps)

logistic_value = jit_compile(logistic.logistic_value)
logistic_slope = jit_compile(logistic.logistic_slope)
logistic_curvature = jit_compile(logistic.logistic_curvature)
poisson_value = jit_compile(poisson.poisson_value)
poisson_slope = jit_compile(poisson.poisson_slope)
huber_value = jit_compile(huber.huber_value)
huber_slope = jit_compile(huber.huber_slope)
huber_curvature = jit_compile(huber.huber_curvature)
hinge_value = jit_compile(hinge.hinge_value)
hinge_slope = jit_compile(hinge.hinge_slope)
hinge_curvature = jit_compile(hinge.hinge_curvature)
tweedie_value = jit_compile(tweedie.tweedie_value)
tweedie_slope = jit_compile(tweedie.tweedie_slope)
tweedie_curvature = jit_compile(tweedie.tweedie_curvature)
negative_binomial_value = jit_compile(negative_binomial.negative_binomial_value)
negative_binomial_slope = jit_compile(negative_binomial.negative_binomial_slope)
negative_binomial_curvature = jit_compile(negative_binomial.negative_binomial_curvature)
quantile_value = jit_compile(quantile.quantile_value)
quantile_slope = jit_compile(quantile.quantile_slope)
quantile_curvature = jit_compile(quantile.quantile_curvature)


@jit_compile
def loss_value(loss: int, parameters: Array, margin: float, y: float) -> float:
    """The loss of a sample."""
    if loss == LOGISTIC:
        return logistic_value(margin, y)
    if loss == POISSON:
        return poisson_value(margin, y)
    if loss == HUBER:
        return huber_value(margin, y, parameters[0])
    if loss == HINGE:
        return hinge_value(margin, y)
    if loss == TWEEDIE:
        return tweedie_value(margin, y, parameters[0])
    if loss == NEGATIVE_BINOMIAL:
        return negative_binomial_value(margin, y, parameters[0])
    if loss == QUANTILE:
        return quantile_value(margin, y, parameters[0], parameters[1])
    return 0.5 * (margin - y) * (margin - y)


@jit_compile
def loss_slope(loss: int, parameters: Array, margin: float, y: float) -> float:
    """Its derivative in the margin."""
    if loss == LOGISTIC:
        return logistic_slope(margin, y)
    if loss == POISSON:
        return poisson_slope(margin, y)
    if loss == HUBER:
        return huber_slope(margin, y, parameters[0])
    if loss == HINGE:
        return hinge_slope(margin, y)
    if loss == TWEEDIE:
        return tweedie_slope(margin, y, parameters[0])
    if loss == NEGATIVE_BINOMIAL:
        return negative_binomial_slope(margin, y, parameters[0])
    if loss == QUANTILE:
        return quantile_slope(margin, y, parameters[0], parameters[1])
    return margin - y


@jit_compile
def loss_curvature(loss: int, parameters: Array, margin: float, y: float) -> float:
    """Its second derivative in the margin."""
    if loss == LOGISTIC:
        return logistic_curvature(margin)
    if loss == POISSON:
        return np.exp(margin)
    if loss == HUBER:
        return huber_curvature(margin, y, parameters[0])
    if loss == HINGE:
        return hinge_curvature(margin, y)
    if loss == TWEEDIE:
        return tweedie_curvature(margin, y, parameters[0])
    if loss == NEGATIVE_BINOMIAL:
        return negative_binomial_curvature(margin, y, parameters[0])
    if loss == QUANTILE:
        return quantile_curvature(margin, y, parameters[1])
    return 1.0


@jit_compile(reassociate=True)
def solve_factored(factor: Array, right: Array) -> Array:  # pragma: no cover - compiled
    """Solve LLᵀx = b; the columns of L are contiguous."""
    x = right.copy()
    size = x.size
    for j in range(size):
        x[j] /= factor[j, j]
        for i in range(j + 1, size):
            x[i] -= factor[i, j] * x[j]
    for j in range(size - 1, -1, -1):
        total = x[j]
        for i in range(j + 1, size):
            total -= factor[i, j] * x[i]
        x[j] = total / factor[j, j]
    return x


@jit_compile
def factorize(hessian: Array) -> tuple[Array, bool]:  # pragma: no cover - compiled
    """The lower Cholesky factor, and whether the matrix is positive definite beyond rounding."""
    try:
        factor: Array = np.linalg.cholesky(hessian)  # type: ignore[assignment]
    except Exception:  # compiled functions know no other: the matrix is not positive definite, or not finite
        return hessian, False
    for j in range(hessian.shape[0]):
        if not factor[j, j] * factor[j, j] > SINGULAR_PIVOT * abs(hessian[j, j]):
            return factor, False
    return factor, True


class Evaluation(NamedTuple):
    """What is known of a point; its slopes have no meaning where f is infinite."""

    #: The coordinates.
    x: Array
    #: The margins.
    margins: Array
    #: The slopes of the loss in them.
    slopes: Array
    #: f: the loss and the ridge.
    value: float
    #: The sums over risk sets and the expected events of a partial likelihood, which its Hessian needs too, else None.
    events: Any


@jit_compile
def evaluate_samples(
    samples: SampleArrays, sets: Any, margins: Array
) -> tuple[Array, float, Any]:  # pragma: no cover - compiled
    """The slopes of the loss, the loss, and the `events` of an `Evaluation`.

    Slopes are computed with the loss, with which they have an exponential in common.
    """
    if sets is None:
        slopes, value = np.empty(margins.size), 0.0
        for i in range(margins.size):
            margin, y, weight = margins[i], samples.target[i], samples.weights[i]
            value += weight * loss_value(samples.loss, samples.parameters, margin, y)
            slopes[i] = weight * loss_slope(samples.loss, samples.parameters, margin, y)
        return slopes, value, None
    value, sums, expected, slopes = _risk_sets.evaluate_events(sets, margins)
    return slopes, value - samples.parameters[0], (sums, expected)


@jit_compile
def evaluate(samples: SampleArrays, sets: Any, ridge: Array, x: Array) -> Evaluation:  # pragma: no cover - compiled
    """All that is known of f at a point but for its Hessian."""
    margins = np.dot(x, samples.design) + samples.offset
    slopes, value, events = evaluate_samples(samples, sets, margins)
    penalty = 0.0
    for j in range(x.size):
        penalty += ridge[j] * x[j] * x[j]
    return Evaluation(x, margins, slopes, value + 0.5 * penalty, events)


@jit_compile
def form_hessian(
    samples: SampleArrays, sets: Any, ridge: Array, at: Evaluation
) -> Array:  # pragma: no cover - compiled
    """The Hessian of f."""
    if sets is None:
        roots = np.empty(at.margins.size)
        for i in range(at.margins.size):
            curvature = loss_curvature(samples.loss, samples.parameters, at.margins[i], samples.target[i])
            roots[i] = np.sqrt(samples.weights[i] * curvature)
        scaled = samples.design * roots
        hessian = np.dot(scaled, scaled.T)
    else:
        sums, expected = at.events
        hessian = _risk_sets.weigh_gram(sets, sums, expected, samples.design)
    for j in range(ridge.size):
        hessian[j, j] += ridge[j]
    return hessian


@jit_compile
def measure_change(before: Array, after: Array, unit: float) -> float:  # pragma: no cover - compiled
    """The largest change of a margin, relative to the largest margin."""
    moved, size = 0.0, 0.0
    for i in range(before.size):
        moved = max(moved, abs(after[i] - before[i]))
        size = max(size, abs(before[i]))
    return moved / (unit + size) if moved > 0.0 else 0.0


@jit_compile
def minimize_samples(
    samples: SampleArrays, sets: Any, ridge: Array, start: Array, at_zero: float, hessian: Array, limits: Limits
) -> tuple[int, Array, float, Array, int, int]:  # pragma: no cover - compiled
    """`newton.minimize_newton` for samples in memory, with a `ridge` for each coordinate.

    The samples of a partial likelihood have `sets`, those at risk at each event; others have None. The method starts
    from zero where f is lower there: `at_zero`. `hessian` is that near the start, or empty.

    Returned are how it ended, the minimizer, f, the margins, and the numbers of steps and Hessians.
    """
    at = evaluate(samples, sets, ridge, start.copy())
    if np.isfinite(at_zero) and not at.value <= at_zero:
        at = evaluate(samples, sets, ridge, np.zeros(start.size))
    drift, n_hessians, last_decrease, remaining_gain, smallest = 0, 0, np.inf, np.inf, 0.0
    factor, is_known = hessian, False
    if hessian.shape[0] > 0:
        factor, is_known = factorize(hessian)
    for number in range(limits.max_iter):
        if not np.isfinite(at.value):
            return FAILED, at.x, at.value, at.margins, number, n_hessians
        if at.value - remaining_gain > limits.goal:
            return UNFINISHED, at.x, at.value, at.margins, number, n_hessians
        gradient = np.dot(samples.design, at.slopes) + ridge * at.x
        step, decrement, is_reused = gradient, 0.0, False
        if is_known:
            step = -solve_factored(factor, gradient)
            decrement = -np.dot(gradient, step)
            shrinks = decrement <= MAX_REUSE_RATIO * last_decrease
            is_reused = shrinks and decrement > limits.min_decrease * abs(at.value)
        if not is_reused:
            n_hessians += 1
            factor, is_known = factorize(form_hessian(samples, sets, ridge, at))
            if not is_known:
                return FAILED, at.x, at.value, at.margins, number, n_hessians
            step = -solve_factored(factor, gradient)
            decrement = -np.dot(gradient, step)
        last_decrease, remaining_gain = decrement, REMAINING_GAIN * decrement
        if number == 0:
            size = abs(at_zero) if np.isfinite(at_zero) else 0.0
            smallest = SMALLEST_FRACTION * max(abs(at.value), size, abs(decrement))
        length, is_lower, new = 1.0, False, at
        for _ in range(MAX_HALVINGS):
            trial = evaluate(samples, sets, ridge, at.x + length * step)
            if trial.value <= at.value - SUFFICIENT_DECREASE * length * decrement + ROUNDING * abs(at.value):
                new, is_lower = trial, True
                break
            length *= 0.5
        scale = max(abs(at.value), smallest)
        is_steady = measure_change(at.margins, new.margins, samples.unit) <= MAX_FINAL_CHANGE
        if is_steady and decrement <= (limits.reused_tol if is_reused else limits.tol) * scale:
            return SOLVED, new.x, new.value, new.margins, number + 1, n_hessians
        drift = drift + 1 if decrement <= NEGLIGIBLE_DECREASE * scale and not is_steady else 0
        if drift == MAX_DRIFT or not np.isfinite(decrement):
            return FAILED, at.x, at.value, at.margins, number + 1, n_hessians
        if not is_lower and not is_reused:
            return UNFINISHED, at.x, at.value, at.margins, number + 1, n_hessians
        at = new
    return UNFINISHED, at.x, at.value, at.margins, limits.max_iter, n_hessians


@jit_compile
def count_failing_refits(
    samples: SampleArrays,
    sets: Any,
    ridge: Array,
    supports: Mask,
    starts: Array,
    at_zero: float,
    hessians: Array,
    limits: Limits,
    least: float,
) -> tuple[int, int, int]:  # pragma: no cover - compiled
    """How many refits in a row, from the first, end at f ≥ `least` by `minimize_samples`.

    A refit has a row of `supports`, the coordinates that are not zero, one of `starts`, and the Hessian there, which is
    NaN where it is not known. Returned are also the numbers of steps and Hessians of all refits.
    """
    n_steps, n_hessians = 0, 0
    for number in range(supports.shape[0]):
        kept = np.flatnonzero(supports[number])
        design, start = np.empty((kept.size, samples.design.shape[1])), np.empty(kept.size)
        hessian = np.empty((kept.size, kept.size))
        for i in range(kept.size):
            design[i], start[i] = samples.design[kept[i]], starts[number, kept[i]]
            for j in range(kept.size):
                hessian[i, j] = hessians[number, kept[i], kept[j]]
        if np.isnan(hessian).any():
            hessian = np.empty((0, 0))
        part = SampleArrays(
            samples.loss, samples.parameters, design, samples.target, samples.weights, samples.offset, samples.unit
        )
        status, _, value, _, steps, hessians_of_steps = minimize_samples(
            part, sets, ridge[kept], start, at_zero, hessian, limits
        )
        n_steps += steps
        n_hessians += hessians_of_steps
        if status == FAILED or not value >= least:
            return number, n_steps, n_hessians
    return supports.shape[0], n_steps, n_hessians
