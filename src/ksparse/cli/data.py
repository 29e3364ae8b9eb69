"""From what the user names (a file, a data set, columns) to features, a target and the kind of model."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._types import AnyArray, Array, Matrix
from ..limits import FEATURE_COST, LARGEST, ROW_COST
from .errors import InputError, check_memory, choose_limit, quote, quote_list, quote_path
from .numeric import parse_numbers, read_numbers, read_target
from .reading import SVMLIGHT, ReadingOptions, Table, find_suffix, open_table
from .settings import TASKS, Task
from .svmlight import EXAMPLE, FeatureNumbers, load_svmlight

#: Integers with at most this many distinct values are taken for classes,
MAX_INTEGER_CLASSES = 10
#: if each value occurs in at least this many rows; otherwise they are counts.
ROWS_OF_A_CLASS = 5


@dataclass(frozen=True)
class Data:
    """Features and a target; text, numbers or booleans."""

    source: str
    X: Matrix
    names: Sequence[str]  # numbers of features for svmlight
    target: str
    y: AnyArray
    notes: tuple[str, ...] = ()
    first_index: int | None = None  # the smallest number of a feature, for svmlight
    max_memory: int | None = None

    def check_memory(self, outputs: int) -> None:
        """Raise if a fit with so many coefficients for each feature would take too much memory."""
        rows, features = self.X.shape
        limit = choose_limit(Path(self.source), self.max_memory)
        what = f"a fit to the {rows} rows and {features} features of {quote_path(self.source)}"
        if self.first_index is not None:
            what += f" (their largest number is {self.names[-1]})"
        if outputs > 1:
            what += f" with {outputs} classes"
        check_memory(FEATURE_COST * features * outputs + ROW_COST * rows, limit, what)


def load_training_data(
    name: str,
    target: str | None,
    drop: Sequence[str],
    max_memory: int | None = None,
    reading: ReadingOptions | None = None,
) -> Data:
    """The data to fit a model to.

    Parameters
    ----------
    name : str
        A file, or a built-in data set.
    target : str, optional
        The column to predict.
    drop : sequence of str
        What the user wrote after each ``--drop``.
    max_memory : int, optional
        Memory in bytes that the data may take; see `ksparse.limits` for the default.
    reading : ReadingOptions, optional
        What the user says about the file.
    """
    if find_suffix(Path(name)) in SVMLIGHT:
        return _load_svmlight_data(Path(name), target, drop, max_memory)
    table = open_table(name, reading, max_memory)
    target = table.target if target is None else target
    if target is None:
        raise InputError(f"--target COL is needed: name the column to predict; there are {quote_list(table.names)}")
    target_column = _find_column(table, target, "--target")
    dropped = {_find_column(table, column, "--drop") for column in split_names(drop, table.names)}
    if target_column in dropped:
        raise InputError(f"{quote(target)} is both --target and --drop; leave one of them out")
    features = [j for j in range(len(table.names)) if j != target_column and j not in dropped]
    if not features:
        raise InputError(f"{quote_path(table.source)} has no column besides the target; expected at least one feature")
    frame = table.read()
    X = read_numbers(table, frame, features, advise_drop=True)
    y = read_target(table, frame, target_column)
    return Data(table.source, X, [table.names[j] for j in features], target, y, table.notes, max_memory=max_memory)


def load_features(
    name: str,
    model: Any,
    needed: Sequence[int],
    first_index: int | None,
    max_memory: int | None = None,
    reading: ReadingOptions | None = None,
) -> Matrix:
    """The features that a model needs, in this order; without names, columns are taken by position."""
    names = getattr(model, "feature_names_in_", None)
    if find_suffix(Path(name)) in SVMLIGHT:
        if names is not None:
            raise InputError(
                f"the model has named features, but those of {quote_path(name)} are numbers; give a CSV or Parquet file"
            )
        X, _ = load_svmlight(Path(name), max_memory)
        columns = [(first_index or 0) + feature for feature in needed]
        X.resize(X.shape[0], max(columns) + 1)  # features that no row has are zero; larger numbers do not matter
        return X[:, columns]
    table = open_table(name, reading, max_memory)
    if names is None and first_index is None:
        if len(table.names) != model.n_features_in_:
            raise InputError(
                f"{quote_path(name)} has {len(table.names)} columns, but the model needs its {model.n_features_in_}"
                " features in their order, since it was fitted without their names"
            )
        return read_numbers(table, table.read(), list(needed), advise_drop=False)
    wanted = [str((first_index or 0) + feature) if names is None else names[feature] for feature in needed]
    places = {column: place for place, column in enumerate(table.names)}
    if missing := [column for column in wanted if column not in places]:
        raise InputError(
            f"{quote_path(name)} lacks {'columns' if len(missing) > 1 else 'the column'} {quote_list(missing)}, which"
            f" the model needs; it has {quote_list(table.names)}"
        )
    columns = [places[column] for column in wanted]
    return read_numbers(table, table.read(), columns, advise_drop=False)


def split_names(options: Sequence[str], names: Sequence[str]) -> list[str]:
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
    if option == "--target" and (hint := table.suggest_transpose(column)):
        advice = f"{advice}; {hint}"
    raise InputError(f"{quote_path(table.source)} has no column {quote(column)}, which {option} names; {advice}")


def _load_svmlight_data(path: Path, target: str | None, drop: Sequence[str], max_memory: int | None) -> Data:
    if target is not None:
        raise InputError("svmlight files have their target at the start of each line; leave --target out")
    X, y = load_svmlight(path, max_memory)
    if X.nnz == 0:
        raise InputError(f"{quote_path(path)} has no features; {EXAMPLE}")
    # As scikit-learn does: numbers start at 1 unless there is a feature 0.
    first = 0 if np.any(X.indices == 0) else 1
    names = FeatureNumbers(range(first, X.shape[1]))
    data = Data(str(path), X[:, first:], names, "label", y, first_index=first, max_memory=max_memory)
    data.check_memory(outputs=1)
    dropped = split_names(drop, names)
    if unknown := [name for name in dropped if name not in names]:
        raise InputError(
            f"--drop names the feature {quote(min(unknown))}; {quote_path(path)} has {names[0]} to {names[-1]}"
        )
    if dropped:
        # An empty column keeps the numbers of the others, and is never selected.
        data.X.data[np.isin(data.X.indices, [names.index(name) for name in dropped])] = 0.0
        data.X.eliminate_zeros()
    return data


def choose_task(data: Data, option: str) -> tuple[Task, AnyArray, str]:
    """The task, the target as its model takes it, and why this task was chosen."""
    numbers = parse_numbers(pd.Series(data.y))
    wrong = ~(np.abs(numbers) <= LARGEST)
    # Among numbers, text is more probably a mistake than a class.
    may_be_text = option == "classification" or (option == "auto" and wrong.mean() >= 0.5)
    if wrong.any() and not (may_be_text and data.y.dtype == object):
        row = int(np.argmax(wrong))
        raise InputError(
            f"the target {quote(data.target)} is not a finite number, or is beyond {LARGEST:g}, in {wrong.sum()} of"
            f" {len(wrong)} rows (first {quote(data.y[row])} on row {row + 1}); correct it, or use --task"
            " classification if the values are classes"
        )
    name, reason = (option, "set by --task") if option != "auto" else _guess(data.y, numbers)
    if name == "poisson" and numbers.min() < 0:
        raise InputError(
            f"--task poisson is for counts, but the target {quote(data.target)} has {numbers.min():g}; choose another"
            " task"
        )
    return TASKS[name], _make_labels(data, numbers) if TASKS[name].has_classes else numbers, reason


def _guess(y: AnyArray, numbers: Array) -> tuple[str, str]:
    distinct, counts = np.unique(numbers, return_counts=True)
    few = (
        len(distinct) <= MAX_INTEGER_CLASSES
        and counts.min() >= ROWS_OF_A_CLASS
        and np.all(distinct == np.round(distinct))
    )
    reasons = {
        "is text": bool(np.isnan(numbers).any()),
        "is true or false": y.dtype == bool,
        f"has {len(distinct)} distinct values": len(distinct) <= 2,
        f"has only {len(distinct)} distinct integers": few,
    }
    reason = next((reason for reason, holds in reasons.items() if holds), None)
    name = "classification" if reason else "regression"
    return name, f"since the target {reason or 'has many distinct numbers'}; use --task to change this"


def _make_labels(data: Data, numbers: Array) -> AnyArray:
    """Labels as booleans, integers or text; at least two of them."""
    if data.y.dtype == bool:
        y = data.y
    elif np.all(numbers == np.round(numbers)) and np.abs(numbers).max() < 2**53:
        y = numbers.astype(np.int64)
    else:
        # scikit-learn does not take classes such as 1.5, but it takes any text. An array of text would be padded to the
        # longest, and drop a NUL at the end.
        y = np.array([str(label) for label in data.y.tolist()], dtype=object)
    classes = np.unique(y).tolist()
    if len(classes) < 2:
        raise InputError(
            f"the target {quote(data.target)} has only one class, {quote_list(classes)}; at least two are needed"
        )
    if len(classes) > len(y) / 2:
        raise InputError(
            f"the target {quote(data.target)} has {len(classes)} classes in {len(y)} rows, such as"
            f" {quote_list(classes, 3)}; choose another --target, or --task regression for numbers"
        )
    return y
