"""What kind of model suits a target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import estimators, selection
from .._types import AnyArray
from .data import Data
from .errors import InputError, listed, quoted
from .source import is_number

__all__ = ["TASKS", "Task", "choose_task"]

#: Whole numbers with no more different values than this are taken for classes.
FEW = 10
#: Each of them must then have so many rows; rarer ones are counts.
ROWS_OF_A_CLASS = 5


@dataclass(frozen=True)
class Task:
    """A kind of model.

    Attributes
    ----------
    name : str
        As ``--task`` says it.
    model : str
        As a statistician says it.
    estimator : str
        The class; the ones that choose k have CV or IC after it.
    alpha : float
        Ridge penalty unless the user says another.
    """

    name: str
    model: str
    estimator: str
    alpha: float

    @property
    def classes(self) -> bool:
        """Whether the target has classes."""
        return self.name == "classification"

    def kind(self, suffix: str = "") -> type[Any]:
        """The estimator, or the one with ``CV`` or ``IC``."""
        return getattr(selection if suffix else estimators, self.estimator + suffix)


TASKS = {
    task.name: task
    for task in (
        Task("classification", "Logistic regression", "SparseLogisticRegression", 1e-3),
        Task("regression", "Least squares", "SparseLinearRegression", 0.0),
        Task("poisson", "Poisson regression", "SparsePoissonRegression", 0.0),
        Task("huber", "Huber regression", "SparseHuberRegression", 0.0),
    )
}


def choose_task(data: Data, option: str) -> tuple[Task, AnyArray, str]:
    """The task, the target as its model takes it, and why this task was taken.

    Parameters
    ----------
    data : Data
        The data.
    option : str
        A key of `TASKS`, or ``auto``.
    """
    numbers = _as_numbers(data, option)
    if option == "auto":
        name, reason = _guess(numbers)
        reason = f"since {reason} (--task overrides)"
    else:
        name, reason = option, "as --task says"
    task = TASKS[name]
    if task.classes:
        return task, _labels(data, numbers), reason
    if numbers is None:
        raise InputError(_not_numbers(data))
    y = numbers.astype(np.float64)
    if name == "poisson" and y.min() < 0:
        raise InputError(
            f"--task poisson is for counts, but the target {quoted(data.target)} has {y.min():g}; use another"
        )
    return task, y, reason


def _as_numbers(data: Data, option: str) -> AnyArray | None:
    """The target as numbers or booleans, or None if it is text."""
    y = data.y
    if y.dtype != object:
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            row = int(np.argmin(np.isfinite(y)))
            raise InputError(
                f"the target {quoted(data.target)} has {y[row]} on row {row + 1}; correct it or remove the row"
            )
        return y
    numeric = np.array([is_number(cell) for cell in y])
    if numeric.all():
        return y.astype(np.float64)
    if option == "auto" and numeric.mean() > 0.5:
        raise InputError(_not_numbers(data))
    return None


def _not_numbers(data: Data) -> str:
    row = next(row for row, cell in enumerate(data.y) if not is_number(cell))
    return (
        f"the target {quoted(data.target)} has {quoted(data.y[row])} on row {row + 1} of the data, which is not a"
        " finite number; correct it, or use --task classification if the values are classes"
    )


def _guess(numbers: AnyArray | None) -> tuple[str, str]:
    if numbers is None:
        return "classification", "the target is text"
    if numbers.dtype == bool:
        return "classification", "the target is true or false"
    distinct, counts = np.unique(numbers, return_counts=True)
    if len(distinct) <= 2:
        return "classification", f"the target has {len(distinct)} different values"
    if len(distinct) <= FEW and counts.min() >= ROWS_OF_A_CLASS and np.all(distinct == np.round(distinct)):
        return "classification", f"the target has {len(distinct)} different whole numbers"
    return "regression", "the target has many different numbers"


def _labels(data: Data, numbers: AnyArray | None) -> AnyArray:
    """Labels as text, booleans or whole numbers; at least two of them."""
    if numbers is None:
        y = np.array(data.y, dtype=str)
    elif numbers.dtype.kind == "f" and np.all(numbers == np.round(numbers)) and np.abs(numbers).max() < 2**53:
        y = numbers.astype(np.int64)
    elif numbers.dtype.kind == "f":
        y = data.y.astype(str)  # scikit-learn has no classes such as 1.5, but any text will do
    else:
        y = numbers
    classes = np.unique(y)
    if len(classes) < 2:
        raise InputError(
            f"the target {quoted(data.target)} has one class only, {listed(classes)}; a classifier needs rows of two"
        )
    if len(classes) > len(y) / 2:
        raise InputError(
            f"the target {quoted(data.target)} has {len(classes)} classes in {len(y)} rows, such as"
            f" {listed(classes, 3)}; choose another --target, or --task regression for numbers"
        )
    return y
