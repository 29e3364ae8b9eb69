"""Whether a target that is predicted alone is half of a time until an event."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection

import pandas as pd

from ..tables import KindOfColumn
from ..tables.kinds import infer_kind
from .errors import escape_control, quote
from .survival_target import find_event_value
from .target import Target

__all__ = ["suggest_survival_analysis"]

#: End points of studies, as columns of times and events are named after them: overall survival and others.
END_POINTS = "(?:os|pfs|dfs|rfs|efs|mfs|dss|css|dfi|pfi|ttp)"
TIME_UNITS = "(?:time|days|weeks|months|years)"
#: Usual names of the time until an event, with words joined by _: "duration", and "os_months" of an end point.
TIMES = re.compile(
    rf"""times?|t|days?|weeks?|months?|futime|fu_time|tte|durations?|lifetime|tenure|event_time|surv_?time
    |survival(?:_in)?(?:_{TIME_UNITS})?|follow_?up(?:_{TIME_UNITS})?|(?:time|days)_to_(?:event|death)|{END_POINTS}_(?:{TIME_UNITS}|t)""",
    re.VERBOSE,
)
#: Usual names of what says whether the event came: "observed", and "os_status" or "os" of an end point.
EVENTS = re.compile(
    rf"""(?:{END_POINTS}_|vital_|survival_|surv_)?(?:status|events?|cens(?:or|ored|oring)?|death|dead|died)|{END_POINTS}
    |deceased|arrest|fustat|relapse|recurrence|observed|event_(?:observed|indicator)|failure|failed|fail|churn|churned|e
    """,
    re.VERBOSE,
)
#: A column that says whether an event came has no more distinct values.
MOST_EVENT_VALUES = 10


def suggest_survival_analysis(
    target: Target, frame: pd.DataFrame, source: str, dropped: Collection[str] = ()
) -> tuple[str, ...]:
    """A note for a target that is a time until an event, or that event, if the table has the other too.

    Parameters
    ----------
    target : Target
        The target.
    frame : DataFrame
        The table.
    source : str
        The file.
    dropped : collection of str
        Columns that are left out, so that no model knows them.
    """
    found = (_suggest_for(name, frame, source, dropped) for name in target.names or (target.name,))
    return next((note for note in found if note), ())


def _suggest_for(target: str, frame: pd.DataFrame, source: str, dropped: Collection[str]) -> tuple[str, ...]:
    pair = _find_pair(target, frame)
    if pair is None:
        return ()
    time, event = pair
    value = find_event_value(frame[event])
    named = event if value is None else f"{event}={value}"
    command = escape_control(
        f"ksparse fit {shlex.quote(source)} --time {shlex.quote(time)} --event {shlex.quote(named)}"
    )
    if target == time:
        wrong = "times that were cut off are taken for complete ones here; survival analysis takes them as they are"
    elif time in dropped:
        wrong = "how long each row was observed does not count here; survival analysis uses it"
    else:
        wrong = f"{quote(time)} is a feature here, though it is known only afterwards; survival analysis uses both"
    return (f"If {quote(time)} is a time until an event and {quote(event)} says whether it came, {wrong}: {command}",)


def _find_pair(target: str, frame: pd.DataFrame) -> tuple[str, str] | None:
    """The columns of times and events, of which the target is one; None without such columns."""
    words = {str(name): _join_words(str(name)) for name in frame.columns}
    ours = words[target]
    is_time = TIMES.fullmatch(ours) is not None
    if not is_time and not EVENTS.fullmatch(ours):
        return None
    wanted = EVENTS if is_time else TIMES
    others = [name for name, word in words.items() if name != target and wanted.fullmatch(word)]
    # That of the same end point first: there may be several.
    others.sort(key=lambda name: words[name].partition("_")[0] != ours.partition("_")[0])
    pairs = ((target, other) if is_time else (other, target) for other in others)
    return next((pair for pair in pairs if _are_times(frame[pair[0]]) and _are_events(frame[pair[1]])), None)


def _join_words(name: str) -> str:
    """A name in lower case, with _ between its words: os_months of "OS.months", "OS (months)" or "osMonths"."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", apart.lower()).strip("_")


def _are_times(cells: pd.Series) -> bool:
    return infer_kind(cells).kind is KindOfColumn.NUMBER


def _are_events(cells: pd.Series) -> bool:
    return int(cells.nunique()) <= MOST_EVENT_VALUES
