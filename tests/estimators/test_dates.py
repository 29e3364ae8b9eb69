"""Dates and durations are no numbers: NumPy would take them for their numbers of nanoseconds or days."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ksparse
from ksparse import SparseCoxRegression, SparseLinearRegression, make_survival_target
from tests.estimators.models import N, X, model, pd, response

DURATIONS: Any = pd.Series(pd.to_timedelta(np.arange(1, N + 1), unit="D"))
DATES: Any = DURATIONS + pd.Timestamp("2020-01-01")
KINDS: dict[str, tuple[Any, str]] = {
    "dates": (DATES, "dates"),
    "durations": (DURATIONS, "durations"),
    "some missing": (DURATIONS.where(DURATIONS.index > 0), "durations"),
    "in NumPy": (DATES.to_numpy(), "dates"),
    "as objects": (DATES.astype(object), "dates"),
    "as objects of NumPy": (np.array([np.timedelta64(day, "D") for day in range(N)], dtype=object), "durations"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_dates_are_no_times(kind: str) -> None:
    values, what = KINDS[kind]
    with pytest.raises(ValueError, match=f"time of y has {what}; pass numbers, such as days"):
        make_survival_target(values, np.ones(N))
    with pytest.raises(ValueError, match=f"entry of y has {what}"):
        make_survival_target(np.full(N, 1e30), np.ones(N), entry=values)
    with pytest.raises(ValueError, match=f"time of y has {what}"):
        SparseCoxRegression(k=1).fit(X, pd.DataFrame({"time": values, "event": 1}))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["linear", "gamma", "huber", "poisson"])
def test_dates_are_no_responses(name: str, kind: str) -> None:
    values, what = KINDS[kind]
    with pytest.raises(ValueError, match=f"y has {what}; pass numbers, such as days"):
        model(name).fit(X, values)


@pytest.mark.parametrize("kind", KINDS)
def test_dates_are_no_features(kind: str) -> None:
    values, what = KINDS[kind]
    y, matrix = response("linear"), np.stack([np.asarray(values)] * X.shape[1], axis=1)
    with pytest.raises(ValueError, match=f"X has {what}"):
        SparseLinearRegression(k=1).fit(matrix, y)
    with pytest.raises(ValueError, match=f"X has {what}"):
        SparseLinearRegression(k=1).fit(X, y).predict(matrix)
    with pytest.raises(ValueError, match=f"X has {what}"):
        ksparse.objectives.LeastSquares(matrix, y)
    with pytest.raises(ValueError, match=f"X has {what}"):
        ksparse.SparsePrecision(k=1).fit(matrix)
    with pytest.raises(ValueError, match=f"X has {what}"):
        ksparse.StabilitySelection(SparseLinearRegression(k=1)).fit(matrix, y)
    frame = pd.DataFrame({"length": X[:, 0], "when": values})
    with pytest.raises(ValueError, match="X has a column that is not numbers: 'when'; put a"):
        SparseLinearRegression(k=1).fit(frame, y)
    with pytest.raises(ValueError, match="X has a column that is not numbers: 'when'; put a"):
        SparseLinearRegression(k=1).fit(frame[["when"]], y)
    with pytest.raises(ValueError, match="variables must be numbers, but 1 of 2 have text or other values: 'when'"):
        ksparse.SparsePrecision(k=1).fit(frame)
