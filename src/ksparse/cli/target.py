"""Which kind of model fits a target, and the target as this model takes it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .._types import AnyArray, Array
from .data import Data
from .errors import InputError, quote, quote_list
from .reading import LARGEST, parse_numbers
from .settings import TASKS, Task

__all__ = ["choose_task"]

#: Integers with at most this many distinct values are taken for classes,
MOST_CLASSES = 10
#: if each value occurs in at least this many rows; otherwise they are counts.
ROWS_OF_A_CLASS = 5


def choose_task(data: Data, option: str) -> tuple[Task, AnyArray, str]:
    """The task, the target as its model takes it, and why this task was chosen."""
    numbers = parse_numbers(pd.Series(data.y))
    wrong = ~(np.abs(numbers) <= LARGEST)
    # Among numbers, text is more probably a mistake than a class.
    may_be_text = option == "classification" or (option == "auto" and wrong.mean() >= 0.5)
    if wrong.any() and not (may_be_text and data.y.dtype == object):
        row = int(np.argmax(wrong))
        raise InputError(
            f"the target {quote(data.target)} is not a finite number, or is beyond {LARGEST:g}, in {wrong.sum()} of"
            f" {len(wrong)} rows (first {quote(data.y[row])} on row {row + 1}); correct it, or use --task"
            " classification if the values are classes"
        )
    name, reason = (option, "set by --task") if option != "auto" else _guess(data.y, numbers)
    if name == "poisson" and numbers.min() < 0:
        raise InputError(
            f"--task poisson is for counts, but the target {quote(data.target)} has {numbers.min():g}; choose another"
            " task"
        )
    return TASKS[name], _make_labels(data, numbers) if TASKS[name].has_classes else numbers, reason


def _guess(y: AnyArray, numbers: Array) -> tuple[str, str]:
    distinct, counts = np.unique(numbers, return_counts=True)
    few = len(distinct) <= MOST_CLASSES and counts.min() >= ROWS_OF_A_CLASS and np.all(distinct == np.round(distinct))
    reasons = {
        "is text": bool(np.isnan(numbers).any()),
        "is true or false": y.dtype == bool,
        f"has {len(distinct)} distinct values": len(distinct) <= 2,
        f"has only {len(distinct)} distinct integers": few,
    }
    reason = next((reason for reason, holds in reasons.items() if holds), None)
    name = "classification" if reason else "regression"
    return name, f"since the target {reason or 'has many distinct numbers'}; use --task to change this"


def _make_labels(data: Data, numbers: Array) -> AnyArray:
    """Labels as booleans, integers or text; at least two of them."""
    if data.y.dtype == bool:
        y = data.y
    elif np.all(numbers == np.round(numbers)) and np.abs(numbers).max() < 2**53:
        y = numbers.astype(np.int64)
    else:
        y = data.y.astype(str)  # scikit-learn does not take classes such as 1.5, but it takes any text
    classes = np.unique(y)
    if len(classes) < 2:
        raise InputError(
            f"the target {quote(data.target)} has only one class, {quote_list(classes)}; at least two are needed"
        )
    if len(classes) > len(y) / 2:
        raise InputError(
            f"the target {quote(data.target)} has {len(classes)} classes in {len(y)} rows, such as"
            f" {quote_list(classes, 3)}; choose another --target, or --task regression for numbers"
        )
    return y
