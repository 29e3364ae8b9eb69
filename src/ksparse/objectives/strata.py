"""Labels of strata: what users pass, and the numbers that they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import AnyArray, IntArray, Mask
from ..validation import is_missing

__all__ = ["find_stratum_numbers", "list_labels", "read_strata"]

#: The number of labels that are not known.
NOT_KNOWN = -1
#: Kinds of arrays of which the values can be compared as numbers.
NUMBER_KINDS = "biuf"


def read_strata(values: Any, name: str) -> AnyArray:
    """Labels as an array of one type that can be sorted; a ValueError if some are missing.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.objectives.strata import read_strata
    >>> read_strata(np.array(["b", "a"], dtype=object), "strata")
    array(['b', 'a'], dtype='<U1')
    """
    # A list of text and NaN would become an array of text.
    given = np.asarray(values) if hasattr(values, "dtype") else np.asarray(values, dtype=object)
    if count := int(_find_missing(given).sum()):
        lost = "1 missing value" if count == 1 else f"{count} missing values"
        raise ValueError(f"{name} has {lost} (None, NaN, NaT or infinite); remove those samples, or give them a label")
    if given.dtype.kind != "O":
        return given
    labels = np.asarray(given.tolist())
    return labels.astype(str) if labels.dtype.kind == "O" or labels.shape != given.shape else labels


def find_stratum_numbers(labels: AnyArray, known: AnyArray) -> IntArray:
    """The position of each label among the known ones, which are sorted; −1 for a label that is not known.

    Labels are compared whole: text is never cut, nor a number rounded. Where the known ones are text, as columns of
    numbers and text are, other labels are those that are written so.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.objectives.strata import find_stratum_numbers
    >>> find_stratum_numbers(np.array(["b", "apple"]), np.array(["a", "b"]))
    array([ 1, -1])
    """
    if known.dtype.kind == "U":
        labels = labels.astype(str)
    elif labels.dtype.kind != known.dtype.kind and not {labels.dtype.kind, known.dtype.kind} <= set(NUMBER_KINDS):
        return np.full(len(labels), NOT_KNOWN, dtype=np.intp)
    numbers = np.minimum(np.searchsorted(known, labels), len(known) - 1)
    return np.where(known[numbers] == labels, numbers, NOT_KNOWN)


def list_labels(labels: AnyArray) -> list[Any]:
    """Labels as a message shows them: a date is no number of nanoseconds.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.objectives.strata import list_labels
    >>> list_labels(np.array(["2020-01-01"], dtype="datetime64[D]"))
    ['2020-01-01']
    """
    shown: list[Any] = (labels.astype(str) if labels.dtype.kind in "mM" else labels).tolist()
    return shown


def _find_missing(labels: AnyArray) -> Mask:
    kind = labels.dtype.kind
    if kind == "f":
        return ~np.isfinite(labels)
    if kind in "mM":
        return np.isnat(labels)
    if kind == "O":
        return np.array([is_missing(label) for label in labels.ravel().tolist()], dtype=bool)
    return np.zeros(labels.shape, dtype=bool)
