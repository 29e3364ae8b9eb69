"""A saved model, which may come from anywhere, to predict with."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils import get_tags

from ..persistence import MODEL_FILE, load_with_notes
from ..wording import LONGEST_CELL, escape_control
from .errors import InputError, explain_read_errors, quote, quote_path
from .row_weights import RowColumns
from .streams import complain

__all__ = ["ModelNotes", "explain_damage", "find_needed", "load_model"]


@dataclass(frozen=True)
class ModelNotes:
    """What a saved model says of the data that it was fitted to.

    Attributes
    ----------
    first_index : int or None
        The number of the first feature, if features have numbers.
    row_columns : RowColumns
        The column of exposures or offsets, if predictions depend on one.
    strata : str or None
        The column of strata, if a survival model has them.
    """

    first_index: int | None
    row_columns: RowColumns
    strata: str | None = None


def load_model(path: Path, max_memory: int | None) -> tuple[Any, ModelNotes]:
    """A model that can predict, and what it says of its data."""
    if path.is_dir():
        path /= MODEL_FILE
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
    row_columns, strata = RowColumns.from_notes(notes), notes.get("strata")
    for option, column in {**row_columns.list_columns(), "--strata": strata}.items():
        if not isinstance(column, str | None):
            raise InputError(f"{quote_path(path)} has the {option[2:]} {quote(column)}, expected the name of a column")
    return model, ModelNotes(first_index, row_columns, strata)


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
    responses = getattr(model, "response_names_", None)
    if responses is not None and not (
        isinstance(responses, np.ndarray)
        and coefficients is not None
        and responses.shape == coefficients.shape[:1]
        and all(isinstance(name, str) for name in responses.tolist())
    ):
        return "it has not one name for each of its responses"
    numbers = [
        np.asarray(values)
        for values in (coefficients, getattr(model, "intercept_", None), getattr(model, "thresholds_", None))
        if values is not None
    ]
    if not all(np.isfinite(values).all() for values in numbers if values.dtype.kind == "f"):
        return "it has coefficients that are not finite"
    return ""


def find_needed(model: Any) -> Sequence[int]:
    """The features that predictions depend on."""
    if get_tags(model).input_tags.sparse and hasattr(model, "coef_"):
        used: list[int] = np.flatnonzero(np.atleast_2d(model.coef_).any(axis=0)).tolist()
        return used or [0]  # without a selected feature, any one shows how many rows there are
    return range(model.n_features_in_)


@contextmanager
def explain_damage(path: Path) -> Iterator[None]:
    """Turn the many kinds of errors of a model whose attributes do not fit together into an `InputError`."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        said = escape_control(str(error)[:LONGEST_CELL]) or type(error).__name__
        raise InputError(
            f"cannot predict with the model in {quote_path(path)}: {said}; fit and save it again"
        ) from error
