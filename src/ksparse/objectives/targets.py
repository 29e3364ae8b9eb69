"""Checks of y: numbers, labels, and labels of samples that have a weight."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import AnyArray, Array, Mask
from ..validation import as_real_array
from ..wording import quote, quote_list
from .linear import LinearObjective

__all__ = [
    "ClassifierObjective",
    "check_responses",
    "check_squares",
    "encode_labels",
    "encode_ordered_labels",
    "encode_two_classes",
    "find_order",
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


def find_order(y: Any) -> AnyArray | None:
    """The categories of an ordered categorical of pandas, or of an Enum of polars, from the lowest to the highest."""
    dtype = getattr(y, "dtype", None)
    is_ordered = getattr(dtype, "ordered", False) or type(dtype).__name__ == "Enum"
    categories = getattr(dtype, "categories", None)
    return np.asarray(categories) if is_ordered and categories is not None else None


def encode_ordered_labels(y: Any, n: int, categories: Any = None) -> tuple[AnyArray, AnyArray]:
    """The labels that y has, in their order, and the position of each sample's label.

    Examples
    --------
    >>> from ksparse.objectives.targets import encode_ordered_labels
    >>> encode_ordered_labels(["high", "low", "low"], 3, ["low", "medium", "high"])
    (array(['low', 'high'], dtype='<U4'), array([1, 0, 0]))
    """
    labels, codes = encode_labels(y, n)
    order = find_order(y)
    if categories is not None and order is not None:
        given = [label for label in order.tolist() if label in list(categories)]
        if given != [label for label in list(categories) if label in given]:
            raise ValueError(
                f"categories has another order than the categorical y, which has {order.tolist()}; leave categories out"
            )
    if categories is None:
        categories = order
    if categories is None:
        if labels.dtype.kind in "OU" and len(labels) > 1:
            shown = ", ".join(map(repr, labels[:3].tolist()))
            raise ValueError(
                f"y has text labels such as {shown}, whose order is not known; pass categories, the labels from the "
                "lowest to the highest, or an ordered categorical of pandas"
            )
        classes = labels
    else:
        classes = _check_categories(list(categories), labels)
    if len(classes) < 2:
        raise ValueError(f"y has only the class {labels.tolist()}; ordered classes must be at least 2")
    ranks = {label: rank for rank, label in enumerate(classes.tolist())}
    return classes, np.array([ranks[label] for label in labels.tolist()])[codes]


def _check_categories(categories: list[Any], labels: AnyArray) -> AnyArray:
    """The labels in the order of the categories, which must be distinct, and increasing if they are numbers."""
    if len(set(categories)) < len(categories):
        double = next(label for place, label in enumerate(categories) if label in categories[:place])
        raise ValueError(f"categories has {double!r} twice; give each label once, from the lowest to the highest")
    there = labels.tolist()
    if unknown := [label for label in there if label not in categories]:
        listed = quote_list(categories)
        raise ValueError(f"y has the label {quote(unknown[0])}, which is not in categories; those are {listed}")
    ordered = [label for label in categories if label in there]
    if labels.dtype.kind in "biuf" and ordered != there:
        first = next(place for place in range(1, len(ordered)) if ordered[place] < ordered[place - 1])
        raise ValueError(
            f"categories is out of order: {ordered[first - 1]} comes before {ordered[first]}; give numbers from the "
            "lowest to the highest, or leave categories out"
        )
    return labels[[there.index(label) for label in ordered]]


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
