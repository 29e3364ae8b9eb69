"""Times until an event as a target: what users pass, and the array with a row for each sample that losses take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._types import AnyArray, Array
from ..validation import as_real_array
from .strata import find_stratum_numbers, list_labels, read_strata

__all__ = [
    "ENTRY",
    "EVENT",
    "STRATUM",
    "TIME",
    "as_survival_target",
    "encode_survival",
    "find_strata",
    "make_survival_target",
]

#: The columns of an encoded target.
TIME, EVENT, ENTRY, STRATUM = range(4)
NAMES = ("time", "event", "entry", "stratum")
EXPECTED = (
    "pass ksparse.make_survival_target(time, event), a data frame with columns named time and event, or an array with"
    " these two columns"
)


def make_survival_target(time: Any, event: Any, *, entry: Any = None, strata: Any = None) -> AnyArray:
    """The y of `ksparse.SparseCoxRegression`: times, events, and entry times or strata if there are some.

    It is a structured array as scikit-survival's, with the fields ``event`` and ``time``, and ``entry`` or ``stratum``;
    rows of it are selected as of any array, so that entry times and strata survive folds and bootstraps.

    Parameters
    ----------
    time : array-like of shape (n,)
        When a sample was last seen: the time of its event, or when it was censored; positive.
    event : array-like of shape (n,)
        Whether the event came then: booleans, or 0 and 1.
    entry : array-like of shape (n,), optional
        When a sample came under observation (left truncation): at least 0, and before its time. By default 0.
    strata : array-like of shape (n,), optional
        Stratum of each sample, any labels; each stratum has a baseline hazard of its own.

    Returns
    -------
    ndarray of shape (n,)
        The structured array.

    Examples
    --------
    >>> import ksparse
    >>> ksparse.make_survival_target([5.0, 3.5], [True, False])
    array([( True, 5. ), (False, 3.5)], dtype=[('event', '?'), ('time', '<f8')])
    """
    columns: dict[str, Any] = {"time": time, "event": event}
    columns |= {} if entry is None else {"entry": entry}
    encoded = _encode_columns(columns, None)
    fields: list[tuple[str, Any]] = [("event", bool), ("time", np.float64)]
    values: list[AnyArray] = [encoded[:, EVENT], encoded[:, TIME]]
    if entry is not None:
        fields.append(("entry", np.float64))
        values.append(encoded[:, ENTRY])
    if strata is not None:
        labels = _check_labels(strata, len(encoded))
        fields.append(("stratum", labels.dtype))
        values.append(labels)
    target = np.empty(len(encoded), dtype=fields)
    for (name, _), column in zip(fields, values, strict=True):
        target[name] = column
    return target


def as_survival_target(y: Any) -> AnyArray:
    """y in any of its forms as the structured array of `make_survival_target`, checked."""
    columns = _find_columns(y)
    return make_survival_target(
        columns["time"], columns["event"], entry=columns.get("entry"), strata=columns.get("stratum")
    )


def encode_survival(y: Any, n: int | None = None, strata: AnyArray | None = None) -> Array:
    """Times, events, entry times and numbers of strata, as columns; a ValueError that says what y must be.

    `strata` are the labels that the numbers stand for; by default those in y, sorted.
    """
    encoded = _encode_columns(_find_columns(y), strata)
    if n is not None and len(encoded) != n:
        raise ValueError(f"y has {len(encoded)} samples for {n} rows of X; give one for each row")
    return encoded


def find_strata(y: Any) -> AnyArray | None:
    """The labels of the strata in y, sorted; None if it has none."""
    labels = _find_columns(y).get("stratum")
    return None if labels is None else np.unique(_check_labels(labels, len(labels)))


def _find_columns(y: Any) -> dict[str, Any]:
    """The columns of y by what they are."""
    if hasattr(y, "columns"):
        return _name_columns(list(y.columns), lambda name: y[name].to_numpy())
    array = np.asarray(y)
    if array.dtype.names:
        return _name_columns(array.dtype.names, lambda name: array[name])
    if array.ndim == 1:
        raise ValueError(
            f"y has shape {array.shape}: times without events; {EXPECTED}. If every sample has its event, the events"
            " are all True"
        )
    if array.ndim != 2 or not 2 <= array.shape[1] <= len(NAMES):
        raise ValueError(f"y has shape {array.shape}; expected two columns, time and event; {EXPECTED}")
    return dict(zip(NAMES, array.T, strict=False))


def _name_columns(names: Sequence[Any], read: Any) -> dict[str, Any]:
    """Columns with names: by these, or a column of booleans and one of numbers, as in scikit-survival."""
    lower = {str(name).lower(): name for name in names}
    if "time" in lower and "event" in lower:
        unknown = [str(name) for name in names if str(name).lower() not in NAMES]
        if unknown:
            raise ValueError(f"y has a column {unknown[0]!r}; expected time, event, entry and stratum only")
        return {name: read(lower[name]) for name in NAMES if name in lower}
    if len(names) == 2:
        columns = [read(name) for name in names]
        kinds = [column.dtype.kind for column in columns]
        if sorted(kind == "b" for kind in kinds) == [False, True]:
            event = kinds.index("b")
            return {"event": columns[event], "time": columns[1 - event]}
        if "b" not in kinds:
            raise ValueError(
                f"y has the columns {' and '.join(map(repr, map(str, names)))}, neither of which has booleans, so that "
                f"it is not known which says whether the event came; {EXPECTED}"
            )
    raise ValueError(f"y has the columns {', '.join(map(repr, map(str, names)))}; {EXPECTED}")


def _encode_columns(columns: dict[str, Any], strata: AnyArray | None) -> Array:
    time = _check_column(columns["time"], "time")
    advice = "" if (time < 0).any() else "; use half of the shortest positive time, or leave these samples out"
    if _are_binary(time).all() and not _are_binary(np.asarray(columns["event"])).all():
        raise ValueError("the times of y are all 0 or 1, and its events are not; the order of columns is time, event")
    _require(time, time > 0, "times must be positive", "time", "positive", advice)
    n = len(time)
    encoded = np.zeros((n, len(NAMES)))
    encoded[:, TIME] = time
    event = _check_column(columns["event"], "event", n)
    _require(event, _are_binary(event), "events must be 0 (censored) or 1, or booleans", "event", "0 or 1")
    encoded[:, EVENT] = event
    if "entry" in columns:
        entry = _check_column(columns["entry"], "entry", n)
        _require(entry, entry >= 0, "entry times must be at least 0", "entry", "at least 0")
        late = np.flatnonzero(entry >= time)
        if late.size:
            raise ValueError(
                f"sample {late[0]} enters at {entry[late[0]]:g} and is last seen at {time[late[0]]:g}"
                f"{_count(late, 'last seen after entry')}; each sample must enter before it is last seen"
            )
        encoded[:, ENTRY] = entry
    if "stratum" in columns:
        labels = _check_labels(columns["stratum"], n)
        numbers = find_stratum_numbers(labels, np.unique(labels) if strata is None else strata)
        if (new := numbers < 0).any():
            raise ValueError(f"y has the stratum {list_labels(labels[new])[0]!r}, which was not there in the fit")
        encoded[:, STRATUM] = numbers
    elif strata is not None:
        raise ValueError("the model has strata, but y has none; y needs a column stratum")
    return encoded


def _check_column(values: Any, name: str, n: int | None = None) -> Array:
    column = as_real_array(values, f"{name} of y")
    if column.ndim != 1 or (n is not None and len(column) != n):
        expected = "one number for each sample" if n is None else f"({n},), as of time"
        raise ValueError(f"{name} of y has shape {column.shape}; expected {expected}")
    if not np.isfinite(column).all():
        raise ValueError(f"{name} of y has {int((~np.isfinite(column)).sum())} NaN or infinite values; remove them")
    return column


def _are_binary(values: AnyArray) -> AnyArray:
    """Which values are 0 or 1."""
    return (values == 0) | (values == 1)


def _check_labels(values: Any, n: int) -> AnyArray:
    labels = read_strata(values, "stratum of y")
    if labels.shape != (n,):
        raise ValueError(f"stratum of y has shape {labels.shape}; expected ({n},), as of time")
    return labels


def _require(values: Array, are_right: AnyArray, need: str, name: str, expected: str, advice: str = "") -> None:
    if not are_right.all():
        wrong = np.flatnonzero(~are_right)
        raise ValueError(f"{need}; {name} {wrong[0]} of y is {values[wrong[0]]:g}{_count(wrong, expected)}{advice}")


def _count(wrong: AnyArray, expected: str) -> str:
    """How many samples are wrong besides the first."""
    others = len(wrong) - 1
    return f", and {others} more {'is' if others == 1 else 'are'} not {expected}" if others else ""
