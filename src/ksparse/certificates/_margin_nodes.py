"""The relaxation of one node for losses of margins, compiled: proximal Newton steps on a working set of features."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._types import Array, IntArray, Mask
from ..compiling import jit_compile
from ..debias._samples import SampleArrays
from ..debias._small_refits import loss_curvature, loss_slope, loss_value
from ._gram_nodes import add_top_scores, relax_node
from ._prox import divide_budget, score_coordinate

__all__ = ["Descent", "MarginNode", "descend"]

#: Steps end where f of the relaxation is nearer to the bound than this fraction of what the bound lacks.
ENOUGH = 0.05
#: The working set has this many times the nonzero features, and at least so many for each unit that may still be
#: selected, and so many more.
WORKING_GROWTH, WORKING_MULTIPLE, WORKING_EXTRA = 1.2, 3, 10
#: Halvings of a step until f of the relaxation does not grow.
MAX_STEP_HALVINGS = 12
#: The slopes' sum is zero up to this fraction of the sum of their sizes; bisections and Newton steps until then.
SLOPE_BALANCE, MAX_BALANCING = 1e-10, 60
#: Curvature that is added where a loss has none.
ADDED_CURVATURE = 1e-12
#: The perspective is computed as a proximal step of this length, relative to the ridge.
SHORT_STEP = 1e-14


class MarginNode(NamedTuple):
    """The perspective of a node, with features as units."""

    ridge: Array
    lower: Array
    upper: Array
    selected: Mask
    #: Features that are left out.
    outside: Mask
    #: How many open features may be selected.
    budget: int
    has_box: bool
    fit_intercept: bool


class Descent(NamedTuple):
    """Where the steps have led to: the point with the best bound."""

    x: Array
    intercept: float
    z: Array
    #: The bound, which is not rounded down.
    bound: float
    #: Whether no better point has a bound that is much better.
    is_near: bool
    steps: int


@jit_compile
def balance(samples: SampleArrays, margins: Array, start: float) -> float:
    """The intercept that minimizes the loss: Newton's method within a bracket."""
    b, low, high, reach = start, -np.inf, np.inf, 1.0
    for _ in range(MAX_BALANCING):
        total, size, curvature = 0.0, 0.0, 0.0
        for i in range(margins.size):
            margin, y, weight = margins[i] + b, samples.target[i], samples.weights[i]
            slope = weight * loss_slope(samples.loss, samples.parameters, margin, y)
            total += slope
            size += abs(slope)
            curvature += weight * loss_curvature(samples.loss, samples.parameters, margin, y)
        if abs(total) <= SLOPE_BALANCE * size:
            break
        if total > 0.0:
            high = b
        else:
            low = b
        following = b - total / curvature if curvature > 0.0 else np.inf
        reach *= 2.0
        if not (low < following < high and abs(following - b) <= reach):
            following = b + reach if high == np.inf else (b - reach if low == -np.inf else 0.5 * (low + high))
        if following == b:
            break
        b = following
    return b


@jit_compile
def find_margins(samples: SampleArrays, x: Array, intercept: float, fit_intercept: bool) -> tuple[Array, float]:
    """The margins at x, and the intercept."""
    margins = samples.offset.copy()
    for j in range(x.size):
        if x[j] != 0.0:
            margins += x[j] * samples.design[j]
    if fit_intercept:
        intercept = balance(samples, margins, intercept)
        margins += intercept
    return margins, intercept


@jit_compile
def average_loss(samples: SampleArrays, margins: Array) -> float:
    """F."""
    value = 0.0
    for i in range(margins.size):
        value += samples.weights[i] * loss_value(samples.loss, samples.parameters, margins[i], samples.target[i])
    return value


@jit_compile
def evaluate_perspective(node: MarginNode, x: Array) -> tuple[Array, float]:
    """z that minimizes the perspective at x, and its value."""
    nonzero = np.flatnonzero((x != 0.0) & ~node.selected)
    z = node.selected.astype(np.float64)
    sizes, ridges, caps = np.empty(nonzero.size), np.empty(nonzero.size), np.empty(nonzero.size)
    largest = 0.0
    for a in range(nonzero.size):
        j = nonzero[a]
        largest = max(largest, abs(x[j]))
        ridges[a] = SHORT_STEP
        cap = node.upper[j] if x[j] > 0.0 else -node.lower[j]
        length = np.sqrt(SHORT_STEP / node.ridge[j]) if node.ridge[j] > 0.0 else np.sqrt(SHORT_STEP)
        sizes[a], caps[a] = abs(x[j]) / length, cap / length
    if nonzero.size <= node.budget:
        for j in nonzero:
            z[j] = 1.0
    elif node.budget > 0:
        fractions, _ = divide_budget(sizes, ridges, caps, float(node.budget), 1.0 / (largest + 1e-300))
        for a in range(nonzero.size):
            z[nonzero[a]] = fractions[a]
    value = 0.0
    for j in range(x.size):
        if x[j] != 0.0:
            value += 0.5 * node.ridge[j] * x[j] * x[j] / max(z[j], 1e-12)
    return z, value


@jit_compile
def choose_working_set(node: MarginNode, x: Array, scores: Array) -> IntArray:
    """The features that are selected or nonzero, and those with the largest scores."""
    chosen = node.selected | (x != 0.0)
    wanted = max(int(WORKING_GROWTH * np.sum(chosen & ~node.selected)), WORKING_MULTIPLE * node.budget + WORKING_EXTRA)
    ranks = np.where(node.selected | node.outside, -1.0, scores)
    if wanted < ranks.size:
        least = np.partition(ranks, ranks.size - wanted)[ranks.size - wanted]
        chosen |= ranks >= max(least, 0.0)
    else:
        chosen |= ranks >= 0.0
    return np.flatnonzero(chosen)


@jit_compile
def form_curvature(samples: SampleArrays, margins: Array, features: IntArray, fit_intercept: bool) -> Array:
    """The Hessian of F in some features, minimized over the intercept."""
    roots = np.empty(margins.size)
    for i in range(margins.size):
        curvature = loss_curvature(samples.loss, samples.parameters, margins[i], samples.target[i])
        roots[i] = np.sqrt(samples.weights[i] * (curvature + ADDED_CURVATURE))
    scaled = np.empty((features.size, margins.size))
    for a in range(features.size):
        scaled[a] = samples.design[features[a]] * roots
    if fit_intercept:
        unit = roots / np.sqrt(np.dot(roots, roots))
        for a in range(features.size):
            scaled[a] -= np.dot(scaled[a], unit) * unit
    return np.dot(scaled, scaled.T)


@jit_compile
def take_step(
    samples: SampleArrays, node: MarginNode, x: Array, margins: Array, slopes: Array, scores: Array, base: float,
    target: float,
) -> Array:  # fmt: skip
    """The minimizer of the quadratic model of F at x and the perspective, on a working set."""
    features = choose_working_set(node, x, scores)
    matrix = form_curvature(samples, margins, features, node.fit_intercept)
    inner = x[features]
    product = np.dot(matrix, inner)
    lipschitz = ADDED_CURVATURE
    for a in range(features.size):
        lipschitz = max(lipschitz, np.abs(matrix[a]).sum())
    found, _, _, _, _ = relax_node(
        matrix,
        slopes[features] + product,
        2.0 * base + np.dot(inner, product),
        1.0,
        np.zeros(features.size),
        node.ridge[features],
        node.lower[features],
        node.upper[features],
        node.selected[features],
        node.budget,
        inner,
        lipschitz,
        target,
        node.has_box,
    )
    following = np.zeros(x.size)
    for a in range(features.size):
        j = features[a]
        following[j] = min(max(found[a], node.lower[j]), node.upper[j])
    return following


@jit_compile
def descend(
    samples: SampleArrays, node: MarginNode, start: Array, intercept: float, target: float, max_steps: int
) -> Descent:
    """Minimize F + Ω by proximal Newton steps, until the bound reaches a target or is near to the best one.

    The quadratic model of F is minimized on a working set by the method for least squares; all features are looked at
    once in each step, for the bound.
    """
    x = start
    margins, intercept = find_margins(samples, x, intercept, node.fit_intercept)
    value = average_loss(samples, margins)
    z, penalty = evaluate_perspective(node, x)
    best = Descent(x, intercept, z, -np.inf, False, 0)
    is_near, step = False, 0
    weighted, scores = np.empty(margins.size), np.empty(x.size)
    for step in range(1, max_steps + 1):
        for i in range(margins.size):
            slope = loss_slope(samples.loss, samples.parameters, margins[i], samples.target[i])
            weighted[i] = -samples.weights[i] * slope
        slopes = np.dot(samples.design, weighted)
        for j in range(x.size):
            scores[j] = 0.0
            if not node.outside[j]:
                scores[j] = score_coordinate(slopes[j], 0.0, node.ridge[j], node.lower[j], node.upper[j])
        base = value + np.dot(slopes, x)
        bound = base - add_top_scores(scores, node.selected, node.budget)
        if bound > best.bound:
            best = Descent(x, intercept, z, bound, False, step)
        rest = target - best.bound
        is_near = rest <= 0.0 or value + penalty - best.bound <= ENOUGH * rest
        if is_near or step == max_steps or not np.isfinite(value):
            break
        following = take_step(samples, node, x, margins, slopes, scores, base, target)
        is_lower = False
        for _ in range(MAX_STEP_HALVINGS):
            new_margins, new_intercept = find_margins(samples, following, intercept, node.fit_intercept)
            new_value = average_loss(samples, new_margins)
            new_z, new_penalty = evaluate_perspective(node, following)
            is_lower = new_value + new_penalty < value + penalty
            if is_lower:
                break
            following = 0.5 * (following + x)
        if not is_lower:
            break
        x, margins, intercept, value, z, penalty = following, new_margins, new_intercept, new_value, new_z, new_penalty
    return Descent(best.x, best.intercept, best.z, best.bound, is_near, step)
