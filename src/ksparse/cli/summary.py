"""A fitted model in words and tables of text, for the terminal and for the report.

A table is a data frame of formatted cells; the name of its columns is the heading of its index.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..selection import compute_standard_errors
from ..wording import LONGEST_CELL, cut_text, escape_control, quote
from .fitting import FittedModel
from .settings import FOLDS

#: What is said of a rule after "cross-validation".
RULE_NAMES = {
    "smooth": "",
    "near": " with the weakest ridge and the smallest k near the best score",
    "best": " with the best score as it is",
    "1se": " with the one-standard-error rule",
}
#: Number of classes that are listed with their counts.
MAX_LISTED_CLASSES = 10


def describe_data(fitted: FittedModel) -> list[str]:
    """What was read, in lines."""
    data, settings = fitted.data, fitted.settings
    (rows, count), unit = data.X.shape, fitted.unit if data.X.shape[1] != 1 else fitted.unit[:-1]
    target = f"target {quote(data.target.name)}" if data.first_index is None else "target: the label of each line"
    lines = [
        f"Data: {escape_control(data.source)}, {rows} rows, {count} {unit}, {target}",
        f"Task: {fitted.task.name} ({fitted.reason})",
    ]
    if fitted.task.has_classes:
        counts = pd.Series(fitted.y).value_counts().sort_index()
        more = f" and {len(counts) - MAX_LISTED_CLASSES} more" if len(counts) > MAX_LISTED_CLASSES else ""
        shown = ", ".join(f"{cut_text(name)} ({count} rows)" for name, count in counts[:MAX_LISTED_CLASSES].items())
        lines.append(f"Classes: {shown}{more}")
    split = "all rows for training, none for testing (--test 0)"
    if len(fitted.test):
        options = f"--test {settings.test:g} --seed {settings.seed}"
        split = f"{len(fitted.train)} rows for training, {len(fitted.test)} for testing ({options})"
    return [*lines, f"Split: {split}"]


def describe_model(fitted: FittedModel) -> str:
    """The model in a line."""
    selected, features = len(fitted.selected_columns), len(dict.fromkeys(fitted.final.columns))
    chosen = f", chosen by {_name_choice(fitted)}" if fitted.chose_k else ""
    title = f"{fitted.task.model} of {quote(fitted.data.target.name)} with {selected} of {features} {fitted.unit}"
    return f"{title} (k = {fitted.k}{chosen}; {describe_ridges(fitted.model)})"


def describe_ridges(model: Any) -> str:
    """The ridge, or both ridges where they differ."""
    alpha, refit_alpha = (getattr(model, f"{name}_", getattr(model, name)) for name in ("alpha", "refit_alpha"))
    refit_alpha = alpha if refit_alpha is None else refit_alpha
    if refit_alpha == alpha:
        return f"ridge penalty alpha = {alpha:g}"
    return f"ridge penalty {alpha:.3g} while selecting, {refit_alpha:.3g} for the coefficients"


def describe_coefficients(fitted: FittedModel) -> str:
    """What the coefficients mean."""
    if fitted.task.has_classes:
        classes = fitted.model.classes_.tolist()
        if len(classes) == 2:
            others, described = classes if fitted.sign > 0 else reversed(classes)
            return f"Coefficients are for the log-odds of {quote(described)} versus {quote(others)}."
        return "A larger coefficient makes its class more probable as the feature grows."
    if fitted.task.name == "poisson":
        return f"Coefficients are for the logarithm of the expected {quote(fitted.data.target.name)}."
    return f"Coefficients are in units of {quote(fitted.data.target.name)} per unit of the feature."


def describe_choice(fitted: FittedModel) -> str:
    """How k was chosen."""
    how = "smaller is better"
    if fitted.settings.criterion == "cv":
        how = f"negative mean loss on held-out rows, {FOLDS} folds; larger is better"
        if fitted.settings.rule == "smooth":
            how += "; averages over neighbouring k and ridges are compared, and the smallest k near the best is chosen"
    return f"Choosing k by {_name_choice(fitted)} ({how})"


def _name_choice(fitted: FittedModel) -> str:
    if fitted.settings.criterion != "cv":
        return fitted.settings.criterion.upper()
    return "cross-validation" + RULE_NAMES[fitted.settings.rule]


def tabulate_path(fitted: FittedModel) -> pd.DataFrame:
    """Each k that was tried with its score and standard error, or its criterion."""
    model: Any = fitted.chosen
    if fitted.settings.criterion == "cv":
        columns = {"Score": model.scores_.mean(axis=1), "Standard error": compute_standard_errors(model.scores_)}
        if fitted.settings.rule == "smooth":
            columns["Average"] = model.compared_scores_
    else:
        columns = {fitted.settings.criterion.upper(): model.criterion_}
    digits = {"Standard error": 4}
    cells = {name: [_format(value, digits=digits.get(name, 6)) for value in values] for name, values in columns.items()}
    return pd.DataFrame(cells, index=[str(k) for k in model.ks_.tolist()]).rename_axis(columns="k")


def tabulate_coefficients(fitted: FittedModel) -> list[pd.DataFrame]:
    """Selected features with both kinds of coefficients: in one table, or in two with a column for each class."""
    rows = [*(cut_text(fitted.names[feature], LONGEST_CELL) for feature in fitted.selected), "(intercept)"]
    outputs = ["Feature"]
    if len(fitted.coefficients(standardize=False)) > 1:
        outputs = [cut_text(name) for name in fitted.model.classes_.tolist()]
    tables = []
    for title, standardize in (("Coefficient", False), ("Standardized coefficient", True)):
        selected = fitted.coefficients(standardize=standardize)[:, fitted.selected]
        values = np.column_stack([selected, fitted.intercepts(standardize=standardize)]).T
        cells = [[_format(value, "+") if value else "0" for value in row] for row in values]
        tables.append(pd.DataFrame(cells, rows, outputs).rename_axis(columns=title))
    if len(outputs) > 1:
        return tables
    both = pd.concat(tables, axis=1).set_axis([table.columns.name for table in tables], axis=1)
    return [both.rename_axis(columns="Feature")]


def tabulate_scores(fitted: FittedModel) -> pd.DataFrame:
    """Scores on training rows, and on test rows if there are any."""
    rows = {name: [format_score(name, value) for value in values] for name, values in fitted.scores.items()}
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["Training", "Test"]).rename_axis(columns="Score")
    return table if len(fitted.test) else table[["Training"]]


def format_score(name: str, value: float | None) -> str:
    """A score: three decimals, or significant digits for errors in units of the target."""
    if value is None or np.isnan(value):
        return "–"
    return _format(value) if "error" in name or name == "RMSE" else f"{value:.3f}"


def _format(value: float, sign: str = "", digits: int = 4) -> str:
    """A number with some significant digits; a dash for a score of −∞."""
    if np.isneginf(value):
        return "–"
    return f"{value:{sign}#.{digits}g}".rstrip(".")
