"""Which units to exchange: the quadratic model of f at a point, on the support and the best candidates to enter.

On the coordinates U = F ∪ C of the support and the candidates, f is close to ½zᵀHz − bᵀz, with
H = ∇²f(x)_UU and b = Hx − ∇f(x)_U. If unit j enters and unit i leaves, and all others are refitted, the model changes
by

    −½ r_jᵀ S_j⁻¹ r_j  +  ½ z'_iᵀ P_i⁻¹ z'_i,

where S_j = H_jj − H_jF H_FF⁻¹ H_Fj, r_j is the slope in j, and z'_i, P_i are i's coefficient and its block of the
inverse Hessian after j has entered. On least squares this is exact. All these numbers stand in one symmetric tableau,
which a sweep on each exchanged coordinate keeps up to date.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dger
from scipy.linalg.lapack import dpotrf, dpotri

from .._types import Array, IntArray, Mask

__all__ = ["Exchange", "ExchangeModel", "Forecast", "best_positions", "inverse_of"]

#: Ridge, as a share of the mean curvature, that makes a singular model solvable.
JITTER = 1e-8
#: A pivot that is a smaller share of its diagonal entry makes a block singular.
SINGULAR = 1e-11
#: A candidate whose curvature is all explained by the support cannot enter.
COLLINEAR = 1e-9


@dataclass(frozen=True)
class Exchange:
    """A unit that leaves, one that enters, and by how much the model says f changes."""

    leaving: int
    entering: int
    change: float


class Forecast(NamedTuple):
    """Where a model expects the minimizer on a support after some exchanges, and its Hessian there."""

    x: Array
    hessian: Array


class ExchangeModel:
    """The quadratic model on some coordinates, with a support among them.

    Parameters
    ----------
    hessian : ndarray of shape (K, K)
        H.
    linear : ndarray of shape (K,)
        b.
    unit : ndarray of int, shape (K,)
        Unit of each coordinate; -1 for free coordinates, which always stay.
    inside : ndarray of bool, shape (K,)
        Coordinates of the support.
    fixed : ndarray of bool
        For each unit, whether it must stay.
    inverse : tuple, optional
        What `inverse_of` gives for the block of the support, if it is known and the support comes first.

    Attributes
    ----------
    singular : bool
        Whether the support has more coordinates than the model determines.
    solutions : ndarray
        For single coordinates: after each exchange of a chain, the minimizer of the model on its support (elsewhere
        slopes), the coordinates of the first support first.
    """

    def __init__(
        self,
        hessian: Array,
        linear: Array,
        unit: IntArray,
        inside: Mask,
        fixed: Mask,
        inverse: tuple[Array, bool] | None = None,
    ) -> None:
        # The support comes first, so that its block and the others are slices.
        order = np.concatenate([np.flatnonzero(inside), np.flatnonzero(~inside)])
        if inverse is None:
            hessian, unit, inside, linear = hessian[order[:, None], order], unit[order], inside[order], linear[order]
            inverse = inverse_of(hessian[: int(inside.sum()), : int(inside.sum())])
        self.solutions = np.empty((0, linear.size))
        self._diagonal = hessian.diagonal().copy()
        self.singular = inverse[1]
        self._tableau = _swept_tableau(hessian, linear, inverse[0])
        self._unit = unit
        self._swept = inside.copy()
        movable = (unit >= 0) & ~fixed[unit]
        self._leaving = np.unique(unit[inside & movable])
        self._entering = np.unique(unit[~inside])
        singletons = self._leaving.size + self._entering.size == int((movable | ~inside).sum())
        self._coordinate = _positions(unit) if singletons else None

    @cached_property
    def _changes(self) -> Array:
        return self._all_changes()

    def best_pairs(self, count: int) -> list[Exchange]:
        """The exchanges that change the model most for the better, or least for the worse; ties by position."""
        return [self._exchange(position) for position in best_positions(self._changes, count)]

    def chain(self, length: int, threshold: float) -> list[Exchange]:
        """Up to `length` exchanges, each the best after those before it, while they gain more than `threshold`.

        The model then describes f after these exchanges.
        """
        if self._coordinate is not None and self._leaving.size and self._entering.size:
            return self._chain_of_coordinates(length, threshold)
        exchanges: list[Exchange] = []
        while len(exchanges) < length and self._changes.size:
            position = int(np.argmin(self._changes))
            if not self._changes.flat[position] < -threshold:
                break
            exchanges.append(self._exchange(position))
            self._perform(position)
        return exchanges

    def _chain_of_coordinates(self, length: int, threshold: float) -> list[Exchange]:
        """The same where units are single coordinates; the minimizers of the model on the way are kept."""
        from ._tableau import chain_of_exchanges  # Numba takes half a second to import

        positions = self._coordinate
        assert positions is not None
        leaving, entering = positions[self._leaving], positions[self._entering]
        least = COLLINEAR * self._diagonal
        changes, out, into, self.solutions = chain_of_exchanges(
            self._tableau, leaving, entering, least, length, threshold
        )
        self._leaving, self._entering = self._unit[leaving], self._unit[entering]
        self._swept[entering], self._swept[leaving] = False, True
        vars(self).pop("_changes", None)
        chain = zip(self._unit[out].tolist(), self._unit[into].tolist(), changes.tolist(), strict=True)
        return [Exchange(*exchange) for exchange in chain]

    def forecast(self, support: Mask, exchanges: list[Exchange]) -> None:
        """No forecast: the Hessian of a model of its own need not be that of f's restrictions."""

    def removals(self, count: int) -> list[int]:
        """Units to take out one after the other, each the one that costs least after those before it, all refitted."""
        removed: list[int] = []
        remaining = self._leaving.copy()
        for _ in range(min(count, remaining.size)):
            cheapest = int(np.argmin(self._costs_of_leaving(remaining)))
            removed.append(int(remaining[cheapest]))
            remaining = np.delete(remaining, cheapest)
            self._take_out(removed[-1])
        return removed

    @property
    def coefficients(self) -> Array:
        """The minimizer of the model on its support (elsewhere slopes), the coordinates of the first support first."""
        return self._tableau[:-1, -1]

    def _costs_of_leaving(self, units: IntArray) -> Array:
        """½ z_iᵀ P_i⁻¹ z_i for each of some units."""
        table = self._tableau
        if self._coordinate is not None:
            rows = self._coordinate[units]
            return np.square(table[rows, -1]) / (-2.0 * table.diagonal()[rows])
        costs = []
        for unit in units:
            rows = self._coordinates(unit)
            coefficient, inverse = table[rows, -1], -table[np.ix_(rows, rows)]
            costs.append(0.5 * float(coefficient @ np.linalg.lstsq(inverse, coefficient, rcond=None)[0]))
        return np.array(costs)

    def _take_out(self, unit: int) -> None:
        for coordinate in self._coordinates(unit):
            if self._swept[coordinate]:
                _sweep(self._tableau, coordinate, -1.0)
                self._swept[coordinate] = False

    def _exchange(self, position: int) -> Exchange:
        row, column = divmod(position, self._entering.size)
        change = float(self._changes[row, column])
        return Exchange(int(self._leaving[row]), int(self._entering[column]), change)

    def _perform(self, position: int) -> None:
        row, column = divmod(position, self._entering.size)
        leaving, entering = self._leaving[row], self._entering[column]
        for coordinate in self._coordinates(entering):
            if self._tableau[coordinate, coordinate] > COLLINEAR * self._diagonal[coordinate]:
                _sweep(self._tableau, coordinate, 1.0)
                self._swept[coordinate] = True
        self._take_out(leaving)
        self._leaving[row], self._entering[column] = entering, leaving
        self._changes = self._all_changes()

    def _coordinates(self, unit: int) -> IntArray:
        if self._coordinate is not None:
            return self._coordinate[unit : unit + 1]
        return np.flatnonzero(self._unit == unit)

    def _all_changes(self) -> Array:
        """Change of the model for each pair of a leaving and an entering unit."""
        if self._coordinate is not None:
            return self._changes_of_coordinates(self._coordinate[self._leaving], self._coordinate[self._entering])
        columns = [self._changes_if_enters(unit) for unit in self._entering]
        return np.array(columns).reshape(self._entering.size, self._leaving.size).T

    def _changes_of_coordinates(self, rows: IntArray, columns: IntArray) -> Array:
        """The formula above where units are single coordinates, for all pairs at once."""
        table = self._tableau
        diagonal = table.diagonal()
        own = diagonal[columns]
        possible = own > COLLINEAR * self._diagonal[columns]
        own = np.where(possible, own, 1.0)
        slope = table[columns, -1]
        entering = slope / own
        cross = table[rows[:, None], columns]
        left = table[rows, -1][:, None] - cross * entering
        np.square(left, out=left)
        np.square(cross, out=cross)
        cross *= 2.0 / own
        cross -= 2.0 * diagonal[rows][:, None]
        left /= cross
        left -= 0.5 * slope * entering
        left[:, ~possible] = np.inf
        return left

    def _changes_if_enters(self, unit: int) -> Array:
        """Change for each leaving unit if `unit`, of any number of coordinates, enters."""
        table, index = self._tableau, self._coordinates(unit)
        # A softmax does not see a shift of all classes: what the support explains of the unit is left out.
        eigenvalues, vectors = np.linalg.eigh(table[np.ix_(index, index)])
        kept = eigenvalues > COLLINEAR * self._diagonal[index].max()
        if not kept.any():
            return np.full(self._leaving.size, np.inf)
        inverse_own = (vectors[:, kept] / eigenvalues[kept]) @ vectors[:, kept].T
        slope = table[index, -1]
        entering = inverse_own @ slope
        gain = 0.5 * float(slope @ entering)
        costs = []
        for leaving in self._leaving:
            rows = self._coordinates(leaving)
            cross = table[np.ix_(rows, index)]
            coefficient = table[rows, -1] - cross @ entering
            inverse = -table[np.ix_(rows, rows)] + cross @ inverse_own @ cross.T
            costs.append(0.5 * float(coefficient @ np.linalg.lstsq(inverse, coefficient, rcond=None)[0]))
        return np.array(costs) - gain


def _positions(unit: IntArray) -> IntArray:
    """The coordinate of each unit that has only one."""
    positions = np.full(int(unit.max(initial=-1)) + 1, -1)
    constrained = np.flatnonzero(unit >= 0)
    positions[unit[constrained]] = constrained
    return positions


def best_positions(changes: Array, count: int) -> list[int]:
    """Flat positions of the smallest finite entries, smallest first; ties by position."""
    flat = changes.ravel()
    limit = np.partition(flat, count)[count] if flat.size > count else np.inf
    near = np.flatnonzero(flat <= limit)
    order = near[np.argsort(flat[near], kind="stable")][:count]
    return [int(position) for position in order if np.isfinite(flat[position])]


def _swept_tableau(hessian: Array, linear: Array, inverse: Array) -> Array:
    """The tableau [[H, b], [bᵀ, 0]] swept on its first coordinates, of whose block the inverse is given.

    It then holds −H_FF⁻¹, H_FF⁻¹H_FC and the Schur complement, and in the last column the coefficients and the slopes.
    """
    size, inside = linear.size, inverse.shape[0]
    table = np.empty((size + 1, size + 1))
    table[:size, :size] = hessian
    table[:size, size] = table[size, :size] = linear
    table[size, size] = 0.0
    cross = table[:inside, inside:].copy()
    solved = inverse @ cross
    table[inside:, inside:] -= cross.T @ solved
    table[:inside, inside:] = solved
    table[inside:, :inside] = solved.T
    table[:inside, :inside] = -inverse
    return table


def inverse_of(block: Array) -> tuple[Array, bool]:
    """Inverse of a positive semidefinite block, with some ridge where it is singular; and whether it is."""
    size = block.shape[0]
    if size == 0:
        return block, False
    diagonal = block.diagonal()
    scale = float(np.abs(diagonal).mean()) or 1.0
    ridge = 0.0
    for _ in range(12):
        factor, failed = dpotrf(block + ridge * np.eye(size) if ridge else block, lower=1)
        # A pivot that is nothing but rounding must not decide what is exchanged.
        if not failed and (np.square(factor.diagonal()) > SINGULAR * diagonal).all():
            lower = dpotri(factor, lower=1)[0]
            inverse = lower + lower.T
            inverse.flat[:: size + 1] *= 0.5
            return inverse, ridge > 0
        ridge = max(10.0 * ridge, JITTER * scale)
    return np.eye(size) / scale, True


def _sweep(table: Array, pivot: int, sign: float) -> None:
    """Move one coordinate into the support (sign +1) or out of it (sign −1), in place."""
    row = table[pivot].copy()
    diagonal = row[pivot]
    # The tableau is symmetric, so that its transpose, which BLAS wants, is itself.
    dger(-1.0 / diagonal, row, row, a=table.T, overwrite_a=1)
    table[pivot] = table[:, pivot] = sign * row / diagonal
    table[pivot, pivot] = -1.0 / diagonal
