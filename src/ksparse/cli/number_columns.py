"""Columns that an option names and that must have numbers: reading them, and what is wrong with some cells."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from .._types import Array, Mask
from ..tables import KindOfColumn
from ..tables.kinds import infer_kind, read_values
from .errors import InputError, quote

__all__ = ["Locate", "describe_first", "name_first", "read_numbers"]

#: Says where in the file a row is, counted from 0.
Locate = Callable[[int], str]


def read_numbers(cells: pd.Series, name: str, option: str, advice: str = "expected a column of numbers") -> Array:
    """The numbers in a column that an option names, with NaN for gaps."""
    kind = infer_kind(cells)
    if kind.kind in (KindOfColumn.CATEGORY, KindOfColumn.DATE):
        raise InputError(f"{option} names {quote(name)}, which has no numbers; {advice}")
    return np.asarray(read_values(cells, kind), dtype=np.float64)


def describe_first(values: Array, wrong: Mask, name: str, fault: str, advice: str, locate: Locate | None) -> list[str]:
    """What is wrong with a column, and what to do; nothing if no value is wrong."""
    return [f"{name_first(values, wrong, name, locate, fault)}; {advice}"] if wrong.any() else []


def name_first(values: Array, wrong: Mask, name: str, locate: Locate | None, fault: str) -> str:
    """The first wrong value of a column with its place in the file, and how many others are wrong."""
    first, others = int(np.argmax(wrong)), int(wrong.sum()) - 1
    place = f" ({locate(first)})" if locate else ""
    said = f"{quote(name)} is {values[first]:g}{place}"
    return (
        f"{said}, and {others} more of {len(values)} rows {'is' if others == 1 else 'are'} {fault}" if others else said
    )
