"""The loop over the nodes of branch and bound for least squares, compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._types import AnyArray, Array, IntArray
from ..compiling import jit_compile
from ._gram_nodes import add_top_scores, eliminate, find_node_curvature, minimize_quadratic_on, relax_node
from ._prox import score_coordinate
from .screening import find_fixings

__all__ = ["Frame", "Pool", "explore", "make_pool"]

#: Curvature is computed again where at most this fraction of the features is open that were when it last was.
REABSORBED = 0.75
#: That costs p³: where more features than this are open, a smaller fraction.
MAX_REABSORBED, REABSORBED_OF_MANY = 500, 0.5
#: Matrices of more features than this are large; they are used whole where this fraction of them is open.
LARGE_FRAME, WHOLE_FRACTION = 500, 0.5
#: Eigenvalues have a rounding error below this many ε times the size of a matrix and its trace (LAPACK Users' Guide).
EIGENVALUE_ROUNDING = 64 * 2.3e-16
#: Relative rounding of bounds that are added.
SUM_ERROR = 1e-15
#: Positions in `Pool.counters`.
OPEN, UNUSED, NODES, STEP_COUNT, BORN = 0, 1, 2, 3, 4


class Frame(NamedTuple):
    """The problem, in scaled coordinates: ½·constant − cᵀw + ½wᵀGw + ½Σ r_j w_j²."""

    gram: Array
    linear: Array
    constant: float
    ridge: Array
    lower: Array
    upper: Array
    #: By how much rounding errors of each feature exceed those of one of its size, and their unit.
    inflation: Array
    response_size: float
    rounding: float
    #: A bound of the errors of matrices.
    matrix_rounding: float
    #: The rank of the matrix is at most this: with more open features there is no least eigenvalue to move.
    rank: int
    k: int
    #: The fraction of the form that stays beside sparse curvature; 1 for spectral curvature.
    fraction: float
    #: λ_min of the matrix, proved, and an upper bound of λ_max.
    least: float
    largest: float
    has_box: bool
    #: The relative gap that is enough.
    gap: float


class Pool(NamedTuple):
    """The open nodes, in arrays with a row for each."""

    #: 1 for selected features, −1 for those that are left out, 0 for open ones.
    status: AnyArray
    #: Where the relaxation ended.
    warm: AnyArray
    bound: Array
    #: λ_min and λ_max of the form of the open features, and how many they were when these were computed.
    least: Array
    largest: Array
    size: IntArray
    #: The feature to divide by, and the number of the node.
    branch: IntArray
    born: IntArray
    #: Heap of the rows by their bound, and rows that are not used.
    heap: IntArray
    unused: IntArray
    counters: IntArray
    #: The lowest f that was found, rounded up; the lowest bound of a closed part.
    values: Array
    #: The support of the lowest f.
    best: AnyArray


def make_pool(features: int, capacity: int, upper: float) -> Pool:
    """A pool without nodes."""
    bound, least, largest = (np.zeros(capacity) for _ in range(3))
    size, branch, born, heap = (np.zeros(capacity, dtype=np.int64) for _ in range(4))
    return Pool(
        status=np.zeros((capacity, features), dtype=np.int8),
        warm=np.zeros((capacity, features), dtype=np.float32),
        bound=bound,
        least=least,
        largest=largest,
        size=size,
        branch=branch,
        born=born,
        heap=heap,
        unused=np.arange(capacity)[::-1].copy(),
        counters=np.array([0, capacity, 0, 0, 0], dtype=np.int64),
        values=np.array([upper, np.inf]),
        best=np.full(features, -1, dtype=np.int8),
    )


@jit_compile
def compute_target(frame: Frame, pool: Pool) -> float:
    """Nodes whose bound reaches it are closed."""
    upper = pool.values[0]
    return upper - 0.99 * frame.gap * abs(upper)


@jit_compile
def push(pool: Pool, node: int) -> None:
    """Put a row into the heap."""
    position = pool.counters[OPEN]
    pool.counters[OPEN] += 1
    while position > 0:
        parent = (position - 1) // 2
        if pool.bound[pool.heap[parent]] <= pool.bound[node]:
            break
        pool.heap[position] = pool.heap[parent]
        position = parent
    pool.heap[position] = node


@jit_compile
def take(pool: Pool, position: int) -> int:
    """Take the row at a position out of the heap."""
    node = pool.heap[position]
    pool.counters[OPEN] -= 1
    count = pool.counters[OPEN]
    if position == count:
        return node
    last = pool.heap[count]
    while position > 0 and pool.bound[pool.heap[(position - 1) // 2]] > pool.bound[last]:
        pool.heap[position] = pool.heap[(position - 1) // 2]
        position = (position - 1) // 2
    while True:
        child = 2 * position + 1
        if child >= count:
            break
        if child + 1 < count and pool.bound[pool.heap[child + 1]] < pool.bound[pool.heap[child]]:
            child += 1
        if pool.bound[pool.heap[child]] >= pool.bound[last]:
            break
        pool.heap[position] = pool.heap[child]
        position = child
    pool.heap[position] = last
    return node


@jit_compile
def find_newest(pool: Pool) -> int:
    """The position of the node that was made last."""
    newest = 0
    for position in range(pool.counters[OPEN]):
        if pool.born[pool.heap[position]] > pool.born[pool.heap[newest]]:
            newest = position
    return newest


@jit_compile
def offer_support(frame: Frame, pool: Pool, support: IntArray) -> None:
    """Minimize f on a support, and keep it if it is the best."""
    w, lowest = minimize_quadratic_on(
        frame.gram, frame.linear, frame.ridge, frame.lower, frame.upper, support, frame.has_box
    )
    if not np.isfinite(lowest):
        return
    size = frame.response_size
    for i in range(support.size):
        size += frame.inflation[support[i]] * abs(w[i])
    value = 0.5 * frame.constant + lowest + frame.rounding * size * size
    if value < pool.values[0]:
        pool.values[0] = value
        pool.best[:] = -1
        for j in support:
            pool.best[j] = 1


@jit_compile
def bound_part(
    frame: Frame,
    pool: Pool,
    status: AnyArray,
    warm: AnyArray,
    inherited: float,
    least: float,
    largest: float,
    size: int,
) -> None:
    """Bound the solutions with some features and without some others, and keep the node if it is not closed."""
    bound = inherited
    while True:
        inside, opened = np.flatnonzero(status == 1), np.flatnonzero(status == 0)
        budget = frame.k - inside.size
        if budget <= 0 or opened.size <= budget:
            for j in opened:
                status[j] = 1 if budget > 0 else -1
            inside, opened = np.flatnonzero(status == 1), np.flatnonzero(status == 0)
            budget = 0
            offer_support(frame, pool, inside)
        else:
            pool.counters[NODES] += 1
        # Without curvature to move, eliminating the selected features changes nothing but the size of the system.
        stays = frame.has_box or (frame.fraction == 1.0 and least == 0.0 and opened.size > frame.rank)
        # Large matrices are used as they are where most features are open: to gather them would take longest.
        count = frame.linear.size
        is_whole = count > LARGE_FRAME and frame.fraction == 1.0 and opened.size > WHOLE_FRACTION * count
        kept = np.arange(count) if is_whole else (np.flatnonzero(status >= 0) if stays else opened)
        eliminated = inside[:0] if stays or is_whole else inside
        if is_whole:
            matrix, linear, reduction, is_solved = frame.gram, frame.linear, 0.0, True
            response, minimizer = np.zeros((0, count)), np.zeros(0)
        else:
            matrix, linear, reduction, response, minimizer, is_solved = eliminate(
                frame.gram, frame.linear, frame.ridge, eliminated, kept
            )
        z = np.zeros(kept.size)
        point = np.zeros(kept.size)
        if is_solved:
            constant = frame.constant - reduction
            moved, steepest = least, largest
            wanted = REABSORBED if kept.size <= MAX_REABSORBED else REABSORBED_OF_MANY
            if is_whole:
                moved, steepest = frame.least, frame.largest
            elif kept.size and frame.fraction == 1.0 and kept.size <= min(wanted * size, float(frame.rank)):
                eigenvalues = np.linalg.eigvalsh(matrix)
                loss = frame.matrix_rounding + EIGENVALUE_ROUNDING * kept.size * frame.gram.shape[0]
                least, largest, size = (
                    max(least, eigenvalues[0] - loss),
                    min(largest, eigenvalues[-1] + loss),
                    kept.size,
                )
                moved, steepest = least, largest
            fraction, absorbed, ridge = 1.0, np.full(kept.size, moved), frame.ridge[kept] + moved
            if frame.fraction < 1.0 and kept.size:
                curvature = find_node_curvature(matrix, budget + inside.size - eliminated.size) - frame.matrix_rounding
                absorbed[:] = 0.0
                ridge = frame.ridge[kept]
                if curvature.min() > 0.0:
                    fraction = frame.fraction
                    ridge = ridge + (1.0 - fraction) * curvature
            selected = status[kept] == 1
            lower, upper = frame.lower[kept], frame.upper[kept]
            for a in range(kept.size):
                if status[kept[a]] < 0:
                    lower[a], upper[a] = 0.0, 0.0
            start = np.empty(kept.size)
            for a in range(kept.size):
                start[a] = warm[kept[a]] if status[kept[a]] >= 0 else 0.0
            lipschitz = max(fraction * steepest - absorbed.max() if kept.size else 1.0, 1e-9)
            point, product, z, _, steps = relax_node(
                matrix,
                linear,
                constant,
                fraction,
                absorbed,
                ridge,
                lower,
                upper,
                selected,
                budget,
                start,
                lipschitz,
                compute_target(frame, pool),
                frame.has_box,
            )
            pool.counters[STEP_COUNT] += steps
            # The same bound, rounded down.
            total = frame.response_size
            for a in range(kept.size):
                total += frame.inflation[kept[a]] * abs(point[a])
            rest = minimizer - np.dot(response, point)
            for i in range(eliminated.size):
                total += frame.inflation[eliminated[i]] * abs(rest[i])
            scores = np.empty(kept.size)
            for a in range(kept.size):
                error = frame.rounding * total * frame.inflation[kept[a]]
                scores[a] = score_coordinate(linear[a] - product[a], error, ridge[a], lower[a], upper[a])
            base = 0.5 * (constant - np.dot(point, product)) - frame.rounding * total * total
            top = add_top_scores(scores, selected, budget)
            own = base - top * (1.0 + SUM_ERROR * (frame.k + 2))
            if own > bound:
                bound = own
            if budget > 0:
                round_to_supports(frame, pool, inside, kept, selected, z, scores, budget)
                if np.isfinite(own):
                    fix_features(pool, status, kept, selected, scores, budget, own - SUM_ERROR * (abs(own) + abs(base)))
        if budget == 0 or bound >= compute_target(frame, pool):
            pool.values[1] = min(pool.values[1], bound)
            return
        changed = np.flatnonzero(status == 0)
        left = frame.k - np.sum(status == 1)
        if left > 0 and changed.size > left:
            break
    keep_node(pool, status, kept, point, z, bound, least, largest, size)


@jit_compile
def round_to_supports(
    frame: Frame, pool: Pool, inside: IntArray, kept: IntArray, selected: AnyArray, z: Array, scores: Array, budget: int
) -> None:
    """Minimize f on the features with the largest z, and on those with the largest scores."""
    for attempt in range(2):
        ranks = np.where(selected, -np.inf, z if attempt == 0 else scores)
        order = np.argsort(-ranks)[:budget]
        offer_support(frame, pool, np.append(inside, kept[order]))


@jit_compile
def fix_features(
    pool: Pool, status: AnyArray, kept: IntArray, selected: AnyArray, scores: Array, budget: int, bound: float
) -> None:
    """Screening, in place."""
    opened = kept[~selected]
    proved = find_fixings(scores[~selected], budget, bound, pool.values[0])
    for a in range(opened.size):
        if proved[a] != 0:
            status[opened[a]] = proved[a]


@jit_compile
def keep_node(
    pool: Pool,
    status: AnyArray,
    kept: IntArray,
    point: Array,
    z: Array,
    bound: float,
    least: float,
    largest: float,
    size: int,
) -> None:
    """Put a node into the pool; it will be divided by the open feature with the largest z below 1."""
    branch, highest = -1, -1.0
    for a in range(kept.size):
        j = kept[a]
        rank = z[a] if z[a] < 1.0 else 0.0
        if status[j] == 0 and rank > highest:
            branch, highest = j, rank
    if highest <= 0.0:
        for a in range(kept.size):
            if status[kept[a]] == 0 and z[a] > highest:
                branch, highest = kept[a], z[a]
    pool.counters[UNUSED] -= 1
    node = pool.unused[pool.counters[UNUSED]]
    pool.status[node] = status
    pool.warm[node] = 0.0
    for a in range(kept.size):
        pool.warm[node, kept[a]] = point[a]
    pool.bound[node], pool.least[node], pool.largest[node] = bound, least, largest
    pool.size[node], pool.branch[node], pool.born[node] = size, branch, pool.counters[BORN]
    pool.counters[BORN] += 1
    push(pool, node)


@jit_compile
def explore(frame: Frame, pool: Pool, quota: int) -> None:
    """Divide open nodes, the one with the lowest bound first, until none is left or enough nodes were bounded.

    When the pool is nearly full, the newest node is divided first, which keeps their number.
    """
    limit = pool.counters[NODES] + quota
    features = frame.linear.size
    while pool.counters[OPEN] > 0 and pool.counters[NODES] < limit:
        position = find_newest(pool) if pool.counters[UNUSED] <= features + 2 else 0
        node = take(pool, position)
        bound = pool.bound[node]
        status, warm = pool.status[node].copy(), pool.warm[node].copy()
        least, largest, size, branch = pool.least[node], pool.largest[node], pool.size[node], pool.branch[node]
        pool.unused[pool.counters[UNUSED]] = node
        pool.counters[UNUSED] += 1
        if bound >= compute_target(frame, pool):
            pool.values[1] = min(pool.values[1], bound)
            continue
        for choice in (1, -1):
            part = status.copy()
            part[branch] = choice
            bound_part(frame, pool, part, warm, bound, least, largest, size)
