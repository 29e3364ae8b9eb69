"""Which kind of model fits a target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import estimators, selection
from .._types import AnyArray
from .data import Data
from .errors import InputError, quote, quote_list

__all__ = ["TASKS", "Task", "choose_task"]

#: Integers with at most this many distinct values are taken for classes,
MOST_CLASSES = 10
#: if each value occurs in at least this many rows; otherwise they are counts.
ROWS_OF_A_CLASS = 5


@dataclass(frozen=True)
class Task:
    """A kind of model; the estimators that choose k have CV or IC after their name."""

    name: str
    model: str
    estimator: str

    @property
    def has_classes(self) -> bool:
        """Whether the target has classes."""
        return self.name == "classification"

    def find_class(self, suffix: str = "") -> type[Any]:
        """The estimator, or the one with ``CV`` or ``IC``."""
        return getattr(selection if suffix else estimators, self.estimator + suffix)


TASKS = {
    task.name: task
    for task in (
        Task("classification", "Logistic regression", "SparseLogisticRegression"),
        Task("regression", "Least squares", "SparseLinearRegression"),
        Task("poisson", "Poisson regression", "SparsePoissonRegression"),
        Task("huber", "Huber regression", "SparseHuberRegression"),
    )
}


def choose_task(data: Data, option: str) -> tuple[Task, AnyArray, str]:
    """The task, the target as its model takes it, and why this task was chosen."""
    numbers = _find_numbers(data, option)
    name, reason = (option, "set by --task") if option != "auto" else _guess(numbers)
    task = TASKS[name]
    if task.has_classes:
        return task, _make_labels(data, numbers), reason
    if numbers is None:
        raise InputError(_describe_text(data))
    y = numbers.astype(np.float64)
    if name == "poisson" and y.min() < 0:
        raise InputError(
            f"--task poisson is for counts, but the target {quote(data.target)} has {y.min():g}; choose another task"
        )
    return task, y, reason


def _find_numbers(data: Data, option: str) -> AnyArray | None:
    """The target as numbers or booleans, or None if it is text."""
    if data.y.dtype == bool:
        return data.y
    numeric = np.isfinite(_parse(data.y))
    if numeric.all():
        return _parse(data.y)
    if data.y.dtype != object or (option == "auto" and numeric.mean() > 0.5):
        raise InputError(_describe_text(data))
    return None


def _parse(y: AnyArray) -> AnyArray:
    import pandas as pd

    return np.asarray(pd.to_numeric(pd.Series(y), errors="coerce"), dtype=np.float64)


def _describe_text(data: Data) -> str:
    wrong = ~np.isfinite(_parse(data.y))
    row = int(np.argmax(wrong))
    return (
        f"the target {quote(data.target)} is not a finite number in {wrong.sum()} of {len(wrong)} rows (first"
        f" {quote(data.y[row])} on row {row + 1}); correct it, or use --task classification if the values are classes"
    )


def _guess(numbers: AnyArray | None) -> tuple[str, str]:
    override = "use --task to change this"
    if numbers is None:
        return "classification", f"since the target is text; {override}"
    if numbers.dtype == bool:
        return "classification", f"since the target is true or false; {override}"
    distinct, counts = np.unique(numbers, return_counts=True)
    if len(distinct) <= 2:
        return "classification", f"since the target has {len(distinct)} distinct values; {override}"
    if len(distinct) <= MOST_CLASSES and counts.min() >= ROWS_OF_A_CLASS and np.all(distinct == np.round(distinct)):
        return "classification", f"since the target has only {len(distinct)} distinct integers; {override}"
    return "regression", f"since the target has many distinct numbers; {override}"


def _make_labels(data: Data, numbers: AnyArray | None) -> AnyArray:
    """Labels as text, booleans or integers; at least two of them."""
    if numbers is None:
        y = np.array(data.y, dtype=str)
    elif numbers.dtype.kind == "f" and np.all(numbers == np.round(numbers)) and np.abs(numbers).max() < 2**53:
        y = numbers.astype(np.int64)
    elif numbers.dtype.kind == "f":
        y = data.y.astype(str)  # scikit-learn does not take classes such as 1.5, but it takes any text
    else:
        y = numbers
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
