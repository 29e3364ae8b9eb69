"""What a claim must be, and the error where it is not."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["InvalidCertificateError", "check_array", "require_claim"]


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
