"""The order of the classes of ``--task ordinal``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._types import AnyArray
from .data import split_names
from .errors import InputError, escape_control, quote, quote_list
from .target import Target
from .tasks import Task

__all__ = ["order_classes"]


def order_classes(target: Target, task: Task, y: AnyArray, options: Sequence[str]) -> list[Any] | None:
    """The classes from the lowest to the highest, where the user gives them; None if their numbers tell the order."""
    if not task.has_order:
        if options:
            raise InputError(f"--categories is for --task ordinal, but the task is {task.name}; leave it out")
        return None
    labels = np.unique(y).tolist()
    if not options:
        if y.dtype == object:
            raise InputError(
                f"the target {quote(target.name)} has text, whose order is not known: give its classes from the lowest"
                f" to the highest, such as --categories {','.join(map(escape_control, labels[:5]))}"
            )
        return None
    names = {str(label): label for label in labels}
    wanted = split_names(options, list(names))
    if double := [name for name in wanted if wanted.count(name) > 1]:
        raise InputError(f"--categories names {quote(double[0])} twice")
    if lacking := [name for name in names if name not in wanted]:
        raise InputError(f"--categories lacks {quote_list(lacking)}, which the target {quote(target.name)} has")
    if unknown := [name for name in wanted if name not in names]:
        raise InputError(
            f"--categories names {quote(unknown[0])}, which the target {quote(target.name)} does not have; it has"
            f" {quote_list(list(names))}"
        )
    ordered = [names[name] for name in wanted]
    if y.dtype != object and ordered != labels:
        raise InputError(f"--categories is out of order: the numbers from the lowest to the highest are {labels}")
    return ordered
