"""Newton's method on few dimensions, compiled: a few operations on small arrays, where calls would cost the most."""

from __future__ import annotations

import numpy as np

from .._types import Array
from ..compiling import jit_compile
from ..objectives.losses import logistic
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

__all__ = ["FAILED", "SOLVED", "UNFINISHED", "minimize_samples"]

#: How the method has ended; after FAILED, what it returns is of no use.
SOLVED, UNFINISHED, FAILED = 0, 1, 2
#: Rounding of f, as a fraction of it.
ROUNDING = 4.0 * float(np.finfo(np.float64).eps)

loss_value = jit_compile(logistic.logistic_value)
loss_slope = jit_compile(logistic.logistic_slope)
loss_curvature = jit_compile(logistic.logistic_curvature)


@jit_compile(reassociate=True)
def solve_factored(factor: Array, right: Array) -> Array:
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
def factorize(hessian: Array) -> tuple[Array, bool]:
    """The lower Cholesky factor, and whether the matrix is positive definite beyond rounding."""
    try:
        factor = np.linalg.cholesky(hessian)
    except Exception:  # Numba knows no other: the matrix is not positive definite, or not finite
        return hessian, False
    for j in range(hessian.shape[0]):
        if not factor[j, j] * factor[j, j] > SINGULAR_PIVOT * abs(hessian[j, j]):
            return factor, False
    return factor, True


@jit_compile
def compute_value(margins: Array, target: Array, weights: Array, ridge: Array, x: Array) -> float:
    """F: the loss and the ridge."""
    value = 0.0
    for i in range(margins.size):
        value += weights[i] * loss_value(margins[i], target[i])
    penalty = 0.0
    for j in range(x.size):
        penalty += ridge[j] * x[j] * x[j]
    return value + 0.5 * penalty


@jit_compile
def compute_gradient(
    design: Array, margins: Array, target: Array, weights: Array, ridge: Array, x: Array
) -> Array:
    """The gradient of f."""
    slopes = np.empty(margins.size)
    for i in range(margins.size):
        slopes[i] = weights[i] * loss_slope(margins[i], target[i])
    return np.dot(design, slopes) + ridge * x


@jit_compile
def compute_hessian(design: Array, margins: Array, target: Array, weights: Array, ridge: Array) -> Array:
    """The Hessian of f."""
    scaled = np.empty(design.shape)
    roots = np.empty(margins.size)
    for i in range(margins.size):
        roots[i] = np.sqrt(weights[i] * loss_curvature(margins[i], target[i]))
    for j in range(design.shape[0]):
        for i in range(margins.size):
            scaled[j, i] = design[j, i] * roots[i]
    hessian = np.dot(scaled, scaled.T)
    for j in range(ridge.size):
        hessian[j, j] += ridge[j]
    return hessian


@jit_compile
def measure_change(before: Array, after: Array) -> float:
    """The largest change of a margin, relative to the largest margin or 1."""
    moved, size = 0.0, 0.0
    for i in range(before.size):
        moved = max(moved, abs(after[i] - before[i]))
        size = max(size, abs(before[i]))
    return moved / (1.0 + size)


@jit_compile
def minimize_samples(
    design: Array,
    target: Array,
    weights: Array,
    offset: Array,
    ridge: Array,
    start: Array,
    hessian: Array,
    tol: float,
    reused_tol: float,
    min_decrease: float,
    goal: float,
    size: float,
    max_iter: int,
) -> tuple[int, Array, float, Array, int, int]:
    """`newton.minimize_newton` for the samples in the columns of `design`, which has a row for each coordinate.

    Each coordinate has its `ridge`. `hessian` is that at the start, or empty. The end is a Newton decrement of at most
    `tol` times f, or `reused_tol` where the Hessian is an older one; it serves another step if the decrement is
    more than `min_decrease` times f. The method gives up once f is unlikely to come below `goal`. `size` is that of f
    elsewhere.

    Returned are how it ended, the minimizer, f, the margins, and the numbers of steps and Hessians.
    """
    x = start.copy()
    margins = np.dot(x, design) + offset
    value = compute_value(margins, target, weights, ridge, x)
    n_hessians, drift, last_decrease, remaining_gain, smallest = 0, 0, np.inf, np.inf, -1.0
    factor, is_known = hessian, False
    if hessian.shape[0] > 0:
        factor, is_known = factorize(hessian)
    for number in range(max_iter):
        if not np.isfinite(value) or value - remaining_gain > goal:
            return (UNFINISHED if np.isfinite(value) else FAILED), x, value, margins, number, n_hessians
        gradient = compute_gradient(design, margins, target, weights, ridge, x)
        step, decrement, is_reused = gradient, 0.0, False
        if is_known:
            step = -solve_factored(factor, gradient)
            decrement = -np.dot(gradient, step)
            is_reused = decrement > min_decrease * abs(value) and decrement <= MAX_REUSE_RATIO * last_decrease
        if not is_reused:
            n_hessians += 1
            factor, is_known = factorize(compute_hessian(design, margins, target, weights, ridge))
            if not is_known:
                return FAILED, x, value, margins, number, n_hessians
            step = -solve_factored(factor, gradient)
            decrement = -np.dot(gradient, step)
        last_decrease = decrement
        if smallest < 0.0:
            smallest = SMALLEST_FRACTION * max(abs(value), size, abs(decrement))
        remaining_gain = REMAINING_GAIN * decrement
        length, is_lower = 1.0, False
        new_x, new_margins, new_value = x, margins, value
        for _ in range(MAX_HALVINGS):
            trial = x + length * step
            trial_margins = np.dot(trial, design) + offset
            trial_value = compute_value(trial_margins, target, weights, ridge, trial)
            if trial_value <= value - SUFFICIENT_DECREASE * length * decrement + ROUNDING * abs(value):
                new_x, new_margins, new_value, is_lower = trial, trial_margins, trial_value, True
                break
            length *= 0.5
        scale = max(abs(value), smallest)
        is_steady = measure_change(margins, new_margins) <= MAX_FINAL_CHANGE
        if decrement <= (reused_tol if is_reused else tol) * scale and is_steady:
            return SOLVED, new_x, new_value, new_margins, number + 1, n_hessians
        drift = drift + 1 if decrement <= NEGLIGIBLE_DECREASE * scale and not is_steady else 0
        if drift == MAX_DRIFT or not np.isfinite(decrement):
            return FAILED, x, value, margins, number + 1, n_hessians
        if not is_lower and not is_reused:
            return UNFINISHED, x, value, margins, number + 1, n_hessians
        x, margins, value = new_x, new_margins, new_value
    return UNFINISHED, x, value, margins, max_iter, n_hessians
