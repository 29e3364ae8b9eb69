"""The thresholds between ordered classes at which the loss of given margins is least."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor

from .._types import Array

__all__ = ["NEAR_DECREMENT", "RIDGES", "Thresholds", "factorize_hessian"]

#: The square of Newton's decrement above which steps for the thresholds may be halved, and thresholds are sought from
#: another start. Below it, whole steps are taken while they lower it: changes of the loss are lost in its rounding.
NEAR_DECREMENT = 1e-8
#: What is added to the Hessian in the thresholds, as a fraction of its largest entry, until it has a factor.
RIDGES = (0.0, 1e-15, 1e-12, 1e-9)


class Thresholds(NamedTuple):
    """Thresholds with what is known there: the loss, and its Hessian in them."""

    values: Array
    loss: float
    hessian: Array
    #: The square of Newton's decrement.
    decrement: float


def factorize_hessian(hessian: Array) -> Any:
    """Cholesky's factor; far from all margins the loss has hardly any curvature, and is given what rounding needs."""
    diagonal = hessian.diagonal()
    size = max(float(diagonal.max(initial=0.0)), np.finfo(np.float64).tiny ** 0.5)
    for ridge in RIDGES:
        try:
            return cho_factor(hessian + np.diag(np.full(diagonal.size, ridge * size)))
        except np.linalg.LinAlgError:
            continue
    return cho_factor(np.diag(diagonal + size))
