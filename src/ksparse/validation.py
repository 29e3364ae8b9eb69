"""Checks of user input. Each error says what was wrong, what was expected and what to do."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from ._types import Array

__all__ = [
    "as_real_array",
    "check_callable",
    "check_flag",
    "check_iterations",
    "check_nonnegative_number",
    "check_number",
    "check_number_of_units",
    "check_positive_number",
    "check_size",
    "check_time_limit",
    "check_vector",
    "is_missing",
    "refuse_date_columns",
    "refuse_dates",
]

#: The largest number that a float can be.
LARGEST_FLOAT = float(np.finfo(np.float64).max)
#: What holds a date or a duration in an array of objects; those of pandas are of these types too.
DATES, DURATIONS = (datetime.date, np.datetime64), (datetime.timedelta, np.timedelta64)


def check_number_of_units(k: Any, what: str = "units", advice: str = "") -> int:
    """k as an int ≥ 0."""
    if isinstance(k, (bool, np.bool_)) or not isinstance(k, numbers.Integral):
        advice = advice or f"pass how many {what} to select"
        raise TypeError(f"k must be an integer, got {k!r} of type {type(k).__name__}; {advice}")
    if k < 0:
        raise ValueError(f"k must be at least 0, got {k}; it is the number of {what} to select")
    return int(k)


def check_size(value: Any, name: str) -> int:
    """A number of samples or of variables as an int ≥ 1."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral) or value < 1:
        raise ValueError(f"{name} must be a positive integer, got {value!r}")
    return int(value)


def check_iterations(value: Any, name: str) -> int:
    """A limit of iterations as an int ≥ 0."""
    # Asking for the type that it mostly is first: an abstract class takes longer to tell.
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, numbers.Integral)):
        raise TypeError(f"{name} must be an integer, got {value!r} of type {type(value).__name__}")
    if value < 0:
        raise ValueError(f"{name} must be at least 0, got {value}")
    return int(value)


def check_callable(value: Any, name: str, example: str) -> None:
    """A function or a callable object; a class means that parentheses were forgotten."""
    if isinstance(value, type):
        raise TypeError(f"{name} is the class {value.__name__}; did you forget the parentheses?")
    if not callable(value):
        raise TypeError(f"{name} must be callable, {example}; got {value!r}")


def check_flag(value: Any, name: str) -> bool:
    """True or False, as a bool."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def as_real_array(values: Any, name: str) -> Array:
    """Numbers as float64, or a ValueError for text, dates, objects and complex numbers."""
    array = np.asarray(values)
    refuse_dates(array, name)
    if array.dtype.kind == "c":
        raise ValueError(f"{name} has complex values; pass real numbers")
    try:
        return array.astype(np.float64, copy=False)
    except OverflowError as error:
        raise ValueError(f"{name} has a number beyond {LARGEST_FLOAT:.2g}, the largest float; rescale it") from error
    except (TypeError, ValueError) as error:
        if "NAType" in str(error):  # pandas is not imported for it
            raise ValueError(f"{name} has missing values (pandas.NA); remove or impute them") from error
        raise ValueError(f"{name} must be numeric; {error}") from error


def refuse_dates(array: Any, name: str) -> None:
    """A ValueError for dates and durations, which NumPy takes for their numbers of nanoseconds or days."""
    kind = getattr(getattr(array, "dtype", None), "kind", "")
    is_date, is_duration = kind == "M", kind == "m"
    if kind == "O" and isinstance(array, np.ndarray):
        values = array.ravel().tolist()
        is_date = any(isinstance(value, DATES) for value in values)
        is_duration = any(isinstance(value, DURATIONS) for value in values)
    if is_date or is_duration:
        what = "dates" if is_date else "durations"
        raise ValueError(f"{name} has {what}; pass numbers, such as days")


def refuse_date_columns(X: Any) -> None:
    """A ValueError if an array, or a column of a data frame, holds dates or durations."""
    if hasattr(X, "columns"):
        dtypes = getattr(X, "dtypes", ())  # a series has only one
        if np.iterable(dtypes) and any(getattr(dtype, "kind", "O") in "mM" for dtype in dtypes):
            raise ValueError("X has columns of dates or durations; pass numbers, such as days")
    else:
        refuse_dates(X, "X")


def is_missing(label: Any) -> bool:
    """Whether a label is None, pandas.NA, or does not equal itself, as NaN and NaT; pandas is not imported for it."""
    return label is None or type(label).__name__ == "NAType" or bool(label != label)


def check_nonnegative_number(value: Any, name: str) -> float:
    """A finite number ≥ 0 as a float."""
    return check_number(value, name, "at least 0", lambda number: number >= 0)


def check_time_limit(seconds: Any) -> float:
    """A limit in seconds as a float; infinity for None and for infinity."""
    if seconds is None or (isinstance(seconds, numbers.Real) and seconds == float("inf")):
        return float("inf")
    return check_nonnegative_number(seconds, "time_limit")


def check_positive_number(value: Any, name: str) -> float:
    """A finite number > 0 as a float."""
    return check_number(value, name, "greater than 0", lambda number: number > 0)


def check_number(value: Any, name: str, expected: str, accept: Callable[[Any], bool]) -> float:
    """A finite number that is accepted, as a float; `expected` says of which ones that holds."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (float, int, numbers.Real)):
        raise TypeError(f"{name} must be a number, got {value!r} of type {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError as error:
        raise ValueError(f"{name} must be finite and {expected}, got a number beyond {LARGEST_FLOAT:.2g}") from error
    if not np.isfinite(number) or not accept(value):
        raise ValueError(f"{name} must be finite and {expected}, got {value!r}")
    return number


def check_vector(values: Any, name: str, shape: tuple[int, ...]) -> Array:
    """Finite float64 values of the given shape."""
    array = as_real_array(values, name)
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}, expected {shape}")
    if not np.isfinite(array).all():
        bad = int(array.size - np.isfinite(array).sum())
        raise ValueError(f"{name} has {bad} NaN or infinite values; remove or impute them")
    return array
