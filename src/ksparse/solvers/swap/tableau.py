"""Swaps ranked by a quadratic model of f, with its whole Hessian on the support and the candidates.

The tableau of the model ½zᵀHz − bᵀz is one symmetric matrix with all that the formula of a swap needs: the matrix
[[H, b], [bᵀ, 0]], swept on the coordinates F of the support. It then holds −P = −H_FF⁻¹ in the block of F, A = P·H_FC
between F and the other coordinates C, the Schur complement S of H in the block of C, and in its last column the
minimizer z on F and the slopes s on C. Sweeping on one more coordinate moves it into F or out of it.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from ..._types import Array, IntArray, Mask
from .formula import Entering, all_changes, sweep_first
from .swap_model import Swap, SwapModel
from .tuning import SwapTuning

__all__ = ["BlockInverse", "QuadraticSwapModel", "invert", "plan_waits", "rank_swaps"]


class QuadraticSwapModel(SwapModel):
    """f ≈ ½zᵀHz − bᵀz on some coordinates, with a support among them; units may have several coordinates.

    `hessian` is H, and `linear` is b. Each coordinate has its `unit`, -1 if it is free and always stays, and is
    `inside` the support or not; units that are `fixed` must stay. Where `inverse`, that of H on the support, is known,
    the support comes first. The model predicts no minimizer of f: it may count coordinates once that f counts twice,
    as the edges of a graph.
    """

    def __init__(
        self,
        hessian: Array,
        linear: Array,
        unit: IntArray,
        inside: Mask,
        fixed: Mask,
        tuning: SwapTuning,
        inverse: BlockInverse | None = None,
    ) -> None:
        #: Where the coordinates are in the tableau.
        self._place: IntArray | slice = slice(None)
        if inverse is None:
            # The support comes first, so that its block and the others are slices.
            order = (~inside).argsort(kind="stable")
            self._place = order.argsort()
            hessian, unit, inside, linear = hessian[order[:, None], order], unit[order], inside[order], linear[order]
            size = np.count_nonzero(inside)
            inverse = invert(hessian[:size, :size], tuning)
        self.is_singular = inverse.is_singular
        #: For units of one coordinate: `coefficients` after each swap of the last chain, in rows.
        self.solutions: Array = np.empty((0, linear.size))
        self._table = sweep_first(hessian, linear, inverse.matrix)
        self._least = tuning.collinear * hessian.diagonal()
        self._unit, self._inside = unit, inside.copy()
        leaving, entering = unit[inside & (unit >= 0) & ~fixed[unit]], unit[~inside]
        self._leaving, self._entering = (np.bincount(units).nonzero()[0] for units in (leaving, entering))
        singletons = self._leaving.size == leaving.size and self._entering.size == entering.size
        self._coordinate = _find_coordinates(unit, fixed.size) if singletons else None

    @property
    def minimum(self) -> float:
        """The model's value at its minimizer on the present support."""
        return 0.5 * float(self._table[-1, -1])

    @property
    def coefficients(self) -> Array:
        """The minimizer on the present support; elsewhere slopes."""
        return self._table[:-1, -1][self._place]

    @cached_property
    def _changes(self) -> Array:
        """Predicted change for each pair of a leaving and an entering unit."""
        if self._coordinate is None:
            return self._compute_block_changes()
        from ._kernels import list_entering_terms

        table, diagonal = self._table, self._table.diagonal()
        rows, columns = self._coordinate[self._leaving], self._coordinate[self._entering]
        terms = Entering(*list_entering_terms(table[columns, -1], diagonal[columns], self._least[columns]))
        return all_changes(table[rows, -1], -diagonal[rows], table[rows[:, None], columns], terms)

    def find_best_swaps(self, count: int) -> list[Swap]:
        return rank_swaps(self._changes, self._leaving, self._entering, count)

    def find_best_entering(self, count: int) -> IntArray:
        """The units whose best swaps are the best ones."""
        return self._entering[np.argsort(self._changes.min(axis=0, initial=np.inf), kind="stable")[:count]]

    def find_chain(self, length: int, threshold: float) -> list[Swap]:
        if not self._leaving.size or not self._entering.size:
            return []
        if self._coordinate is not None:
            return self._chain_coordinates(self._coordinate, length, threshold)
        swaps: list[Swap] = []
        while len(swaps) < length:
            row, column = divmod(int(np.argmin(self._changes)), self._entering.size)
            if not self._changes[row, column] < -threshold:
                break
            swaps.append(self._exchange(row, column))
        return swaps

    def explore(self, length: int, threshold: float) -> list[Swap]:
        """A chain that goes on where no swap lowers f: a tabu search (Glover, ORSA Journal on Computing 1, 1989).

        A unit that has entered stays for some swaps, and one that has left waits for some, unless f falls below its
        lowest value so far by more than `threshold`: so the chain does not turn back. For units of one coordinate,
        `_kernels.explore_supports` does the same.
        """
        inside, outside = self._leaving.size, self._entering.size
        stays, waits = plan_waits(inside, outside, length)
        leaves_from, enters_from = np.zeros(inside), np.zeros(outside)
        swaps, total, lowest = list[Swap](), 0.0, 0.0
        for count in range(stays.size):
            may_move = (leaves_from[:, None] <= count) & (enters_from <= count)
            possible = may_move | (self._changes < lowest - total - threshold)
            row, column = divmod(int(np.where(possible, self._changes, np.inf).argmin()), outside)
            if not self._changes[row, column] < np.inf:
                break
            swaps.append(self._exchange(row, column))
            total += swaps[-1].change
            lowest = min(lowest, total)
            leaves_from[row], enters_from[column] = count + 1 + stays[count], count + 1 + waits[count]
        return swaps

    def find_removals(self, count: int) -> list[int]:
        """Units to take out of the support one after the other, each the cheapest after those before it."""
        if self._coordinate is not None:
            return self._remove_coordinates(self._coordinate, min(count, self._leaving.size))
        removed: list[int] = []
        remaining = self._leaving.copy()
        for _ in range(min(count, remaining.size)):
            cheapest = int(self._compute_leaving_costs(remaining).argmin())
            removed.append(int(remaining[cheapest]))
            remaining = np.concatenate([remaining[:cheapest], remaining[cheapest + 1 :]])
            self._take_out(removed[-1])
        return removed

    def _exchange(self, row: int, column: int) -> Swap:
        """Swap the units at two positions."""
        leaving, entering = int(self._leaving[row]), int(self._entering[column])
        swap = Swap(leaving, entering, float(self._changes[row, column]))
        self._put_in(entering)
        self._take_out(leaving)
        self._leaving[row], self._entering[column] = entering, leaving
        del self._changes
        return swap

    def _chain_coordinates(self, coordinate: IntArray, length: int, threshold: float) -> list[Swap]:
        from ._kernels import chain_swaps

        leaving, entering = coordinate[self._leaving], coordinate[self._entering]
        pairs, changes, solutions = chain_swaps(self._table, leaving, entering, self._least, length, threshold)
        self.solutions = solutions[:, self._place]
        unit = self._unit
        self._leaving, self._entering = unit[leaving], unit[entering]
        self._inside[entering], self._inside[leaving] = False, True
        vars(self).pop("_changes", None)
        swaps = zip(unit[pairs].tolist(), changes.tolist(), strict=True)
        return [Swap(out, into, change) for (out, into), change in swaps]

    def _remove_coordinates(self, coordinate: IntArray, count: int) -> list[int]:
        from ._kernels import remove_cheapest

        positions = remove_cheapest(self._table, coordinate[self._leaving], count)
        removed: list[int] = self._leaving[positions].tolist()
        self._inside[coordinate[removed]] = False
        return removed

    @cached_property
    def _blocks(self) -> dict[int, IntArray]:
        """The coordinates of each unit."""
        order = np.argsort(self._unit, kind="stable")
        units, starts = np.unique(self._unit[order], return_index=True)
        return dict(zip(units.tolist(), np.split(order, starts[1:]), strict=True))

    def _coordinates(self, unit: int) -> IntArray:
        if self._coordinate is not None:
            return self._coordinate[unit : unit + 1]
        return self._blocks[unit]

    def _put_in(self, unit: int) -> None:
        from ._kernels import sweep_tableau

        for coordinate in self._coordinates(unit):
            if self._table[coordinate, coordinate] > self._least[coordinate]:
                sweep_tableau(self._table, coordinate, 1.0)
                self._inside[coordinate] = True

    def _take_out(self, unit: int) -> None:
        from ._kernels import sweep_tableau

        for coordinate in self._coordinates(unit):
            if self._inside[coordinate]:
                sweep_tableau(self._table, coordinate, -1.0)
                self._inside[coordinate] = False

    def _compute_leaving_costs(self, units: IntArray) -> Array:
        """What each unit costs: the first term of the formula, with nothing entering."""
        table = self._table
        blocks = [self._coordinates(unit) for unit in units]
        return np.array([_compute_block_cost(table[rows, -1], -table[np.ix_(rows, rows)]) for rows in blocks])

    def _compute_block_changes(self) -> Array:
        """The formula of a swap with matrices, for each pair of a leaving and an entering unit."""
        from ._kernels import find_block_changes

        leaving = [self._coordinates(unit) for unit in self._leaving.tolist()]
        entering = [self._coordinates(unit) for unit in self._entering.tolist()]
        steps, inverses, gains = self._compute_entering_terms(entering)
        changes = find_block_changes(self._table, *_join(leaving), *_join(entering), steps, inverses, gains)
        for row, column in np.argwhere(np.isnan(changes)).tolist():
            size = len(entering[column])
            terms = Entering(steps[column, :size], inverses[column, :size, :size], gains[column])
            changes[row, column] = self._compute_change(leaving[row], entering[column], terms)
        return changes

    def _compute_entering_terms(self, blocks: list[IntArray]) -> tuple[Array, Array, Array]:
        """The terms of the formula that depend on the entering units alone; unused entries are zero."""
        table, sizes = self._table, np.array([len(block) for block in blocks], dtype=np.intp)
        width = int(sizes.max(initial=0))
        steps, inverses, gains = (
            np.zeros((sizes.size, width)),
            np.zeros((sizes.size, width, width)),
            np.empty(sizes.size),
        )
        for size in np.unique(sizes).tolist():
            places = np.flatnonzero(sizes == size)
            columns = np.array([blocks[place] for place in places.tolist()])
            # Directions that the support explains are left out.
            eigenvalues, vectors = np.linalg.eigh(table[columns[:, :, None], columns[:, None, :]])
            kept = eigenvalues > self._least[columns].max(axis=1)[:, None]
            scaled = vectors * np.divide(1.0, eigenvalues, out=np.zeros_like(eigenvalues), where=kept)[:, None, :]
            inverse_schur = scaled @ vectors.transpose(0, 2, 1)
            slopes = table[columns, -1]
            step = np.einsum("aij,aj->ai", inverse_schur, slopes)
            steps[places, :size], inverses[places, :size, :size] = step, inverse_schur
            gains[places] = np.where(kept.any(axis=1), 0.5 * np.einsum("ai,ai->a", slopes, step), -np.inf)
        return steps, inverses, gains

    def _compute_change(self, rows: IntArray, columns: IntArray, terms: Entering) -> float:
        """The formula for one pair."""
        table, cross = self._table, self._table[np.ix_(rows, columns)]
        inverse = -table[np.ix_(rows, rows)] + cross @ terms.inverse_schur @ cross.T
        return _compute_block_cost(table[rows, -1] - cross @ terms.step, inverse) - float(terms.gain)


def plan_waits(inside: int, outside: int, length: int) -> tuple[IntArray, IntArray]:
    """For how many swaps a unit stays after it has entered, and waits after it has left: for each swap of a chain.

    Waits have different lengths, in an order that repeats itself after ten swaps: few chains go in circles then. The
    chain is empty where no unit may leave, or enter.
    """
    length = length if inside and outside else 0
    fractions = 0.5 + 0.1 * (7 * np.arange(length) % 10)
    stays = np.full(length, min(int(np.sqrt(inside)), inside - 1))
    return stays, np.minimum(2.0 * fractions * np.sqrt(outside), outside - 1).astype(np.intp)


def _compute_block_cost(coefficient: Array, inverse: Array) -> float:
    """½·zᵀP⁻¹z, of a block P that may be singular."""
    return 0.5 * float(coefficient @ np.linalg.lstsq(inverse, coefficient, rcond=None)[0])


def _join(blocks: list[IntArray]) -> tuple[IntArray, IntArray]:
    """The coordinates of all blocks, one block after the other, and where each starts; the last entry is the end."""
    starts = np.cumsum([0, *map(len, blocks)])
    return np.concatenate([*blocks, np.zeros(0, dtype=np.intp)]), starts


def _find_coordinates(unit: IntArray, count: int) -> IntArray:
    """The coordinate of each unit that has only one; the last entry is that of a free coordinate."""
    coordinates = np.full(count + 1, -1)
    coordinates[unit] = np.arange(unit.size)
    return coordinates


def rank_swaps(changes: Array, leaving: IntArray, entering: IntArray, count: int) -> list[Swap]:
    """The swaps with the smallest finite changes, smallest first; ties by position."""
    flat = changes.ravel()
    limit = np.partition(flat, count)[count] if flat.size > count else np.inf
    near = np.flatnonzero(flat <= limit)
    order = near[np.argsort(flat[near], kind="stable")][:count]
    pairs = (divmod(position, entering.size) for position in order.tolist() if np.isfinite(flat[position]))
    return [Swap(int(leaving[row]), int(entering[column]), float(changes[row, column])) for row, column in pairs]


class BlockInverse(NamedTuple):
    """The inverse of a block of the Hessian, and whether the block is singular, so that a ridge was added."""

    matrix: Array
    is_singular: bool


def invert(block: Array, tuning: SwapTuning) -> BlockInverse:
    """Invert a positive semidefinite block, with the smallest sufficient ridge where it is singular.

    The ridge of a coordinate is a fraction of its curvature, whatever its units.
    """
    size = block.shape[0]
    if size == 0:
        return BlockInverse(block, False)
    diagonal, shifted, ridge = block.diagonal(), block, 0.0
    for _ in range(12):
        # LAPACK reads columns; the transpose avoids a copy, and a symmetric matrix is its own transpose.
        factor, failed = dpotrf(shifted.T, lower=1)
        # A pivot that consists of rounding errors must not decide which units are swapped.
        if not failed and (np.square(factor.diagonal()) > tuning.singular_pivot * diagonal).all():
            lower = dpotri(factor, lower=1)[0]
            inverse = lower + lower.T
            inverse.flat[:: size + 1] *= 0.5
            return BlockInverse(inverse, ridge > 0)
        curvatures = np.where(diagonal == 0, float(np.abs(diagonal).mean()) or 1.0, np.abs(diagonal))
        ridge = max(10.0 * ridge, tuning.first_ridge)
        shifted = block + np.diag(ridge * curvatures)
    return BlockInverse(np.diag(1.0 / curvatures), True)
