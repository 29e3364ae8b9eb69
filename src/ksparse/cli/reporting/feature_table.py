"""The selected features of a model as a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ...inference.summaries import RATIO_UNITS
from ..summary import describe_effect
from .inferred import Spread
from .numbers import NO_NUMBER, Label, make_label, round_number, write_number
from .source import Source

#: Features that a table shows; the model itself has all of them.
MOST_LISTED = 200
#: Coefficients of all tables of a page together, so that the page stays small.
MOST_COEFFICIENTS = 40_000
#: An odds ratio beyond this, or below its inverse, is not written out.
LARGEST_RATIO = 1e6
#: An interval is drawn up to this multiple of the largest effect.
WIDEST_INTERVAL = 1.6
INTERVAL_HINT = "of the effect per SD over resamples of the rows, on each of which the features are selected again"
FREQUENCY_HINT = "Fraction of the resamples in which the feature is selected"


@dataclass(frozen=True)
class Column:
    """A column of numbers: its heading, what it means, and with which kind of coefficients it is shown."""

    head: Label
    hint: str
    group: str = ""  # "standardized", "raw", or shown in any case


@dataclass(frozen=True)
class Cell:
    """A number and its text; with an interval, its ends, and its text if it is shown below the number."""

    value: float  # of an interval alone, its width, for sorting
    text: str
    ends: tuple[float, float] | None = None
    below: str = ""


NOTHING = Cell(np.nan, "")


@dataclass(frozen=True)
class Row:
    """A feature with the values and texts of the columns, and the lengths of its bars from −1 to 1."""

    name: Label
    unit: str
    values: list[float | None]
    texts: list[str]
    below: list[str]  # intervals that are shown below the texts, or nothing
    ends: list[list[float | None] | None]  # those of the interval of each column, if it has one
    bars: list[float]
    spread: list[float] | None  # the ends of the interval of the bar


@dataclass(frozen=True)
class FeatureTable:
    """The selected features, the most important first, and the intercept, or other constants."""

    columns: list[Column]
    rows: list[Row]
    constants: list[list[str]]  # of each its name, and the texts of the columns
    hidden: int  # selected features that are not in `rows`
    legend: list[str] = field(default_factory=list)  # what a bar to the left and to the right means


def tabulate_features(source: Source, k: int, spreads: Mapping[int, Spread] | None = None) -> FeatureTable:
    """The table of the model with k features, with intervals where they are given."""
    features, spreads = source.rank_features(k), spreads or {}
    standardized, raw = source.coefficients(k, standardize=True), source.coefficients(k, standardize=False)
    outputs = len(raw)
    most = max(10, min(MOST_LISTED, MOST_COEFFICIENTS // (2 * outputs * len(source.models))))
    largest = float(np.abs(standardized).max(initial=0.0)) or 1.0
    if outputs == 1:  # intervals may be far wider than coefficients, which should remain visible
        ends = [source.scale[feature] * end for feature, each in spreads.items() for end in (*each.low, *each.high)]
        largest = min(max([largest, *np.abs(ends)]), WIDEST_INTERVAL * largest)
    rows = []
    for feature in features[:most]:
        spread, scale = spreads.get(feature), source.scale[feature]
        # Of 1 versus 0, or of one standard deviation more.
        size = 1.0 if feature in source.binary else scale
        cells = _list_cells(source, standardized[:, feature].tolist(), raw[:, feature].tolist(), size)
        if spreads:
            cells = _add_spread(source, cells, spread, scale, size)
        unit = "" if source.units is None else make_label(source.find_unit(feature)).text
        lengths = [round(value / largest, 3) for value in standardized[:, feature].tolist()]
        sides = None
        if spread is not None and outputs == 1:
            both = np.array([spread.low[0], spread.high[0]]) * scale / largest
            sides = np.clip(both, -1, 1).round(3).tolist()
        rows.append(_make_row(make_label(source.names[feature]), unit, cells, lengths, sides))
    columns, hidden = list_columns(source, outputs, bool(spreads)), max(0, len(features) - most)
    constants = _list_constants(source, k, with_spread=bool(spreads))
    return FeatureTable(columns, rows, constants, hidden, describe_bars(source))


def _make_row(name: Label, unit: str, cells: list[Cell], bars: list[float], spread: list[float] | None) -> Row:
    ends = [None if cell.ends is None else [round_number(end) for end in cell.ends] for cell in cells]
    values, texts, below = zip(*((round_number(cell.value), cell.text, cell.below) for cell in cells), strict=True)
    return Row(name, unit, list(values), list(texts), list(below) if any(below) else [], ends, bars, spread)


def _list_constants(source: Source, k: int, *, with_spread: bool) -> list[list[str]]:
    """The rows after those of the features: no ratios, and no intervals."""
    listed = []
    for name, values in source.list_constants(k).items():
        average, texts = (list(map(_write_signed, part.tolist())) for part in values)
        if source.count_outputs() == 1:
            texts = ["" for column in range(with_spread + has_ratio(source) * (1 + with_spread))] + texts
        listed.append([name, *average, *texts, *[""] * with_spread])
    return listed


def has_ratio(source: Source) -> bool:
    """Whether exponentials of coefficients are odds ratios or rate ratios."""
    return bool(source.task.ratio) and source.count_outputs() == 1


def list_columns(source: Source, outputs: int, with_spread: bool) -> list[Column]:
    """The columns of numbers, in the order of the cells of a row."""
    per_deviation = "when the feature grows by one standard deviation (SD)"
    per_unit = "when the feature grows by one of its own units"
    what = describe_change(source)
    if outputs > 1:
        heads = [make_label(name) for name in source.responses or source.classes]
        columns = [Column(head, f"{what} {per_deviation}", "standardized") for head in heads]
        columns += [Column(head, f"{what} {per_unit}", "raw") for head in heads]
        return [*columns, Column(make_label("Selected again"), FREQUENCY_HINT)] if with_spread else columns
    columns = [Column(make_label("Effect per SD"), f"{what} {per_deviation}")]
    if with_spread:
        columns.append(Column(make_label("95% interval"), INTERVAL_HINT))
    if has_ratio(source):
        name = source.task.ratio
        hint = f"{name} of 1 versus 0 for features that are only 0 and 1, otherwise {per_deviation}"
        columns.append(Column(make_label(f"{name} {RATIO_UNITS}"), hint))
        if with_spread:
            columns.append(Column(make_label("95% interval of the ratio"), f"{hint}: exponentials of the ends"))
    columns.append(Column(make_label("Effect per unit"), f"{what} {per_unit}"))
    return [*columns, Column(make_label("Selected again"), FREQUENCY_HINT)] if with_spread else columns


def describe_change(source: Source) -> str:
    """What a coefficient is a change of."""
    if source.task.has_order:
        return f"Change of the log-odds of a higher {make_label(source.target).text}"
    if len(source.classes) == 2:
        first, second = (make_label(name).text for name in source.classes)
        what = "log-odds" if source.has_probabilities else "margin"
        return f"Change of the {what} of “{second}” against “{first}”"
    if source.classes:
        grows = "its probability grows with the score" if source.has_probabilities else "the highest one is predicted"
        return f"Change of the score of a class ({grows})"
    if source.responses:
        return "Change of a predicted target"
    column = source.fit.data.row_columns.exposure
    exposure = None if column is None else make_label(column).text
    effect = describe_effect(source.task, make_label(source.target).text, source.models[source.k], exposure)
    return f"Change of the {effect}"


def describe_bars(source: Source) -> list[str]:
    """What bars to the left and to the right of zero mean."""
    if len(source.classes) > 2 and not source.task.has_order:
        return ["makes the class less likely as it grows", "makes the class more likely as it grows"]
    if source.classes and not source.task.has_order:
        return [f"more likely “{make_label(name).text}” as it grows" for name in source.classes]
    if source.task.is_survival:
        return ["later events as it grows", "earlier events as it grows"]
    target = "values" if source.responses else make_label(source.target).text
    return [f"lower {target} as it grows", f"higher {target} as it grows"]


def _list_cells(source: Source, standardized: list[float], raw: list[float], size: float) -> list[Cell]:
    """The cells in the order of the columns, without intervals; the ratio is of `size` units of the feature."""
    cells = [Cell(value, _write_signed(value)) for value in [*standardized, *raw]]
    if not has_ratio(source):
        return cells
    with np.errstate(over="ignore"):
        ratio = float(np.exp(raw[0] * size))
    return [cells[0], Cell(ratio, _write_ratio(ratio)), *cells[1:]]


def _add_spread(source: Source, cells: list[Cell], spread: Spread | None, scale: float, size: float) -> list[Cell]:
    """The cells with intervals, in cells of their own or, of several outputs, below the effects; and the frequency."""
    if source.count_outputs() > 1:
        return _add_spread_below(cells, spread, scale)
    ratio = cells[1:2] if has_ratio(source) else []
    rest = cells[1 + len(ratio) :]
    if spread is None:
        return [cells[0], NOTHING, *ratio, *[NOTHING] * len(ratio), *rest, NOTHING]
    low, high = spread.low[0], spread.high[0]
    interval = Cell((high - low) * scale, _write_interval(low * scale, high * scale), (low * scale, high * scale))
    if ratio:
        with np.errstate(over="ignore"):
            ends = float(np.exp(low * size)), float(np.exp(high * size))
        ratio = [*ratio, Cell(ends[1] - ends[0], " to ".join(map(_write_ratio, ends)), ends)]
    return [cells[0], interval, *ratio, *rest, _show_frequency(spread)]


def _add_spread_below(cells: list[Cell], spread: Spread | None, scale: float) -> list[Cell]:
    """Standardized and raw effects of several outputs with their intervals, and the frequency."""
    if spread is None:
        return [*cells, NOTHING]
    ends = [
        (low * factor, high * factor)
        for factor in (scale, 1.0)
        for low, high in zip(spread.low, spread.high, strict=True)
    ]
    below = [replace(cell, ends=both, below=_write_interval(*both)) for cell, both in zip(cells, ends, strict=True)]
    return [*below, _show_frequency(spread)]


def _show_frequency(spread: Spread) -> Cell:
    known = np.isfinite(spread.frequency)
    return Cell(spread.frequency, f"{100 * spread.frequency:.0f}%" if known else NO_NUMBER)


def _write_interval(low: float, high: float) -> str:
    return f"{write_number(low, 2, sign=True)} to {write_number(high, 2, sign=True)}"


def _write_signed(value: float) -> str:
    return write_number(value, sign=True)


def _write_ratio(ratio: float) -> str:
    if ratio > LARGEST_RATIO:
        return f"> {LARGEST_RATIO:,.0f}"
    return f"< 1/{LARGEST_RATIO:,.0f}" if ratio < 1 / LARGEST_RATIO else write_number(ratio)
