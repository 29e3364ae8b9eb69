"""From what the user names (a file, a data set, columns) to features, their names and a target."""

from __future__ import annotations

import csv
import difflib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from .._types import AnyArray, Matrix
from .errors import InputError, explain_read_errors, quote, quote_list, quote_path
from .reading import SVMLIGHT, Table, find_suffix, open_table, read_numbers, read_target

__all__ = ["Data", "load_features", "load_training_data", "split_names"]


@dataclass(frozen=True)
class Data:
    """Features and a target; text, numbers or booleans."""

    source: str
    X: Matrix
    names: list[str]  # numbers of features for svmlight
    target: str
    y: AnyArray
    notes: tuple[str, ...] = ()
    first_index: int | None = None  # the smallest number of a feature, for svmlight


def load_training_data(name: str, target: str | None, drop: Sequence[str]) -> Data:
    """The data to fit a model to; `drop` is what the user wrote after each ``--drop``."""
    if find_suffix(Path(name)) in SVMLIGHT:
        return _load_svmlight_data(Path(name), target, drop)
    table = open_table(name)
    target = table.target if target is None else target
    if target is None:
        raise InputError(f"--target COL is needed: name the column to predict; there are {quote_list(table.names)}")
    target_column = _find_column(table, target, "--target")
    dropped = {_find_column(table, column, "--drop") for column in split_names(drop, table.names)}
    if target_column in dropped:
        raise InputError(f"{quote(target)} is both --target and --drop; leave one of them out")
    unnamed = [j + 1 for j, column in enumerate(table.names) if not column]
    features = [j for j, column in enumerate(table.names) if column and j != target_column and j not in dropped]
    if not features:
        raise InputError(f"{quote_path(table.source)} has no column besides the target; expected at least one feature")
    frame = table.read(target_column)
    X = read_numbers(table, frame, features, advise_drop=True)
    y = read_target(table, frame, target_column)
    notes = (f"Column {', '.join(map(str, unnamed))} has no name and was left out",) if unnamed else ()
    return Data(table.source, X, [table.names[j] for j in features], target, y, notes)


def load_features(
    name: str, n_features: int, names: list[str] | None, selected: list[int], first_index: int | None
) -> Matrix:
    """The columns that a model needs, in the order of `selected`; without names, columns are taken by position."""
    if find_suffix(Path(name)) in SVMLIGHT:
        if names is not None:
            raise InputError(
                f"the model has named features, but those of {quote_path(name)} are numbers; give a CSV or Parquet file"
            )
        return _load_svmlight_columns(Path(name), [(first_index or 0) + feature for feature in selected])
    table = open_table(name)
    if names is None and first_index is None:
        if len(table.names) != n_features:
            raise InputError(
                f"{quote_path(name)} has {len(table.names)} columns, but the model needs its {n_features} features in"
                " their order, since it was fitted without their names"
            )
        columns = selected
    else:
        wanted = [str((first_index or 0) + feature) if names is None else names[feature] for feature in selected]
        missing = [column for column in wanted if column not in table.names]
        if missing:
            raise InputError(
                f"{quote_path(name)} lacks {'columns' if len(missing) > 1 else 'the column'} {quote_list(missing)},"
                f" which the model needs; it has {quote_list(table.names)}"
            )
        columns = [table.names.index(column) for column in wanted]
    return read_numbers(table, table.read(None), columns, advise_drop=False)


def split_names(options: Sequence[str], names: list[str]) -> list[str]:
    """The columns in options such as ``a,b``; a name with a comma is found too, alone or in quotes."""
    columns: list[str] = []
    for option in options:
        parts = [option] if option in names else next(csv.reader([option], skipinitialspace=True), [])
        columns += [part.strip() for part in parts if part.strip()]
    return columns


def _find_column(table: Table, column: str, option: str) -> int:
    if column in table.names:
        return table.names.index(column)
    close = difflib.get_close_matches(column, table.names, n=1)
    advice = f"did you mean {quote(close[0])}?" if close else f"there are {quote_list(table.names)}"
    raise InputError(f"{quote_path(table.source)} has no column {quote(column)}, which {option} names; {advice}")


# --- svmlight -------------------------------------------------------------------------------------------------------


def _load_svmlight_data(path: Path, target: str | None, drop: Sequence[str]) -> Data:
    if target is not None:
        raise InputError("svmlight files have their target at the start of each line; leave --target out")
    X, y = _load_svmlight(path)
    if not np.isfinite(y).all():
        row = np.argmin(np.isfinite(y)) + 1
        raise InputError(f"{quote_path(path)} has a label that is not finite on row {row}; correct it")
    if X.nnz == 0:
        raise InputError(f"{quote_path(path)} has no features; expected lines such as '1 3:0.5 7:2'")
    # As scikit-learn does: numbers start at 1 unless there is a feature 0.
    first = 0 if np.any(X.indices == 0) else 1
    X = X[:, first:]
    names = [str(feature + first) for feature in range(X.shape[1])]
    dropped, known = split_names(drop, names), set(names)
    for name in dropped:
        if name not in known:
            raise InputError(
                f"--drop names the feature {quote(name)}; {quote_path(path)} has {names[0]} to {names[-1]}"
            )
    if dropped:
        # An empty column keeps the numbers of the others, and is never selected.
        keep = np.ones(X.shape[1])
        keep[[int(name) - first for name in dropped]] = 0.0
        X = (X @ sparse.diags_array(keep)).tocsr()
        X.eliminate_zeros()
    return Data(str(path), X, names, "label", y, first_index=first)


def _load_svmlight_columns(path: Path, wanted: list[int]) -> Matrix:
    X, _ = _load_svmlight(path)
    width = max(max(wanted) + 1, X.shape[1])  # features that no row has are zero
    return sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))[:, wanted]


def _load_svmlight(path: Path) -> tuple[Matrix, AnyArray]:
    """Rows with features at their own numbers, and labels."""
    with explain_read_errors(path), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            X, y = load_svmlight_file(str(path), zero_based=True)
        except UnicodeDecodeError:
            raise
        except (ValueError, OverflowError) as error:
            raise InputError(
                f"cannot read {quote_path(path)} as svmlight: {error}; expected lines such as '1 3:0.5 7:2'"
            ) from error
    if len(y) == 0:
        raise InputError(f"{quote_path(path)} is empty; expected lines such as '1 3:0.5 7:2'")
    finite = np.isfinite(X.data)
    if not finite.all():
        place = int(np.argmin(finite))
        row = int(np.searchsorted(X.indptr, place, side="right"))
        raise InputError(f"feature {X.indices[place]} of {quote_path(path)} is not finite on row {row}; correct it")
    return X, y
