"""From a saved model, which may come from anywhere, and new rows to a table of predictions."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from scipy import sparse
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils import get_tags

from .._types import AnyArray, Matrix
from ..limits import PREDICTION_COST
from ..persistence import load_with_notes
from ..wording import LONGEST_CELL, cut_text
from .data import load_features
from .errors import InputError, check_memory, choose_limit, explain_read_errors, quote, quote_path
from .files.options import ReadingOptions
from .streams import complain

#: What a spreadsheet takes for a formula, but not the numbers that begin in the same way, and not a sign alone.
FORMULA = re.compile(r"'*(?![+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z)[=+\-@\t\r\n].", flags=re.A | re.S)


def predict_rows(
    path: Path,
    source: str,
    *,
    terminal: bool = False,
    max_memory: int | None = None,
    reading: ReadingOptions | None = None,
) -> pd.DataFrame:
    """Predictions for the rows of a file, for a classifier with the probability of each class.

    Parameters
    ----------
    path : Path
        The file of the model.
    source : str
        The file of the rows, or the name of a data set.
    terminal : bool
        Whether the table is for people: labels are cut, and control characters escaped.
    max_memory : int, optional
        Memory in bytes that each file may take; see `ksparse.limits` for the default.
    reading : ReadingOptions, optional
        What the user says about the file of the rows.
    """
    model, first_index = _load_model(path, max_memory)
    needed = _find_needed(model)
    X = load_features(source, model, needed, first_index, max_memory, reading)
    limit = choose_limit(Path(source), max_memory)
    check_memory(_estimate_memory(model, X.shape[0]), limit, f"the predictions of {quote_path(path)}")
    if len(needed) < model.n_features_in_:  # the others do not matter, and are zero
        ones = (np.ones(len(needed)), (np.arange(len(needed)), needed))
        X = sparse.csr_array(X) @ sparse.csr_array(ones, shape=(len(needed), model.n_features_in_))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):  # what is not finite is counted by the caller
            warnings.filterwarnings("ignore", "X does not have valid feature names")  # they were checked above
            return _tabulate(model, X, terminal=terminal)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # attributes that do not fit together raise many kinds
        raise InputError(
            f"cannot predict with the model in {quote_path(path)}: {str(error)[:LONGEST_CELL]}; fit and save it again"
        ) from error


def _load_model(path: Path, max_memory: int | None) -> tuple[Any, int | None]:
    """A model that can predict, and the number of its first feature if its features have numbers."""
    with explain_read_errors(path):
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", InconsistentVersionWarning)
                model, notes = load_with_notes(path, max_bytes=max_memory)
        except ValueError as error:
            raise InputError(str(error)) from error
    for version in sorted({str(getattr(warning.message, "original_sklearn_version", "")) for warning in caught} - {""}):
        complain(
            f"warning: the model was saved with scikit-learn {version}, and this is {sklearn.__version__}: its scaler"
            " or imputer may act in another way"
        )
    if not hasattr(model, "predict"):
        raise InputError(f"{quote_path(path)} has a {type(model).__name__}, which makes no predictions")
    first_index = notes.get("first_index")
    if first_index not in (None, 0, 1):
        raise InputError(f"{quote_path(path)} has the first_index {quote(first_index)}, expected 0 or 1")
    if problem := _find_contradiction(model):
        raise InputError(f"the model in {quote_path(path)} is damaged: {problem}; fit and save it again")
    return model, first_index


def _find_contradiction(model: Any) -> str:
    """Why the attributes of a model cannot belong together; empty if they can."""
    try:
        count, names = model.n_features_in_, getattr(model, "feature_names_in_", None)
        coefficients = getattr(model, "coef_", None)
    except Exception as error:  # properties of a pipeline ask its steps
        return f"it does not say how many features it has ({type(error).__name__})"
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
        return f"its number of features is {quote(count)}"
    if names is not None and not (isinstance(names, np.ndarray) and names.shape == (count,)):
        return f"it has not one name for each of its {count} features"
    if names is not None and not all(isinstance(name, str) for name in names.tolist()):
        return "the names of its features are not text"
    numeric = isinstance(coefficients, np.ndarray) and coefficients.dtype.kind == "f" and coefficients.ndim in (1, 2)
    if coefficients is not None and not (numeric and coefficients.shape[-1] == count):
        return f"it has not one coefficient for each of its {count} features"
    numbers = [
        np.asarray(values) for values in (coefficients, getattr(model, "intercept_", None)) if values is not None
    ]
    if not all(np.isfinite(values).all() for values in numbers if values.dtype.kind == "f"):
        return "it has coefficients that are not finite"
    return ""


def _find_needed(model: Any) -> Sequence[int]:
    """The features that predictions depend on."""
    if get_tags(model).input_tags.sparse and hasattr(model, "coef_"):
        used: list[int] = np.flatnonzero(np.atleast_2d(model.coef_).any(axis=0)).tolist()
        return used or [0]  # without a selected feature, any one shows how many rows there are
    return range(model.n_features_in_)


def _estimate_memory(model: Any, rows: int) -> int:
    """Memory of the predictions of some rows, with their text."""
    outputs = np.shape(getattr(model, "coef_", 0))[0] if np.ndim(getattr(model, "coef_", 0)) == 2 else 1
    classes: AnyArray = getattr(model, "classes_", np.zeros(0))
    longest = max((len(str(label)) for label in classes.tolist()), default=0)
    return rows * (PREDICTION_COST * (max(outputs, len(classes)) + 1) + classes.dtype.itemsize + 8 * longest)


def _tabulate(model: Any, X: Matrix, *, terminal: bool) -> pd.DataFrame:
    prediction = np.asarray(model.predict(X))
    if prediction.ndim == 2:
        return pd.DataFrame(prediction, columns=[f"prediction_{j + 1}" for j in range(prediction.shape[1])])
    if not hasattr(model, "predict_proba"):
        return pd.DataFrame({"prediction": prediction})
    probabilities, classes = model.predict_proba(X), model.classes_.tolist()
    shown = {label: protect_label(label, terminal=terminal) for label in classes}
    heads = [f"probability_{cut_text(label, LONGEST_CELL) if terminal else label}" for label in classes]
    labels = pd.Series([shown[label] for label in prediction.tolist()], name="prediction")
    return pd.concat([labels, pd.DataFrame(probabilities, columns=heads)], axis=1)


def protect_label(label: Any, *, terminal: bool = False) -> Any:
    """A label as a cell: a text that a spreadsheet would take for a formula gets an apostrophe before it.

    Labels that have an apostrophe before a formula already get another one, so that all remain distinct. On a terminal,
    labels are cut, and control characters are escaped.

    Examples
    --------
    >>> from ksparse.cli.predicting import protect_label
    >>> protect_label("=1+1"), protect_label("-1.5"), protect_label("ill")
    ("'=1+1", '-1.5', 'ill')
    """
    if isinstance(label, str) and FORMULA.match(label):
        label = f"'{label}"
    return cut_text(label, LONGEST_CELL) if terminal and isinstance(label, str) else label
