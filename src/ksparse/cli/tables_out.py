"""The tables that ``ksparse fit --out`` writes: the selected features, and predictions of held-out rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from .._types import IntArray
from .fitted_model import FittedModel
from .prediction_tables import name_predictions, protect_label

#: Digits of the numbers.
TABLE_DIGITS = 8


def write_features(fitted: FittedModel) -> str:
    """The selected features as CSV: the columns of the model's summary, with close replacements only; constants."""
    found = fitted.summary
    if "replacement" in found.units:
        units, far = found.units.copy(), ~found.find_close()
        names = [name for name in units.columns if name.startswith("replacement")]
        units.loc[far, names] = None
        found = replace(found, units=units)
    frame = found.frame.copy()
    if found.outputs:
        frame.columns = [f"{name} {output}".strip() for name, output in frame.columns]
    names = [name for name in frame.columns if str(name).split(" ")[0] == "coefficient"]
    table = frame.reset_index(names=["column", "feature"] if frame.index.nlevels == 2 else "feature")
    ends = found.constants
    if not ends and fitted.model.fit_intercept:
        ends = {"(intercept)": np.atleast_1d(found.intercept)}
    last = [{"feature": name, **dict(zip(names, values.tolist(), strict=True))} for name, values in ends.items()]
    return _write(pd.DataFrame([*table.to_dict("records"), *last], columns=table.columns))


def write_predictions(fitted: FittedModel) -> str:
    """The held-out rows as CSV, predicted by the model that has not seen them; without such, the training rows."""
    rows = fitted.test if len(fitted.test) else fitted.train
    found, data = fitted.predict_rows(rows), fitted.data
    columns: dict[str, Any] = {}
    if data.identifiers is not None:
        columns |= {str(name): cells.to_numpy()[rows] for name, cells in data.identifiers.items()}
    if fitted.final.encoder is not None:
        known = {column.name for column in fitted.final.encoder.unused_ if column.is_identifier}
        columns |= {name: data.X[name].to_numpy()[rows] for name in data.X.columns if name in known}
    if fitted.task.is_survival:
        settings, y = fitted.settings, found.y
        columns |= {data.target.name: y["time"], str(settings.event): y["event"].astype(int)}
        columns |= {} if settings.entry is None else {settings.entry: y["entry"]}
        columns |= {} if settings.strata is None else {settings.strata: y["stratum"]}
    elif fitted.task.has_several:
        columns |= dict(zip(data.target.names, found.y.T, strict=True))
    else:
        columns[data.target.name] = found.y
    columns |= _list_row_values(fitted, rows)
    predicted: dict[str, Any] = name_predictions(fitted.final.estimator, found.prediction)
    if found.probabilities is not None:
        predicted |= {
            f"probability_{label}": column for label, column in zip(found.classes, found.probabilities.T, strict=True)
        }
    table = {"row" if "row" not in columns else "row of the file": data.row_numbers[rows], **columns}
    table |= {f"{name} (model)" if name in table else name: values for name, values in predicted.items()}
    return _write(pd.DataFrame({name: np.asarray(values) for name, values in table.items()}))


def _list_row_values(fitted: FittedModel, rows: IntArray) -> dict[str, Any]:
    """Weights, and exposures or offsets, of some rows by the names of their columns."""
    names, values = fitted.data.row_columns, fitted.data.row_values.select(rows)
    columns: dict[str, Any] = {} if names.weights is None else {names.weights: values.weights}
    if names.offset_column is not None and values.offset is not None:
        columns[names.offset_column] = values.offset if names.exposure is None else np.exp(values.offset)
    return columns


def _write(table: pd.DataFrame) -> str:
    """A table as CSV, in which no text is a formula to a spreadsheet."""
    cells = {protect_label(str(name)): [_write_cell(value) for value in table[name].tolist()] for name in table.columns}
    return pd.DataFrame(cells, dtype=object).to_csv(index=False, lineterminator="\n")


def _write_cell(value: Any) -> Any:
    if isinstance(value, float):
        return None if np.isnan(value) else f"{value:.{TABLE_DIGITS}g}"
    return protect_label(value)
