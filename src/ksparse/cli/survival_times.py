"""The times at which ``ksparse predict`` gives probabilities of survival, and these, also by strata."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from .._types import AnyArray, Array, Mask
from ..tables.kinds import read_categories
from .errors import InputError, quote, quote_list, quote_path
from .target import is_same_value

__all__ = [
    "choose_times",
    "describe_late_times",
    "describe_unknown_strata",
    "has_strata",
    "match_strata",
    "name_survival",
    "predict_survival",
]

#: Quantiles of the times with events at which the probability of survival is predicted.
SURVIVAL_QUANTILES = (0.25, 0.5, 0.75)
#: Digits of times in the names of columns.
TIME_DIGITS = 10
#: Strata that a note lists.
MOST_STRATA = 5


def choose_times(model: Any, times: Sequence[float] | None, path: Any, strata: str | None = None) -> Array:
    """The times that the user gives, or quartiles of the times with events; none for models without survival.

    Parameters
    ----------
    model : estimator
        The model.
    times : sequence of float, optional
        What the user gives; an `InputError` says if the model cannot predict survival at them.
    path : path-like
        The file of the model, for messages.
    strata : str, optional
        The column of strata that the file names.
    """
    last = _take_last(model)
    if not hasattr(last, "predict_survival_function"):
        if times is not None:
            raise InputError(
                f"--times is for models of times until an event (Cox regression), and {quote_path(path)} has a"
                f" {type(last).__name__}; leave it out"
            )
        return np.empty(0)
    if last.strata_ is not None and strata is None:
        if times is not None:
            raise InputError(
                f"the model in {quote_path(path)} has strata, each with a baseline hazard of its own, and does not say"
                " which column they are in; fit it again by 'ksparse fit', or use"
                " predict_survival_function(…, strata=…) in Python"
            )
        return np.empty(0)
    if times is not None:
        return np.array(list(dict.fromkeys(times)), dtype=np.float64)
    return np.unique(np.quantile(last.event_times_, SURVIVAL_QUANTILES, method="inverted_cdf"))


def name_survival(times: Array) -> list[str]:
    """The names of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.cli.survival_times import name_survival
    >>> name_survival(np.array([365.0, 1826.25]))
    ['survival_at_365', 'survival_at_1826.25']
    """
    return [f"survival_at_{time:.{TIME_DIGITS}g}" for time in times.tolist()]


def predict_survival(
    model: Any, X: Any, times: Array, offset: Array | None = None, strata: AnyArray | None = None
) -> dict[str, AnyArray]:
    """The probability of no event until each time, by the names of the columns; masked in unknown strata.

    Parameters
    ----------
    model : estimator
        The model.
    X : DataFrame or matrix
        The rows.
    times : ndarray
        The times.
    offset : ndarray, optional
        The offsets of the rows.
    strata : ndarray of object, optional
        Their strata, as `match_strata` gives them.
    """
    if not times.size:
        return {}
    features = model[:-1].transform(X) if isinstance(model, Pipeline) else X
    last, names = _take_last(model), name_survival(times)
    if strata is None:
        survival = last.predict_survival_function(features, times, offset=offset)
        return dict(zip(names, survival.T, strict=True))
    known = _are_known(strata)
    survival = np.zeros((len(strata), len(times)))
    if known.any():
        part = None if offset is None else offset[known]
        options = {"strata": strata[known].astype(last.strata_.dtype), "offset": part}
        survival[known] = last.predict_survival_function(features[known], times, **options)
    return {name: np.ma.masked_array(column, ~known) for name, column in zip(names, survival.T, strict=True)}


def has_strata(model: Any) -> bool:
    """Whether survival depends on the stratum of a row."""
    return getattr(_take_last(model), "strata_", None) is not None


def match_strata(model: Any, cells: pd.Series) -> AnyArray:
    """The strata of new rows as the model calls them, numbers as numbers; None where a row has none of them."""
    labels = _take_last(model).strata_.tolist()
    texts = read_categories(cells)
    names = {label: label for label in labels}
    for text in {text for text in texts.tolist() if text is not None} - names.keys():
        names[text] = next((label for label in labels if is_same_value(text, label)), None)
    return np.array([names.get(text) for text in texts.tolist()], dtype=object)


def describe_unknown_strata(column: str, strata: AnyArray, usable: Mask) -> list[str]:
    """A note on rows that have a prediction, but no probabilities of survival."""
    unknown = usable & ~_are_known(strata)
    if not (count := int(unknown.sum())):
        return []
    have = "has" if count == 1 else "have"
    return [
        f"{count} of {len(unknown)} rows {have} no probability of survival (first row {int(np.argmax(unknown)) + 1}):"
        f" the stratum {quote(column)} is missing, or is none of the fit"
    ]


def describe_late_times(model: Any, times: Array) -> list[str]:
    """A note on times after the last event of the fit, when nothing is known of the hazard."""
    if not times.size:
        return []
    if has_strata(model):
        return _describe_late_strata(_take_last(model), float(times.max()))
    last = _take_last(model).event_times_.max()
    late = times[times > last]
    if not late.size:
        return []
    listed = ", ".join(f"{time:.{TIME_DIGITS}g}" for time in late[:5].tolist()) + ", …" * (late.size > 5)
    return [
        f"the last event of the fit is at {last:.{TIME_DIGITS}g}: survival at {listed} is that at this time, since the"
        " data say nothing of later events"
    ]


def _describe_late_strata(last: Any, time: float) -> list[str]:
    """A note on strata whose last event is before a time."""
    later = set(last.event_strata_[last.event_times_ >= time].tolist())
    early = [stratum for stratum in last.strata_.tolist() if stratum not in later]
    if not early:
        return []
    have = "has" if len(early) == 1 else "have"
    return [
        f"{len(early)} of {len(last.strata_)} strata {have} no event of the fit at {time:.{TIME_DIGITS}g} or later"
        f" ({quote_list(early, MOST_STRATA)}): survival there is that at the last event (1 without any), since the data"
        " say nothing of later events"
    ]


def _are_known(strata: AnyArray) -> Mask:
    return np.array([stratum is not None for stratum in strata.tolist()], dtype=bool)


def _take_last(model: Any) -> Any:
    """The estimator at the end of a pipeline, or the model itself."""
    return model[-1] if isinstance(model, Pipeline) else model
