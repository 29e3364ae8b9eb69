"""What the units of a model are worth, and which other units could replace them.

All pairs of a unit of the model and one outside it are ranked by a quadratic model of f at the fitted coefficients;
the best pairs are refitted exactly. If unit i leaves the support F and j enters, the quadratic model changes by

    ½·z_iᵀ P_ii⁻¹ z_i  −  ½·gᵀ S⁻¹ g,    g = ∇_j f − A_ijᵀ P_ii⁻¹ z_i,    S = H_jj − H_jF P H_Fj + A_ijᵀ P_ii⁻¹ A_ij,

with z the coefficients, H the Hessian, P = H_FF⁻¹ and A = P·H_FC: first i is taken out, then j enters. This is the
change of a swap in `ksparse.solvers.swap.formula` in another order of the operations, which is also stable if j is a
copy of i.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._types import Array, IntArray, Mask
from ..objectives.base import compute_hessian
from ..objectives.protocols import HasCrossHessian
from ..solvers import Iterate
from ..solvers.swap.ranking import entering_gains
from ..solvers.swap.tableau import invert
from ..solvers.swap.tuning import SwapTuning
from .refits import Refits

__all__ = ["Replacement", "Worth", "find_replacements", "predict_changes", "weigh_units"]

MODEL_TUNING = SwapTuning()
#: This many replacements more than are asked for are refitted: the quadratic model may rank them wrongly.
EXTRA_REFITS = 4


class Worth(NamedTuple):
    """What f and the mean loss are without a unit, the others being refitted."""

    refit: Iterate
    value: float
    mean_loss: float


class Replacement(NamedTuple):
    """A unit of the model, one in its place, and f after all coefficients are refitted."""

    unit: int
    other: int
    value: float


def weigh_units(refits: Refits, current: Iterate, selected: Mask) -> dict[int, Worth]:
    """Each selected unit's worth: exact refits without it."""
    worths = {}
    for unit in np.flatnonzero(selected).tolist():
        refit = refits.refit(_without(selected, unit), current.point.x)
        worths[unit] = Worth(refit, refit.value, refits.compute_mean_loss(refit))
    return worths


def _without(selected: Mask, unit: int) -> Mask:
    fewer = selected.copy()
    fewer[unit] = False
    return fewer


def find_replacements(
    refits: Refits, current: Iterate, selected: Mask, worths: dict[int, Worth], count: int
) -> list[Replacement]:
    """For each selected unit, the `count` units outside the model that replace it with the least f, best first."""
    candidates = _choose_candidates(refits, current, selected, worths)
    inside, outside = np.flatnonzero(selected), np.flatnonzero(candidates)
    if not count or not outside.size:
        return []
    changes = predict_changes(refits, current, inside, outside)
    found = []
    for unit, row in zip(inside.tolist(), changes, strict=True):
        tried = outside[np.argsort(row, kind="stable")[: count + EXTRA_REFITS]]
        fewer, start = _without(selected, unit), worths[unit].refit.point.x
        values = [(refits.refit(fewer | _only(other, fewer.size), start).value, other) for other in tried.tolist()]
        found += [Replacement(unit, other, value) for value, other in sorted(values)[:count]]
    return found


def _only(unit: int, count: int) -> Mask:
    mask = np.zeros(count, dtype=bool)
    mask[unit] = True
    return mask


def _is_screened(refits: Refits) -> bool:
    """Whether the Hessian between the support and all candidates is cheap: of vectors, with a coordinate per unit."""
    objective = refits.objective
    return isinstance(objective, HasCrossHessian) and len(objective.shape) == 1 and refits.units.singletons


def _choose_candidates(refits: Refits, current: Iterate, selected: Mask, worths: dict[int, Worth]) -> Mask:
    """Units to rank: all others; where their Hessian would be too large, those that gain most alone in some refit."""
    others, sizes = ~selected, refits.units.sizes
    room = MODEL_TUNING.max_model_size - int(sizes[selected].sum())
    if _is_screened(refits) or sizes[others].sum() <= room:
        return others
    # Gains relative to the best one of each refit, so that each unit of the model gets candidates.
    best = np.full(others.size, -np.inf)
    for refit in [current, *(worth.refit for worth in worths.values())]:
        gains = np.where(others, entering_gains(refits.problem, refit), -np.inf)
        largest = gains.max(initial=0.0)
        best = np.maximum(best, gains / largest if largest > 0 else np.where(others, 0.0, -np.inf))
    order = np.argsort(-best, kind="stable")
    fits = np.cumsum(sizes[order]) <= max(room, MODEL_TUNING.min_candidates)
    candidates = np.zeros(others.size, dtype=bool)
    candidates[order[fits]] = True
    return candidates & others


def predict_changes(refits: Refits, current: Iterate, inside: IntArray, outside: IntArray) -> Array:
    """Predicted change of f if a unit of `inside`, all that are selected (rows), is replaced by one of `outside`."""
    predict = _predict_for_coordinates if _is_screened(refits) else _predict_for_blocks
    return predict(refits, current, inside, outside)


def _predict_for_coordinates(refits: Refits, current: Iterate, inside: IntArray, outside: IntArray) -> Array:
    objective, point, solution, support = refits.objective, current.point, current.solution, current.support
    assert support is not None
    solution = point.restrict(support) if solution is None else solution
    number = refits.units.number
    at = np.flatnonzero(support)
    coordinates = np.flatnonzero(number >= 0)
    columns = coordinates[np.argsort(number[coordinates])][outside]
    inverse = invert(compute_hessian(solution.objective, solution), MODEL_TUNING).matrix
    cross, diagonal = objective.cross_hessian(point, solution, at, columns)
    solved = inverse @ cross
    schur = np.maximum(diagonal - np.einsum("ij,ij->j", cross, solved), 0.0)
    rows = np.array([int(np.flatnonzero(number[at] == unit)[0]) for unit in inside.tolist()], dtype=np.intp)
    changes = np.empty((inside.size, outside.size))
    for row, position in enumerate(rows.tolist()):
        coefficient = point.x[at[position]] / inverse[position, position]
        slopes = point.gradient[columns] - solved[position] * coefficient
        curvatures = schur + np.square(solved[position]) / inverse[position, position]
        possible = curvatures > MODEL_TUNING.collinear * diagonal
        steps = -slopes / np.where(possible, curvatures, np.inf)
        steps = _clip_steps(refits, steps, columns)
        gains = -slopes * steps - 0.5 * curvatures * np.square(steps)
        changes[row] = 0.5 * coefficient * point.x[at[position]] - gains
    return changes


def _clip_steps(refits: Refits, steps: Array, columns: IntArray) -> Array:
    lower, upper = refits.units.lower, refits.units.upper
    return steps if lower is None or upper is None else np.clip(steps, lower[columns], upper[columns])


def _predict_for_blocks(refits: Refits, current: Iterate, inside: IntArray, outside: IntArray) -> Array:
    units, point = refits.units, current.point
    chosen = np.zeros(units.count, dtype=bool)
    chosen[inside] = chosen[outside] = True
    coordinates = units.to_mask(chosen)
    restricted = point.restrict(coordinates)
    hessian = compute_hessian(restricted.objective, restricted)
    number = units.number[coordinates]
    support = np.isin(number, inside) | (number < 0)
    inverse = invert(hessian[np.ix_(support, support)], MODEL_TUNING).matrix
    solved = inverse @ hessian[np.ix_(support, ~support)]
    schur = hessian[np.ix_(~support, ~support)] - hessian[np.ix_(~support, support)] @ solved
    blocks = [np.flatnonzero(number[~support] == unit) for unit in outside.tolist()]
    slopes, scales = point.gradient[coordinates][~support], hessian.diagonal()[~support]
    blocked = _find_blocked(refits, coordinates, ~support)
    changes = np.empty((inside.size, outside.size))
    for row, unit in enumerate(inside.tolist()):
        leaving = np.flatnonzero(number[support] == unit)
        coefficients, cross = point.x[coordinates][support][leaving], solved[leaving]
        weighted = np.linalg.pinv(inverse[np.ix_(leaving, leaving)], hermitian=True)
        moved = slopes - cross.T @ (weighted @ coefficients)
        moved[blocked(moved)] = 0.0
        for column, block in enumerate(blocks):
            part = cross[:, block]
            curvature = schur[np.ix_(block, block)] + part.T @ weighted @ part
            changes[row, column] = -_compute_block_gain(moved[block], curvature, scales[block].max())
        changes[row] += 0.5 * float(coefficients @ weighted @ coefficients)
    return changes


def _find_blocked(refits: Refits, coordinates: Mask, outside: Mask) -> Callable[[Array], Mask]:
    """Which slopes of coordinates at zero lead out of their bounds."""
    lower, upper = refits.units.lower, refits.units.upper
    if lower is None or upper is None:
        return lambda slopes: np.zeros(slopes.shape, dtype=bool)
    low, high = lower[coordinates][outside], upper[coordinates][outside]
    return lambda slopes: ((slopes > 0) & (low == 0)) | ((slopes < 0) & (high == 0))


def _compute_block_gain(slope: Array, curvature: Array, scale: float) -> float:
    """½·gᵀS⁻¹g, without the directions that the support explains."""
    eigenvalues, vectors = np.linalg.eigh(curvature)
    kept = eigenvalues > MODEL_TUNING.collinear * scale
    return 0.5 * float(np.sum(np.square(vectors[:, kept].T @ slope) / eigenvalues[kept]))
