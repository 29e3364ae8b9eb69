"""The target: numbers, true and false or labels; and the kind of model that they suggest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from .._types import AnyArray, Array, Mask
from ..limits import LARGEST
from ..tables import KindOfColumn
from ..tables.kinds import infer_kind, read_categories, read_values
from .errors import InputError, quote, quote_list
from .guessing import guess_task
from .tasks import SEVERAL, TASKS, Task

#: A target with so many times the variance of another one decides alone which features are chosen.
UNEQUAL = 30.0


@dataclass(frozen=True)
class Target:
    """The target of the rows that have one.

    Attributes
    ----------
    name : str
        The name of the column, or of several with commas between them.
    values : ndarray
        Numbers, booleans or text; of several columns, numbers in as many columns.
    known : ndarray of bool
        Which rows of the table have a target.
    notes : tuple of str
        What a user should know of it.
    names : tuple of str
        The names of several columns; empty for one.
    """

    name: str
    values: AnyArray
    known: Mask
    notes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @classmethod
    def of_columns(cls, columns: Mapping[str, pd.Series]) -> Target:
        """The target in a column, or in several columns of numbers; rows that lack one of them are left out."""
        if len(columns) == 1:
            return cls.of_column(*next(iter(columns.items())))
        values, remarks = [], []
        for name, cells in columns.items():
            found, notes = _read_cells(name, cells)
            if found.dtype == object:
                raise InputError(
                    f"several targets must have numbers, but {quote(name)} has text; name one column by --target"
                )
            values.append(found)
            remarks += notes
        return cls._of_rows(", ".join(columns), np.column_stack(values), remarks, tuple(columns))

    @classmethod
    def of_column(cls, name: str, cells: pd.Series) -> Target:
        """The target in a column of a table; rows without one are left out."""
        values, remarks = _read_cells(name, cells)
        target = cls._of_rows(name, values, remarks)
        is_truth = infer_kind(cells).kind is KindOfColumn.TRUTH
        return replace(target, values=target.values.astype(bool)) if is_truth else target

    @classmethod
    def _of_rows(cls, name: str, values: AnyArray, remarks: list[str], names: tuple[str, ...] = ()) -> Target:
        """The rows whose values are known."""
        missing_cells = pd.isna(values)
        known = ~(missing_cells.any(axis=1) if names else missing_cells)
        what = f"the targets {quote_list(names)}" if names else f"the target {quote(name)}"
        if not known.any():
            raise InputError(f"{what} {'are' if names else 'is'} missing in all rows; choose another --target")
        if not known.all():
            missing = int((~known).sum())
            said = "has no target and is left out" if missing == 1 else "have no target and are left out"
            if names:
                said = f"{'lacks' if missing == 1 else 'lack'} a target and {'is' if missing == 1 else 'are'} left out"
            remarks = [f"{missing} of {len(known)} rows {said}", *remarks]
        return cls(name, values[known], known, tuple(remarks), names)

    def keep(self, rows: Mask) -> Target:
        """The target of those rows of the table that are in a mask."""
        return replace(self, values=self.values[rows[self.known]], known=self.known & rows)

    @property
    def is_text(self) -> bool:
        """Whether the values are labels that are not numbers."""
        return self.values.dtype == object


def _read_cells(name: str, cells: pd.Series) -> tuple[AnyArray, list[str]]:
    """Numbers with NaN for gaps, or texts with None for gaps, and remarks on them."""
    kind = infer_kind(cells)
    if kind.kind is KindOfColumn.DATE:
        raise InputError(
            f"the target {quote(name)} has dates, which no model predicts; choose another --target, or use the time"
            " between two dates as a number"
        )
    remarks = [f"The target {quote(name)}: {remark}" for remark in kind.remarks]
    if kind.kind is KindOfColumn.CATEGORY:
        return read_categories(cells), remarks
    return read_values(cells, kind), remarks


def choose_task(target: Target, option: str) -> tuple[Task, AnyArray, str, tuple[str, ...]]:
    """The task, the target as its model takes it, why this task was chosen, and advice on other ones."""
    if target.names:
        return _choose_for_several(target, option)
    name = quote(target.name)
    if target.values.dtype.names:
        if option not in ("auto", "cox"):
            raise InputError(f"--time and --event are for Cox regression, not for --task {option}; leave --task out")
        return TASKS["cox"], target.values, "set by --time and --event", ()
    if option == "cox":
        raise InputError("--task cox needs --time COL and --event COL in place of --target")
    if target.is_text and not (option == "auto" or TASKS[option].has_classes):
        raise InputError(
            f"--task {option} is for numbers, but the target {name} has text such as"
            f" {quote_list(_list_first(target), 3)}; use --task classification"
        )
    numbers = np.full(len(target.values), np.nan) if target.is_text else target.values.astype(np.float64)
    _check_largest(target.name, numbers)
    advice: tuple[str, ...] = ()
    if option == "auto":
        name_of_task, reason, advice = guess_task(target.values, numbers)
    else:
        name_of_task, reason = option, "set by --task"
    task = TASKS[name_of_task]
    if task.has_classes:
        return task, _make_labels(target, numbers), reason, advice
    _check_least(task, target, numbers)
    _check_variation(target.name, numbers)
    return task, numbers, reason, advice


def _choose_for_several(target: Target, option: str) -> tuple[Task, AnyArray, str, tuple[str, ...]]:
    """Least squares of several targets."""
    count, names = len(target.names), quote_list(target.names)
    if option not in ("auto", SEVERAL.name):
        raise InputError(
            f"--task {option} predicts one target, but --target names {count}: {names}; name one of them, or leave"
            " --task out for least squares of all"
        )
    numbers = target.values.astype(np.float64)
    for name, column in zip(target.names, numbers.T, strict=True):
        _check_largest(name, column)
        _check_variation(name, column)
    variances = numbers.var(axis=0)
    advice: tuple[str, ...] = ()
    if variances.max() > UNEQUAL * variances.min():
        largest, smallest = (quote(target.names[place]) for place in (variances.argmax(), variances.argmin()))
        advice = (
            f"The target {largest} varies far more than {smallest}, and features are chosen mostly for it: targets in"
            " comparable units, such as divided by their standard deviations, count alike",
        )
    return SEVERAL, numbers, f"since there are {count} targets", advice


def _check_largest(name: str, numbers: Array) -> None:
    """Raise if some numbers are too large to compute with."""
    if (wrong := np.abs(numbers) > LARGEST).any():
        raise InputError(
            f"the target {quote(name)} is infinite or beyond {LARGEST:g} in {wrong.sum()} of {len(wrong)} rows; correct"
            " or rescale it"
        )


def _check_variation(name: str, numbers: Array) -> None:
    """Raise if there is nothing to predict."""
    if np.ptp(numbers) == 0:
        raise InputError(f"the target {quote(name)} is {numbers[0]:g} in all rows; choose another --target")


def _check_least(task: Task, target: Target, numbers: Array) -> None:
    """Raise if some numbers are smaller than this task admits."""
    if task.least is None:
        return
    wrong = numbers < task.least if task.allows_least else numbers <= task.least
    if wrong.any():
        need = "at least" if task.allows_least else "greater than"
        raise InputError(
            f"--task {task.name} is for numbers {need} {task.least:g}, but the target {quote(target.name)} has"
            f" {numbers[wrong].min():g}, and {wrong.sum()} of {len(wrong)} rows have such values; choose another task"
        )


def _list_first(target: Target) -> list[str]:
    return list(dict.fromkeys(target.values.tolist()))


def _make_labels(target: Target, numbers: Array) -> AnyArray:
    """Labels as booleans, integers or text; at least two of them."""
    if target.values.dtype == bool or target.is_text:
        y = target.values
    elif np.all(numbers == np.round(numbers)) and np.abs(numbers).max() < 2**53:
        y = numbers.astype(np.int64)
    else:
        # scikit-learn does not take classes such as 1.5, but it takes any text. An array of text would be padded to the
        # longest, and drop a NUL at the end.
        y = np.array([write_label(label) for label in target.values.tolist()], dtype=object)
    classes, name = np.unique(y).tolist(), quote(target.name)
    if len(classes) < 2:
        raise InputError(f"the target {name} has only one class, {quote_list(classes)}; at least two are needed")
    if len(classes) > len(y) / 2:
        raise InputError(
            f"the target {name} has {len(classes)} classes in {len(y)} rows, such as {quote_list(classes, 3)}; choose"
            " another --target, or --task regression for numbers"
        )
    return y


def write_label(number: Any) -> str:
    """A number as a class: 1 and 1.5, without decimals where there are none.

    Examples
    --------
    >>> from ksparse.cli.target import write_label
    >>> write_label(1.0), write_label(1.5)
    ('1', '1.5')
    """
    return str(number).removesuffix(".0")


def is_same_value(text: str, other: str) -> bool:
    """Whether what the user writes is a value, as a text or as a number.

    Examples
    --------
    >>> from ksparse.cli.target import is_same_value
    >>> is_same_value("1.50", "1.5"), is_same_value("low", "low"), is_same_value("low", "1")
    (True, True, False)
    """
    try:
        return text == other or float(text) == float(other)
    except ValueError:
        return False
