"""The selected features of a model as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .numbers import Label, make_label, round_number, write_number
from .source import Source

#: Features that a table shows; the model itself has all of them.
MOST_FEATURES = 200
#: Coefficients of all tables of a page together, so that the page stays small.
MOST_COEFFICIENTS = 40_000
#: An odds ratio beyond this, or below its inverse, is not written out.
LARGEST_RATIO = 1e6


@dataclass(frozen=True)
class Column:
    """A column of numbers: its heading, what it means, and with which kind of coefficients it is shown."""

    head: Label
    hint: str
    group: str = ""  # "standardized", "raw", or shown in any case


@dataclass(frozen=True)
class Row:
    """A feature with the values and texts of the columns, and the lengths of its bars from −1 to 1."""

    name: Label
    unit: str
    values: list[float | None]
    texts: list[str]
    bars: list[float]


@dataclass(frozen=True)
class FeatureTable:
    """The selected features, the most important first, and the intercept."""

    columns: list[Column]
    rows: list[Row]
    intercept: list[str]
    hidden: int  # selected features that are not in `rows`
    legend: list[str] = field(default_factory=list)  # what a bar to the left and to the right means


def tabulate_features(source: Source, k: int) -> FeatureTable:
    """The table of the model with k features."""
    features = source.rank_features(k)
    outputs = len(source.coefficients(k, standardize=True))
    most = max(10, min(MOST_FEATURES, MOST_COEFFICIENTS // (2 * outputs * len(source.models))))
    shown = features[:most]
    standardized = source.coefficients(k, standardize=True)
    largest = float(np.abs(standardized).max(initial=0.0)) or 1.0
    raw, means = source.coefficients(k, standardize=False), source.intercepts(k, standardize=True)
    starts = source.intercepts(k, standardize=False)
    columns = list_columns(source, outputs)
    rows = []
    for feature in shown:
        values = _arrange(source, standardized[:, feature].tolist(), raw[:, feature].tolist())
        rows.append(
            Row(
                make_label(source.names[feature]),
                "" if source.units is None else make_label(source.find_unit(feature)).text,
                [round_number(value) for value in values],
                _write(source, values, outputs),
                [round(value / largest, 3) for value in standardized[:, feature].tolist()],
            )
        )
    intercept = _arrange(source, means.tolist(), starts.tolist())
    texts = _write(source, intercept, outputs)
    if outputs == 1 and has_ratio(source):
        texts[1] = ""
    return FeatureTable(columns, rows, texts, len(features) - len(shown), describe_bars(source))


def has_ratio(source: Source) -> bool:
    """Whether exponentials of coefficients are odds ratios or rate ratios."""
    return source.task.name == "poisson" or len(source.classes) == 2


def list_columns(source: Source, outputs: int) -> list[Column]:
    """The columns of numbers, in the order of the cells of a row."""
    per_deviation = "when the feature grows by one standard deviation (SD)"
    per_unit = "when the feature grows by one of its own units"
    what = describe_effect(source)
    if outputs > 1:
        heads = [make_label(name) for name in source.classes]
        standardized = [Column(head, f"{what} {per_deviation}", "standardized") for head in heads]
        return standardized + [Column(head, f"{what} {per_unit}", "raw") for head in heads]
    columns = [Column(make_label("Effect per SD"), f"{what} {per_deviation}")]
    if has_ratio(source):
        name = "Rate ratio" if source.task.name == "poisson" else "Odds ratio"
        columns.append(Column(make_label(f"{name} per SD"), f"{name} {per_deviation}"))
    return [*columns, Column(make_label("Effect per unit"), f"{what} {per_unit}")]


def describe_effect(source: Source) -> str:
    """What a coefficient is a change of."""
    target = make_label(source.target).text
    if len(source.classes) == 2:
        first, second = (make_label(name).text for name in source.classes)
        return f"Change of the log-odds of “{second}” against “{first}”"
    if source.classes:
        return "Change of the score of a class (its probability grows with the score)"
    if source.task.name == "poisson":
        return f"Change of the logarithm of the expected {target}"
    return f"Change of the predicted {target}"


def describe_bars(source: Source) -> list[str]:
    """What bars to the left and to the right of zero mean."""
    if len(source.classes) > 2:
        return ["makes the class less likely as it grows", "makes the class more likely as it grows"]
    if source.classes:
        return [f"more likely “{make_label(name).text}” as it grows" for name in source.classes]
    target = make_label(source.target).text
    return [f"lower {target} as it grows", f"higher {target} as it grows"]


def _arrange(source: Source, standardized: list[float], raw: list[float]) -> list[float]:
    """Cells in the order of the columns."""
    if len(standardized) > 1 or not has_ratio(source):
        return [*standardized, *raw]
    with np.errstate(over="ignore"):
        return [*standardized, float(np.exp(standardized[0])), *raw]


def _write(source: Source, values: Sequence[Any], outputs: int) -> list[str]:
    texts = [write_number(value, sign=True) for value in values]
    if outputs == 1 and has_ratio(source):
        texts[1] = _write_ratio(values[1])
    return texts


def _write_ratio(ratio: float) -> str:
    if ratio > LARGEST_RATIO:
        return f"> {LARGEST_RATIO:,.0f}"
    return f"< 1/{LARGEST_RATIO:,.0f}" if ratio < 1 / LARGEST_RATIO else write_number(ratio)
