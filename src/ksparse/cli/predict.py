"""``ksparse predict``: predictions of a saved model for new rows, as CSV."""

from __future__ import annotations

import csv
import io
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import get_tags

from .._types import AnyArray, Matrix
from ..persistence import load, load_notes
from .data import load_features
from .errors import InputError, explain_read_errors, quote_path
from .output import write_file
from .progress import show_progress

__all__ = ["run_predict"]


def run_predict(model: Path, source: str, out: Path | None) -> None:
    """Predict the rows of a file; raises `InputError` for errors that the user can fix."""
    with show_progress(f"Predicting {source}"):
        text = _predict(model, source)
    if out is None:
        sys.stdout.write(text)
    else:
        write_file(out, text)


def _predict(path: Path, source: str) -> str:
    """Predictions as CSV; for a classifier with a column of probabilities for each class."""
    with explain_read_errors(path):
        try:
            model, first_index = load(path), load_notes(path).get("first_index")
        except ValueError as error:
            raise InputError(str(error)) from error
    if not hasattr(model, "predict"):
        raise InputError(f"{quote_path(path)} has a {type(model).__name__}, which makes no predictions")
    if first_index not in (None, 0, 1):
        raise InputError(f"{quote_path(path)} has the first_index {first_index!r}, expected 0 or 1")
    names = getattr(model, "feature_names_in_", None)
    needed = _find_needed(model)
    X = load_features(source, model.n_features_in_, None if names is None else list(names), needed, first_index)
    if len(needed) < model.n_features_in_:
        X = _place_columns(X, needed, model.n_features_in_)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # they were checked above
        return _write_csv(_predict_columns(model, X))


def _find_needed(model: Any) -> list[int]:
    """The features that predictions depend on."""
    if get_tags(model).input_tags.sparse and hasattr(model, "coef_"):
        used: list[int] = np.flatnonzero(np.atleast_2d(model.coef_).any(axis=0)).tolist()
        return used or [0]  # without a selected feature, any one shows how many rows there are
    return list(range(model.n_features_in_))


def _place_columns(X: Matrix, columns: list[int], n_features: int) -> Matrix:
    """The columns at their places among all features, of which the others are zero."""
    found = sparse.coo_array(X)
    return sparse.csr_array(
        (found.data, (found.row, np.asarray(columns)[found.col])), shape=(found.shape[0], n_features)
    )


def _predict_columns(model: Any, X: Matrix) -> dict[str, AnyArray]:
    prediction = model.predict(X)
    if prediction.ndim == 2:
        return {f"prediction_{j + 1}": column for j, column in enumerate(prediction.T)}
    columns = {"prediction": prediction}
    if hasattr(model, "predict_proba"):
        probabilities = model.predict_proba(X)
        columns |= {f"probability_{name}": probabilities[:, j] for j, name in enumerate(model.classes_.tolist())}
    return columns


def _write_csv(columns: dict[str, AnyArray]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    return text.getvalue()
