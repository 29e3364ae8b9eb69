"""The relaxation of one node for least squares, compiled: steps on a working set of features."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._types import AnyArray, Array, IntArray, Mask
from ..compiling import jit_compile
from ._gram_nodes import add_top_scores, eliminate, relax_node
from ._gram_passes import Passes, multiply_gram
from ._prox import score_coordinate

__all__ = ["Frame", "Part", "RelaxedPart", "relax_part"]

#: Working sets are enlarged at most so often.
MAX_WORKING_SETS = 30
#: Steps end where the bound on the working set exceeds that of all features by less than this fraction of what is
#: missing.
INNER_EXCESS = 0.05
#: So many features at least enter at once, and so many more for each one that may still be selected; as many as there
#: are, once they are more.
ENTERING, ENTERING_MULTIPLE = 10, 2
#: So few features are a working set.
FEW = 40
#: A score exceeds another if it does by this fraction.
SCORE_TOLERANCE = 1e-9


class Frame(NamedTuple):
    """The problem, in scaled coordinates: ½·constant − cᵀw + ½wᵀGw + ½Σ r_j w_j²."""

    #: Rows of G, for each feature where its row is, −1 where it is not known, and where its column is in these rows;
    #: where `passes` is used, only the block of the known features is there.
    rows: Array
    slot: IntArray
    place: IntArray
    passes: Passes
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
    #: Curvature of each feature that is moved beside λ_min of what is left.
    diagonal: Array
    #: The fraction of the form that stays beside sparse curvature; 1 for spectral curvature.
    fraction: float
    has_box: bool
    #: The relative gap that is enough.
    gap: float


class Part(NamedTuple):
    """The relaxation of a node; arrays have an entry for each feature that is kept."""

    kept: IntArray
    #: Selected features that the form is minimized over.
    eliminated: IntArray
    fraction: float
    absorbed: Array
    ridge: Array
    lower: Array
    upper: Array
    selected: Mask
    #: How many of the others may be selected.
    budget: int


class RelaxedPart(NamedTuple):
    """Where the bound of a part is the best."""

    point: Array
    #: Of the eliminated features.
    rest: Array
    scores: Array
    z: Array
    #: The bound is `base` minus the scores of the features that are selected, rounded down.
    base: float
    steps: int


@jit_compile
def are_known(frame: Frame, wanted: Mask, features: IntArray) -> bool:
    """Whether the rows of some features are known; otherwise they are asked for."""
    missing = False
    for j in features:
        if frame.slot[j] < 0:
            wanted[j] = True
            missing = True
    return not missing


@jit_compile
def find_slopes(frame: Frame, part: Part, chosen: IntArray, point: Array, rest: Array, minimizer: Array) -> Array:
    """Minus the gradient of the smooth part at a point that is zero outside the chosen features."""
    kept = part.kept
    slopes = np.empty(kept.size)
    for a in range(kept.size):
        slopes[a] = frame.linear[kept[a]]
    if frame.passes.is_used:
        subtract_by_pass(frame, part, chosen, point, rest, minimizer, slopes)
    else:
        subtract_rows(frame, part, chosen, point, rest, minimizer, slopes)
    for b in range(chosen.size):
        slopes[chosen[b]] += part.absorbed[chosen[b]] * point[b]
    return slopes


@jit_compile
def subtract_by_pass(
    frame: Frame, part: Part, chosen: IntArray, point: Array, rest: Array, minimizer: Array, slopes: Array
) -> None:
    """Subtract the products of the matrix with a point, by a pass over X."""
    kept, fraction = part.kept, part.fraction
    factors, is_kept = np.zeros(frame.linear.size), np.zeros(frame.linear.size, dtype=np.bool_)
    is_kept[kept] = True
    for i in range(part.eliminated.size):
        factors[part.eliminated[i]] = fraction * rest[i] + (1.0 - fraction) * minimizer[i]
    for b in range(chosen.size):
        factors[kept[chosen[b]]] = fraction * point[b]
    slopes -= multiply_gram(frame.passes, frame.slot, factors, is_kept)[kept]


@jit_compile
def subtract_rows(
    frame: Frame, part: Part, chosen: IntArray, point: Array, rest: Array, minimizer: Array, slopes: Array
) -> None:
    """Subtract the products of the matrix with a point, by its rows."""
    kept, fraction = part.kept, part.fraction
    for i in range(part.eliminated.size):
        row = frame.rows[frame.slot[part.eliminated[i]]]
        factor = fraction * rest[i] + (1.0 - fraction) * minimizer[i]
        for a in range(kept.size):
            slopes[a] -= factor * row[kept[a]]
    for b in range(chosen.size):
        if point[b] != 0.0:
            row = frame.rows[frame.slot[kept[chosen[b]]]]
            factor = fraction * point[b]
            for a in range(kept.size):
                slopes[a] -= factor * row[kept[a]]


@jit_compile
def enlarge(is_chosen: Mask, selected: Mask, scores: Array, budget: int) -> bool:
    """Add the features whose scores exceed those that are in the bound of the working set; whether there are any."""
    count = np.sum(is_chosen)
    inner = scores[is_chosen & ~selected]
    least = 0.0
    if 0 < budget < inner.size:
        least = np.partition(inner, inner.size - budget)[inner.size - budget]
    ranks = np.where(is_chosen | selected, -1.0, scores)
    entering = ranks > least * (1.0 + SCORE_TOLERANCE)
    wanted = max(int(count), ENTERING + ENTERING_MULTIPLE * budget)
    if np.sum(entering) > wanted:
        entering &= ranks >= np.partition(ranks, ranks.size - wanted)[ranks.size - wanted]
    is_chosen |= entering
    return bool(np.any(entering))


@jit_compile
def relax_part(frame: Frame, wanted: Mask, part: Part, warm: AnyArray, target: float) -> tuple[RelaxedPart, int]:
    """Maximize the lower bound of a part on working sets of features, with a look at all of them between.

    Returns
    -------
    relaxed : RelaxedPart
        Where the bound is the best.
    outcome : int
        1; 0 if the eliminated features have no unique minimizer, −1 if rows of the matrix are missing, which are then
        asked for.
    """
    kept, selected, budget = part.kept, part.selected, part.budget
    x = np.empty(kept.size)
    for a in range(kept.size):
        x[a] = warm[kept[a]] if part.lower[a] < part.upper[a] else 0.0
    is_chosen = (x != 0.0) | selected
    if kept.size <= FEW:
        is_chosen[:] = True
    z, scores = np.zeros(kept.size), np.zeros(kept.size)
    best = RelaxedPart(x, np.zeros(part.eliminated.size), scores, z, -np.inf, 0)
    best_bound, taken = -np.inf, 0
    if not are_known(frame, wanted, part.eliminated):
        return best, -1
    for _ in range(MAX_WORKING_SETS):
        chosen = np.flatnonzero(is_chosen)
        features = kept[chosen]
        if not are_known(frame, wanted, features):
            return RelaxedPart(x, best.rest, scores, z, -np.inf, taken), -1
        matrix, linear, reduction, response, minimizer, is_solved = eliminate(
            frame.rows, frame.slot, frame.place, frame.linear, frame.ridge, part.eliminated, features
        )
        if not is_solved:
            return best, 0
        constant = frame.constant - reduction
        lipschitz = 1e-9
        for b in range(chosen.size):
            lipschitz = max(lipschitz, part.fraction * np.abs(matrix[b]).sum() - part.absorbed[chosen].min())
        point, product, inner_z, inner_bound, steps = relax_node(
            matrix,
            linear,
            constant,
            part.fraction,
            part.absorbed[chosen],
            part.ridge[chosen],
            part.lower[chosen],
            part.upper[chosen],
            selected[chosen],
            budget,
            x[chosen],
            lipschitz,
            target,
            frame.has_box,
        )
        taken += steps
        rest = minimizer - np.dot(response, point)
        slopes = find_slopes(frame, part, chosen, point, rest, minimizer)
        total = frame.response_size
        for b in range(chosen.size):
            total += frame.inflation[features[b]] * abs(point[b])
        for i in range(rest.size):
            total += frame.inflation[part.eliminated[i]] * abs(rest[i])
        scores = np.empty(kept.size)
        for a in range(kept.size):
            error = frame.rounding * total * frame.inflation[kept[a]]
            scores[a] = score_coordinate(slopes[a], error, part.ridge[a], part.lower[a], part.upper[a])
        base = 0.5 * (constant - np.dot(point, product)) - frame.rounding * total * total
        bound = base - add_top_scores(scores, selected, budget)
        x, z = np.zeros(kept.size), np.zeros(kept.size)
        for b in range(chosen.size):
            x[chosen[b]], z[chosen[b]] = point[b], inner_z[b]
        if bound > best_bound:
            best, best_bound = RelaxedPart(x, rest, scores, z, base, taken), bound
        if best_bound >= target or inner_bound - best_bound <= INNER_EXCESS * (target - best_bound):
            break
        if not enlarge(is_chosen, selected, scores, budget):
            break
    return best, 1
