"""``ksparse predict``: predictions of a saved model for new rows, as CSV."""

from __future__ import annotations

import copy
import csv
import io
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._types import AnyArray, Matrix
from ..estimators import SparseLinearModel
from ..persistence import load, load_notes as notes
from .data import features_of_model
from .errors import InputError
from .output import write_file
from .progress import working
from .source import reading

__all__ = ["PredictCommand", "predictions"]


@dataclass(frozen=True)
class PredictCommand:
    """``ksparse predict`` with its arguments.

    Attributes
    ----------
    model : Path
        A file that ``ksparse fit --out`` or `ksparse.persistence.save` wrote.
    data : str
        New rows: a file or an embedded data set.
    out : Path or None
        The file for the predictions; standard output without one.
    """

    model: Path
    data: str
    out: Path | None

    def run(self) -> None:
        """Do it all; raises `InputError` for what the user can mend."""
        with working(f"Predicting {self.data}"):
            text = predictions(self.model, self.data)
        if self.out is None:
            sys.stdout.write(text)
        else:
            write_file(self.out, text)


def predictions(path: Path, data: str) -> str:
    """Predictions as CSV: of a classifier with a column of probabilities for each class."""
    with reading(path):
        try:
            model, first = load(path), notes(path).get("first_index")
        except ValueError as error:
            raise InputError(str(error)) from error
    if first not in (None, 0, 1):
        raise InputError(f"{path} has the first_index {first!r}, expected 0 or 1")
    names = getattr(model, "feature_names_in_", None)
    used = np.flatnonzero(np.atleast_2d(model.coef_).any(axis=0)).tolist()
    # Without a selected feature, any one tells how many rows there are.
    needed = used or [0]
    X = features_of_model(data, model.n_features_in_, None if names is None else list(names), needed, first)
    return _csv(_only(model, needed), X)


def _only(model: SparseLinearModel, features: list[int]) -> SparseLinearModel:
    """The same model for data with these features only."""
    small = copy.copy(model)
    small.coef_ = model.coef_[..., features]
    small.support_ = model.support_[features]
    small.n_features_in_ = len(features)
    small.__dict__.pop("feature_names_in_", None)
    return small


def _csv(model: Any, X: Matrix) -> str:
    prediction = model.predict(X)
    columns: dict[str, AnyArray] = {}
    if prediction.ndim == 1:
        columns["prediction"] = prediction
    else:
        columns = {f"prediction_{j + 1}": column for j, column in enumerate(prediction.T)}
    if hasattr(model, "classes_"):
        probabilities = model.predict_proba(X)
        columns |= {f"probability_{name}": probabilities[:, j] for j, name in enumerate(model.classes_.tolist())}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    return text.getvalue()
