"""The relaxation of one node of branch and bound for least squares, compiled."""

from __future__ import annotations

import numpy as np

from .._types import Array, IntArray, Mask
from ..compiling import jit_compile
from ..debias._small_refits import factorize, solve_factored
from ._prox import divide_budget, score_coordinate

__all__ = ["eliminate", "find_node_curvature", "minimize_quadratic_on", "relax_node"]

#: Steps of a node; they end when so many of them close less than this fraction of the gap.
MAX_NODE_STEPS, NODE_WINDOW, NODE_PROGRESS = 300, 10, 0.05
#: A Newton step is tried after so many steps, on so many coordinates at most; after twice as many, if it was no better.
NEWTON_PERIOD, MAX_NEWTON_SIZE = 4, 250
#: Added to the diagonal of Newton's system, of coordinates whose curvature is about 1.
NEWTON_SHIFT = 1e-12
#: Products with vectors that have at most this fraction of nonzeros look at no others.
MAX_SPARSE_FRACTION = 0.3
#: Coordinate descent within bounds ends when no coordinate moves more, or after so many sweeps.
DESCENT_TOLERANCE, MAX_DESCENT_SWEEPS = 1e-13, 2000


@jit_compile
def eliminate(
    rows: Array, slot: IntArray, place: IntArray, linear: Array, ridge: Array, inside: IntArray, kept: IntArray
) -> tuple[Array, Array, float, Array, Array, bool]:
    """The quadratic form minimized over the coordinates `inside`, as a function of `kept`.

    Row j of its matrix is in `rows`, at `slot[j]`, and column j of these at `place[j]`.

    Returns
    -------
    matrix, linear, reduction
        ½wᵀSw − c′ᵀw and by how much the constant is lower.
    response, minimizer
        The minimizer is `minimizer` − `response` @ w.
    is_solved : bool
        Whether the coordinates have a unique minimizer.
    """
    k, p = inside.size, kept.size
    matrix, reduced = np.empty((p, p)), np.empty(p)
    for a in range(p):
        row = rows[slot[kept[a]]]
        for b in range(p):
            matrix[a, b] = row[place[kept[b]]]
        reduced[a] = linear[kept[a]]
    if k == 0:
        return matrix, reduced, 0.0, np.zeros((0, p)), np.zeros(0), True
    inner, cross = np.empty((k, k)), np.empty((k, p + 1))
    for i in range(k):
        row = rows[slot[inside[i]]]
        for j in range(k):
            inner[i, j] = row[place[inside[j]]]
        inner[i, i] += ridge[inside[i]]
        for b in range(p):
            cross[i, b] = row[place[kept[b]]]
        cross[i, p] = linear[inside[i]]
    factor, is_solved = factorize(inner)
    if not is_solved:
        return matrix, reduced, 0.0, np.zeros((k, p)), np.zeros(k), False
    for i in range(k):  # forward substitution of all columns
        for j in range(i):
            cross[i] -= factor[i, j] * cross[j]
        cross[i] /= factor[i, i]
    half = np.ascontiguousarray(cross[:, :p])
    last = np.ascontiguousarray(cross[:, p])
    matrix -= np.dot(half.T, half)
    reduced -= np.dot(half.T, last)
    reduction = np.dot(last, last)
    for i in range(k - 1, -1, -1):
        for j in range(i + 1, k):
            cross[i] -= factor[j, i] * cross[j]
        cross[i] /= factor[i, i]
    return matrix, reduced, reduction, cross[:, :p].copy(), cross[:, p].copy(), True


@jit_compile
def find_node_curvature(matrix: Array, n_nonzero: int) -> Array:
    """S_jj − the n_nonzero − 1 largest |S_jl|, l ≠ j."""
    count = matrix.shape[0]
    others = min(n_nonzero, count) - 1
    curvature = np.empty(count)
    for j in range(count):
        curvature[j] = matrix[j, j]
        if others > 0:
            row = np.abs(matrix[j])
            row[j] = 0.0
            curvature[j] -= np.partition(row, count - others)[count - others :].sum()
    return curvature


@jit_compile
def minimize_quadratic_on(
    rows: Array,
    slot: IntArray,
    place: IntArray,
    linear: Array,
    ridge: Array,
    lower: Array,
    upper: Array,
    support: IntArray,
    has_box: bool,
) -> tuple[Array, float]:
    """The minimizer of ½wᵀ(G + diag(r))w − cᵀw on a support, and the minimum; ∞ if it is not unique."""
    k = support.size
    matrix, right = np.empty((k, k)), np.empty(k)
    for i in range(k):
        for j in range(k):
            matrix[i, j] = rows[slot[support[i]], place[support[j]]]
        matrix[i, i] += ridge[support[i]]
        right[i] = linear[support[i]]
    factor, is_solved = factorize(matrix)
    if not is_solved:
        return np.zeros(k), np.inf
    w = solve_factored(factor, right)
    if has_box:
        for i in range(k):
            w[i] = min(max(w[i], lower[support[i]]), upper[support[i]])
        for _ in range(MAX_DESCENT_SWEEPS):
            largest = 0.0
            for i in range(k):
                target = w[i] + (right[i] - np.dot(matrix[i], w)) / matrix[i, i]
                target = min(max(target, lower[support[i]]), upper[support[i]])
                largest = max(largest, abs(target - w[i]))
                w[i] = target
            if largest <= DESCENT_TOLERANCE:
                break
    return w, 0.5 * np.dot(w, np.dot(matrix, w)) - np.dot(right, w)


@jit_compile
def take_newton_step(
    matrix: Array, linear: Array, fraction: float, absorbed: Array, ridge: Array, w: Array, z: Array, budget: int
) -> tuple[Array, bool]:
    """The minimizer of the relaxation where the same z are 0, 1 and between, and w has the same signs.

    The perspective is then a ridge on the units with z = 1, and (Σ √λ_j|w_j|)²/(2(k − their number)) on those between.
    """
    count = 0
    full = 0
    for j in range(w.size):
        if z[j] > 0.0 and w[j] != 0.0:
            count += 1
            full += z[j] >= 1.0
    if count == 0 or count > MAX_NEWTON_SIZE or (full >= budget and count > full):
        return w, False
    active = np.empty(count, dtype=np.int64)
    count = 0
    for j in range(w.size):
        if z[j] > 0.0 and w[j] != 0.0:
            active[count] = j
            count += 1
    system, right = np.empty((count, count)), np.empty(count)
    for a in range(count):
        i = active[a]
        right[a] = linear[i]
        for b in range(count):
            system[a, b] = fraction * matrix[i, active[b]]
        system[a, a] += NEWTON_SHIFT - absorbed[i]
        if z[i] >= 1.0:
            system[a, a] += ridge[i]
            continue
        own = np.sign(w[i]) * np.sqrt(ridge[i])
        for b in range(count):
            j = active[b]
            if z[j] < 1.0:
                system[a, b] += own * np.sign(w[j]) * np.sqrt(ridge[j]) / (budget - full)
    factor, is_solved = factorize(system)
    if not is_solved:
        return w, False
    right = solve_factored(factor, right)
    following = np.zeros(w.size)
    for a in range(count):
        if right[a] * w[active[a]] > 0.0:
            following[active[a]] = right[a]
    return following, True


@jit_compile
def add_top_scores(scores: Array, selected: Mask, budget: int) -> float:
    """The scores of the selected coordinates and the `budget` largest ones of the others."""
    total, count = 0.0, 0
    for j in range(scores.size):
        if selected[j]:
            total += scores[j]
        else:
            count += 1
    if budget <= 0 or count == 0:
        return total
    others = scores[~selected]
    if budget >= count:
        return total + others.sum()
    return total + np.partition(others, count - budget)[count - budget :].sum()


@jit_compile
def multiply(matrix: Array, w: Array) -> Array:
    """The product of a symmetric matrix and a vector, by the rows of its nonzeros where they are few."""
    nonzero = np.flatnonzero(w)
    if nonzero.size > MAX_SPARSE_FRACTION * w.size:
        return np.dot(matrix, w)
    product = np.zeros(w.size)
    for j in nonzero:
        product += w[j] * matrix[j]
    return product


@jit_compile
def relax_node(
    matrix: Array,
    linear: Array,
    constant: float,
    fraction: float,
    absorbed: Array,
    ridge: Array,
    lower: Array,
    upper: Array,
    selected: Mask,
    budget: int,
    start: Array,
    lipschitz: float,
    target: float,
    has_box: bool,
) -> tuple[Array, Array, Array, float, int]:
    """Maximize the lower bound of a node by accelerated proximal steps, with Newton steps between them.

    Returns
    -------
    point, product, z
        Where the bound is the best, (θS − diag(e)) times it, and z of the last step.
    bound : float
        The bound there, not yet rounded down.
    steps : int
        Number of products with the matrix.
    """
    count = linear.size
    x, ahead, momentum, guess = start.copy(), start.copy(), 1.0, 1.0
    z = np.zeros(count)
    best_point, best_product, best_bound, earlier = start, np.zeros(count), -np.inf, -np.inf
    step_size = 1.0 / lipschitz
    root = np.sqrt(step_size)
    opened = np.flatnonzero(~selected)
    scores = np.empty(count)
    from_newton, former_ahead, former_x, former_momentum = False, start, start, 1.0
    wait = period = NEWTON_PERIOD
    for step in range(1, MAX_NODE_STEPS + 1):
        product = fraction * multiply(matrix, ahead) - absorbed * ahead
        slopes = linear - product
        for j in range(count):
            scores[j] = score_coordinate(slopes[j], 0.0, ridge[j], lower[j], upper[j])
        bound = 0.5 * (constant - np.dot(ahead, product)) - add_top_scores(scores, selected, budget)
        is_better = bound > best_bound
        if is_better:
            best_point, best_product, best_bound = ahead.copy(), product, bound
        if best_bound >= target:
            break
        if step % NODE_WINDOW == 0:
            if best_bound - earlier <= NODE_PROGRESS * (target - best_bound):
                break
            earlier = best_bound
        if from_newton:
            from_newton = False
            if is_better:
                wait = 1
            else:  # as if it had not been tried; the next one comes later
                ahead, x, momentum = former_ahead, former_x, former_momentum
                period *= 2
                wait = period
                continue
        wait -= 1
        following = ahead + step_size * slopes
        sizes, caps = np.empty(opened.size), np.empty(opened.size)
        for a in range(opened.size):
            j = opened[a]
            cap = upper[j] if following[j] > 0.0 else -lower[j]
            sizes[a] = 0.0 if cap == 0.0 else abs(following[j]) / root
            caps[a] = cap / root
        shares, guess = divide_budget(sizes, step_size * ridge[opened], caps, float(budget), guess)
        z = selected.astype(np.float64)
        for a in range(opened.size):
            z[opened[a]] = shares[a]
        for j in range(count):
            if z[j] == 0.0:
                following[j] = 0.0
                continue
            shrunk = following[j] * z[j] / (z[j] + step_size * ridge[j])
            following[j] = min(max(shrunk, lower[j] * z[j]), upper[j] * z[j])
        if np.dot(ahead - following, following - x) > 0.0:
            momentum = 1.0
        grown = 0.5 + np.sqrt(0.25 + momentum * momentum)
        ahead = following + (momentum - 1.0) / grown * (following - x)
        x, momentum = following, grown
        if not has_box and wait <= 0:
            newton, is_solved = take_newton_step(matrix, linear, fraction, absorbed, ridge, following, z, budget)
            if is_solved:
                former_ahead, former_x, former_momentum, from_newton = ahead, x, momentum, True
                x, ahead, momentum = newton, newton, 1.0
            else:
                wait = period
    return best_point, best_product, z, best_bound, step
