"""Columns of a table that are no features and no target: weights of rows, and what is known of their margins."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .._types import Array, Mask
from ..limits import LARGEST
from .errors import InputError, escape_control, join_problems, quote, quote_list
from .number_columns import Locate, describe_first, read_numbers
from .target import Target, write_label
from .tasks import TASKS, Task

__all__ = ["RowColumns", "RowWeights", "check_kept_rows", "check_offset_size", "check_offset_task", "read_row_values"]


#: The largest offset whose exponential is a number, and by how much logarithms of exposures may differ: those of one
#: and of all people on earth differ by 23.
LARGEST_LOGARITHM, WIDEST_LOGARITHMS = 700.0, 50.0


@dataclass(frozen=True)
class RowColumns:
    """The columns that the user names.

    Attributes
    ----------
    weights : str, optional
        Weights of the rows.
    exposure : str, optional
        What the expected response is proportional to, such as years under observation.
    offset : str, optional
        The known part of the margins, in place of the logarithm of an exposure.
    """

    weights: str | None = None
    exposure: str | None = None
    offset: str | None = None

    def list_columns(self) -> dict[str, str]:
        """The columns by the options that name them."""
        given = {"--weights": self.weights, "--exposure": self.exposure, "--offset": self.offset}
        return {option: column for option, column in given.items() if column is not None}

    def list_notes(self) -> dict[str, str]:
        """What predictions of new rows need, by the names in a saved model; see `from_notes`."""
        given = {"exposure": self.exposure, "offset": self.offset}
        return {name: column for name, column in given.items() if column is not None}

    @classmethod
    def from_notes(cls, notes: dict[str, Any]) -> RowColumns:
        """The columns that a saved model needs beside its features."""
        return cls(exposure=notes.get("exposure"), offset=notes.get("offset"))

    @property
    def offset_column(self) -> str | None:
        """The column of exposures or offsets."""
        return self.exposure if self.offset is None else self.offset

    def describe_offset(self) -> str:
        """The exposure or the offset, with its column."""
        return f"the {'exposure' if self.offset is None else 'offset'} {quote(self.offset_column)}"

    def to_offset(self, cells: Array) -> Array:
        """The offsets by the cells of that column: NaN where no number can be it."""
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.log(cells) if self.offset is None else cells
        return np.where(np.abs(values) <= LARGEST, values, np.nan)


@dataclass(frozen=True)
class RowWeights:
    """Weights and offsets of rows; None where all weights are 1, and all offsets 0."""

    weights: Array | None = None
    offset: Array | None = None

    def select(self, rows: Any) -> RowWeights:
        """Those of some rows."""
        return RowWeights(*(None if part is None else part[rows] for part in (self.weights, self.offset)))

    @property
    def options(self) -> dict[str, Array]:
        """Arguments of the method ``fit`` of an estimator."""
        given = {"sample_weight": self.weights, "offset": self.offset}
        return {name: values for name, values in given.items() if values is not None}


def read_row_values(
    columns: RowColumns, frame: pd.DataFrame, used: Mask, locate: Locate | None
) -> tuple[RowWeights, Mask, list[str]]:
    """Weights and offsets of a table's rows, which rows have them and a weight above 0, and notes.

    Parameters
    ----------
    columns : RowColumns
        The columns.
    frame : DataFrame
        The table.
    used : ndarray of bool
        The rows with a target.
    locate : callable, optional
        Says where in the file a row is, counted from 0; without it, messages do not say.
    """
    weights, weighted, notes, problems = _read_weights(columns, frame, used, locate)
    offset, known, more, wrong = _read_offsets(columns, frame, used & weighted, locate)
    if problems or wrong:
        raise join_problems([*problems, *wrong])
    if not (known & weighted & used).any():
        names = quote_list(list(columns.list_columns().values()))
        raise InputError(f"no row has a target and what is needed in {names}; choose other columns")
    return RowWeights(weights, offset), known & weighted, [*notes, *more]


#: Values of rows, which rows have one, notes on the others, and what is wrong.
_Read = tuple[Array | None, Mask, list[str], list[str]]


def _read_weights(columns: RowColumns, frame: pd.DataFrame, used: Mask, locate: Locate | None) -> _Read:
    name = columns.weights
    if name is None:
        return None, np.ones(len(frame), dtype=bool), [], []
    weights = read_numbers(frame[name], name, "--weights")
    wrong = used & ((weights < 0) | (weights > LARGEST))
    problems = describe_first(weights, wrong, name, "negative or infinite", "weights must be at least 0", locate)
    notes = [
        *_describe_left_out(used & np.isnan(weights), f"no weight in {quote(name)}"),
        *_describe_left_out(used & (weights == 0), f"the weight 0 in {quote(name)}"),
    ]
    return weights, weights > 0, notes, problems


def _read_offsets(columns: RowColumns, frame: pd.DataFrame, used: Mask, locate: Locate | None) -> _Read:
    name = columns.offset_column
    if name is None:
        return None, np.ones(len(frame), dtype=bool), [], []
    cells = read_numbers(frame[name], name, "--exposure" if columns.offset is None else "--offset")
    offset = columns.to_offset(cells)
    fault, advice = "infinite", "an offset is a finite number"
    if columns.offset is None:
        fault, advice = "not positive", "exposures must be positive: what is expected is in proportion to them"
    problems = describe_first(cells, used & ~np.isnan(cells) & np.isnan(offset), name, fault, advice, locate)
    notes = _describe_left_out(used & np.isnan(cells), f"no value in {quote(name)}")
    return offset, ~np.isnan(offset), notes, problems


def _describe_left_out(rows: Mask, what: str) -> list[str]:
    count = int(rows.sum())
    if not count:
        return []
    have, are = ("has", "is") if count == 1 else ("have", "are")
    return [f"{count} of {len(rows)} rows {have} {what} and {are} left out"]


def check_kept_rows(columns: RowColumns, target: Target, kept: Target) -> None:
    """Raise if nothing can be learned from the rows that these columns leave, unlike from all with a target."""
    if len(kept.values) == len(target.values):
        return
    offset = columns.offset_column
    needed = [] if columns.weights is None else [f"a weight above 0 in {quote(columns.weights)}"]
    needed += [] if offset is None else [f"a value in {quote(offset)}"]
    advice = f"rows without {' and '.join(needed)} are left out: correct the file, or choose another column"
    if target.values.dtype.names:
        if not kept.values["event"].any():
            events = int(target.values["event"].sum())
            raise InputError(f"none of the {events} rows with an event is left; {advice}")
        return
    if not target.names and len(np.unique(kept.values)) == 1 < len(np.unique(target.values)):
        only = kept.values.tolist()[0]
        said = write_label(only) if isinstance(only, float) else quote(only)
        raise InputError(f"{quote(target.name)} is {said} in all {len(kept.values)} rows that are left; {advice}")


def check_offset_task(columns: RowColumns, task: Task, n_classes: int) -> None:
    """Raise if the models of a task take no exposure or offset."""
    if columns.exposure is not None and not task.has_log_link:
        takers = [each.name for each in TASKS.values() if each.has_log_link]
        other = ", or give --offset" if task.takes_offset and not task.has_several else ""
        raise InputError(
            f"--exposure is for expected counts and amounts in proportion to it, which are --task {_join(takers)}, but"
            f" the task is {task.name}; choose one of these{other}"
        )
    if columns.offset is None:
        return
    if not task.takes_offset or task.has_several:
        takers = [each.name for each in TASKS.values() if each.takes_offset]
        several = " with several targets" if task.has_several else ""
        raise InputError(f"--offset is for --task {_join(takers)}, but the task is {task.name}{several}; leave it out")
    if n_classes > 2 and not task.has_order:
        expected = "two classes, or classes in an order"
        raise InputError(f"--offset is for {expected}, but there are {n_classes} classes; leave it out")


def _join(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


def check_offset_size(columns: RowColumns, values: RowWeights, task: Task) -> None:
    """Raise if the offsets can be no logarithms, where their exponentials multiply what is expected."""
    if columns.offset is None or values.offset is None or not (task.has_log_link or task.is_survival):
        return
    low, high = float(values.offset.min()), float(values.offset.max())
    if high <= LARGEST_LOGARITHM and high - low <= WIDEST_LOGARITHMS:
        return
    multiplied = "the hazard" if task.is_survival else "what is expected"
    advice = "give the column of the logarithms"
    if low > 0 and not task.is_survival:
        advice = f"did you mean --exposure {shlex.quote(escape_control(columns.offset))}?"
    raise InputError(
        f"--offset names {quote(columns.offset)}, which is {low:.4g} to {high:.4g}, but an offset is a logarithm:"
        f" {multiplied} is multiplied by its exponential, which is too large or varies too much; {advice}"
    )
