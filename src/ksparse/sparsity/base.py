"""Sparsity sets: at most k units of x are nonzero, a unit being an entry, a group of entries or a row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from .._types import AnyArray, Array, IntArray, Mask
from ..validation import as_real_array, check_number_of_units

__all__ = ["FREE", "NEVER", "Sparsity", "Units"]

#: Unit numbers of coordinates that belong to no unit: those that are always selected, and never.
FREE, NEVER = -1, -2
#: The least score of a unit that is not zero.
SMALLEST_SCORE = float(np.finfo(np.float64).smallest_subnormal)


@dataclass(frozen=True)
class Sparsity(ABC):
    """A constraint on the support of x: at most k units are nonzero. Subclasses define what a unit is.

    Parameters
    ----------
    k : int
        Number of units that may be nonzero. If there are at most k units, the constraint is inactive.
    always : sequence, default=()
        Units that are always selected, by name or as a mask over the units. They count in k.
    lower, upper : float or array of x's shape, default=-inf, inf
        Bounds of the coefficients, with lower ≤ 0 ≤ upper. ``lower=0`` asks for nonnegative coefficients.
        They do not apply to the intercept.
    """

    k: int
    always: ArrayLike = field(default=(), kw_only=True)
    lower: ArrayLike = field(default=-np.inf, kw_only=True)
    upper: ArrayLike = field(default=np.inf, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_number_of_units(self.k))

    @abstractmethod
    def number_units(self, shape: tuple[int, ...], n_free: int) -> tuple[IntArray, AnyArray]:
        """Unit number of each constrained coordinate (flat order), and the names of the units.

        `shape` is that of the constrained coordinates. The other `n_free` coordinates of x, such as an intercept,
        belong to no unit.
        """

    def bind(self, shape: tuple[int, ...], free: Mask | None = None) -> Units:
        """This set for iterates of a given shape, with `free` coordinates outside the constraint."""
        constrained = np.ones(shape, dtype=bool) if free is None else ~free
        inner = shape if free is None else _find_inner_shape(constrained)
        if np.prod(inner, dtype=int) != constrained.sum():
            raise ValueError(
                f"{type(self).__name__} does not support single free entries of a matrix, "
                "such as the diagonal of a precision matrix; use Pairs"
            )
        labels, names = self.number_units(inner, int(constrained.size - constrained.sum()))
        number = np.full(shape, FREE, dtype=np.intp)
        number[constrained] = labels
        always = self._find_always(names)
        self._check_always(always)
        lower, upper = self._make_bounds(shape, constrained)
        return Units(min(self.k, len(names)), number, names, always, lower, upper)

    def _check_always(self, always: Mask) -> None:
        if always.sum() > self.k:
            raise ValueError(
                f"{always.sum()} units are always selected, but k = {self.k}; "
                "always-selected units count in k: increase k or name fewer of them"
            )

    def _find_always(self, names: AnyArray) -> Mask:
        """Which units are always selected."""
        wanted = np.atleast_1d(np.asarray(self.always))
        if wanted.dtype == bool:
            if wanted.shape != names.shape:
                raise ValueError(
                    f"always is a mask of {wanted.size} values for {len(names)} units; give one value per unit"
                )
            return wanted
        if not wanted.size:
            return np.zeros(len(names), dtype=bool)
        always = np.isin(names, wanted)
        found = set(names[always].tolist())  # a text such as "1" is not the number 1, which isin takes for the same
        missing = [unit for unit in wanted.tolist() if unit not in found]
        if missing:
            examples = ", ".join(map(repr, names[:3].tolist())) + (", …" if len(names) > 3 else "")
            raise ValueError(f"always names {missing}, but the {len(names)} units are named {examples}")
        return always

    def _make_bounds(self, shape: tuple[int, ...], constrained: Mask) -> tuple[Array | None, Array | None]:
        lower, upper = as_real_array(self.lower, "lower"), as_real_array(self.upper, "upper")
        if np.isneginf(lower).all() and np.isposinf(upper).all():
            return None, None
        full = []
        for name, values, unbounded in (("lower", lower, -np.inf), ("upper", upper, np.inf)):
            if values.ndim and values.size != constrained.sum():
                raise ValueError(
                    f"{name} has {values.size} values for {constrained.sum()} coefficients; "
                    "pass one number or one per coefficient"
                )
            if np.isnan(values).any() or (values * np.sign(unbounded) < 0).any():
                raise ValueError(
                    f"{name} must satisfy lower <= 0 <= upper, since coefficients may be zero; got {values}"
                )
            array = np.full(shape, unbounded)
            array[constrained] = values.ravel() if values.ndim else values
            full.append(array)
        return full[0], full[1]


def _find_inner_shape(constrained: Mask) -> tuple[int, ...]:
    """Shape of the constrained coordinates: whole leading slices of x (an intercept is the last slice)."""
    if constrained.ndim == 1:
        return (int(constrained.sum()),)
    return (int(constrained.all(axis=tuple(range(1, constrained.ndim))).sum()), *constrained.shape[1:])


@dataclass(frozen=True, eq=False)
class Units:
    """A sparsity set for iterates of one shape, with its hard-thresholding operators."""

    #: Number of units to select.
    k: int
    #: Unit of each coordinate; -1 for coordinates outside the constraint, -2 for those that are never selected.
    number: IntArray
    #: Names of the units (feature index, group label, row).
    names: AnyArray
    #: Which units are always selected.
    always: Mask
    #: Bounds of the coefficients.
    lower: Array | None
    #: Bounds of the coefficients.
    upper: Array | None

    @cached_property
    def sizes(self) -> IntArray:
        """Number of coordinates in each unit."""
        number = self.number.ravel()
        return np.bincount(number[number >= 0], minlength=self.count)

    @cached_property
    def has_always(self) -> bool:
        """Whether some units are always selected."""
        return bool(self.always.any())

    @cached_property
    def singletons(self) -> bool:
        """Whether each unit is one coordinate."""
        return bool((self.sizes == 1).all())

    @cached_property
    def constrained(self) -> Mask:
        """Coordinates that belong to a unit."""
        return self.number >= 0

    @cached_property
    def _in_order(self) -> bool:
        """Whether unit i is the i-th constrained coordinate, as for `Entries`."""
        return np.array_equal(self.number[self.constrained], np.arange(self.count))

    @cached_property
    def _come_first(self) -> bool:
        """Whether unit i is coordinate i, and all other coordinates are free: slices are then faster than masks."""
        return self.number.ndim == 1 and self._in_order and bool((self.number[self.count :] == FREE).all())

    def with_k(self, k: int) -> Units:
        """The same set with another k; what is known of it is shared."""
        units = replace(self, k=k)
        # Cached properties do not depend on k.
        units.__dict__.update({name: value for name, value in self.__dict__.items() if name != "k"})
        return units

    @cached_property
    def count(self) -> int:
        """Number of units."""
        return len(self.names)

    @property
    def inactive(self) -> bool:
        """Whether every unit may be nonzero."""
        return self.k >= self.count

    def clip(self, x: Array) -> Array:
        """x clipped to its bounds."""
        if self.lower is None:
            return x
        return np.clip(x, self.lower, self.upper)

    def sum_by_unit(self, values: Array) -> Array:
        """Sum of a coordinate-wise quantity over each unit."""
        if self._come_first:
            return values[: self.count].copy()
        if self._in_order:
            return values[self.constrained]
        number = self.number[self.constrained]
        sums: Array = np.bincount(number, weights=values[self.constrained], minlength=self.count).astype(np.float64)
        return sums

    def score(self, z: Array, metric: Array | None = None) -> Array:
        """By how much keeping each unit of z reduces the squared distance to z, per coordinate of the unit.

        Without bounds this is ‖z_G‖²/|G|; it is less where z is clipped. With a metric D, the squared length of d is
        Σ D_j d_j².
        """
        reduction = np.square(z)
        if self.lower is not None:
            reduction -= np.square(z - self.clip(z))
        if metric is not None:
            reduction *= metric
        return self.sum_by_unit(reduction) / self.sizes

    def mean_squares(self, values: Array) -> Array:
        """‖values_G‖²/|G| for each unit G."""
        return self.sum_by_unit(np.square(values)) / self.sizes

    def divide_bounds(self, unit: float) -> Units:
        """The same set for coefficients that are divided by a unit."""
        if self.lower is None or self.upper is None or unit == 1.0:
            return self
        return replace(self, lower=self.lower / unit, upper=self.upper / unit)

    def project_gradient(self, gradient: Array) -> Array:
        """The gradient, zero where a zero coefficient cannot move in the descent direction within its bounds."""
        if self.lower is None or self.upper is None:
            return gradient
        blocked = ((gradient > 0) & (self.lower == 0)) | ((gradient < 0) & (self.upper == 0))
        return np.where(blocked, 0.0, gradient)

    def select(self, z: Array, metric: Array | None = None, k: int | None = None) -> Mask:
        """Mask of the top-k units of z, with the always-selected units and the free coordinates.

        Ties are broken in favour of the first unit.
        """
        return self.to_mask(self.select_units(self.score(z, metric), k))

    def select_units(self, scores: Array, k: int | None = None) -> Mask:
        """Which units are selected: the always-selected ones, then those with the largest scores, k in all."""
        k = self.k if k is None else min(k, self.count)
        if not self.has_always:
            return select_top(scores, k)
        chosen = self.always.copy()
        remaining = k - np.count_nonzero(chosen)
        if remaining > 0:
            chosen |= select_top(np.where(chosen, -np.inf, scores), remaining)
        return chosen

    def to_mask(self, units: Mask) -> Mask:
        """Coordinates of the given units, and the free ones."""
        if self._come_first:
            mask = np.empty(self.number.shape, dtype=bool)
            mask[: self.count], mask[self.count :] = units, True
            return mask
        return np.append(units, [False, True])[self.number]

    def find_units(self, support: Mask) -> Mask:
        """Which units have a coordinate in `support`."""
        if self._come_first:
            return support[: self.count].copy()
        return self.sum_by_unit(support.astype(np.float64)) > 0

    def truncate(self, z: Array, metric: Array | None = None) -> Array:
        """z with all but its top-k units set to zero, clipped to the bounds.

        Squares that would underflow or overflow do not matter.
        """
        clipped = self.clip(z)
        exponent = int(np.frexp(np.abs(z[self.constrained]).max(initial=0.0))[1])
        size = float(np.ldexp(1.0, exponent - 1))  # a power of two: divisions by it are exact
        scores = self.divide_bounds(size).score(z / size, metric)
        scores = np.where(self.find_units(clipped != 0), np.maximum(scores, SMALLEST_SCORE), scores)
        return np.where(self.to_mask(self.select_units(scores)), clipped, 0.0)


def select_top(scores: Array, k: int) -> Mask:
    """Mask of the k largest scores; ties are broken in favour of the lower index. It takes O(p) time."""
    if k <= 0 or k >= scores.size:
        return np.full(scores.size, k > 0)
    threshold = np.partition(scores, scores.size - k)[scores.size - k]
    chosen = scores > threshold
    ties = (scores == threshold).nonzero()[0]
    chosen[ties[: k - np.count_nonzero(chosen)]] = True
    return chosen
