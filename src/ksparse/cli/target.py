"""The target: numbers, true and false or labels; and the kind of model that they suggest."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .._types import AnyArray, Array, Mask
from ..limits import LARGEST
from ..tables import KindOfColumn
from ..tables.kinds import infer_kind, read_categories, read_values
from .errors import InputError, escape_control, quote, quote_list
from .guessing import guess_task
from .tasks import TASKS, Task

#: Usual names of the time until an event, and of what says whether the event came.
TIMES = frozenset(["time", "week", "weeks", "days", "months", "futime", "survtime", "survival", "followup", "os_time"])
EVENTS = frozenset(["status", "event", "cens", "censored", "death", "dead", "died", "arrest", "fustat", "relapse"])


@dataclass(frozen=True)
class Target:
    """The target of the rows that have one.

    Attributes
    ----------
    name : str
        The name of the column.
    values : ndarray
        Numbers, booleans or text.
    known : ndarray of bool
        Which rows of the table have a target.
    notes : tuple of str
        What a user should know of it.
    """

    name: str
    values: AnyArray
    known: Mask
    notes: tuple[str, ...] = ()

    @classmethod
    def of_column(cls, name: str, cells: pd.Series) -> Target:
        """The target in a column of a table; rows without one are left out."""
        kind = infer_kind(cells)
        if kind.kind is KindOfColumn.DATE:
            raise InputError(
                f"the target {quote(name)} has dates, which no model predicts; choose another --target, or use the time"
                " between two dates as a number"
            )
        if kind.kind is KindOfColumn.CATEGORY:
            texts = read_categories(cells)
            known = np.array([text is not None for text in texts], dtype=bool)
            values = texts
        else:
            values = read_values(cells, kind)
            known = ~np.isnan(values)
        remarks = [f"The target {quote(name)}: {remark}" for remark in kind.remarks]
        if not known.all():
            missing = int((~known).sum())
            said = "has no target and is left out" if missing == 1 else "have no target and are left out"
            remarks.insert(0, f"{missing} of {len(known)} rows {said}")
        if not known.any():
            raise InputError(f"the target {quote(name)} is missing in all rows; choose another --target")
        values = values[known]
        return cls(name, values.astype(bool) if kind.kind is KindOfColumn.TRUTH else values, known, tuple(remarks))

    @property
    def is_text(self) -> bool:
        """Whether the values are labels that are not numbers."""
        return self.values.dtype == object


def suggest_survival_analysis(target: str, names: Sequence[str], source: str) -> tuple[str, ...]:
    """A note for a target that is a time until an event, or that event, if the table has the other too."""
    for ours, theirs in ((TIMES, EVENTS), (EVENTS, TIMES)):
        others = [name for name in names if name.lower() in theirs and name != target]
        if target.lower() in ours and others:
            time, event = (target, others[0]) if ours is TIMES else (others[0], target)
            options = " ".join(f"--{name} {shlex.quote(column)}" for name, column in (("time", time), ("event", event)))
            command = escape_control(f"ksparse fit {shlex.quote(source)} {options}")
            return (
                f"If {quote(time)} is a time until an event and {quote(event)} says whether it came, times that were"
                f" cut off are taken for complete ones here; survival analysis takes them as they are: {command}",
            )
    return ()


def choose_task(target: Target, option: str) -> tuple[Task, AnyArray, str, tuple[str, ...]]:
    """The task, the target as its model takes it, why this task was chosen, and advice on other ones."""
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
    if (wrong := np.abs(numbers) > LARGEST).any():
        raise InputError(
            f"the target {name} is infinite or beyond {LARGEST:g} in {wrong.sum()} of {len(wrong)} rows; correct or"
            " rescale it"
        )
    advice: tuple[str, ...] = ()
    if option == "auto":
        name_of_task, reason, advice = guess_task(target.values, numbers)
    else:
        name_of_task, reason = option, "set by --task"
    task = TASKS[name_of_task]
    if task.has_classes:
        return task, _make_labels(target, numbers), reason, advice
    _check_least(task, target, numbers)
    return task, numbers, reason, advice


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
        y = np.array([str(label) for label in target.values.tolist()], dtype=object)
    classes, name = np.unique(y).tolist(), quote(target.name)
    if len(classes) < 2:
        raise InputError(f"the target {name} has only one class, {quote_list(classes)}; at least two are needed")
    if len(classes) > len(y) / 2:
        raise InputError(
            f"the target {name} has {len(classes)} classes in {len(y)} rows, such as {quote_list(classes, 3)}; choose"
            " another --target, or --task regression for numbers"
        )
    return y
