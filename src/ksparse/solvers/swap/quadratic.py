"""Swaps ranked by a quadratic model of f, with its whole Hessian on the support and the candidates."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..._types import Array, IntArray, Mask
from .formula import all_changes, entering_terms
from .swap_model import Swap, SwapModel
from .tableau import Inverse, chain_of_swaps, invert, sweep, sweep_first
from .tuning import SwapTuning

__all__ = ["QuadraticSwapModel", "rank_swaps"]


class QuadraticSwapModel(SwapModel):
    """f ≈ ½zᵀHz − bᵀz on some coordinates, with a support among them; units may have several coordinates.

    It predicts no minimizer of f: it may count coordinates once that f counts twice, as the edges of a graph.

    Parameters
    ----------
    hessian, linear : ndarray
        H and b.
    unit : ndarray of int
        Unit of each coordinate; -1 for free coordinates, which always stay.
    inside : ndarray of bool
        Coordinates of the support.
    fixed : ndarray of bool
        For each unit, whether it must stay.
    tuning : SwapTuning
        Constants.
    inverse : Inverse, optional
        The inverse of H on the support, if it is known; the support must then come first.
    """

    def __init__(
        self,
        hessian: Array,
        linear: Array,
        unit: IntArray,
        inside: Mask,
        fixed: Mask,
        tuning: SwapTuning,
        inverse: Inverse | None = None,
    ) -> None:
        if inverse is None:
            # The support comes first, so that its block and the others are slices.
            order = np.concatenate([np.flatnonzero(inside), np.flatnonzero(~inside)])
            hessian, unit, inside, linear = hessian[order[:, None], order], unit[order], inside[order], linear[order]
            inverse = invert(hessian[: int(inside.sum()), : int(inside.sum())], tuning)
        self.is_singular = inverse.is_singular
        #: For units of one coordinate: `coefficients` after each swap of the last chain.
        self.solutions: list[Array] = []
        self._table = sweep_first(hessian, linear, inverse.matrix)
        self._least = tuning.collinear * hessian.diagonal()
        self._unit, self._inside = unit, inside.copy()
        movable = (unit >= 0) & ~fixed[unit]
        self._leaving = np.unique(unit[inside & movable])
        self._entering = np.unique(unit[~inside])
        singletons = self._leaving.size + self._entering.size == int((movable | ~inside).sum())
        self._coordinate = _coordinate_of_units(unit) if singletons else None

    @property
    def coefficients(self) -> Array:
        """The minimizer on the present support (elsewhere slopes), the coordinates of the first support first."""
        return self._table[:-1, -1]

    @cached_property
    def _changes(self) -> Array:
        """Predicted change for each pair of a leaving and an entering unit."""
        if self._coordinate is None:
            blocks = [self._block_changes(unit) for unit in self._entering]
            return np.array(blocks).reshape(self._entering.size, self._leaving.size).T
        table, diagonal = self._table, self._table.diagonal()
        rows, columns = self._coordinate[self._leaving], self._coordinate[self._entering]
        terms = entering_terms(table[columns, -1], diagonal[columns], self._least[columns])
        return all_changes(table[rows, -1], -diagonal[rows], table[rows[:, None], columns], terms)

    def best_swaps(self, count: int) -> list[Swap]:
        return rank_swaps(self._changes, self._leaving, self._entering, count)

    def chain(self, length: int, threshold: float) -> list[Swap]:
        if not self._leaving.size or not self._entering.size:
            return []
        if self._coordinate is not None:
            return self._chain_of_coordinates(self._coordinate, length, threshold)
        swaps: list[Swap] = []
        while len(swaps) < length:
            row, column = divmod(int(np.argmin(self._changes)), self._entering.size)
            change = float(self._changes[row, column])
            if not change < -threshold:
                break
            swaps.append(Swap(int(self._leaving[row]), int(self._entering[column]), change))
            self._perform(row, column)
        return swaps

    def removals(self, count: int) -> list[int]:
        """Units to take out of the support one after the other, each the cheapest after those before it."""
        removed: list[int] = []
        remaining = self._leaving.copy()
        for _ in range(min(count, remaining.size)):
            cheapest = int(np.argmin(self._costs_of_leaving(remaining)))
            removed.append(int(remaining[cheapest]))
            remaining = np.delete(remaining, cheapest)
            self._take_out(removed[-1])
        return removed

    def _chain_of_coordinates(self, coordinate: IntArray, length: int, threshold: float) -> list[Swap]:
        unit, leaving, entering = self._unit, coordinate[self._leaving], coordinate[self._entering]
        swaps, self.solutions = chain_of_swaps(self._table, leaving, entering, self._least, length, threshold)
        self._leaving, self._entering = unit[leaving], unit[entering]
        self._inside[entering], self._inside[leaving] = False, True
        vars(self).pop("_changes", None)
        return [Swap(int(unit[out]), int(unit[into]), change) for out, into, change in swaps]

    # --- units of any number of coordinates ---------------------------------------------------------------------

    def _coordinates(self, unit: int) -> IntArray:
        if self._coordinate is not None:
            return self._coordinate[unit : unit + 1]
        return np.flatnonzero(self._unit == unit)

    def _perform(self, row: int, column: int) -> None:
        leaving, entering = self._leaving[row], self._entering[column]
        for coordinate in self._coordinates(entering):
            if self._table[coordinate, coordinate] > self._least[coordinate]:
                sweep(self._table, coordinate, 1.0)
                self._inside[coordinate] = True
        self._take_out(leaving)
        self._leaving[row], self._entering[column] = entering, leaving
        del self._changes

    def _take_out(self, unit: int) -> None:
        for coordinate in self._coordinates(unit):
            if self._inside[coordinate]:
                sweep(self._table, coordinate, -1.0)
                self._inside[coordinate] = False

    def _costs_of_leaving(self, units: IntArray) -> Array:
        """What each unit costs: the first term of the formula, with nothing entering."""
        table = self._table
        if self._coordinate is not None:
            rows = self._coordinate[units]
            return 0.5 * np.square(table[rows, -1]) / -table.diagonal()[rows]
        blocks = [self._coordinates(unit) for unit in units]
        return np.array([_block_cost(table[rows, -1], -table[np.ix_(rows, rows)]) for rows in blocks])

    def _block_changes(self, entering: int) -> Array:
        """The formula of a swap with matrices, for each leaving unit."""
        table, columns = self._table, self._coordinates(entering)
        # Directions that the support explains are left out: a softmax, say, does not see a shift of all classes.
        eigenvalues, vectors = np.linalg.eigh(table[np.ix_(columns, columns)])
        kept = eigenvalues > self._least[columns].max()
        if not kept.any():
            return np.full(self._leaving.size, np.inf)
        inverse_schur = (vectors[:, kept] / eigenvalues[kept]) @ vectors[:, kept].T
        slope = table[columns, -1]
        step = inverse_schur @ slope
        costs = []
        for leaving in self._leaving:
            rows = self._coordinates(leaving)
            cross = table[np.ix_(rows, columns)]
            inverse = -table[np.ix_(rows, rows)] + cross @ inverse_schur @ cross.T
            costs.append(_block_cost(table[rows, -1] - cross @ step, inverse))
        return np.array(costs) - 0.5 * float(slope @ step)


def _block_cost(coefficient: Array, inverse: Array) -> float:
    """½·zᵀP⁻¹z, of a block P that may be singular."""
    return 0.5 * float(coefficient @ np.linalg.lstsq(inverse, coefficient, rcond=None)[0])


def _coordinate_of_units(unit: IntArray) -> IntArray:
    """The coordinate of each unit that has only one."""
    coordinates = np.full(int(unit.max(initial=-1)) + 1, -1)
    constrained = np.flatnonzero(unit >= 0)
    coordinates[unit[constrained]] = constrained
    return coordinates


def rank_swaps(changes: Array, leaving: IntArray, entering: IntArray, count: int) -> list[Swap]:
    """The swaps with the smallest finite changes, smallest first; ties by position."""
    flat = changes.ravel()
    limit = np.partition(flat, count)[count] if flat.size > count else np.inf
    near = np.flatnonzero(flat <= limit)
    order = near[np.argsort(flat[near], kind="stable")][:count]
    pairs = (divmod(position, entering.size) for position in order.tolist() if np.isfinite(flat[position]))
    return [Swap(int(leaving[row]), int(entering[column]), float(changes[row, column])) for row, column in pairs]
