"""What is said of columns that are neither features nor the target: weights, exposures, entry times and strata."""

from __future__ import annotations

import numpy as np

from .._types import AnyArray, Array
from ..wording import quote
from .fitted_model import FittedModel
from .scoring import find_parameters

__all__ = ["list_loss_facts", "list_row_facts"]

#: With fewer events than this for each stratum, in the mean, a line says so.
EVENTS_OF_A_STRATUM = 10


def list_row_facts(fitted: FittedModel) -> dict[str, str]:
    """What is used of each row besides its features, by name."""
    columns, values, settings = fitted.data.row_columns, fitted.data.row_values, fitted.settings
    facts = {}
    if fitted.task.is_survival:
        y = fitted.y
        facts["Events"] = f"{int(y['event'].sum())} of {fitted.row_count} rows, {quote(settings.event)}"
        if settings.entry is not None:
            facts["Entry times"] = f"{quote(settings.entry)}, {_write_range(y['entry'])}"
        if settings.strata is not None:
            facts["Strata"] = f"{quote(settings.strata)}, {_describe_strata(y)}"
    if values.weights is not None:
        total = f"{values.weights.sum():.6g} in all"
        facts["Weights"] = (
            f"{quote(columns.weights)}, {_write_range(values.weights)}, {total}; fits and scores are weighted, charts "
            "count each row once"
        )
    if values.offset is not None and columns.exposure is not None:
        size = _write_range(np.exp(values.offset))
        facts["Exposure"] = f"{quote(columns.exposure)}, {size}; what is expected is in proportion to it"
    elif values.offset is not None:
        facts["Offset"] = f"{quote(columns.offset)}, {_write_range(values.offset)}; added to the sum of the features"
    return facts


def list_loss_facts(fitted: FittedModel) -> dict[str, str]:
    """What the fit has estimated of the loss, or the user gave, by name."""
    task, found = fitted.task, find_parameters(fitted.model, fitted.task)
    if not task.meaning:
        return {}
    (name, value), *_ = found.items()
    origin = "estimated" if getattr(fitted.settings, name) is None else "as given"
    meaning = task.meaning.format(**found)
    return {name.capitalize(): f"{value:.4g} ({origin}); {meaning}"}


def _write_range(values: Array) -> str:
    low, high = values.min(), values.max()
    return f"{low:.4g} to {high:.4g}" if low < high else f"{low:.4g} in all rows"


def _describe_strata(y: AnyArray) -> str:
    """How many strata there are, and in how many of them nothing can be compared."""
    labels, stratum = np.unique(y["stratum"], return_inverse=True)
    parts = [y[stratum == number] for number in range(len(labels))]
    idle = [part for part in parts if not _compares(part)]
    said = f"{len(labels)} group{'s' * (len(labels) != 1)}, each with a baseline hazard of its own"
    if idle:
        rows = sum(map(len, idle))
        said += (
            f"; {len(idle)} of them ({rows} row{'s' * (rows != 1)}) tell nothing of the coefficients, since no event in"
            " them has another row at risk"
        )
    mean = float(y["event"].sum()) / len(labels)
    if mean < EVENTS_OF_A_STRATUM:
        said += f"; with {mean:.1f} events for each in the mean, little is compared: fewer groups would tell more"
    return said


def _compares(y: AnyArray) -> bool:
    """Whether a stratum has an event at whose time another row is at risk."""
    times = y["time"][y["event"]]
    at_risk = len(y) - np.searchsorted(np.sort(y["time"]), times, side="left")
    if "entry" in (y.dtype.names or ()):
        at_risk = at_risk - (len(y) - np.searchsorted(np.sort(y["entry"]), times, side="left"))
    return bool((at_risk > 1).any())
