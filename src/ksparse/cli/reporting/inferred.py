"""What `ksparse.inference` knows of the models: worth and replacements of features, and intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...inference import BaselineComparison, ScoreInterval, Summary
from ...inference.summaries import CLOSE, clear_rounding
from .numbers import NO_NUMBER, Label, make_label, round_number
from .source import Source, ignore_overflow, is_usable

#: Numbers in X up to which the worth of features is computed for all models, and the chosen one is fitted to resamples.
MOST_NUMBERS = 2_000_000
#: Features whose worth is listed.
MOST_VALUED = 30
#: Held-out rows up to which the chosen model is compared with a constant by bootstrap, and those up to which the scores
#: of all models get intervals.
MOST_RESAMPLED_ROWS, MOST_ROWS_FOR_ALL = 10_000, 1000


@dataclass(frozen=True)
class Substitute:
    """A feature outside the model that could take the place of a selected one, and what that costs."""

    name: Label
    cost: float | None
    text: str


@dataclass(frozen=True)
class FeatureWorth:
    """What is lost without a feature, as a fraction of what the model explains, and what could take its place."""

    name: Label
    loss: float | None
    text: str
    substitutes: list[Substitute]


@dataclass(frozen=True)
class Spread:
    """Intervals of the coefficients of a feature, and in which fraction of the resamples its unit is selected."""

    low: list[float]  # of each output
    high: list[float]
    frequency: float


def summarize_models(source: Source, resamples: int) -> dict[int, Summary]:
    """Summaries of the chosen model, with intervals, and of the others, if that does not take long."""
    rows = np.sort(np.concatenate([source.train, source.held_out])) if source.refitted else source.train
    small = len(rows) * len(source.names) <= MOST_NUMBERS
    options: dict[str, Any] = {"feature_names": list(range(len(source.names))), "random_state": source.seed}
    summaries = {}
    for k in source.models if small else [source.k]:
        if k == source.k and resamples == source.fit.resamples:
            summaries[k] = clear_rounding(source.fit.numbered_summary)
            continue
        intervals = "bootstrap" if k == source.k and small and resamples else None
        found = source.models[k].summary(intervals=intervals, resamples=max(1, resamples), **options)
        summaries[k] = clear_rounding(found)
    return summaries


def list_worth(source: Source, summary: Summary | None) -> list[FeatureWorth]:
    """The selected units with the largest worth."""
    if summary is None or "fraction" not in summary.units:
        return []
    found: dict[Any, list[Substitute]] = {}
    without = summary.units["fraction"]
    for each in summary.replacements.itertuples():
        if not each.fraction < CLOSE * without[each.unit]:
            continue
        text = f"{write_cost(each.fraction)}, r = {each.correlation:.2f}".replace("-", "−")
        substitute = Substitute(label_unit(source, each.replacement), round_number(each.fraction), text)
        found.setdefault(each.unit, []).append(substitute)
    losses = list(without.items())[:MOST_VALUED]
    return [
        FeatureWorth(label_unit(source, unit), round_number(loss), write_fraction(loss), found.get(unit, []))
        for unit, loss in losses
    ]


def label_unit(source: Source, unit: Any) -> Label:
    """The label of a unit as summaries name it: by the number of its feature, or by its own name."""
    return make_label(source.names[int(unit)] if source.units is None else unit)


def write_fraction(fraction: float) -> str:
    """A fraction of what is explained, with two digits."""
    if not np.isfinite(fraction):
        return NO_NUMBER
    percent = 100 * fraction if abs(fraction) >= 0.00005 else 0.0
    return f"{percent:.0f}%" if abs(percent) >= 10 else f"{percent:.1f}%" if abs(percent) >= 0.95 else f"{percent:.2f}%"


def write_cost(fraction: float) -> str:
    """What a swap costs; the loss may even be lower with it."""
    if fraction <= -0.00005:
        return f"lowers the loss by {write_fraction(-fraction)}"
    return f"costs {write_fraction(fraction)}" if fraction >= 0.00005 else "costs nothing"


def find_spreads(summary: Summary | None) -> dict[int, Spread]:
    """Intervals and frequencies of the selected features."""
    if summary is None or "low" not in summary.features:
        return {}
    table = summary.features
    low, high = (np.reshape(table[name].to_numpy(dtype=float), (len(table), -1)).tolist() for name in ("low", "high"))
    units = table[("unit", "") if summary.outputs else "unit"].tolist()
    frequencies = summary.units.get("frequency")
    spreads = {}
    for place, feature in enumerate(table.index.tolist()):
        frequency = np.nan if frequencies is None else float(frequencies[units[place]])
        spreads[int(feature)] = Spread(low[place], high[place], frequency)
    return spreads


def find_score_interval(source: Source, k: int, name: str, score: float) -> ScoreInterval | None:
    """The interval of a score of `source.rows`; None if it would take too long, or is not defined.

    That of the chosen model is the one that the command prints; the others are made in the same way.
    """
    rows = len(source.rows)
    if k == source.k:
        scores = source.fit.scores
        known = (scores.test if len(source.held_out) else scores.train).get(name)
        return known if known is not None and np.isfinite([known.low, known.high]).all() else None
    if rows > MOST_ROWS_FOR_ALL or not np.isfinite(score):
        return None
    predicted = source.find_predicted(k)
    if not (source.task.has_classes or is_usable(predicted.prediction).all()):
        return None
    with ignore_overflow():
        found = predicted.score(name)
    return found if found is not None and np.isfinite([found.low, found.high]).all() else None


def compare_with_constant(source: Source) -> BaselineComparison | None:
    """The chosen model and a constant on the same rows; None if they cannot be compared."""
    predicted = source.find_predicted(source.k)
    if source.task.has_classes:
        return predicted.compare(source.y[source.train], "Accuracy", source.train_weights)
    if len(source.rows) > MOST_RESAMPLED_ROWS or not is_usable(predicted.prediction).all():
        return None
    return predicted.compare(source.y[source.train], source.task.scores[0], source.train_weights)
