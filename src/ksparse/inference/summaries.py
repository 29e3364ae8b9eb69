"""What is known about a fitted model, as tables for programs and as text for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from io import StringIO
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .._types import Array, Mask
from ..wording import cut_text

__all__ = ["Summary"]

#: Wider than any line: tables are not wrapped.
WIDTH = 100_000
#: Letters of a name in a table.
LONGEST_NAME = 32
#: A replacement is close if it loses less than this fraction of what is lost without the unit; there is always a best
#: one, and one that saves less says no more than that.
CLOSE = 0.5
#: Effects below this fraction of the largest one, and losses below it as a fraction of what is explained, are rounding.
NEGLIGIBLE_EFFECT = 1e-12
#: What follows the name of a ratio in a heading, if it is of 1 versus 0 or of one standard deviation more.
RATIO_UNITS = "(SD or 0/1)"
#: What is said of a replacement with which the loss does not rise.
NO_WORSE = "no worse"
#: Headings of the columns for people; intervals and replacements have columns of their own.
HEADINGS = {
    "coefficient": "coefficient",
    "standardized": "per std. dev.",
    "p_value": "p-value",
    "frequency": "selected",
    "fraction": "loss without",
}


class TableRow(NamedTuple):
    """A row of the table: a unit with its only feature, a unit of several features, or one of these."""

    names: tuple[Any, Any]
    feature: int | None
    unit: int | None


@dataclass(frozen=True, eq=False, repr=False)
class Summary:
    """What is known about a fitted linear model: what `model.summary()` returns.

    ``print`` it to read it; a notebook shows it as a table. A *unit* is what k counts: a feature, or a group of
    features. Units are sorted by what the loss loses without them, the most important first. Columns that could not be
    computed are left out, and `notes` says why.

    Attributes
    ----------
    title : str
        What the model is.
    features : DataFrame
        One row for each selected feature: ``unit``, ``deviation`` (its standard deviation), ``coefficient``,
        ``standardized`` (the coefficient per standard deviation), ``odds_ratio`` (logistic regression of two classes)
        or ``rate_ratio`` (Poisson), which is exp(coefficient), ``odds_ratio_standardized`` or
        ``rate_ratio_standardized``, which is exp(standardized), the interval of the coefficient from ``low`` to
        ``high``, and ``p_value``. With several classes or responses the columns have two levels: these names, and the
        class or response.
    units : DataFrame
        One row for each selected unit: ``n_features``; ``frequency``, the fraction of the resamples in which it is
        selected; ``increase`` of f and ``loss_increase`` of the mean loss if it is left out, with the others refitted;
        ``fraction``, the increase of f divided by `explained`; the unit outside the model that replaces it best,
        ``replacement``, with ``replacement_fraction``, the increase of f after that swap divided by `explained`, and
        ``replacement_correlation``.
    replacements : DataFrame
        One row for each unit and each unit outside the model that was tried in its place, the best first: ``unit``,
        ``replacement``, ``increase``, ``fraction``, ``correlation``.
    intercept : ndarray
        The intercept, or those of all classes or responses.
    value, mean_loss : float
        f, with the ridge of the coefficients, and the mean loss of the samples.
    explained : float
        What the features explain: f with no unit, only the intercept, minus f of the model.
    level : float
        The level of the intervals.
    intervals : str or None
        How the intervals were made.
    notes : tuple of str
        What the columns mean, and what is missing.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from ksparse import SparseLinearRegression
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> summary = SparseLinearRegression(k=3).fit(X, y).summary(intervals=None)
    >>> summary.units[["fraction", "replacement", "replacement_fraction"]].round(3)
          fraction replacement  replacement_fraction
    unit
    bmi      0.215          s3                 0.149
    s5       0.175          s3                 0.104
    bp       0.043          s1                 0.021
    """

    title: str
    features: pd.DataFrame
    units: pd.DataFrame
    replacements: pd.DataFrame
    intercept: Array
    value: float
    mean_loss: float
    explained: float
    level: float
    intervals: str | None
    notes: tuple[str, ...]
    #: Names of the classes or responses, where there are several.
    outputs: tuple[Any, ...] = ()
    #: Whether units are groups of features.
    grouped: bool = False
    #: What k counts, in the plural.
    kind: str = "features"
    #: Whether each of `features` is only 0 and 1; empty if it is not known.
    binary: tuple[bool, ...] = ()
    #: The last rows of the table: the intercept, or the thresholds between ordered classes.
    constants: dict[str, Array] = field(default_factory=dict)

    @property
    def frame(self) -> pd.DataFrame:
        """Features and units in one table.

        Without groups it has one row for each feature. With groups, its index has two levels: a group of several
        features has a row for itself, with "" as the feature, and then one for each of its features.
        """
        columns = [name for name in self.features.columns if name not in ("unit", ("unit", ""))]
        unit_columns: list[Any] = [name for name in self.units.columns if name != "n_features"]
        heads = [(name, "") for name in unit_columns] if self.outputs else unit_columns
        values = []
        for row in self._list_rows():
            cells = dict.fromkeys([*columns, *heads], np.nan)
            if row.feature is not None:
                cells |= {name: self.features[name].iloc[row.feature] for name in columns}
            if row.unit is not None:
                cells |= {head: self.units[name].iloc[row.unit] for head, name in zip(heads, unit_columns, strict=True)}
            values.append(cells)
        frame = pd.DataFrame(values, columns=pd.Index([*columns, *heads]))
        index = [row.names if self.grouped else row.names[1] for row in self._list_rows()]
        if self.grouped:
            return frame.set_axis(
                pd.MultiIndex.from_tuples(index or [("", "")], names=["unit", "feature"])[: len(index)]
            )
        return frame.set_axis(pd.Index(index, name="feature", dtype=object))

    def _list_rows(self) -> list[TableRow]:
        """The rows of the table: units, each followed by its features unless there is only one."""
        rows, start = list[TableRow](), 0
        for unit, size in enumerate(self.units["n_features"].tolist()):
            name = self.units.index[unit]
            if size > 1:
                rows.append(TableRow((name, ""), None, unit))
            for feature in range(start, start + size):
                rows.append(TableRow((name, self.features.index[feature]), feature, unit if size == 1 else None))
            start += size
        return rows

    def find_close(self) -> Mask:
        """For each of `units`, whether its replacement loses less than half of what is lost without the unit."""
        if "replacement" not in self.units:
            return np.zeros(len(self.units), dtype=bool)
        lost, without = (self.units[name].to_numpy() for name in ("replacement_fraction", "fraction"))
        return np.asarray(lost < CLOSE * without, dtype=bool)

    def tabulate(self, longest: int = LONGEST_NAME) -> pd.DataFrame:
        """The table for people: formatted cells, with names on one line and cut to some letters."""
        shown = clear_rounding(self)
        frame, rows = shown.frame, self._list_rows()
        has_intervals = not self.outputs and "low" in frame  # each follows its number
        cells: dict[str, list[str]] = {}
        for head in frame.columns:
            name, output = head if self.outputs else (head, "")
            if name == "replacement":
                cells["closest replacement"] = self._describe_replacements(rows, longest)
            elif name == "coefficient" and has_intervals:
                cells[name] = [format_number(value) for value in frame[head]]
                ends = zip(frame["low"], frame["high"], strict=True)
                cells[f"{100 * self.level:g} % interval"] = [_format_interval(low, high) for low, high in ends]
            elif name.endswith("_ratio") and self.binary:
                cells[f"{name.replace('_', ' ')} {RATIO_UNITS}"] = self._describe_ratios(name, rows)
                if has_intervals:
                    cells[f"{100 * self.level:g} % interval of the ratio"] = self._describe_ratio_intervals(rows)
            elif heading := self._find_heading(name):
                heading += f" {cut_text(output, longest)}" if output != "" else ""
                cells[heading] = [FORMATS.get(name, format_number)(value) for value in frame[head]]
        labels = [self._label(row, longest) for row in rows]
        title = f"{self.kind[:-1]}, feature" if self.grouped else "feature"
        table = pd.DataFrame(cells, index=pd.Index(labels, name=title))
        return self._add_constants(table)

    def tabulate_outputs(self, longest: int = LONGEST_NAME) -> pd.DataFrame:
        """For several classes or responses: each one's coefficients per standard deviation, with their intervals.

        Empty if there is one output only, or if no standard deviations are known.
        """
        features, cells = clear_rounding(self).features, dict[str, list[str]]()
        names = [cut_text(feature, longest) for feature in features.index]
        for output in self.outputs:
            if ("standardized", output) not in features:
                break
            name, numbers = cut_text(output, longest), features["standardized", output]
            cells[f"{HEADINGS['standardized']} {name}"] = [format_number(value) for value in numbers]
            if ("low", output) in features:
                units = features["deviation", ""].to_numpy()
                ends = zip(*(features[end, output] * units for end in ("low", "high")), strict=True)
                cells[f"{100 * self.level:g} % interval {name}"] = [_format_interval(low, high) for low, high in ends]
        return pd.DataFrame(cells, index=pd.Index(names, name="feature"))

    def _find_heading(self, name: str) -> str:
        """The heading of a column that people see; empty where they see none: ratios are shown in one unit only."""
        if name.endswith("_ratio_standardized") or (self.outputs and name in ("standardized", "p_value")):
            return ""
        return name.replace("_", " ") if name.endswith("_ratio") else HEADINGS.get(name, "")

    def _label(self, row: TableRow, longest: int) -> str:
        unit, feature = (cut_text(part, longest) for part in row.names)
        if not self.grouped:
            return feature
        if row.feature is None:
            return unit
        return f"  {feature}" if row.unit is None else feature

    def _describe_ratios(self, name: str, rows: list[TableRow]) -> list[str]:
        """Ratios of 1 versus 0 for features that are only these, and of one standard deviation more for the others."""
        described = []
        for row in rows:
            column = name if row.feature is None or self.binary[row.feature] else f"{name}_standardized"
            described.append("" if row.feature is None else format_number(self.features[column].iloc[row.feature]))
        return described

    def _describe_ratio_intervals(self, rows: list[TableRow]) -> list[str]:
        """The intervals of these ratios: exponentials of the ends of those of the coefficients, in the same units."""
        units = np.where(self.binary, 1.0, self.features["deviation"])
        with np.errstate(over="ignore"):
            ends = np.exp(self.features[["low", "high"]].to_numpy() * units[:, None])
        return ["" if row.feature is None else _format_interval(*ends[row.feature].tolist()) for row in rows]

    def _describe_replacements(self, rows: list[TableRow], longest: int) -> list[str]:
        found, described, close = self.units, [], self.find_close()
        for row in rows:
            fraction = np.nan if row.unit is None else float(found["replacement_fraction"].iloc[row.unit])
            if row.unit is None or np.isnan(fraction):
                described.append("")
                continue
            if not close[row.unit]:
                described.append("none")
                continue
            name = cut_text(found["replacement"].iloc[row.unit], longest)
            described.append(f"{name} ({format_percent(fraction, '+') if fraction > 0 else NO_WORSE})")
        return described

    def _add_constants(self, table: pd.DataFrame) -> pd.DataFrame:
        heads = [heading for heading in table.columns if heading.startswith(HEADINGS["coefficient"])]
        last = pd.DataFrame("", pd.Index(list(self.constants), name=table.index.name), table.columns)
        for name, values in self.constants.items():
            for heading, value in zip(heads, values.tolist(), strict=True):
                last.loc[name, heading] = format_number(value)
        return pd.concat([table, last]) if self.constants else table

    def __str__(self) -> str:
        second = self.tabulate_outputs()
        tables = [_write_table(self.tabulate()), *([_write_table(second)] if len(second.columns) else [])]
        return "\n".join([self.title, "", "\n\n".join(tables), "", *(f"- {note}" for note in self.notes)])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        table = self.tabulate().rename_axis(index=None)
        return f"<p>{escape(self.title)}</p>{table.to_html(escape=True, border=0)}<ul>{notes}</ul>"


def _write_table(table: pd.DataFrame) -> str:
    """A table as lines of text."""
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1))
    shown.add_column(Text(str(table.index.name)), justify="left", no_wrap=True)
    for heading in table.columns:
        shown.add_column(Text(str(heading)), justify="right", no_wrap=True)
    for label, *cells in table.itertuples(name=None):
        shown.add_row(Text(label), *map(Text, cells))
    console = Console(file=StringIO(), width=WIDTH, color_system=None, highlight=False)
    with console.capture() as captured:
        console.print(shown)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def clear_rounding(found: Summary) -> Summary:
    """A summary with 0 for what is rounding error beside the largest effect, as people should see it.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import SparseLinearRegression
    >>> from ksparse.inference.summaries import clear_rounding
    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> summary = SparseLinearRegression(k=2).fit(X, X[:, 0]).summary(intervals=None)
    >>> clear_rounding(summary).features["coefficient"].round(6).tolist()
    [1.0, 0.0]
    """
    features, units = found.features.copy(), found.units.copy()
    if "fraction" in units:
        units["fraction"] = units["fraction"].where(~(units["fraction"].abs() < NEGLIGIBLE_EFFECT), 0.0)
    for output in found.outputs or (None,):

        def head(name: str, output: Any = output) -> Any:
            return name if output is None else (name, output)

        if head("standardized") not in features:
            continue
        deviations = features["deviation" if output is None else ("deviation", "")]
        least = NEGLIGIBLE_EFFECT * features[head("standardized")].abs().max()
        for name in ("coefficient", "standardized", "low", "high"):
            if head(name) in features:
                sizes = features[head(name)].abs() * (1.0 if name == "standardized" else deviations)
                features[head(name)] = features[head(name)].where(~(sizes < least), 0.0)
    return replace(found, features=features, units=units)


def rename_features(found: Summary, names: Sequence[Any]) -> Summary:
    """A summary in which features are numbers, with their names."""

    def name(unit: Any) -> Any:
        return unit if found.grouped or unit is None or unit != unit else names[int(unit)]

    features, units, replacements = found.features.copy(), found.units.copy(), found.replacements.copy()
    features.index = pd.Index(
        [names[int(feature)] for feature in features.index], name=features.index.name, dtype=object
    )
    units.index = pd.Index([name(unit) for unit in units.index], name=units.index.name, dtype=object)
    for table in (features, units, replacements):
        for column in table.columns:
            if (column[0] if isinstance(column, tuple) else column) in ("unit", "replacement"):
                table[column] = [name(unit) for unit in table[column]]
    return replace(found, features=features, units=units, replacements=replacements)


def orient(found: Summary, sign: float) -> Summary:
    """A summary of two classes for the odds of the other class, if the sign is −1; otherwise as it is."""
    if sign > 0:
        return found
    features = found.features.copy()
    for name in ("coefficient", "standardized"):
        features[name] = -features[name]
    if "low" in features:
        features["low"], features["high"] = -found.features["high"], -found.features["low"]
    for name in [name for name in features if str(name).startswith("odds_ratio")]:
        features[name] = 1.0 / features[name]
    constants = {name: -values for name, values in found.constants.items()}
    return replace(found, features=features, intercept=-found.intercept, constants=constants)


def format_number(value: float, sign: str = "") -> str:
    """A number with four significant digits; empty for NaN."""
    if np.isnan(value):
        return ""
    if value == 0:
        return "0"
    return f"{value:{sign}#.4g}".rstrip(".") if np.isfinite(value) else ("∞" if value > 0 else "−∞")


def format_percent(value: float, sign: str = "") -> str:
    """A fraction in percent; empty for NaN."""
    return "" if np.isnan(value) else f"{100 * value:{sign}.3g} %"


def _format_interval(low: float, high: float) -> str:
    return "" if np.isnan(low) else f"{format_number(low)} to {format_number(high)}"


#: How the columns are written that are not numbers with four digits.
FORMATS: dict[str, Callable[[float], str]] = {
    "frequency": format_percent,
    "fraction": format_percent,
    "p_value": lambda value: "" if np.isnan(value) else f"{value:.3g}",
}
