"""From a saved model, which may come from anywhere, and new rows to a table of predictions."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from scipy import sparse
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from .._types import AnyArray, Array, Mask, Matrix
from ..limits import LARGEST, PREDICTION_COST
from ..persistence import MODEL_FILE, load_with_notes
from ..tables import TableEncoder, UnusedColumn, describe_filled, describe_misread
from ..tables.features import OTHER
from ..tables.kinds import read_number_columns
from ..tables.unknown import ignore_unknown
from ..wording import LONGEST_CELL, MOST_NAMES, cut_text, escape_control
from .data import find_names, load_numbered_features, load_rows
from .errors import InputError, check_memory, choose_limit, explain_read_errors, quote, quote_path
from .files.base import distinguish_names
from .reading import SVMLIGHT, ReadingOptions, Table, find_suffix
from .streams import complain
from .survival_times import choose_times, describe_late_times, name_survival, predict_survival

#: Digits of predictions, and decimals of probabilities.
PREDICTION_DIGITS, PROBABILITY_DIGITS = 10, 6

#: What a spreadsheet takes for a formula, but not the numbers that begin in the same way, and not a sign alone.
FORMULA = re.compile(r"'*(?![+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z)[=+\-@\t\r\n].", flags=re.A | re.S)


@dataclass(frozen=True)
class PredictedRows:
    """PredictedRows as a table of text and numbers, and what a user should know of them."""

    table: pd.DataFrame
    notes: tuple[str, ...]


@dataclass(frozen=True)
class NewRows:
    """New rows for a model: those that can be predicted, and why the others cannot."""

    X: Any  # what the model takes, for the rows that can be predicted
    usable: Mask
    reasons: tuple[str, ...] = ()
    kept: pd.DataFrame | None = None


def predict_rows(
    path: Path,
    source: str,
    *,
    keep: Sequence[str] | None = None,
    terminal: bool = False,
    max_memory: int | None = None,
    reading: ReadingOptions | None = None,
    times: Sequence[float] | None = None,
) -> PredictedRows:
    """PredictedRows for the rows of a file, for a classifier with the probability of each class.

    Parameters
    ----------
    path : Path
        The file of the model, or the folder that ``ksparse fit --out`` has written.
    source : str
        The file of the rows, or the name of a data set.
    keep : sequence of str, optional
        Columns of the file that go before the predictions; by default the identifiers that the model knows of.
    terminal : bool
        Whether the table is for people: labels are cut, and control characters escaped.
    max_memory : int, optional
        Memory in bytes that each file may take; see `ksparse.limits` for the default.
    reading : ReadingOptions, optional
        What the user says about the file of the rows.
    times : sequence of float, optional
        Times at which a survival model predicts the probability of survival; by default quartiles of those with events.
    """
    model, first_index = _load_model(path, max_memory)
    with _explain_damage(path):
        chosen = choose_times(model, times, path)
        late = describe_late_times(model, chosen)
    rows = _load_rows(path, model, source, keep, first_index, max_memory, reading)
    limit = choose_limit(Path(source), max_memory)
    check_memory(
        _estimate_memory(model, len(rows.usable), len(chosen)), limit, f"the predictions of {quote_path(path)}"
    )
    # What is not finite is counted, and unknown categories were told.
    with _explain_damage(path), warnings.catch_warnings(), ignore_unknown(), np.errstate(all="ignore"):
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # they were checked above
        parts = _predict(model, rows.X, chosen) if rows.usable.any() else _predict_nothing(model, chosen)
    wrong = [~np.isfinite(values) for values in parts.values() if values.dtype.kind == "f"]
    unlimited = int(np.any(wrong, axis=0).sum()) if wrong else 0
    notes = [*rows.reasons, *late]
    if unlimited:
        notes.append(
            f"{unlimited} of {len(rows.usable)} rows have predictions that are not finite: they are too large for a"
            " number"
        )
    return PredictedRows(_tabulate(parts, rows, terminal=terminal), tuple(notes))


def _load_rows(
    path: Path,
    model: Any,
    source: str,
    keep: Sequence[str] | None,
    first_index: int | None,
    max_memory: int | None,
    reading: ReadingOptions | None,
) -> NewRows:
    """The rows of a file as the model takes them."""
    if find_suffix(Path(source)) in SVMLIGHT:
        return _load_numbered_rows(model, source, keep, first_index, max_memory)
    encoder = model[0] if isinstance(model, Pipeline) and isinstance(model[0], TableEncoder) else None
    needed: Sequence[Any] = _find_needed(model) if encoder is None else encoder.needed_columns_
    names = getattr(model, "feature_names_in_", None)
    if encoder is not None:
        wanted: list[str] | None = list(needed)
    elif first_index is not None:
        wanted = [str(first_index + feature) for feature in needed]
    else:
        wanted = None if names is None else [names[feature] for feature in needed]
    table, frame = load_rows(source, wanted, model.n_features_in_, max_memory, reading)
    kept = _select_kept(table, frame, keep, [] if encoder is None else encoder.unused_)
    if encoder is not None:
        with _explain_damage(path):
            unreadable, unknown = encoder.find_unreadable(frame), encoder.find_unknown(frame)
            usable = _find_usable(unreadable, len(frame))
            filled = describe_filled(encoder, frame[usable]) if usable.any() else []
            misread = describe_misread(encoder, frame)
        other = {name: int((rows & usable).sum()) for name, rows in unknown.items()}
        reasons = (
            *table.notes,
            *filled,
            *_describe_unknown(other),
            *_describe_unreadable(unreadable, usable),
            *misread,
        )
        return NewRows(frame[usable], usable, reasons, kept)
    X = read_number_columns(frame.iloc[:, list(needed)] if wanted is None else frame[wanted])
    unreadable = {str(frame.columns[j] if wanted is None else wanted[j]): gaps for j, gaps in _find_gaps(X, model)}
    usable = _find_usable(unreadable, len(frame))
    X = _widen(X[usable], needed, model.n_features_in_)
    return NewRows(X, usable, (*table.notes, *_describe_unreadable(unreadable, usable)), kept)


def _find_usable(unreadable: Mapping[str, Mask], count: int) -> Mask:
    """The rows that can be predicted."""
    return np.asarray(~np.any(list(unreadable.values()), axis=0)) if unreadable else np.ones(count, dtype=bool)


def _load_numbered_rows(
    model: Any, source: str, keep: Sequence[str] | None, first_index: int | None, max_memory: int | None
) -> NewRows:
    """The rows of an svmlight file."""
    if getattr(model, "feature_names_in_", None) is not None:
        raise InputError(
            f"the model has named features, but those of {quote_path(source)} are numbers; give a CSV or Parquet file"
        )
    if keep:
        raise InputError("--keep is for tables: the columns of svmlight files have no names")
    needed = _find_needed(model)
    X = load_numbered_features(source, needed, first_index or 0, max_memory)
    return NewRows(_widen(X, needed, model.n_features_in_), np.ones(X.shape[0], dtype=bool))


def _widen(X: Matrix, needed: Sequence[int], n_features: int) -> Matrix:
    """The needed features among all; the others do not matter, and are zero."""
    if len(needed) == n_features:
        return X
    ones = (np.ones(len(needed)), (np.arange(len(needed)), list(needed)))
    return sparse.csr_array(X) @ sparse.csr_array(ones, shape=(len(needed), n_features))


def _find_gaps(X: Array, model: Any) -> list[tuple[int, Mask]]:
    """Columns with values that are missing or too large, where the model does not fill them in."""
    wrong = ~(np.abs(X) <= LARGEST)
    if get_tags(model).input_tags.allow_nan:
        wrong &= ~np.isnan(X)
    return [(column, wrong[:, column]) for column in np.flatnonzero(wrong.any(axis=0)).tolist()]


@contextmanager
def _explain_damage(path: Path) -> Iterator[None]:
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


def _describe_unknown(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Categories that no fitted row had, in rows that are predicted all the same."""
    rows = [f"{quote(name)} ({count})" for name, count in counts.items() if count]
    if not rows:
        return ()
    more = f", … and {len(rows) - MOST_NAMES} more" if len(rows) > MOST_NAMES else ""
    return (f'values that no fitted row had were taken as "{OTHER}" in {", ".join(rows[:MOST_NAMES])}{more}',)


def _describe_unreadable(unreadable: Mapping[str, Mask], usable: Mask) -> tuple[str, ...]:
    """Why some rows have no prediction."""
    empty = int((~usable).sum())
    if not empty:
        return ()
    counts = [f"{quote(name)} ({int(rows.sum())})" for name, rows in list(unreadable.items())[:MOST_NAMES]]
    more = f", … and {len(unreadable) - MOST_NAMES} more" if len(unreadable) > MOST_NAMES else ""
    first = int(np.argmin(usable)) + 1
    have = "has" if empty == 1 else "have"
    return (
        f"{empty} of {len(usable)} rows {have} no prediction (first row {first}): a value that the model needs is"
        f" missing, or is none that it knows, in {', '.join(counts)}{more}",
    )


def _select_kept(
    table: Table, frame: pd.DataFrame, keep: Sequence[str] | None, unused: Sequence[UnusedColumn]
) -> pd.DataFrame | None:
    """The columns of the file that go before the predictions."""
    index = table.identifiers if table.identifiers is not None else pd.DataFrame(index=range(len(frame)))
    every = pd.concat([index.reset_index(drop=True), frame.reset_index(drop=True)], axis=1)
    names = every.columns.tolist()
    if keep is None:
        known = {column.name for column in unused if column.is_identifier}
        wanted = [name for name in names if name in known or name in index.columns]
    else:
        wanted = find_names(keep, names, "--keep", table.source)
    return every[wanted] if wanted else None


def _load_model(path: Path, max_memory: int | None) -> tuple[Any, int | None]:
    """A model that can predict, and the number of its first feature if its features have numbers."""
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


def _find_needed(model: Any) -> Sequence[int]:
    """The features that predictions depend on."""
    if get_tags(model).input_tags.sparse and hasattr(model, "coef_"):
        used: list[int] = np.flatnonzero(np.atleast_2d(model.coef_).any(axis=0)).tolist()
        return used or [0]  # without a selected feature, any one shows how many rows there are
    return range(model.n_features_in_)


def _estimate_memory(model: Any, rows: int, times: int) -> int:
    """Memory of the predictions of some rows, with their text."""
    outputs = np.shape(getattr(model, "coef_", 0))[0] if np.ndim(getattr(model, "coef_", 0)) == 2 else 1
    classes: AnyArray = getattr(model, "classes_", np.zeros(0))
    longest = max((len(str(label)) for label in classes.tolist()), default=0)
    return rows * (PREDICTION_COST * (max(outputs, len(classes), times) + 1) + classes.dtype.itemsize + 8 * longest)


def _predict(model: Any, X: Any, times: Array) -> dict[str, AnyArray]:
    """Predictions by their names, with probabilities of survival at some times, or of each class if there are some."""
    parts = name_predictions(model, np.asarray(model.predict(X)))
    survival = predict_survival(model, X, times)
    parts |= {name: column.round(PROBABILITY_DIGITS) for name, column in survival.items()}
    if hasattr(model, "predict_proba"):
        probabilities = np.asarray(model.predict_proba(X)).round(PROBABILITY_DIGITS)
        parts |= dict(zip(_name_probabilities(model), probabilities.T, strict=True))
    return parts


def _predict_nothing(model: Any, times: Array) -> dict[str, AnyArray]:
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


def _tabulate(parts: Mapping[str, AnyArray], rows: NewRows, *, terminal: bool) -> pd.DataFrame:
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
    >>> from ksparse.cli.predicting import protect_label
    >>> protect_label("=1+1"), protect_label("-1.5"), protect_label("ill")
    ("'=1+1", '-1.5', 'ill')
    """
    if isinstance(label, str) and FORMULA.match(label):
        label = f"'{label}"
    return cut_text(label, LONGEST_CELL) if terminal and isinstance(label, str) else label
