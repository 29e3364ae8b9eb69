"""The order of the classes of ``--task ordinal``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._types import AnyArray
from .data import split_names
from .errors import InputError, quote, quote_list
from .target import Target, is_same_value
from .tasks import Task

__all__ = ["order_classes"]


def order_classes(target: Target, task: Task, y: AnyArray, options: Sequence[str]) -> list[Any] | None:
    """The classes from the lowest to the highest; None where they are in this order anyway."""
    if not task.has_order:
        if options:
            raise InputError(f"--categories is for --task ordinal, but the task is {task.name}; leave it out")
        return None
    labels = np.unique(y).tolist()
    if not target.is_text:
        labels.sort(key=float)  # numbers with decimals are text, see `choose_task`
    if not options:
        if target.is_text:
            raise InputError(
                f"the target {quote(target.name)} has text, whose order is not known: {quote_list(labels)}; give these"
                " classes from the lowest to the highest by --categories LOWEST,…,HIGHEST"
            )
        return labels if y.dtype == object else None
    names = [str(label) for label in labels]
    wanted = [_find_name(name, names) for name in split_names(options, names)]
    if double := [name for name in wanted if wanted.count(name) > 1]:
        raise InputError(f"--categories names {quote(double[0])} twice")
    if lacking := [name for name in names if name not in wanted]:
        raise InputError(f"--categories lacks {quote_list(lacking)}, which the target {quote(target.name)} has")
    if unknown := [name for name in wanted if name not in names]:
        raise InputError(
            f"--categories names {quote(unknown[0])}, which the target {quote(target.name)} does not have; it has"
            f" {quote_list(names)}"
        )
    if not target.is_text and wanted != names:
        raise InputError(
            f"--categories is out of order: the numbers from the lowest to the highest are {', '.join(names)}"
        )
    return [labels[names.index(name)] for name in wanted]


def _find_name(given: str, names: Sequence[str]) -> str:
    """The name of the class that is meant; what is given, if there is none."""
    return given if given in names else next((name for name in names if is_same_value(given, name)), given)
