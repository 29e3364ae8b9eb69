"""Times until an event in a table, as ``ksparse fit --time T --event E`` names them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from .._types import AnyArray, Array
from ..objectives.survival import make_survival_target
from ..tables import KindOfColumn
from ..tables.kinds import infer_kind, read_categories, read_values
from .errors import InputError, quote, quote_list
from .target import Target

__all__ = ["SurvivalColumns", "read_survival_target"]


#: Words that say whether an event came.
TRUTH_WORDS = {"yes": 1.0, "no": 0.0, "y": 1.0, "n": 0.0}
#: Usual values of events, for advice.
EVENT_VALUES = frozenset(["dead", "died", "death", "deceased", "event", "relapse", "recurrence", "failed", "failure"])


@dataclass(frozen=True)
class SurvivalColumns:
    """The columns with times and events, and perhaps with entry times and strata.

    Attributes
    ----------
    time, event : str
        The columns. An event may be ``COLUMN=VALUE``: it came where the column has this value.
    entry, strata : str, optional
        The columns of entry times and of strata.
    """

    time: str
    event: str
    entry: str | None = None
    strata: str | None = None

    def split_event(self, names: list[str]) -> tuple[str, str | None]:
        """The column of the event, and the value that stands for it, if one is given."""
        column, sign, value = self.event.rpartition("=")
        return (column, value) if sign and self.event not in names else (self.event, None)

    def list_columns(self, names: list[str]) -> dict[str, str]:
        """The columns by the options that name them."""
        event, _ = self.split_event(names)
        given = {"--time": self.time, "--event": event, "--entry": self.entry, "--strata": self.strata}
        return {option: column for option, column in given.items() if column is not None}


def read_survival_target(columns: SurvivalColumns, frame: pd.DataFrame) -> Target:
    """The target of the rows of which time, event and the others are known."""
    event, value = columns.split_event(frame.columns.tolist())
    time = _read_numbers(frame[columns.time], columns.time, "--time")
    happened = _read_events(frame[event], event, value)
    entry = None if columns.entry is None else _read_numbers(frame[columns.entry], columns.entry, "--entry")
    strata = None if columns.strata is None else _read_strata(frame[columns.strata])
    known = ~np.isnan(time) & ~np.isnan(happened)
    if entry is not None:
        known &= ~np.isnan(entry)
    if strata is not None:
        known &= strata != ""
    notes = []
    if missing := int((~known).sum()):
        notes.append(f"{missing} of {len(known)} rows lack a time, an event, an entry or a stratum and are left out")
    if not known.any():
        raise InputError(f"no row has both {quote(columns.time)} and {quote(event)}; choose other columns")
    _check_times(time, columns.time)
    try:
        values = make_survival_target(
            time[known],
            happened[known],
            entry=None if entry is None else entry[known],
            strata=None if strata is None else strata[known],
        )
    except ValueError as error:
        raise InputError(f"cannot use {quote(columns.time)} and {quote(event)}: {error}") from error
    if not values["event"].any():
        raise InputError(f"{quote(columns.event)} has no event in {len(values)} rows; name another column by --event")
    return Target(columns.time, values, known, tuple(notes))


def _read_numbers(cells: pd.Series, name: str, option: str) -> Array:
    kind = infer_kind(cells)
    if kind.kind in (KindOfColumn.CATEGORY, KindOfColumn.DATE):
        raise InputError(f"{option} names {quote(name)}, which has no numbers; a time is a number, such as days")
    return read_values(cells, kind)


def _check_times(time: Array, name: str) -> None:
    """Raise if some times are no times until an event."""
    wrong = (time <= 0) | np.isinf(time)
    if wrong.any():
        first = int(np.argmax(wrong))
        raise InputError(
            f"{quote(name)} has times that are not positive and finite in {wrong.sum()} of {len(time)} rows, first"
            f" {time[first]:g} in row {first + 1}; correct them, or leave out these rows"
        )


def _read_events(cells: pd.Series, name: str, value: str | None) -> Array:
    """1 for an event, 0 for none, NaN where it is not known."""
    texts = read_categories(cells)
    if value is not None:
        found = _match_value(texts, value)
        if not (found == 1).any():
            there = sorted({text for text in texts.tolist() if text is not None})
            raise InputError(f"no row of {quote(name)} has the value {quote(value)}; it has {quote_list(there, 5)}")
        return found
    kind = infer_kind(cells)
    if kind.kind in (KindOfColumn.CATEGORY, KindOfColumn.DATE):
        there = sorted({text for text in texts.tolist() if text is not None})
        if {text.lower() for text in there} <= TRUTH_WORDS.keys():
            return np.array([np.nan if text is None else TRUTH_WORDS[text.lower()] for text in texts.tolist()])
        likely = next((text for text in there if text.lower() in EVENT_VALUES), there[0])
        raise InputError(
            f"--event names {quote(name)}, which has {quote_list(there, 5)}; say which value is the event, as"
            f" --event {quote(f'{name}={likely}')}"
        )
    numbers = read_values(cells, kind)
    distinct = np.unique(numbers[~np.isnan(numbers)])
    if not np.isin(distinct, (0.0, 1.0)).all():
        shown = ", ".join(f"{number:g}" for number in distinct[:5])
        raise InputError(
            f"--event names {quote(name)}, which has {shown}{', …' * (len(distinct) > 5)}, and not only 0 and 1; say"
            f" which value is the event, as --event {quote(f'{name}={distinct[-1]:g}')}"
        )
    return numbers


def _match_value(texts: AnyArray, value: str) -> Array:
    """Where texts are a value, as texts or as numbers."""

    def matches(text: str) -> bool:
        try:
            return float(text) == float(value)
        except ValueError:
            return text == value

    return np.array([np.nan if text is None else float(matches(text)) for text in texts.tolist()])


def _read_strata(cells: pd.Series) -> AnyArray:
    return np.array(["" if text is None else text for text in read_categories(cells).tolist()], dtype=str)
