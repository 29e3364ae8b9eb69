"""Checks of y: numbers, labels, and labels of samples that have a weight."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .._types import AnyArray, Array, IntArray, Mask
from ..designs.blocked import RowValues, map_values, reduce_values
from ..validation import is_missing
from ..wording import quote, quote_list
from .linear import LinearObjective
from .row_checks import as_row_numbers, count_bad_values, find_faults

__all__ = [
    "ClassifierObjective",
    "check_responses",
    "check_squares",
    "encode_labels",
    "encode_ordered_labels",
    "encode_rows_of_ones",
    "encode_two_classes",
    "find_codes",
    "find_order",
    "require_responses",
]

#: Squares of larger responses overflow when they are summed, and squares of their inverses underflow.
LARGEST_RESPONSE = 1e140
#: More distinct labels are not brought together from the workers of a cluster.
MAX_STORED_LABELS = 10_000


class ClassifierObjective(LinearObjective):
    """A linear model of labels: every class must have a sample with a positive weight."""

    #: The labels.
    classes: AnyArray

    def check_weights(self, target: Any, weights: Any) -> None:
        present = np.atleast_1d(reduce_values(_find_present, target, weights, combine=np.logical_or))
        if not present.all():
            missing = self.classes[~present].tolist()
            raise ValueError(f"no sample of class {missing} has a positive sample_weight; remove it from y")


def _find_present(target: Array, weights: Array) -> Mask:
    """Which classes have a sample with a positive weight."""
    counted = target[weights > 0]
    if counted.ndim == 2:
        return np.asarray((counted > 0).any(axis=0))
    return np.array([(counted < 0).any(), (counted > 0).any()])


def check_responses(y: Any, n: int, *, allow_matrix: bool = False) -> Any:
    """Finite numbers, one (or one row) for each sample; those that stay with the rows of X do so."""
    array = as_row_numbers(y, "y")
    if array.ndim not in ((1, 2) if allow_matrix else (1,)):
        raise ValueError(f"y has shape {array.shape}; expected ({n},)" + (f" or ({n}, q)" if allow_matrix else ""))
    _check_length(array, n)
    if bad := count_bad_values(array):
        raise ValueError(f"y has {bad} NaN or infinite values; remove or impute them")
    return array


def require_responses(values: Any, is_right: Callable[[Array], Mask], need: str) -> Any:
    """Responses that are all as the loss needs them; `need` says how."""
    faults = find_faults(values, is_right)
    if more := faults.n_wrong:
        others = f", and so {'is' if more == 2 else 'are'} {more - 1} more" if more > 1 else ""
        raise ValueError(f"{need}; y[{faults.first}] is {faults.value:g}, which is not{others}")
    return values


def check_squares(values: Any, name: str = "y") -> Any:
    """Numbers whose squares neither overflow nor underflow."""
    largest = float(reduce_values(_find_largest, values, combine=np.maximum))
    if largest > LARGEST_RESPONSE:
        raise ValueError(f"{name} has values of {largest:.1g}, whose squares overflow; divide {name} by a constant")
    if 0.0 < largest < 1.0 / LARGEST_RESPONSE:
        raise ValueError(
            f"{name} has values of {largest:.1g} at most, whose squares underflow; multiply {name} by a constant"
        )
    return values


def _find_largest(values: Array) -> Any:
    return np.abs(values).max(initial=0.0)


def encode_labels(y: Any, n: int) -> tuple[AnyArray, Any]:
    """Distinct labels and the code of each sample's label."""
    array = y if isinstance(y, RowValues) else np.asarray(y)
    if array.ndim != 1:
        raise ValueError(f"y has shape {array.shape}; expected one label for each of the {n} rows of X")
    _check_length(array, n)
    if array.dtype.kind == "f" and (bad := count_bad_values(array)):
        raise ValueError(f"y has {bad} NaN or infinite labels; remove those rows")
    try:
        if isinstance(array, RowValues):
            classes = reduce_values(find_block_labels, array, combine=_join_labels)
            return classes, map_values(partial(find_codes, classes), array, dtype=np.intp)
        classes, codes = np.unique(array, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"y has labels of different types ({error}); use one type, without None") from error
    return classes, codes


def find_block_labels(y: AnyArray) -> AnyArray:
    """The distinct labels of some rows."""
    labels = np.unique(y)
    if labels.size > MAX_STORED_LABELS:
        raise ValueError(
            f"y has more than {MAX_STORED_LABELS} distinct labels; a classifier needs few classes, for numbers use a "
            "regression, such as SparseLinearRegression"
        )
    return labels


def _join_labels(labels: AnyArray, more: AnyArray) -> AnyArray:
    return find_block_labels(np.concatenate([labels, more]))


def find_codes(labels: AnyArray, y: AnyArray) -> IntArray:
    """The position of each of some labels among the distinct ones, which are sorted."""
    codes: IntArray = np.searchsorted(labels, y)
    return codes


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
    if isinstance(y, RowValues):
        y = y.collect()  # losses of ordered classes compare all samples with each other
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
    if any(is_missing(label) for label in categories):
        raise ValueError("categories has a missing value (None, NaN); give labels only, from the lowest to the highest")
    if labels.dtype.kind in "biuf":
        categories = [_as_number(label) for label in categories]
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


def _as_number(label: Any) -> Any:
    """The number that text stands for, as categories of a file may be; other labels as they are."""
    try:
        return float(label) if isinstance(label, str) else label
    except ValueError:
        return label


def encode_two_classes(y: Any, n: int, name: str) -> tuple[AnyArray, Any]:
    """The two labels, and y as −1 and +1."""
    classes, codes = encode_labels(y, n)
    if len(classes) != 2:
        advice = "use Multinomial for more classes, LeastSquares for numbers"
        if len(classes) < 2:
            advice = "y must contain two classes"
        shown = ", ".join(map(str, classes[:5].tolist())) + (", ..." if len(classes) > 5 else "")
        raise ValueError(f"{name} needs exactly 2 classes, y has {len(classes)}: {shown}; {advice}")
    return classes, map_values(_as_signs, codes)


def _as_signs(codes: IntArray) -> Array:
    return np.where(codes == 1, 1.0, -1.0)


def encode_rows_of_ones(classes: AnyArray, codes: Any, other: float = 0.0) -> Any:
    """A row for each sample, with a one for its class and another number elsewhere."""
    count = len(classes)
    return map_values(partial(_mark_classes, count, other), codes, outputs=(count,))


def _mark_classes(count: int, other: float, codes: IntArray) -> Array:
    return np.where(codes[:, None] == np.arange(count), 1.0, other)


def _check_length(y: Any, n: int) -> None:
    if y.shape[0] != n:
        raise ValueError(f"y has {y.shape[0]} values for {n} rows of X; give one for each row")
