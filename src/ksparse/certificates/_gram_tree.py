"""The loop over the nodes of branch and bound for least squares, compiled."""

from __future__ import annotations

import numpy as np

from .._types import AnyArray, Array, IntArray
from ..compiling import jit_compile
from ._gram_nodes import add_top_scores, eliminate, find_node_curvature, minimize_quadratic_on
from ._gram_pool import BORN, MISSED, MOST, NODES, OPEN, STEP_COUNT, UNUSED, Pool, find_newest, push, take
from ._gram_relaxation import Frame, Part, RelaxedPart, are_known, relax_part
from .moved_curvature import EIGENVALUE_ROUNDING
from .screening import find_fixings

__all__ = ["explore", "keep_node"]

#: Curvature is computed again where at most this fraction of the features is open that were when it last was.
REABSORBED = 0.75
#: That costs p³: where more features than this are open, a smaller fraction.
MAX_REABSORBED, REABSORBED_OF_MANY = 500, 0.5
#: Relative rounding of bounds that are added.
SUM_ERROR = 1e-15
#: What is divided by in a node that is still to be bounded.
NOT_BOUNDED = -1


@jit_compile
def compute_target(frame: Frame, pool: Pool) -> float:
    """Nodes whose bound reaches it are closed."""
    upper = pool.values[0]
    return upper - 0.99 * frame.gap * abs(upper)


@jit_compile
def offer_support(frame: Frame, pool: Pool, support: IntArray) -> Array:
    """Minimize f on a support, and keep it if it is the best; the minimizer, zero if it is not unique."""
    w, lowest = minimize_quadratic_on(
        frame.rows, frame.slot, frame.place, frame.linear, frame.ridge, frame.lower, frame.upper, support, frame.has_box
    )
    if not np.isfinite(lowest):
        return w
    size = frame.response_size
    for i in range(support.size):
        size += frame.inflation[support[i]] * abs(w[i])
    value = 0.5 * frame.constant + lowest + frame.rounding * size * size
    if value < pool.values[0]:
        pool.values[0] = value
        pool.best[:] = -1
        for j in support:
            pool.best[j] = 1
    return w


@jit_compile
def make_part(
    frame: Frame, pool: Pool, status: AnyArray, budget: int, least: float, size: int
) -> tuple[Part, float, int, bool]:
    """The relaxation of a node, λ_min and the number of features it is of, and whether all of it is known."""
    inside, opened = np.flatnonzero(status == 1), np.flatnonzero(status == 0)
    # Without curvature to move, eliminating the selected features changes nothing.
    stays = frame.has_box or (frame.fraction == 1.0 and least == 0.0 and opened.size > frame.rank)
    kept = np.flatnonzero(status >= 0) if stays else opened
    eliminated = inside[:0] if stays else inside
    is_sparse = frame.fraction < 1.0
    wanted = REABSORBED if kept.size <= MAX_REABSORBED else REABSORBED_OF_MANY
    is_renewed = not is_sparse and kept.size <= min(wanted * size, float(frame.rank))
    if (frame.slot < 0).any():  # to know all rows of many features would take longest
        is_renewed = is_renewed and not frame.has_box and kept.size <= MAX_REABSORBED
    fraction, absorbed, ridge, is_complete = 1.0, np.zeros(kept.size), frame.ridge[kept], True
    if kept.size and (is_sparse or is_renewed):
        is_complete = are_known(frame, pool.wanted, kept) and are_known(frame, pool.wanted, eliminated)
        if is_complete:
            matrix, _, _, _, _, is_solved = eliminate(
                frame.rows, frame.slot, frame.place, frame.linear, frame.ridge, eliminated, kept
            )
            if is_solved and is_sparse:
                curvature = find_node_curvature(matrix, budget + inside.size - eliminated.size) - frame.matrix_rounding
                if curvature.min() > 0.0:
                    fraction = frame.fraction
                    ridge = ridge + (1.0 - fraction) * curvature
            elif is_solved:
                for a in range(kept.size):
                    matrix[a, a] -= frame.diagonal[kept[a]]
                lowest = np.linalg.eigvalsh(matrix)[0]
                rounding = frame.matrix_rounding + EIGENVALUE_ROUNDING * kept.size * frame.linear.size
                least, size = max(least, lowest - rounding), kept.size
    if not is_sparse:
        absorbed = frame.diagonal[kept] + least
        ridge = ridge + absorbed
    lower, upper = frame.lower[kept], frame.upper[kept]
    part = Part(kept, eliminated, fraction, absorbed, ridge, lower, upper, status[kept] == 1, budget)
    return part, least, size, is_complete


@jit_compile
def bound_part(
    frame: Frame, pool: Pool, status: AnyArray, warm: AnyArray, inherited: float, least: float, size: int
) -> None:
    """Bound the solutions with some features and without some others, and keep the node if it is not closed."""
    bound = inherited
    while True:
        inside, opened = np.flatnonzero(status == 1), np.flatnonzero(status == 0)
        budget = frame.k - inside.size
        is_leaf = budget <= 0 or opened.size <= budget
        if is_leaf:
            for j in opened:
                status[j] = 1 if budget > 0 else -1
            budget = 0
        part, least, size, is_complete = make_part(frame, pool, status, budget, least, size)
        if is_complete and is_leaf:
            inside = np.flatnonzero(status == 1)
            is_complete = are_known(frame, pool.wanted, inside)
            if is_complete:  # where its bound is the minimum itself, which steps within bounds are long in coming to
                warm = start_from(status.size, inside, offer_support(frame, pool, inside))
        target = compute_target(frame, pool)
        outcome = -1
        if is_complete:
            relaxed, outcome = relax_part(frame, pool.wanted, part, warm, target)
        if outcome < 0:
            pool.counters[MISSED] += 1
            if is_complete:
                warm = start_from(status.size, part.kept, relaxed.point)
            keep_node(pool, status, warm, bound, least, size, NOT_BOUNDED)
            return
        pool.counters[NODES] += not is_leaf
        if outcome > 0:
            pool.counters[STEP_COUNT] += relaxed.steps
            top = add_top_scores(relaxed.scores, part.selected, budget)
            own = relaxed.base - top * (1.0 + SUM_ERROR * (frame.k + 2))
            if own > bound:
                bound = own
            if budget > 0:
                round_to_supports(frame, pool, inside, part, relaxed)
                if np.isfinite(own):
                    rounded = own - SUM_ERROR * (abs(own) + abs(relaxed.base))
                    fix_features(pool, status, part, relaxed.scores, rounded)
        if budget == 0 or bound >= compute_target(frame, pool):
            pool.values[1] = min(pool.values[1], bound)
            return
        left = frame.k - np.sum(status == 1)
        warm = start_from(status.size, part.kept, relaxed.point)
        if left > 0 and np.sum(status == 0) > left:
            break
    keep_node(pool, status, warm, bound, least, size, choose_branch(status, part.kept, relaxed.z))


@jit_compile
def start_from(count: int, kept: IntArray, point: Array) -> AnyArray:
    """Where the next relaxation starts, in single precision."""
    warm = np.zeros(count, dtype=np.float32)
    for a in range(kept.size):
        warm[kept[a]] = point[a]
    return warm


@jit_compile
def round_to_supports(frame: Frame, pool: Pool, inside: IntArray, part: Part, relaxed: RelaxedPart) -> None:
    """Minimize f on the features with the largest z, and on those with the largest scores, if their rows are known."""
    for attempt in range(2):
        ranks = np.where(part.selected, -np.inf, relaxed.z if attempt == 0 else relaxed.scores)
        order = np.argsort(-ranks)[: part.budget]
        support = np.append(inside, part.kept[order])
        if (frame.slot[support] >= 0).all():
            offer_support(frame, pool, support)


@jit_compile
def fix_features(pool: Pool, status: AnyArray, part: Part, scores: Array, bound: float) -> None:
    """Screening, in place."""
    opened = part.kept[~part.selected]
    proved = find_fixings(scores[~part.selected], part.budget, bound, pool.values[0])
    for a in range(opened.size):
        if proved[a] != 0:
            status[opened[a]] = proved[a]


@jit_compile
def choose_branch(status: AnyArray, kept: IntArray, z: Array) -> int:
    """The open feature with the largest z below 1."""
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
    return branch


@jit_compile
def keep_node(pool: Pool, status: AnyArray, warm: AnyArray, bound: float, least: float, size: int, branch: int) -> None:
    """Put a node into the pool."""
    pool.counters[UNUSED] -= 1
    node = pool.unused[pool.counters[UNUSED]]
    pool.status[node], pool.warm[node] = status, warm
    pool.bound[node], pool.least[node] = bound, least
    pool.size[node], pool.branch[node], pool.born[node] = size, branch, pool.counters[BORN]
    pool.counters[BORN] += 1
    push(pool, node)


@jit_compile
def explore(frame: Frame, pool: Pool, quota: int) -> None:
    """Divide open nodes, the one with the lowest bound first, until none is left or enough nodes were bounded.

    It returns early where rows of the matrix are missing, and where the pool is nearly full and may be enlarged; where
    it may not, the newest node is divided first, which keeps their number.
    """
    limit = pool.counters[NODES] + quota
    features, is_largest = frame.linear.size, pool.bound.size >= pool.counters[MOST]
    while pool.counters[OPEN] > 0 and pool.counters[NODES] < limit and pool.counters[MISSED] == 0:
        is_full = pool.counters[UNUSED] <= features + 2
        if is_full and not is_largest:
            return
        node = take(pool, find_newest(pool) if is_full else 0)
        bound = pool.bound[node]
        status, warm = pool.status[node].copy(), pool.warm[node].copy()
        least, size, branch = pool.least[node], pool.size[node], pool.branch[node]
        pool.unused[pool.counters[UNUSED]] = node
        pool.counters[UNUSED] += 1
        if bound >= compute_target(frame, pool):
            pool.values[1] = min(pool.values[1], bound)
        elif branch == NOT_BOUNDED:
            bound_part(frame, pool, status, warm, bound, least, size)
        else:
            for choice in (1, -1):
                part = status.copy()
                part[branch] = choice
                bound_part(frame, pool, part, warm, bound, least, size)
