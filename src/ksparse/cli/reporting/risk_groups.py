"""What a page shows of a model of times until an event: survival by risk group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._types import AnyArray
from ...inference.censored import RISK_GROUPS, group_by_risk, kaplan_meier
from .numbers import round_number, round_numbers
from .source import Source

#: Number of risk groups; with fewer rows for each than the next number, there are two.
MOST_GROUPS, ROWS_OF_A_GROUP = 3, 15
#: Steps of a curve; more cannot be seen.
MOST_CURVE_STEPS = 200


@dataclass(frozen=True)
class SurvivalCurve:
    """The Kaplan–Meier estimate of a risk group, as the corners of its steps, with 95% intervals."""

    name: str
    rows: int
    events: int
    times: list[float | None]
    survival: list[float | None]
    low: list[float | None]
    high: list[float | None]
    censored: list[float | None]
    median: float | None  # the first time at which half have had their event


def trace_survival(source: Source, k: int) -> list[SurvivalCurve]:
    """The curves of thirds by predicted risk; the limits between them are those of the training rows."""
    count = MOST_GROUPS if len(source.rows) >= MOST_GROUPS * ROWS_OF_A_GROUP else MOST_GROUPS - 1
    y, risk = source.y[source.rows], source.find_predicted(k).prediction
    trained = source.predict_training(k)
    if np.ptp(trained) == 0 and np.ptp(risk) == 0:
        count = 1
    groups, names = group_by_risk(risk, trained, count), RISK_GROUPS[count]
    return [_trace(names[group], y[groups == group]) for group in np.unique(groups).tolist()]


def _trace(name: str, y: AnyArray) -> SurvivalCurve:
    curve = kaplan_meier(y)
    kept = np.arange(curve.times.size)
    if kept.size > MOST_CURVE_STEPS:
        kept = np.unique(np.linspace(0, kept.size - 1, MOST_CURVE_STEPS).round().astype(int))
    censored = np.unique(curve.censored)
    if censored.size > MOST_CURVE_STEPS:
        censored = np.sort(np.random.default_rng(0).permutation(censored)[:MOST_CURVE_STEPS])
    below = np.flatnonzero(curve.survival <= 0.5)
    last = curve.survival[-1:] if curve.survival.size else np.ones(1)
    ends = (curve.low[-1:], curve.high[-1:]) if curve.survival.size else (np.ones(1), np.ones(1))
    return SurvivalCurve(
        name,
        len(y),
        int(y["event"].sum()),
        round_numbers(np.concatenate([[0.0], curve.times[kept], [curve.last]]), 5),
        round_numbers(np.concatenate([[1.0], curve.survival[kept], last]), 4),
        round_numbers(np.concatenate([[1.0], curve.low[kept], ends[0]]), 4),
        round_numbers(np.concatenate([[1.0], curve.high[kept], ends[1]]), 4),
        round_numbers(censored, 5),
        round_number(float(curve.times[below[0]]), 5) if below.size else None,
    )
