"""Rows to train on and rows to test on."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from .._types import AnyArray, IntArray
from .errors import InputError, quote
from .settings import Settings
from .tasks import Task


def hold_out_rows(y: AnyArray, task: Task, settings: Settings) -> tuple[IntArray, IntArray]:
    """Rows to train on and rows to test on, with the same fractions of the classes in both."""
    rows, advice = np.arange(len(y)), "use more rows, or --test 0 to train on all of them"
    if settings.test == 0:
        return rows, rows[:0]
    held_out = int(np.ceil(settings.test * len(y)))
    if min(held_out, len(y) - held_out) < (max(2, len(np.unique(y))) if task.has_classes else 2):
        raise InputError(
            f"{len(y)} rows are too few for --test {settings.test:g}, which holds out {held_out} of them; {advice}"
        )
    if task.is_survival and min((events := int(y["event"].sum())), len(y) - events) == 1:
        raise InputError(
            f"only one row has {'an' if events == 1 else 'no'} event, which cannot be in both parts; {advice}"
        )
    rarest, count = find_rarest(y, task)
    if count < 2:
        raise InputError(
            f"class {quote(rarest)} has only one row, which cannot be in both the training and the test part;"
            f" {advice}; or --task regression or poisson, if the target is a number or a count"
        )
    stratify = _find_labels(y, task)
    train, test = train_test_split(rows, test_size=settings.test, random_state=settings.seed, stratify=stratify)
    return np.sort(train), np.sort(test)


def _find_labels(y: AnyArray, task: Task) -> AnyArray | None:
    """What both parts of a split have in the same fractions: the classes, or whether the event came."""
    return y["event"] if task.is_survival else y if task.has_classes else None


def find_rarest(y: AnyArray, task: Task) -> tuple[Any, int]:
    """The class with the fewest rows, and their number; without classes, all rows count."""
    classes, counts = np.unique(y, return_counts=True) if task.has_classes else (y[:1], np.array([len(y)]))
    return classes[counts.argmin()], int(counts.min())
