"""What claims must be that need no bounds: numbers, arrays and solutions; and the error where one is not."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._types import Array
from ..objectives import LinearObjective
from ..sparsity import Units
from .certificate import Certificate

__all__ = [
    "InvalidCertificateError",
    "check_array",
    "check_claimed_solution",
    "check_printed_numbers",
    "require_claim",
]


class InvalidCertificateError(ValueError):
    """A certificate does not prove what it says."""


def require_claim(condition: Any, problem: str) -> None:
    """Raise an error that tells what is wrong, unless a condition holds."""
    if not condition:
        raise InvalidCertificateError(problem)


def check_array(array: Any, shape: tuple[int, ...], name: str, kind: type) -> None:
    """An array has a shape, and all its entries are True or False, or finite numbers."""
    found = np.asarray(array)
    require_claim(
        found.shape == shape, f"the {name} have the shape {found.shape}, and these data need {shape}: other data?"
    )
    is_kind = found.dtype == bool if kind is bool else found.dtype.kind in "fiu" and np.isfinite(found).all()
    require_claim(is_kind, f"the {name} must be {'True or False' if kind is bool else 'finite numbers'}")


def check_printed_numbers(certificate: Certificate) -> None:
    """All that is printed must be a number."""
    for name in ("value", "lower_bound", "least"):
        number = getattr(certificate, name)
        is_number = isinstance(number, Real) and not isinstance(number, (bool, np.bool_))
        require_claim(is_number and np.isfinite(number), f"{name} is not a finite number but {number!r}")


def check_claimed_solution(x: ArrayLike, objective: LinearObjective, units: Units) -> Array:
    """x as an array, which is in the set."""
    point = np.asarray(x, dtype=np.float64)
    shape = objective.shape
    require_claim(
        point.shape == shape, f"x has the shape {point.shape}, and the coefficients of this model have {shape}"
    )
    require_claim(np.isfinite(point).all(), "x has an entry that is not a finite number")
    selected = units.find_units((point != 0) & units.constrained) | units.always
    require_claim(selected.sum() <= units.k, f"x has {selected.sum()} units, and k is {units.k}")
    if units.lower is not None and units.upper is not None:
        require_claim(((units.lower <= point) & (point <= units.upper)).all(), "x is not within the bounds")
    return point
