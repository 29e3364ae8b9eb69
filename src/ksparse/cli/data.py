"""From what the user names (a file, a data set, columns) to features and a target."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._types import IntArray, Matrix
from ..limits import FEATURE_COST, ROW_COST
from ..tables import NoColumnError, TableEncoder
from ..wording import MOST_NAMES
from .errors import InputError, check_memory, choose_limit, join_problems, quote, quote_list, quote_path
from .reading import SVMLIGHT, ReadingOptions, Table, find_suffix, open_table
from .row_weights import RowColumns, RowWeights, check_kept_rows, read_row_values
from .settings import Settings
from .survival_hint import suggest_survival_analysis
from .survival_target import SurvivalColumns, read_survival_target
from .svmlight import EXAMPLE, FeatureNumbers, load_svmlight
from .target import Target


@dataclass(frozen=True)
class Data:
    """Rows with features and a target.

    Attributes
    ----------
    source : str
        The file, or the name of a data set.
    X : DataFrame or sparse matrix
        The columns of a table as they were read; numbers, for svmlight.
    target : Target
        The target of these rows.
    notes : tuple of str
        What a user should know of how the data were read.
    identifiers : DataFrame
        Columns that name the rows, and are no features.
    first_index : int, optional
        The smallest number of a feature, for svmlight.
    max_memory : int, optional
        Memory in bytes that the data may take.
    problems : tuple of str
        What is wrong with the file; the rows are those that could be read all the same.
    row_columns : RowColumns
        The columns of weights and exposures or offsets, which are no features.
    row_values : RowWeights
        Their values in these rows.
    """

    source: str
    X: Any
    target: Target
    notes: tuple[str, ...] = ()
    identifiers: pd.DataFrame | None = None
    first_index: int | None = None
    max_memory: int | None = None
    problems: tuple[str, ...] = ()
    row_columns: RowColumns = field(default_factory=RowColumns)
    row_values: RowWeights = field(default_factory=RowWeights)

    @property
    def names(self) -> Sequence[str]:
        """The columns of the table, or the numbers of the features."""
        if self.first_index is not None:
            return FeatureNumbers(range(self.first_index, self.first_index + self.X.shape[1]))
        names: list[str] = self.X.columns.tolist()
        return names

    @property
    def row_numbers(self) -> IntArray:
        """The numbers of the rows in the file, from 1."""
        return np.flatnonzero(self.target.known) + 1

    def check_problems(self) -> None:
        """Raise if something is wrong with the file, and tell what is wrong with its features too."""
        if self.problems:
            raise join_problems([*self.problems, *describe_features(self.X)])

    def check_memory(self, outputs: int) -> None:
        """Raise if a fit with so many coefficients for each feature would take too much memory."""
        rows, features = self.X.shape
        limit = choose_limit(Path(self.source), self.max_memory)
        what = f"a fit to the {rows} rows and {features} features of {quote_path(self.source)}"
        if self.first_index is not None:
            what += f" (their largest number is {self.names[-1]})"
        if outputs > 1:
            what += f" with {outputs} {'targets' if self.target.names else 'classes'}"
        check_memory(FEATURE_COST * features * outputs + ROW_COST * rows, limit, what)


def load_data(settings: Settings) -> Data:
    """The data that the options of ``ksparse fit`` name."""
    survival = None
    if settings.time is not None and settings.event is not None:
        survival = SurvivalColumns(settings.time, settings.event, settings.entry, settings.strata)
    row_columns = RowColumns(settings.weights, settings.exposure, settings.offset)
    return load_training_data(
        settings.data, settings.target, settings.drop, settings.max_memory, settings.reading, survival, row_columns
    )


def load_training_data(
    name: str,
    target: str | Sequence[str] | None,
    drop: Sequence[str],
    max_memory: int | None = None,
    reading: ReadingOptions | None = None,
    survival: SurvivalColumns | None = None,
    row_columns: RowColumns | None = None,
) -> Data:
    """The data to fit a model to.

    Parameters
    ----------
    name : str
        A file, or a built-in data set.
    target : str or sequence of str, optional
        The column to predict; of several, what the user wrote after each ``--target``.
    drop : sequence of str
        What the user wrote after each ``--drop``.
    max_memory : int, optional
        Memory in bytes that the data may take; see `ksparse.limits` for the default.
    reading : ReadingOptions, optional
        What the user says about the file.
    survival : SurvivalColumns, optional
        The columns of times and events, in place of a target.
    row_columns : RowColumns, optional
        The columns of weights and exposures or offsets.
    """
    row_columns = row_columns or RowColumns()
    if find_suffix(Path(name)) in SVMLIGHT:
        if survival is not None:
            raise InputError("svmlight files have no columns of times and events; give a table")
        if given := list(row_columns.list_columns()):
            raise InputError(f"{given[0]} names a column, and svmlight files have no names of columns; give a table")
        return _load_svmlight_data(Path(name), target, drop, max_memory)
    table = open_table(name, reading, max_memory)
    if survival is None:
        columns = [("--target", column) for column in _list_targets(target, table)]
    else:
        columns = list(survival.list_columns(table.names).items())
    targets = len(columns)
    columns += row_columns.list_columns().items()
    try:
        places = {_find_column(table, column, option): option for option, column in columns}
        dropped = {_find_column(table, column, "--drop") for column in split_names(drop, table.names)}
    except InputError as error:
        raise join_problems([*table.list_problems(), str(error)]) from error
    if len(places) < len(columns):
        raise InputError(f"{' and '.join(dict(columns))} must name different columns")
    for place in sorted(dropped & places.keys()):
        raise InputError(f"{quote(table.names[place])} is both {places[place]} and --drop; leave one of them out")
    features = [j for j in range(len(table.names)) if j not in places and j not in dropped]
    if not features:
        raise InputError(f"{quote_path(table.source)} has no column besides the target; expected at least one feature")
    frame, problems = table.read_right_rows()
    advice: tuple[str, ...] = ()
    with tell_all_problems(frame.iloc[:, features], problems):
        if survival is None:
            found = Target.of_columns({table.names[place]: frame.iloc[:, place] for place in list(places)[:targets]})
            advice = suggest_survival_analysis(found, frame, table.source, dropped={table.names[j] for j in dropped})
        else:
            # Where rows of the file were left out, they are not where the table says.
            found = read_survival_target(survival, frame, None if problems else table.locate)
        values, known, remarks = read_row_values(row_columns, frame, found.known, None if problems else table.locate)
        kept = found.keep(known)
        check_kept_rows(row_columns, found, kept)
    found, rows = kept, np.flatnonzero(kept.known)
    identifiers = None if table.identifiers is None else table.identifiers.iloc[rows]
    return Data(
        table.source,
        frame.iloc[rows, features].reset_index(drop=True).copy(),  # columns of one type in one block
        found,
        (*table.notes, *found.notes, *remarks, *advice),
        identifiers,
        max_memory=max_memory,
        problems=tuple(problems),
        row_columns=row_columns,
        row_values=values.select(rows),
    )


def _list_targets(target: str | Sequence[str] | None, table: Table) -> list[str]:
    """The columns to predict: those that the user names, or that of a built-in data set."""
    given = [target] if isinstance(target, str) else target or ()
    targets = split_names(given, table.names) or [name for name in [table.target] if name is not None]
    if not targets:
        raise InputError(f"--target COL is needed: name the column to predict; there are {quote_list(table.names)}")
    return targets


@contextmanager
def tell_all_problems(X: Any, problems: Sequence[str] = ()) -> Iterator[None]:
    """If something is wrong with the target, tell it together with other problems of the file and of its features."""
    try:
        yield
    except InputError as error:
        raise join_problems([*problems, str(error), *describe_features(X)]) from error


def describe_features(X: Any) -> list[str]:
    """What is wrong with the numbers in a table; nothing, if they can be features."""
    try:
        if isinstance(X, pd.DataFrame):
            TableEncoder().fit_transform(X)
    except NoColumnError:
        return []  # its numbers may be right
    except ValueError as error:
        return [str(error)]
    return []


def load_rows(
    name: str,
    names: Sequence[str] | None,
    count: int,
    max_memory: int | None = None,
    reading: ReadingOptions | None = None,
) -> tuple[Table, pd.DataFrame]:
    """The rows of a table that a model predicts, and the table.

    Parameters
    ----------
    name : str
        The file, or a built-in data set.
    names : sequence of str, optional
        The columns that the model needs; without names, columns are taken by position.
    count : int
        How many columns it has seen, if it has no names for them.
    max_memory : int, optional
        Memory in bytes that the data may take; see `ksparse.limits` for the default.
    reading : ReadingOptions, optional
        What the user says about the file.
    """
    table = open_table(name, reading, max_memory)
    if table.problems:
        raise join_problems(table.list_problems())
    if names is None:
        if len(table.names) != count:
            raise InputError(
                f"{quote_path(name)} has {len(table.names)} columns, but the model needs its {count} features in their"
                " order, since it was fitted without their names"
            )
        return table, table.read()
    require_needed_columns(names, table.names, name)
    return table, table.read()


def require_needed_columns(needed: Sequence[str], names: Sequence[str], source: str) -> None:
    """Raise if a table lacks columns that a model needs."""
    there = set(names)
    if missing := [column for column in needed if column not in there]:
        raise InputError(
            f"{quote_path(source)} lacks {'columns' if len(missing) > 1 else 'the column'} {quote_list(missing)}, which"
            f" the model needs; it has {_suggest_cases(missing, names) or quote_list(names)}"
        )


def load_numbered_features(name: str, needed: Sequence[int], first_index: int, max_memory: int | None = None) -> Matrix:
    """The features of an svmlight file that a model needs.

    Parameters
    ----------
    name : str
        The file.
    needed : sequence of int
        The positions of the needed features among those of the model.
    first_index : int
        The number of the model's first feature.
    max_memory : int, optional
        Memory in bytes that the data may take; see `ksparse.limits` for the default.
    """
    X, _, problems = load_svmlight(Path(name), max_memory)
    if problems:
        raise join_problems(problems)
    columns = [first_index + feature for feature in needed]
    X.resize(X.shape[0], max(columns) + 1)  # features that no row has are zero; larger numbers do not matter
    return X[:, columns]


def split_names(options: Sequence[str], names: Sequence[str]) -> list[str]:
    """The columns in options such as ``a,b``; a name with a comma is found too, alone or in quotes."""
    columns: list[str] = []
    for option in options:
        # Before Python 3.11, the reader of CSV takes no NUL; no column has one.
        is_name = option in names or "\0" in option
        parts = [option] if is_name else next(csv.reader([option], skipinitialspace=True), [])
        columns += [part.strip() for part in parts if part.strip()]
    return columns


def find_names(options: Sequence[str], names: Sequence[str], option: str, source: str) -> list[str]:
    """The columns in options such as ``a,b``, which must be there."""
    found = split_names(options, names)
    for name in found:
        _check_column(name, names, option, source)
    return found


def _find_column(table: Table, column: str, option: str) -> int:
    hint = table.suggest_transpose(column) if option == "--target" else ""
    _check_column(column, table.names, option, table.source, hint)
    return table.names.index(column)


def _check_column(column: str, names: Sequence[str], option: str, source: str, hint: str = "") -> None:
    if column in names:
        return
    advice = f"{suggest_name(column, names)}; {hint}" if hint else suggest_name(column, names)
    raise InputError(f"{quote_path(source)} has no column {quote(column)}, which {option} names; {advice}")


def suggest_name(name: str, names: Sequence[str]) -> str:
    """Advice for a name that is not among some names: the nearest one, or which there are.

    Examples
    --------
    >>> from ksparse.cli.data import suggest_name
    >>> suggest_name("sexx", ["age", "sex"]), suggest_name("SEX", ["age", "sex"])
    ("did you mean 'sex'?", "did you mean 'sex'?")
    """
    alike = [other for other in names if other.casefold() == name.casefold()]
    close = alike or difflib.get_close_matches(name, list(names), n=1)
    return f"did you mean {quote(close[0])}?" if close else f"there are {quote_list(names)}"


def _suggest_cases(missing: Sequence[str], names: Sequence[str]) -> str:
    """What to do if names differ from those that are needed in upper and lower case only; empty if they do not."""
    folded = {name.casefold(): name for name in names}
    pairs = {name: folded[name.casefold()] for name in missing if name.casefold() in folded}
    if not pairs:
        return ""
    rename = ", ".join(f"{quote(other)} to {quote(name)}" for name, other in list(pairs.items())[:MOST_NAMES])
    more = f", … and {len(pairs) - MOST_NAMES} more" if len(pairs) > MOST_NAMES else ""
    return f"{quote_list(list(pairs.values()))}, and upper and lower case count: rename {rename}{more}"


def _load_svmlight_data(
    path: Path, target: str | Sequence[str] | None, drop: Sequence[str], max_memory: int | None
) -> Data:
    if target is not None:
        raise InputError("svmlight files have their target at the start of each line; leave --target out")
    X, y, problems = load_svmlight(path, max_memory)
    if X.nnz == 0:
        raise InputError(f"{quote_path(path)} has no features; {EXAMPLE}")
    # As scikit-learn does: numbers start at 1 unless there is a feature 0.
    first = 0 if np.any(X.indices == 0) else 1
    names = FeatureNumbers(range(first, X.shape[1]))
    with tell_all_problems(X, problems):
        found = Target.of_column("label", pd.Series(y))
    features = X[:, first:] if found.known.all() else X[found.known][:, first:]
    data = Data(
        str(path), features, found, found.notes, first_index=first, max_memory=max_memory, problems=tuple(problems)
    )
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
