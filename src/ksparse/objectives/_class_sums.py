"""Sums over the samples of ordered classes, compiled: one pass over the margins for each choice of thresholds."""

from __future__ import annotations

import numpy as np

from .._types import Array, IntArray
from ..compiling import jit_compile
from .thresholds import NEAR_DECREMENT, RIDGES

__all__ = ["compute_derivatives", "find_thresholds", "sum_over_classes"]

#: Newton steps for the thresholds.
MOST_THRESHOLD_STEPS = 60
#: The square of Newton's decrement at which thresholds are exact: their error in the loss is as large.
SMALL_DECREMENT = 1e-24
#: A step must lower the loss by this fraction of what its slope promises; it is halved at most so often.
SUFFICIENT, MOST_HALVINGS = 1e-4, 40
#: What is added to the Hessian, as a fraction of its largest entry, until it has a factor.
ADDED_RIDGES = (*RIDGES, 1.0)


@jit_compile
def sum_over_classes(
    codes: IntArray, weights: Array, margins: Array, thresholds: Array
) -> tuple[float, Array, Array]:  # pragma: no cover - compiled
    """Σ s·[softplus(m − θ_c) + softplus(θ_{c−1} − m)], its gradient in the thresholds, and its diagonal Hessian."""
    last = thresholds.size
    value, gradient, curvature = 0.0, np.zeros(last), np.zeros(last)
    for i in range(codes.size):
        weight, code = weights[i], codes[i]
        if weight == 0.0:
            continue
        if code < last:
            above = margins[i] - thresholds[code]
            small = np.exp(-abs(above))
            value += weight * (max(above, 0.0) + np.log1p(small))
            gradient[code] -= weight * (1.0 if above > 0.0 else small) / (1.0 + small)
            curvature[code] += weight * small / ((1.0 + small) * (1.0 + small))
        if code > 0:
            below = thresholds[code - 1] - margins[i]
            small = np.exp(-abs(below))
            value += weight * (max(below, 0.0) + np.log1p(small))
            gradient[code - 1] += weight * (1.0 if below > 0.0 else small) / (1.0 + small)
            curvature[code - 1] += weight * small / ((1.0 + small) * (1.0 + small))
    return value, gradient, curvature


@jit_compile
def compute_derivatives(
    codes: IntArray, weights: Array, margins: Array, thresholds: Array
) -> tuple[Array, Array, Array]:  # pragma: no cover - compiled
    """The slope of each sample in its margin, and the parts of its curvature from its upper and its lower threshold."""
    last, n = thresholds.size, codes.size
    slopes, upper, lower = np.zeros(n), np.zeros(n), np.zeros(n)
    for i in range(n):
        weight, code = weights[i], codes[i]
        if weight == 0.0:
            continue
        if code < last:
            above = margins[i] - thresholds[code]
            small = np.exp(-abs(above))
            slopes[i] += weight * (1.0 if above > 0.0 else small) / (1.0 + small)
            upper[i] = weight * small / ((1.0 + small) * (1.0 + small))
        if code > 0:
            below = thresholds[code - 1] - margins[i]
            small = np.exp(-abs(below))
            slopes[i] -= weight * (1.0 if below > 0.0 else small) / (1.0 + small)
            lower[i] = weight * small / ((1.0 + small) * (1.0 + small))
    return slopes, upper, lower


@jit_compile
def solve_tridiagonal(diagonal: Array, beside: Array, right: Array) -> Array:  # pragma: no cover - compiled
    """Solve Tx = b for a symmetric tridiagonal matrix, with the smallest sufficient ridge where it is singular."""
    size, largest = diagonal.size, 0.0
    pivots, x = np.empty(size), right.copy()
    for j in range(size):
        largest = max(largest, diagonal[j], 1e-154)
    for ridge in ADDED_RIDGES:
        is_positive = True
        for j in range(size):
            pivots[j] = diagonal[j] + ridge * largest
            if j > 0:
                pivots[j] -= beside[j - 1] * beside[j - 1] / pivots[j - 1]
            if not pivots[j] > 0.0:
                is_positive = False
                break
        if is_positive:
            break
    for j in range(1, size):
        x[j] -= beside[j - 1] / pivots[j - 1] * x[j - 1]
    for j in range(size - 1, -1, -1):
        if j < size - 1:
            x[j] -= beside[j] * x[j + 1]
        x[j] /= pivots[j]
    return x


@jit_compile
def evaluate_thresholds(
    codes: IntArray, weights: Array, masses: Array, margins: Array, thresholds: Array
) -> tuple[float, Array, Array, Array, float]:  # pragma: no cover - compiled
    """The loss, its tridiagonal Hessian in the thresholds, Newton's step, and the square of Newton's decrement.

    The thresholds keep their order by −log(1 − exp(−gap)); elsewhere the loss is infinite.
    """
    last = thresholds.size
    step, beside = np.zeros(last), np.zeros(max(last - 1, 0))
    for j in range(last):
        if not np.isfinite(thresholds[j]) or (j > 0 and not thresholds[j] > thresholds[j - 1]):
            return np.inf, np.ones(last), beside, step, np.inf
    loss, gradient, diagonal = sum_over_classes(codes, weights, margins, thresholds)
    for j in range(last - 1):
        gap, mass = thresholds[j + 1] - thresholds[j], masses[j + 1]
        shrunken, rest = np.exp(-gap), -np.expm1(-gap)
        pull, stiffness = mass * shrunken / rest, mass * shrunken / (rest * rest)
        gradient[j] += pull
        gradient[j + 1] -= pull
        diagonal[j] += stiffness
        diagonal[j + 1] += stiffness
        beside[j] = -stiffness
        loss -= mass * np.log(rest)
    step = -solve_tridiagonal(diagonal, beside, gradient)
    decrement = 0.0
    for j in range(last):
        decrement -= gradient[j] * step[j]
    return loss, diagonal, beside, step, decrement


@jit_compile
def find_thresholds(
    codes: IntArray, weights: Array, masses: Array, margins: Array, start: Array
) -> tuple[Array, float, Array, Array, float]:  # pragma: no cover - compiled
    """Newton's method with halved steps: the thresholds, with what is known there but the step."""
    values = start
    loss, diagonal, beside, step, decrement = evaluate_thresholds(codes, weights, masses, margins, values)
    for _ in range(MOST_THRESHOLD_STEPS):
        if not decrement > SMALL_DECREMENT:
            break
        length, found = 1.0, evaluate_thresholds(codes, weights, masses, margins, values + step)
        if decrement > NEAR_DECREMENT:
            for _ in range(MOST_HALVINGS):
                if found[0] <= loss - SUFFICIENT * length * decrement:
                    break
                length *= 0.5
                found = evaluate_thresholds(codes, weights, masses, margins, values + length * step)
        elif not found[4] < decrement:
            break
        if not found[0] < np.inf:
            break
        values = values + length * step
        loss, diagonal, beside, step, decrement = found
    return values, loss, diagonal, beside, decrement
