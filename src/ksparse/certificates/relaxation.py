"""The perspective relaxation: the convex function that takes the place of a ridge with at most k units."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._types import Array, IntArray, Mask
from ..compiling import jit_compile
from ._prox import divide_budget, score_coordinate

__all__ = ["Fixings", "Perspective"]

#: Scores are sums of few numbers; their rounding is below this fraction for each number.
SUM_ROUNDING = 2.3e-16


@dataclass(frozen=True, eq=False)
class Fixings:
    """What is known of the units: those that are selected, and those that are not."""

    #: Units that are selected.
    inside: Mask
    #: Units that are not.
    outside: Mask

    @property
    def open(self) -> Mask:
        """Units that may or may not be selected."""
        return ~(self.inside | self.outside)

    def include(self, units: Any) -> Fixings:
        """The same with more units selected."""
        return replace(self, inside=_with(self.inside, units))

    def exclude(self, units: Any) -> Fixings:
        """The same with more units left out."""
        return replace(self, outside=_with(self.outside, units))


def _with(mask: Mask, units: Any) -> Mask:
    mask = mask.copy()
    mask[units] = True
    return mask


@dataclass(frozen=True)
class Perspective:
    """Ω(w) = min over z of Σ_g λ_g‖w_g‖²/(2z_g), with l·z ≤ w ≤ u·z, 0 ≤ z ≤ 1 and Σz ≤ k.

    It is the largest convex function below (λ/2)‖w‖² on vectors within the bounds with at most k nonzero units; with
    equal ridges and no bounds it is λ/2 times the squared k-support norm (Argyriou, Foygel and Srebro 2012). Its
    conjugate is the sum of the k largest scores, Ω*(v) = Σ_top-k s_g(v), with s_g(v) = Σ_{j∈g} max (v_j w − λ_j w²/2)
    over l_j ≤ w ≤ u_j. Units that are selected have z = 1, and those that are left out w = 0.

    Bounds of units with several coordinates enter the conjugate, hence every lower bound, but not the proximal step,
    which heeds them only where they say that a coordinate is not negative, or not positive.

    References
    ----------
    A. Atamtürk and A. Gómez, *Safe screening rules for ℓ0-regression from perspective relaxations*, ICML 2020.

    A. Argyriou, R. Foygel and N. Srebro, *Sparse prediction with the k-support norm*, NeurIPS 2012.
    """

    #: Unit of each coordinate.
    number: IntArray
    #: Which units are selected, and which are not.
    fixings: Fixings
    #: How many units may be selected in all.
    k: int
    #: λ of each coordinate; the proximal step uses the least of each unit.
    ridge: Array
    #: Bounds of each coordinate.
    lower: Array
    #: Bounds of each coordinate.
    upper: Array

    @property
    def count(self) -> int:
        """Number of units."""
        return self.fixings.inside.size

    @property
    def budget(self) -> int:
        """How many units may still be selected."""
        return max(self.k - int(self.fixings.inside.sum()), 0)

    @property
    def is_bounded(self) -> bool:
        """Whether all scores are finite, so that there can be a bound."""
        return bool(((self.ridge > 0) | (np.isfinite(self.lower) & np.isfinite(self.upper))).all())

    def with_fixings(self, fixings: Fixings) -> Perspective:
        """The same with other fixings."""
        return replace(self, fixings=fixings)

    def with_ridge(self, ridge: Array) -> Perspective:
        """The same with other ridges."""
        return replace(self, ridge=ridge)

    def restrict(self, coordinates: IntArray, eliminated: Mask) -> tuple[Perspective, IntArray]:
        """The perspective of some coordinates, those of other units being zero or eliminated, and their units.

        Eliminated units count in k.
        """
        if coordinates.size == self.number.size and not eliminated.any():
            return self, np.arange(self.count)
        units, number = np.unique(self.number[coordinates], return_inverse=True)
        fixings = Fixings(self.fixings.inside[units], self.fixings.outside[units])
        k = max(self.k - int(eliminated.sum()), 0)
        parts = (values[coordinates] for values in (self.ridge, self.lower, self.upper))
        return Perspective(number.astype(np.intp), fixings, k, *parts), units

    def score(self, slopes: Array, errors: Array) -> Array:
        """s_g of each unit, rounded up: v is known up to an error of each coordinate."""
        scores: Array = _score_coordinates(slopes, errors, self.ridge, self.lower, self.upper)
        if self.has_single_features:
            return scores
        rounding = 1.0 + SUM_ROUNDING * float(np.bincount(self.number).max(initial=1))
        return self._sum(scores) * rounding

    def add_scores(self, scores: Array) -> float:
        """Ω*(v), rounded up: the scores of the selected units and the largest ones of the others."""
        chosen = scores[self.fixings.inside]
        others = scores[self.fixings.open]
        budget = min(self.budget, others.size)
        if budget:
            top = others if budget == others.size else np.partition(others, others.size - budget)[-budget:]
            chosen = np.append(chosen, top)
        return float(chosen.sum()) * (1.0 + SUM_ROUNDING * (chosen.size + 1))

    def step(self, x: Array, steps: Array, guess: float = 1.0) -> tuple[Array, Array, float]:
        """The proximal step argmin Ω(w) + Σ_g ‖w_g − x_g‖²/(2s_g), with z, and a guess for the next one.

        The step sizes s are one for each unit.
        """
        blocked = ((x > 0) & (self.upper == 0)) | ((x < 0) & (self.lower == 0))
        x = np.where(blocked, 0.0, x)
        root = np.sqrt(steps)
        sizes = (np.abs(x) if self.has_single_features else np.sqrt(self._sum(np.square(x)))) / root
        ridges = steps * self._unit_ridge
        caps = np.full(self.count, np.inf)
        if self.has_single_features:
            caps = np.where(x > 0, self.upper, -self.lower) / root
        inside, open_ = self.fixings.inside, self.fixings.open
        z = inside.astype(np.float64)
        z[open_], guess = divide_budget(sizes[open_], ridges[open_], caps[open_], float(self.budget), guess)
        with np.errstate(divide="ignore", invalid="ignore"):
            shrunk = np.where(z > 0, z / (z + ridges), 0.0)
            if self.has_single_features:
                shrunk = np.minimum(shrunk, np.where(sizes > 0, caps * z / sizes, 0.0))
        return np.clip(np.nan_to_num(x * shrunk[self.number]), self.lower, self.upper), z, guess

    @cached_property
    def has_single_features(self) -> bool:
        """Whether each unit is one coordinate."""
        return self.number.size == self.count and bool((self.number == np.arange(self.count)).all())

    @cached_property
    def _unit_ridge(self) -> Array:
        least = np.full(self.count, np.inf)
        np.minimum.at(least, self.number, self.ridge)
        return least

    def _sum(self, values: Array) -> Array:
        sums: Array = np.bincount(self.number, weights=values, minlength=self.count).astype(np.float64)
        return sums


@jit_compile
def _score_coordinates(slopes: Array, errors: Array, ridge: Array, lower: Array, upper: Array) -> Array:
    scores = np.empty(slopes.size)
    for j in range(slopes.size):
        scores[j] = score_coordinate(slopes[j], errors[j], ridge[j], lower[j], upper[j])
    return scores
