"""Checks of y, weights and offsets, in memory or where the rows of X are: sums over rows say what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._types import AnyArray, Array, Mask
from ..designs.blocked import RowValues, map_values, reduce_values
from ..validation import as_real_array, check_vector

__all__ = [
    "Faults",
    "as_row_numbers",
    "check_exponents",
    "check_row_values",
    "count_bad_values",
    "divide_rows",
    "find_faults",
    "has_zero",
    "is_nonnegative",
    "is_positive",
]


#: exp of more than this, times responses, may be beyond all floats.
FARTHEST_OFFSET = 700.0


class Faults(NamedTuple):
    """Wrong entries among some rows."""

    n_rows: int
    n_wrong: int
    #: The position and the value of the first one.
    first: int
    value: float

    @classmethod
    def of_rows(cls, is_right: Callable[[Array], Mask], values: Array) -> Faults:
        """The entries for which that does not hold."""
        wrong = np.flatnonzero(~is_right(values))
        first = int(wrong[0]) if wrong.size else 0
        return cls(len(values), wrong.size, first, float(values[first]) if wrong.size else 0.0)

    def add(self, after: Faults) -> Faults:
        """Those of the rows of both, one after the other."""
        n_rows, n_wrong = self.n_rows + after.n_rows, self.n_wrong + after.n_wrong
        if self.n_wrong:
            return Faults(n_rows, n_wrong, self.first, self.value)
        return Faults(n_rows, n_wrong, self.n_rows + after.first, after.value)


def find_faults(values: Any, is_right: Callable[[Array], Mask]) -> Faults:
    """How many entries are not right, and the first of them."""
    faults: Faults = reduce_values(partial(Faults.of_rows, is_right), values, combine=Faults.add)
    return faults


def is_nonnegative(values: Array) -> Mask:
    """Which values are at least 0."""
    return np.asarray(values >= 0)


def is_positive(values: Array) -> Mask:
    """Which values are greater than 0."""
    return np.asarray(values > 0)


def has_zero(values: Array) -> Any:
    """Whether some value is 0."""
    return (values == 0).any()


def divide_rows(divisor: float, values: Array) -> Array:
    """Values divided by a number."""
    return values / divisor


def as_row_numbers(values: Any, name: str) -> Any:
    """Numbers as float64, which may be NaN or infinite; those that stay with the rows of X do so."""
    if not isinstance(values, RowValues):
        return as_real_array(values, name)
    return map_values(partial(_as_numbers, name), values, outputs=values.shape[1:])


def _as_numbers(name: str, values: AnyArray) -> Array:
    return as_real_array(values, name)


def count_bad_values(values: Any) -> int:
    """How many values are NaN or infinite."""
    return int(reduce_values(_count_bad, values))


def _count_bad(values: Array) -> Any:
    return values.size - np.isfinite(values).sum()


def check_row_values(values: Any, name: str, shape: tuple[int, ...]) -> Any:
    """Finite float64 values of the given shape; those that stay with the rows of X do so."""
    if not isinstance(values, RowValues):
        return check_vector(values, name, shape)
    if values.shape != shape:
        raise ValueError(f"{name} has shape {values.shape}, expected {shape}")
    numbers = as_row_numbers(values, name)
    if bad := count_bad_values(numbers):
        raise ValueError(f"{name} has {bad} NaN or infinite values; remove or impute them")
    return numbers


def check_exponents(offset: Any, weights: Any, absorbs_constant: bool) -> None:
    """A ValueError if exp of an offset, or of its differences if a constant changes nothing, is beyond all floats."""
    negative_low, high = reduce_values(_find_range, offset, weights, combine=np.maximum)
    low = -negative_low
    if (high - low if absorbs_constant else max(abs(low), abs(high))) <= FARTHEST_OFFSET:
        return
    what = "exp of such differences is" if absorbs_constant else "exp of such numbers is"
    raise ValueError(
        f"offset ranges from {low:g} to {high:g}, and {what} beyond all floats; if it is an exposure, pass its "
        "logarithm as offset (ksparse fit: --exposure)"
    )


def _find_range(offset: Array, weights: Array) -> Array:
    """Minus the least offset, and the largest one, of rows that count."""
    counted = offset[weights > 0]
    return np.array([-counted.min(initial=np.inf), counted.max(initial=-np.inf)])
