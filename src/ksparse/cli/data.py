"""From what the user names (a file, a data set, columns) to features, their names and a target."""

from __future__ import annotations

import csv
import difflib
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from .._types import AnyArray, Matrix
from .delimited import Delimited
from .embedded import EMBEDDED, Embedded
from .errors import InputError, listed, quoted, whole
from .parquet import Parquet
from .source import Source, reading, unpacked_suffix

__all__ = ["Data", "column_list", "features_of_model", "training_data"]

TEXT = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")
SVMLIGHT = (".svm", ".svmlight", ".libsvm")


@dataclass(frozen=True)
class Data:
    """Features and a target.

    Attributes
    ----------
    source : str
        The file or the data set.
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        The features.
    names : list of str
        Their names; numbers of features for svmlight.
    target : str
        The target's name.
    y : ndarray
        Numbers, booleans or text.
    notes : tuple of str
        What the user should know about how the data was read.
    first_index : int or None
        The smallest number of a feature, for svmlight.
    """

    source: str
    X: Matrix
    names: list[str]
    target: str
    y: AnyArray
    notes: tuple[str, ...] = ()
    first_index: int | None = None


def training_data(name: str, target: str | None, drop: list[str]) -> Data:
    """The data to fit a model to.

    Parameters
    ----------
    name : str
        A file, or a data set of `EMBEDDED`.
    target : str, optional
        The target's column; svmlight and embedded data know theirs.
    drop : list of str
        What the user wrote after each ``--drop``.
    """
    path = Path(name)
    if _is_svmlight(path):
        return _svmlight_training(path, target, drop)
    source = _source(name)
    if target is None:
        target = getattr(source, "target", None)
    if target is None:
        raise InputError(f"--target COL is needed: say which column to predict; there are {listed(source.names)}")
    aim = _position(source, target, "--target")
    dropped = {_position(source, column, "--drop") for column in column_list(drop, source.names)}
    if aim in dropped:
        raise InputError(f"{quoted(target)} is both --target and --drop; leave one of them out")
    unnamed = [j + 1 for j, column in enumerate(source.names) if not column]
    features = [j for j, column in enumerate(source.names) if column and j != aim and j not in dropped]
    if not features:
        raise InputError(f"{whole(source.name)} has no column besides the target; expected at least one feature")
    X, y = source.read(features, aim)
    assert y is not None
    notes = (f"Column {', '.join(map(str, unnamed))} has no name and was left out",) if unnamed else ()
    return Data(source.name, X, [source.names[j] for j in features], target, y, notes)


def features_of_model(
    name: str, n_features: int, names: list[str] | None, selected: list[int], first: int | None
) -> Matrix:
    """The columns that a model needs, in the order of `selected`.

    Parameters
    ----------
    name : str
        A file, or a data set of `EMBEDDED`.
    n_features : int
        Number of features of the model.
    names : list of str, optional
        Their names; without names, columns are taken by their place.
    selected : list of int
        The features that have a coefficient.
    first : int, optional
        The smallest number of a feature in svmlight files.
    """
    if _is_svmlight(Path(name)):
        if names is not None:
            raise InputError(
                f"the model knows its features by name, and {whole(name)} has numbers; give a CSV or Parquet file"
            )
        return _svmlight_columns(Path(name), [(first or 0) + feature for feature in selected])
    source = _source(name)
    source.optional = False
    if names is None and first is None:
        if len(source.names) != n_features:
            raise InputError(
                f"{whole(name)} has {len(source.names)} columns, but the model, which has no names of features, needs"
                f" its {n_features} features in their order"
            )
        return source.read(selected, None)[0]
    wanted = [str((first or 0) + feature) if names is None else names[feature] for feature in selected]
    missing = [column for column in wanted if column not in source.names]
    if missing:
        raise InputError(
            f"{whole(name)} lacks {'columns' if len(missing) > 1 else 'the column'} {listed(missing)} that the model"
            f" needs; it has {listed(source.names)}"
        )
    return source.read([source.names.index(column) for column in wanted], None)[0]


def column_list(options: list[str], names: list[str]) -> list[str]:
    """The columns in options such as ``a,b``; a name with a comma is found too, alone or in quotes."""
    columns: list[str] = []
    for option in options:
        parts = [option] if option in names else next(csv.reader([option], skipinitialspace=True), [])
        columns += [part.strip() for part in parts if part.strip()]
    return columns


def _source(name: str) -> Source:
    path, known = Path(name), name.replace("_", "-")
    if known in EMBEDDED and not path.exists():
        return Embedded(known)
    if path.is_dir():
        raise InputError(f"{whole(name)} is a folder; give a file in it")
    kind = unpacked_suffix(path)
    if not path.exists():
        raise InputError(f"there is no file {whole(name)}; check the path, or try one of {', '.join(EMBEDDED)}")
    if path.suffix.lower() in PARQUET:
        return Parquet(path)
    if kind in TEXT:
        return Delimited(path)
    raise InputError(
        f"cannot tell from its name what {whole(name)} holds; expected {', '.join((*TEXT, *PARQUET, *SVMLIGHT))}, text"
        " also with .gz or .bz2"
    )


def _position(source: Source, column: str, option: str) -> int:
    if column in source.names:
        return source.names.index(column)
    close = difflib.get_close_matches(column, source.names, n=1)
    advice = f"did you mean {quoted(close[0])}?" if close else f"there are {listed(source.names)}"
    raise InputError(f"{whole(source.name)} has no column {quoted(column)}, which {option} names; {advice}")


# --- svmlight -------------------------------------------------------------------------------------------------------


def _is_svmlight(path: Path) -> bool:
    return unpacked_suffix(path) in SVMLIGHT


def _svmlight_training(path: Path, target: str | None, drop: list[str]) -> Data:
    if target is not None:
        raise InputError("svmlight files have their target at the start of each line; leave --target out")
    X, y = _load_svmlight(path)
    if not np.isfinite(y).all():
        raise InputError(
            f"{whole(path)} has a label that is not finite on row {np.argmin(np.isfinite(y)) + 1}; correct it"
        )
    if X.nnz == 0:
        raise InputError(f"{whole(path)} has no features; expected lines such as '1 3:0.5 7:2'")
    # As scikit-learn does: numbers start at 1 unless a feature 0 is there.
    first = 0 if np.any(X.indices == 0) else 1
    X = X[:, first:]
    names = [str(feature + first) for feature in range(X.shape[1])]
    dropped = column_list(drop, names)
    known = set(names)
    for name in dropped:
        if name not in known:
            raise InputError(f"--drop names the feature {quoted(name)}; {whole(path)} has {names[0]} to {names[-1]}")
    if dropped:
        # An empty column keeps the numbers of the others, and is never selected.
        keep = np.ones(X.shape[1])
        keep[[int(name) - first for name in dropped]] = 0.0
        X = (X @ sparse.diags_array(keep)).tocsr()
        X.eliminate_zeros()
    return Data(str(path), X, names, "label", y, first_index=first)


def _svmlight_columns(path: Path, wanted: list[int]) -> Matrix:
    X, _ = _load_svmlight(path)
    beyond = max([*wanted, 0]) + 1 - X.shape[1]
    if beyond > 0:  # features that no row has are zero
        X = sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], X.shape[1] + beyond))
    return X[:, wanted]


def _load_svmlight(path: Path) -> tuple[Matrix, AnyArray]:
    """Rows with features at their own numbers, and labels."""
    with reading(path), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            X, y = load_svmlight_file(str(path), zero_based=True)
        except (ValueError, OverflowError) as error:
            raise InputError(
                f"cannot read {whole(path)} as svmlight: {error}; expected lines such as '1 3:0.5 7:2'"
            ) from error
    if len(y) == 0:
        raise InputError(f"{whole(path)} is empty; expected lines such as '1 3:0.5 7:2'")
    finite = np.isfinite(X.data)
    if not finite.all():
        place = int(np.argmin(finite))
        row = int(np.searchsorted(X.indptr, place, side="right"))
        raise InputError(f"feature {X.indices[place]} of {whole(path)} is not finite on row {row}; correct it")
    return X, y
