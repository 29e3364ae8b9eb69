"""Predictions of rows as tables of text and numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from .._types import AnyArray, Array, Mask
from ..limits import PREDICTION_COST
from ..wording import LONGEST_CELL, cut_text
from .files.base import distinguish_names
from .survival_times import name_survival, predict_survival

__all__ = [
    "NewRows",
    "estimate_memory",
    "name_parts",
    "name_predictions",
    "predict_parts",
    "protect_label",
    "tabulate",
]

#: Digits of predictions, and decimals of probabilities.
PREDICTION_DIGITS, PROBABILITY_DIGITS = 10, 6

#: What a spreadsheet takes for a formula, but not the numbers that begin in the same way, and not a sign alone.
FORMULA = re.compile(r"'*(?![+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z)[=+\-@\t\r\n].", flags=re.A | re.S)


@dataclass(frozen=True)
class NewRows:
    """New rows for a model: those that can be predicted, and why the others cannot."""

    X: Any  # what the model takes, for the rows that can be predicted
    usable: Mask
    reasons: tuple[str, ...] = ()
    kept: pd.DataFrame | None = None
    offset: Array | None = None  # of these rows, if the model needs it
    strata: AnyArray | None = None  # of these rows, if survival depends on them


def estimate_memory(model: Any, rows: int, times: int) -> int:
    """Memory of the predictions of some rows, with their text."""
    outputs = np.shape(getattr(model, "coef_", 0))[0] if np.ndim(getattr(model, "coef_", 0)) == 2 else 1
    classes: AnyArray = getattr(model, "classes_", np.zeros(0))
    longest = max((len(str(label)) for label in classes.tolist()), default=0)
    return rows * (PREDICTION_COST * (max(outputs, len(classes), times) + 1) + classes.dtype.itemsize + 8 * longest)


def predict_parts(
    model: Any, X: Any, times: Array, offset: Array | None = None, strata: AnyArray | None = None
) -> dict[str, AnyArray]:
    """Predictions by their names, with probabilities of survival at some times, or of each class if there are some."""
    known = {} if offset is None else {"offset": offset}
    parts = name_predictions(model, np.asarray(model.predict(X, **known)))
    survival = predict_survival(model, X, times, offset, strata)
    parts |= {name: column.round(PROBABILITY_DIGITS) for name, column in survival.items()}
    if hasattr(model, "predict_proba"):
        probabilities = np.asarray(model.predict_proba(X, **known)).round(PROBABILITY_DIGITS)
        parts |= dict(zip(_name_probabilities(model), probabilities.T, strict=True))
    return parts


def name_parts(model: Any, times: Array) -> dict[str, AnyArray]:
    """The names of what is predicted, without a row."""
    heads = name_survival(times) + (_name_probabilities(model) if hasattr(model, "predict_proba") else [])
    last = model[-1] if isinstance(model, Pipeline) else model
    several = hasattr(last, "response_names_") and np.ndim(last.coef_) == 2
    nothing = np.empty((0, len(last.coef_)) if several else 0)
    return {name: np.empty(0) for name in (*name_predictions(model, nothing), *heads)}


def name_predictions(model: Any, prediction: AnyArray) -> dict[str, AnyArray]:
    """The predictions of a response, or of several by their names or numbers."""
    if prediction.ndim == 1:
        return {"prediction": prediction}
    last = model[-1] if isinstance(model, Pipeline) else model
    names = getattr(last, "response_names_", None)
    heads = range(1, prediction.shape[1] + 1) if names is None else distinguish_names(names.tolist())
    return {f"prediction_{head}": column for head, column in zip(heads, prediction.T, strict=True)}


def _name_probabilities(model: Any) -> list[str]:
    return [f"probability_{label}" for label in model.classes_.tolist()]


def tabulate(parts: Mapping[str, AnyArray], rows: NewRows, *, terminal: bool) -> pd.DataFrame:
    """A table with a row for each row of the file, whose cells are empty where there is no prediction."""

    def write_head(name: str) -> str:
        return cut_text(name, LONGEST_CELL) if terminal else str(protect_label(name))

    columns: dict[str, list[Any]] = {}
    if rows.kept is not None:
        for name, cells in rows.kept.items():
            columns[write_head(str(name))] = [
                None if gap else protect_label(_simplify(cell), terminal=terminal)
                for cell, gap in zip(cells.tolist(), cells.isna().tolist(), strict=True)
            ]
    for name, values in parts.items():
        found: list[Any] = [None] * len(rows.usable)
        for place, value in zip(np.flatnonzero(rows.usable), values.tolist(), strict=True):
            found[place] = _write_number(value) if isinstance(value, float) else protect_label(value, terminal=terminal)
        head = write_head(name)
        columns[head if head not in columns else f"{head} (model)"] = found
    return pd.DataFrame(columns, dtype=object)


def _simplify(cell: Any) -> Any:
    """A whole number without decimals: missing cells have made floats of a column of integers."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53 else cell


def _write_number(value: float) -> str:
    return f"{value:.{PREDICTION_DIGITS}g}"


def protect_label(label: Any, *, terminal: bool = False) -> Any:
    """A label as a cell: a text that a spreadsheet would take for a formula gets an apostrophe before it.

    Labels that have an apostrophe before a formula already get another one, so that all remain distinct. On a terminal,
    labels are cut, and control characters are escaped.

    Examples
    --------
    >>> from ksparse.cli.prediction_tables import protect_label
    >>> protect_label("=1+1"), protect_label("-1.5"), protect_label("ill")
    ("'=1+1", '-1.5', 'ill')
    """
    if isinstance(label, str) and FORMULA.match(label):
        label = f"'{label}"
    return cut_text(label, LONGEST_CELL) if terminal and isinstance(label, str) else label
