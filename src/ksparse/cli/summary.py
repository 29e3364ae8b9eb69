"""A fitted model in words and tables of text, for the terminal and for the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..selection import standard_errors
from .errors import escape_control, quote
from .fitting import FOLDS, FittedModel

__all__ = [
    "TextTable",
    "describe_choice",
    "describe_coefficients",
    "describe_data",
    "describe_model",
    "format_score",
    "tabulate_coefficients",
    "tabulate_path",
    "tabulate_scores",
]

#: Number of classes that are listed with their counts.
MOST_CLASSES = 10


@dataclass(frozen=True)
class TextTable:
    """A table of formatted cells; one of its rows may be marked."""

    heads: list[str]
    rows: list[list[str]]
    marked: int | None = None


def describe_data(fitted: FittedModel) -> list[str]:
    """What was read, in lines."""
    data, settings = fitted.data, fitted.settings
    rows, features = data.X.shape
    target = f"target {quote(data.target)}" if data.first_index is None else "target: the label of each line"
    lines = [
        f"Data: {escape_control(data.source)}, {rows} rows, {features} feature{'s' * (features != 1)}, {target}",
        f"Task: {fitted.task.name} ({fitted.reason})",
    ]
    if fitted.task.has_classes:
        classes, counts = np.unique(fitted.y, return_counts=True)
        pairs = list(zip(classes.tolist(), counts, strict=True))
        more = f" and {len(pairs) - MOST_CLASSES} more" if len(pairs) > MOST_CLASSES else ""
        shown = ", ".join(f"{escape_control(name)} ({count} rows)" for name, count in pairs[:MOST_CLASSES])
        lines.append(f"Classes: {shown}{more}")
    split = "all rows for training, none for testing (--test 0)"
    if len(fitted.test):
        options = f"--test {settings.test:g} --seed {settings.seed}"
        split = f"{len(fitted.train)} rows for training, {len(fitted.test)} for testing ({options})"
    return [*lines, f"Split: {split}"]


def describe_model(fitted: FittedModel) -> str:
    """The model in a line."""
    selected, features = int(fitted.model.support_.sum()), fitted.data.X.shape[1]
    chosen = "" if fitted.settings.k is not None else f", chosen by {_name_choice(fitted)}"
    title = f"{fitted.task.model} of {quote(fitted.data.target)} with {selected} of {features} features"
    return f"{title} (k = {fitted.k}{chosen}; ridge penalty alpha = {fitted.model.alpha:g})"


def describe_coefficients(fitted: FittedModel) -> str:
    """What the coefficients mean."""
    if fitted.task.has_classes:
        classes = fitted.model.classes_.tolist()
        if len(classes) == 2:
            return f"Coefficients are for the log-odds of {quote(classes[1])} versus {quote(classes[0])}."
        return "A larger coefficient makes its class more probable as the feature grows."
    if fitted.task.name == "poisson":
        return f"Coefficients are for the logarithm of the expected {quote(fitted.data.target)}."
    return f"Coefficients are in units of {quote(fitted.data.target)} per unit of the feature."


def describe_choice(fitted: FittedModel) -> str:
    """How k was chosen."""
    how = "smaller is better"
    if fitted.settings.criterion == "cv":
        how = f"negative mean loss on held-out rows, {FOLDS} folds; larger is better"
    return f"Choosing k by {_name_choice(fitted)} ({how})"


def _name_choice(fitted: FittedModel) -> str:
    if fitted.settings.criterion != "cv":
        return fitted.settings.criterion.upper()
    return "cross-validation" + (" with the one-standard-error rule" if fitted.settings.rule == "1se" else "")


def tabulate_path(fitted: FittedModel) -> TextTable:
    """Each k that was tried with its score and standard error, or its criterion; the chosen one is marked."""
    model: Any = fitted.model
    ks = model.ks_.tolist()
    if fitted.settings.criterion == "cv":
        heads, columns = ["Score", "Standard error"], [model.scores_.mean(axis=1), standard_errors(model.scores_)]
    else:
        heads, columns = [fitted.settings.criterion.upper()], [model.criterion_]
    digits = (6, 4)
    rows = [
        [str(k), *(format_number(value, digits=d) for value, d in zip(values, digits, strict=False))]
        for k, *values in zip(ks, *columns, strict=True)
    ]
    return TextTable(["k", *heads], rows, ks.index(fitted.k))


def tabulate_coefficients(fitted: FittedModel) -> list[TextTable]:
    """Selected features with both kinds of coefficients: in one table, or in two with a column for each class."""
    names = [escape_control(fitted.data.names[feature]) for feature in fitted.selected]
    blocks = []
    for standardize in (False, True):
        selected = fitted.coefficients(standardize=standardize)[:, fitted.selected]
        intercepts = fitted.intercepts(standardize=standardize)[:, None]
        blocks.append([[_format_signed(value) for value in row] for row in np.hstack([selected, intercepts])])
    titles = ["Coefficient", "Standardized coefficient"]
    if len(blocks[0]) == 1:
        tables = [(["Feature", *titles], [block[0] for block in blocks])]
    else:
        classes = [escape_control(name) for name in fitted.model.classes_.tolist()]
        tables = [([title, *classes], block) for title, block in zip(titles, blocks, strict=True)]
    return [
        TextTable(heads, [list(row) for row in zip([*names, "(intercept)"], *columns, strict=True)])
        for heads, columns in tables
    ]


def tabulate_scores(fitted: FittedModel) -> TextTable:
    """Scores on training rows, and on test rows if there are any."""
    heads = ["Score", "Training", "Test"] if len(fitted.test) else ["Score", "Training"]
    rows = [[name, *(format_score(name, value) for value in values)] for name, values in fitted.scores.items()]
    return TextTable(heads, [row[: len(heads)] for row in rows])


def format_number(value: float, sign: str = "", digits: int = 4) -> str:
    """A number with some significant digits."""
    return f"{value:{sign}#.{digits}g}".rstrip(".")


def format_score(name: str, value: float | None) -> str:
    """A score: three decimals, or significant digits for errors in units of the target."""
    if value is None or np.isnan(value):
        return "–"
    return format_number(value) if "error" in name or name == "RMSE" else f"{value:.3f}"


def _format_signed(value: float) -> str:
    return format_number(value, "+") if value else "0"
