"""The times at which ``ksparse predict`` gives probabilities of survival, and these probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .._types import Array
from .errors import InputError, quote_path

__all__ = ["choose_times", "describe_late_times", "name_survival", "predict_survival"]

#: Quantiles of the times with events at which the probability of survival is predicted.
SURVIVAL_QUANTILES = (0.25, 0.5, 0.75)
#: Digits of times in the names of columns.
TIME_DIGITS = 10


def choose_times(model: Any, times: Sequence[float] | None, path: Any) -> Array:
    """The times that the user gives, or quartiles of the times with events; none for models without survival.

    Parameters
    ----------
    model : estimator
        The model.
    times : sequence of float, optional
        What the user gives; an `InputError` says if the model cannot predict survival at them.
    path : path-like
        The file of the model, for messages.
    """
    last = _take_last(model)
    if not hasattr(last, "predict_survival_function"):
        if times is not None:
            raise InputError(
                f"--times is for models of times until an event (Cox regression), and {quote_path(path)} has a"
                f" {type(last).__name__}; leave it out"
            )
        return np.empty(0)
    if last.strata_ is not None:
        if times is not None:
            raise InputError(
                f"the model in {quote_path(path)} has strata, each with a baseline hazard of its own, and predict"
                " knows no stratum of a row; leave --times out, or use predict_survival_function(…, strata=…) in Python"
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


def predict_survival(model: Any, X: Any, times: Array, offset: Array | None = None) -> dict[str, Array]:
    """The probability of no event until each time, by the names of the columns."""
    if not times.size:
        return {}
    features = model[:-1].transform(X) if isinstance(model, Pipeline) else X
    survival = _take_last(model).predict_survival_function(features, times, offset=offset)
    return dict(zip(name_survival(times), survival.T, strict=True))


def describe_late_times(model: Any, times: Array) -> list[str]:
    """A note on times after the last event of the fit, when nothing is known of the hazard."""
    late = times[times > _take_last(model).event_times_.max()] if times.size else times
    if not late.size:
        return []
    last = _take_last(model).event_times_.max()
    listed = ", ".join(f"{time:.{TIME_DIGITS}g}" for time in late[:5].tolist()) + ", …" * (late.size > 5)
    return [
        f"the last event of the fit is at {last:.{TIME_DIGITS}g}: survival at {listed} is that at this time, since the"
        " data say nothing of later events"
    ]


def _take_last(model: Any) -> Any:
    """The estimator at the end of a pipeline, or the model itself."""
    return model[-1] if isinstance(model, Pipeline) else model
