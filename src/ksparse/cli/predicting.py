"""From a saved model, which may come from anywhere, and new rows to a table of predictions."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from .._types import AnyArray, Array, Mask, Matrix
from ..limits import LARGEST
from ..tables import TableEncoder, UnusedColumn, describe_filled, describe_misread
from ..tables.features import OTHER
from ..tables.kinds import read_number_columns
from ..tables.unknown import ignore_unknown
from ..wording import MOST_NAMES, quote
from .data import find_names, load_numbered_features, load_rows, require_needed_columns
from .errors import InputError, check_memory, choose_limit, quote_path
from .loading_models import ModelNotes, explain_damage, find_needed, load_model
from .prediction_tables import NewRows, estimate_memory, name_parts, predict_parts, tabulate
from .reading import SVMLIGHT, ReadingOptions, find_suffix
from .row_weights import RowColumns
from .stored.large_files import StoredFiles
from .survival_times import (
    choose_times,
    describe_late_times,
    describe_unknown_strata,
    has_strata,
    match_strata,
)


@dataclass(frozen=True)
class PredictedRows:
    """Predictions as tables of text and numbers, one for each block of rows, and what a user should know of them.

    The notes are complete when all tables are made.
    """

    tables: Iterable[pd.DataFrame]
    notes: list[str]


@dataclass(frozen=True)
class PredictionOptions:
    """What the user says about predictions."""

    #: Columns of the file that go before the predictions; by default the identifiers that the model knows of.
    keep: Sequence[str] | None = None
    #: Whether the table is for people: labels are cut, and control characters escaped.
    terminal: bool = False
    #: Memory in bytes that each file may take; see `ksparse.limits` for the default.
    max_memory: int | None = None
    #: About the file of the rows.
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    #: Times at which a survival model predicts the probability of survival; by default quartiles of those with events.
    times: Sequence[float] | None = None


def predict_rows(path: Path, source: str, options: PredictionOptions) -> PredictedRows:
    """Predictions for the rows of a file, for a classifier with the probability of each class.

    Parameters
    ----------
    path : Path
        The file of the model, or the folder that ``ksparse fit --out`` has written.
    source : str
        The file of the rows, or the name of a data set.
    options : PredictionOptions
        What the user says.
    """
    model, about = load_model(path, options.max_memory)
    with explain_damage(path):
        chosen = choose_times(model, options.times, path, about.strata)
    rows = _load_rows(path, model, about, source, options)
    if has_strata(model) and rows.strata is None:
        chosen = chosen[:0]
    with explain_damage(path):
        late = describe_late_times(model, chosen)
    limit = choose_limit(Path(source), options.max_memory)
    check_memory(estimate_memory(model, len(rows.usable), len(chosen)), limit, f"the predictions of {quote_path(path)}")
    with _prepare_prediction(path):
        parts = name_parts(model, chosen)
        if rows.usable.any():
            parts = predict_parts(model, rows.X, chosen, rows.offset, rows.strata)
    notes = [*rows.reasons, *late, *_describe_unlimited(_count_unlimited(parts), len(rows.usable))]
    return PredictedRows([tabulate(parts, rows, terminal=options.terminal)], notes)


def predict_stored_rows(path: Path, files: StoredFiles, folder: Path, options: PredictionOptions) -> PredictedRows:
    """Predictions for the rows of files that are read in blocks; other parameters as for `predict_rows`.

    Parameters
    ----------
    files : StoredFiles
        The files of the rows.
    folder : Path
        Where temporary files go.
    """
    model, about = load_model(path, options.max_memory)
    if about.row_columns.offset_column is not None:
        raise InputError(
            f"predictions of the model in {quote_path(path)} depend on {about.row_columns.describe_offset()}, which is"
            " for data in memory only; give fewer rows at a time"
        )
    encoder = _find_encoder(model)
    if encoder is None:
        raise InputError(
            f"the model in {quote_path(path)} has no encoder of tables, as those of 'ksparse fit' have, and predicts"
            " data in memory only; give fewer rows at a time"
        )
    needed = list(encoder.needed_columns_)

    def find_unneeded(names: Sequence[str]) -> list[str]:
        strata = [about.strata] if about.strata is not None else []
        require_needed_columns([*needed, *(strata if options.times is not None else [])], names, files.source)
        used = {*needed, *strata, *_choose_kept((), names, options.keep, encoder.unused_, files.source)}
        return [name for name in names if name not in used]

    table = files.open(options.reading, folder, find_unneeded)
    with explain_damage(path):
        chosen = choose_times(model, options.times, path, about.strata)
        usable, reasons = judge_rows(encoder, lambda: map(table.read, table.group(needed)))
        strata, unknown = _read_strata(model, about.strata, table, usable, table.names)
        if has_strata(model) and strata is None:
            chosen = chosen[:0]
        late = describe_late_times(model, chosen)
    kept = _choose_kept(list(table.index), table.names, options.keep, encoder.unused_, table.source)
    notes = [files.describe(), *table.notes, *reasons, *unknown, *late]

    def make_tables() -> Iterator[pd.DataFrame]:
        names, start, unlimited = list(dict.fromkeys([*kept, *needed])), 0, 0
        step = max(table.choose_step(len(names) + estimate_memory(model, 1, len(chosen)) // 8), 1)
        for frame in table.iterate(names, step):
            use = usable[start : start + len(frame)]
            labels = None if strata is None else strata[start : start + len(frame)][use]
            start += len(frame)
            with _prepare_prediction(path):
                parts = name_parts(model, chosen)
                if use.any():
                    parts = predict_parts(model, frame[use], chosen, None, labels)
            unlimited += _count_unlimited(parts)
            yield tabulate(parts, NewRows(None, use, (), frame[kept] if kept else None), terminal=options.terminal)
        notes.extend(_describe_unlimited(unlimited, start))

    return PredictedRows(make_tables(), notes)


@contextmanager
def _prepare_prediction(path: Path) -> Iterator[None]:
    """A context to predict in: what is not finite is counted, and unknown categories were told."""
    with explain_damage(path), warnings.catch_warnings(), ignore_unknown(), np.errstate(all="ignore"):
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # they were checked before
        yield


def _count_unlimited(parts: Mapping[str, AnyArray]) -> int:
    wrong = [~np.isfinite(values) for values in parts.values() if values.dtype.kind == "f"]
    return int(np.any(wrong, axis=0).sum()) if wrong else 0


def _describe_unlimited(count: int, rows: int) -> list[str]:
    if not count:
        return []
    return [f"{count} of {rows} rows have predictions that are not finite: they are too large for a number"]


def _find_encoder(model: Any) -> TableEncoder | None:
    return model[0] if isinstance(model, Pipeline) and isinstance(model[0], TableEncoder) else None


def _load_rows(path: Path, model: Any, about: ModelNotes, source: str, options: PredictionOptions) -> NewRows:
    """The rows of a file as the model takes them."""
    first_index, row_columns = about.first_index, about.row_columns
    if find_suffix(Path(source)) in SVMLIGHT:
        return _load_numbered_rows(model, source, options.keep, first_index, options.max_memory)
    encoder = _find_encoder(model)
    needed: Sequence[Any] = find_needed(model) if encoder is None else encoder.needed_columns_
    names = getattr(model, "feature_names_in_", None)
    if encoder is not None:
        strata = about.strata if options.times is not None else None
        wanted: list[str] | None = [*needed, *filter(None, [row_columns.offset_column, strata])]
    elif first_index is not None:
        wanted = [str(first_index + feature) for feature in needed]
    else:
        wanted = None if names is None else [names[feature] for feature in needed]
    table, frame = load_rows(source, wanted, model.n_features_in_, options.max_memory, options.reading)
    index = table.identifiers if table.identifiers is not None else pd.DataFrame(index=range(len(frame)))
    every = pd.concat([index.reset_index(drop=True), frame.reset_index(drop=True)], axis=1)
    unused = [] if encoder is None else encoder.unused_
    names = _choose_kept(index.columns.tolist(), frame.columns.tolist(), options.keep, unused, table.source)
    kept = every[names] if names else None
    if encoder is not None:
        with explain_damage(path):
            usable, reasons = judge_rows(encoder, lambda: [frame])
        usable, offset, more = _read_offset(row_columns, frame, usable)
        labels, unknown = _read_strata(model, about.strata, frame, usable, frame.columns.tolist())
        found = None if labels is None else labels[usable]
        return NewRows(frame[usable], usable, (*table.notes, *reasons, *more, *unknown), kept, offset, found)
    X = read_number_columns(frame.iloc[:, list(needed)] if wanted is None else frame[wanted])
    unreadable = {str(frame.columns[j] if wanted is None else wanted[j]): gaps for j, gaps in _find_gaps(X, model)}
    usable = _find_usable(unreadable, len(frame))
    X = _widen(X[usable], needed, model.n_features_in_)
    return NewRows(X, usable, (*table.notes, *_describe_unreadable(unreadable, usable)), kept)


def _read_offset(columns: RowColumns, frame: pd.DataFrame, usable: Mask) -> tuple[Mask, Array | None, list[str]]:
    """The rows that can be predicted with their exposures, their offsets, and why others cannot be."""
    if columns.offset_column is None:
        return usable, None, []
    offset = columns.to_offset(read_number_columns(frame[[columns.offset_column]])[:, 0])
    unknown = usable & np.isnan(offset)
    usable = usable & ~unknown
    if not (count := int(unknown.sum())):
        return usable, offset[usable], []
    expected = "a positive number" if columns.offset is None else "a number"
    said = f"{count} of {len(frame)} rows {'has' if count == 1 else 'have'} no prediction (first row"
    said += f" {int(np.argmax(unknown)) + 1}): {columns.describe_offset()} is missing, or is not {expected}"
    return usable, offset[usable], [said]


def _read_strata(
    model: Any, column: str | None, table: Any, usable: Mask, names: Sequence[str]
) -> tuple[AnyArray | None, list[str]]:
    """The strata of all rows of a table, if survival depends on them, and what a user should know of them."""
    if column is None or not has_strata(model):
        return None, []
    if column not in names:
        return None, [f"there are no probabilities of survival, which need the column {quote(column)} of strata"]
    labels = match_strata(model, table[column])
    return labels, describe_unknown_strata(column, labels, usable)


def judge_rows(encoder: TableEncoder, read: Callable[[], Iterable[pd.DataFrame]]) -> tuple[Mask, list[str]]:
    """Which rows can be predicted, and what a user should know of their cells.

    Parameters
    ----------
    encoder : TableEncoder
        The encoder of the model.
    read : callable
        Gives the needed columns, all rows of some of them at a time.
    """
    unreadable, unknown, count = dict[str, Mask](), dict[str, Mask](), 0
    for part, each in _pair(encoder, read()):
        count = len(part)
        unreadable |= each.find_unreadable(part)
        unknown |= each.find_unknown(part)
    usable = _find_usable(unreadable, count)
    filled, misread = list[str](), list[str]()
    for part, each in _pair(encoder, read()):
        filled += describe_filled(each, part[usable]) if usable.any() else []
        misread += describe_misread(each, part)
    other = {name: int((rows & usable).sum()) for name, rows in unknown.items()}
    return usable, [*filled, *_describe_unknown(other), *_describe_unreadable(unreadable, usable), *misread]


def _pair(encoder: TableEncoder, parts: Iterable[pd.DataFrame]) -> Iterator[tuple[pd.DataFrame, TableEncoder]]:
    """Some columns at a time, with the encoder of those of them that it needs."""
    for part in parts:
        each = copy.copy(encoder)
        each.require([name for name in encoder.needed_columns_ if name in part.columns])
        yield part, each


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
    needed = find_needed(model)
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


def _choose_kept(
    index: Sequence[str],
    columns: Sequence[str],
    keep: Sequence[str] | None,
    unused: Sequence[UnusedColumn],
    source: str,
) -> list[str]:
    """The columns of the file that go before the predictions: of those that name rows, and of the others."""
    names = [*index, *columns]
    if keep is not None:
        return find_names(keep, names, "--keep", source)
    known = {column.name for column in unused if column.is_identifier}
    return [name for name in names if name in known or name in index]
