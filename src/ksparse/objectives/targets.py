"""Checks of y: numbers, labels, and labels of samples that have a weight."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import AnyArray, Array, Mask
from ..validation import as_real_array
from .linear import LinearObjective

__all__ = [
    "ClassifierObjective",
    "check_responses",
    "check_squares",
    "encode_labels",
    "encode_two_classes",
    "require_responses",
]

#: Squares of larger responses overflow when they are summed, and squares of their inverses underflow.
LARGEST_RESPONSE = 1e140


class ClassifierObjective(LinearObjective):
    """A linear model of labels: every class must have a sample with a positive weight."""

    #: The labels.
    classes: AnyArray

    def check_weighted_target(self, target: Array) -> None:
        present = (target > 0).any(axis=0) if target.ndim == 2 else [(target < 0).any(), (target > 0).any()]
        if not np.all(present):
            missing = self.classes[~np.asarray(present)].tolist()
            raise ValueError(f"no sample of class {missing} has a positive sample_weight; remove it from y")


def check_responses(y: Any, n: int, *, allow_matrix: bool = False) -> Array:
    """Finite numbers, one (or one row) for each sample."""
    array = as_real_array(y, "y")
    if array.ndim not in ((1, 2) if allow_matrix else (1,)):
        raise ValueError(f"y has shape {array.shape}; expected ({n},)" + (f" or ({n}, q)" if allow_matrix else ""))
    _check_length(array, n)
    if not np.isfinite(array).all():
        raise ValueError(f"y has {int((~np.isfinite(array)).sum())} NaN or infinite values; remove or impute them")
    return array


def require_responses(values: Array, are_right: Mask, need: str) -> Array:
    """Responses that are all as the loss needs them; `need` says how."""
    if not are_right.all():
        wrong = np.flatnonzero(~are_right)
        others = f", and so {'is' if len(wrong) == 2 else 'are'} {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise ValueError(f"{need}; y[{wrong[0]}] is {values[wrong[0]]:g}, which is not{others}")
    return values


def check_squares(values: Array, name: str = "y") -> Array:
    """Numbers whose squares neither overflow nor underflow."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest > LARGEST_RESPONSE:
        raise ValueError(f"{name} has values of {largest:.1g}, whose squares overflow; divide {name} by a constant")
    if 0.0 < largest < 1.0 / LARGEST_RESPONSE:
        raise ValueError(
            f"{name} has values of {largest:.1g} at most, whose squares underflow; multiply {name} by a constant"
        )
    return values


def encode_labels(y: Any, n: int) -> tuple[AnyArray, AnyArray]:
    """Distinct labels and the code of each sample's label."""
    array = np.asarray(y)
    if array.ndim != 1:
        raise ValueError(f"y has shape {array.shape}; expected one label for each of the {n} rows of X")
    _check_length(array, n)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"y has {int((~np.isfinite(array)).sum())} NaN or infinite labels; remove those rows")
    try:
        classes, codes = np.unique(array, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"y has labels of different types ({error}); use one type, without None") from error
    return classes, codes


def encode_two_classes(y: Any, n: int, name: str) -> tuple[AnyArray, Array]:
    """The two labels, and y as −1 and +1."""
    classes, codes = encode_labels(y, n)
    if len(classes) != 2:
        advice = "use Multinomial for more classes, LeastSquares for numbers"
        if len(classes) < 2:
            advice = "y must contain two classes"
        shown = ", ".join(map(str, classes[:5].tolist())) + (", ..." if len(classes) > 5 else "")
        raise ValueError(f"{name} needs exactly 2 classes, y has {len(classes)}: {shown}; {advice}")
    return classes, 2.0 * codes - 1.0


def _check_length(y: AnyArray, n: int) -> None:
    if y.shape[0] != n:
        raise ValueError(f"y has {y.shape[0]} values for {n} rows of X; give one for each row")
