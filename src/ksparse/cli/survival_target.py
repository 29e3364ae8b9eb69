"""Times until an event in a table, as ``ksparse fit --time T --event E`` names them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from .._types import AnyArray, Array
from ..objectives.survival import make_survival_target
from ..tables import KindOfColumn
from ..tables.kinds import infer_kind, read_categories, read_values
from ..wording import cut_text
from .errors import InputError, join_problems, quote, quote_list
from .number_columns import Locate, describe_first, name_first, read_numbers
from .target import Target, is_same_value

__all__ = ["SurvivalColumns", "find_event_value", "read_survival_target"]

#: Words that say whether an event came.
TRUTH_WORDS = {"yes": 1.0, "no": 0.0, "y": 1.0, "n": 0.0}
#: Usual values of events, for advice.
EVENT_VALUES = frozenset(["dead", "died", "death", "deceased", "event", "relapse", "recurrence", "failed", "failure"])
#: A column of times has more distinct values than this, as a rule, and one of events has not.
FEW_VALUES = 5
#: What an option that names times expects.
TIME_ADVICE = "a time is a number, such as days"


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


def read_survival_target(columns: SurvivalColumns, frame: pd.DataFrame, locate: Locate | None = None) -> Target:
    """The target of the rows of which time, event and the others are known.

    Parameters
    ----------
    columns : SurvivalColumns
        The columns.
    frame : DataFrame
        The table.
    locate : callable, optional
        Says where in the file a row is, counted from 0; without it, messages do not say.
    """
    event, value = columns.split_event(frame.columns.tolist())
    if value is None:
        _check_order(frame, columns.time, event)
    time = read_numbers(frame[columns.time], columns.time, "--time", TIME_ADVICE)
    happened = _read_events(frame[event], event, value)
    entry = None
    if columns.entry is not None:
        entry = read_numbers(frame[columns.entry], columns.entry, "--entry", TIME_ADVICE)
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
    problems = _find_wrong_times(np.where(known, time, np.nan), columns.time, locate)
    if entry is not None and columns.entry is not None and not problems:
        problems = _find_wrong_entries(np.where(known, entry, np.nan), time, columns.entry, columns.time, locate)
    if not happened[known].any():
        problems.append(
            f"{quote(columns.event)} has no event in {known.sum()} rows; name another column or value by --event"
        )
    if problems:
        raise join_problems(problems)
    try:
        values = make_survival_target(
            time[known],
            happened[known],
            entry=None if entry is None else entry[known],
            strata=None if strata is None else strata[known],
        )
    except ValueError as error:
        raise InputError(f"cannot use {quote(columns.time)} and {quote(event)}: {error}") from error
    if value is not None:
        notes += _describe_censored(frame[event][known & (happened == 0)], event)
    return Target(columns.time, values, known, tuple(notes))


def _check_order(frame: pd.DataFrame, time: str, event: str) -> None:
    """Raise if the columns of times and events look as if each were the other."""
    kind = infer_kind(frame[event])
    if kind.kind in (KindOfColumn.CATEGORY, KindOfColumn.DATE):
        return
    times, events = (frame[name].nunique() for name in (time, event))
    if times <= FEW_VALUES < events:
        raise InputError(
            f"--time names {quote(time)}, which has {times} distinct value{'s' * (times != 1)}, and --event names"
            f" {quote(event)}, which has {events}; are they swapped? Try --time {quote(event)} --event {quote(time)}"
        )


def _find_wrong_times(time: Array, name: str, locate: Locate | None) -> list[str]:
    """What is wrong with times until an event: those that are 0, and those that are none at all."""
    problems = []
    if (zero := time == 0).any():
        positive = time[(time > 0) & np.isfinite(time)]
        shortest = f" ({positive.min() / 2:g})" if positive.size else ""
        advice = f"times must be positive: use half of the shortest one{shortest}, or leave these rows out"
        problems.append(f"{name_first(time, zero, name, locate, '0')}; {advice}")
    wrong, advice = (time < 0) | np.isinf(time), "correct these times, or leave these rows out"
    return problems + describe_first(time, wrong, name, "negative or infinite", advice, locate)


def _find_wrong_entries(entry: Array, time: Array, name: str, end: str, locate: Locate | None) -> list[str]:
    """What is wrong with entry times."""
    if (wrong := (entry < 0) | np.isinf(entry)).any():
        said = name_first(entry, wrong, name, locate, "negative or infinite")
        return [f"{said}; entry times must be at least 0: correct them, or leave these rows out"]
    if (wrong := entry >= time).any():
        said = name_first(entry, wrong, name, locate, f"not before {quote(end)}")
        return [f"{said}; each row must enter before its {quote(end)}, which is {time[np.argmax(wrong)]:g} there"]
    return []


def _describe_censored(cells: pd.Series, name: str) -> list[str]:
    """Which values count as censored beside the one that is the event, which may be events of another kind."""
    counts = pd.Series(read_categories(cells)).value_counts().sort_index()
    if counts.empty:
        return []
    shown = [f"{cut_text(text)} ({count} row{'s' * (count != 1)})" for text, count in counts[:FEW_VALUES].items()]
    more = counts[FEW_VALUES:]
    if len(more):
        shown.append(f"… and {len(more)} more values ({more.sum()} rows)")
    return [f"Other values of {quote(name)} count as censored: {', '.join(shown)}"]


def _read_events(cells: pd.Series, name: str, value: str | None) -> Array:
    """1 for an event, 0 for none, NaN where it is not known."""
    texts = read_categories(cells)
    if value is not None:
        found = _match_value(texts, value)
        if not (found == 1).any():
            there = quote_list(_list_texts(texts), 5)
            raise InputError(f"no row of {quote(name)} has the value {quote(value)}; it has {there}")
        return found
    likely = find_event_value(cells)
    kind = infer_kind(cells)
    if kind.kind in (KindOfColumn.CATEGORY, KindOfColumn.DATE):
        if likely is None:
            return np.array([np.nan if text is None else TRUTH_WORDS[text.lower()] for text in texts.tolist()])
        there = quote_list(_list_texts(texts), 5)
    else:
        numbers = read_values(cells, kind)
        if likely is None:
            return numbers
        distinct = np.unique(numbers[~np.isnan(numbers)])
        shown = ", ".join(f"{number:g}" for number in distinct[:5])
        there = f"{shown}{', …' * (len(distinct) > 5)}, and not only 0 and 1"
    raise InputError(
        f"--event names {quote(name)}, which has {there}; say which value is the event, as"
        f" --event {quote(f'{name}={likely}')}"
    )


def find_event_value(cells: pd.Series) -> str | None:
    """The value that probably stands for an event; None if the cells are 0 and 1, true and false, or yes and no."""
    kind = infer_kind(cells)
    if kind.kind in (KindOfColumn.CATEGORY, KindOfColumn.DATE):
        there = _list_texts(read_categories(cells))
        if {text.lower() for text in there} <= TRUTH_WORDS.keys():
            return None
        return next((text for text in there if text.lower().rpartition(":")[2] in EVENT_VALUES), there[0])
    numbers = read_values(cells, kind)
    distinct = np.unique(numbers[~np.isnan(numbers)])
    return None if np.isin(distinct, (0.0, 1.0)).all() else f"{distinct[-1]:g}"


def _list_texts(texts: AnyArray) -> list[str]:
    return sorted({text for text in texts.tolist() if text is not None})


def _match_value(texts: AnyArray, value: str) -> Array:
    """Where texts are a value, as texts or as numbers."""
    return np.array([np.nan if text is None else float(is_same_value(text, value)) for text in texts.tolist()])


def _read_strata(cells: pd.Series) -> AnyArray:
    return np.array(["" if text is None else text for text in read_categories(cells).tolist()], dtype=str)
