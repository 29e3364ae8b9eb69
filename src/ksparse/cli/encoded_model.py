"""A model of encoded columns: an encoder, if the data are a table, and an estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._types import AnyArray, IntArray
from ..tables import Giveaway, NoColumnError, TableEncoder, describe_encoding, find_giveaways
from ..tables.unknown import ignore_unknown
from ..wording import cut_text
from .data import Data, find_names
from .errors import InputError
from .row_weights import RowWeights
from .settings import Settings
from .tasks import Task

#: Steps of the pipeline that is saved.
STEPS = ("columns", "model")


@dataclass(frozen=True)
class EncodedModel:
    """A fitted estimator, with the encoder that makes its features; None if the data are features already."""

    encoder: TableEncoder | None
    estimator: Any
    #: The names of several targets; empty for one.
    targets: tuple[str, ...] = ()

    @classmethod
    def fit(
        cls,
        encoder: TableEncoder | None,
        estimator: Any,
        X: Any,
        y: AnyArray,
        rows: IntArray,
        targets: tuple[str, ...] = (),
        values: RowWeights | None = None,
    ) -> EncodedModel:
        """Fit an estimator to some rows; the medians are those of these rows."""
        known = pd.DataFrame(y[rows], columns=list(targets)) if targets else y[rows]
        options = {} if values is None else values.select(rows).options
        if encoder is None:
            return cls(None, estimator.fit(X[rows], known, **options), targets)
        table = X.iloc[rows]
        part = encoder.refit(table, y[rows])
        return cls(part, estimator.fit(part.transform(table), known, **options), targets)

    def fit_to_all(self, X: Any, y: AnyArray, values: RowWeights | None = None) -> EncodedModel:
        """The model with the k and the ridges that were chosen, fitted to all rows."""
        return self.fit(self.encoder, self._copy_fixed(), X, y, np.arange(len(y)), self.targets, values)

    def fit_nothing(self, X: Any, y: AnyArray, rows: IntArray, values: RowWeights) -> EncodedModel:
        """The model without features, whose predictions differ by the offsets of rows alone."""
        empty = self._copy_fixed().set_params(k=0, always_select=None)
        return self.fit(self.encoder, empty, X, y, rows, self.targets, values)

    def _copy_fixed(self) -> Any:
        """The estimator with the k and the ridges that were chosen, not fitted."""
        chosen = self.estimator
        return clone(chosen.at(chosen.k_) if hasattr(chosen, "k_") else chosen)

    def encode(self, X: Any, rows: IntArray) -> Any:
        """The features of some rows."""
        if self.encoder is None:
            return X[rows]
        with ignore_unknown():
            return self.encoder.transform(X.iloc[rows])

    @property
    def columns(self) -> Sequence[Any]:
        """What k counts, for each feature: its column, or its number."""
        if self.encoder is None:
            return range(self.estimator.n_features_in_)
        columns: list[str] = self.encoder.feature_columns_.tolist()
        return columns

    @property
    def unit(self) -> str:
        """What k counts, in messages."""
        return "features" if self.estimator.feature_groups is None else "columns"

    def build_pipeline(self) -> Any:
        """What is saved: it takes tables with the columns that the model needs."""
        if self.encoder is None:
            return self.estimator
        return Pipeline(list(zip(STEPS, (self.encoder, self.estimator), strict=True)))


def encode_training(
    data: Data, task: Task, settings: Settings, y: AnyArray, train: IntArray
) -> tuple[TableEncoder | None, list[str]]:
    """The encoder of a table, fitted to all rows for its columns and kinds; and what it does, in lines."""
    if not isinstance(data.X, pd.DataFrame):
        return None, []
    table = data.X
    judged = table.iloc[train], y[train]
    return choose_encoder(lambda encoder: encoder.fit(table, y), table, data.names, y, judged, task, settings)


def choose_encoder(
    fit: Callable[[TableEncoder], TableEncoder],
    table: Any,
    names: Sequence[str],
    y: AnyArray,
    judged: tuple[pd.DataFrame, AnyArray],
    task: Task,
    settings: Settings,
) -> tuple[TableEncoder, list[str]]:
    """The encoder of a table, which leaves out copies of the target; and what it does, in lines.

    Parameters
    ----------
    fit : callable
        Fits an encoder to the table.
    table : DataFrame or mapping
        Its columns by name, with the rows that have a target.
    names : sequence of str
        The names of its columns.
    y : ndarray
        The target of the rows.
    judged : tuple of DataFrame and ndarray
        Rows for training and their target, in which columns are looked for that give the target away.
    task : Task
        The kind of model.
    settings : Settings
        The options.
    """
    included = find_names(settings.include, names, "--include", settings.data)
    try:
        encoder = fit(TableEncoder(keep=included, dates=settings.dates))
    except NoColumnError as error:
        raise InputError(
            f"no column of the table can be used: {error.reasons}; name those to use all the same with --include"
        ) from error
    columns = y.T if task.has_several else [y]
    giveaways = [] if task.is_survival else _find_giveaways(encoder, *judged, task)
    found_names = [found.column for found in giveaways if found.column not in included]
    copies = [name for name in found_names if any(_is_copy(table[name], column, task) for column in columns)]
    if len(copies) == len(encoder.columns_):
        raise InputError(
            f"the only column besides the target, {cut_text(copies[0])}, has the same values; add features"
        )
    if copies:
        encoder = fit(TableEncoder(keep=included, dates=settings.dates, drop=copies))
        reason = "the target in other words; --include keeps it"
        encoder.unused_ = [replace(each, reason=reason) if each.name in copies else each for each in encoder.unused_]
    notes = describe_encoding(encoder, table, day_first="--dates dmy")
    measure = "accuracy" if task.has_classes else "R²"
    what = "one of the targets" if task.has_several else "the target"
    notes += [
        f"{cut_text(found.column)} alone predicts {what} almost perfectly ({measure} {found.score:.3f} on held-out"
        " training rows): if it is not known before the target is, leave it out with --drop"
        for found in giveaways
        if found.column not in copies
    ]
    return encoder, notes


def _find_giveaways(encoder: TableEncoder, table: pd.DataFrame, y: AnyArray, task: Task) -> list[Giveaway]:
    part = encoder.refit(table, y)
    features = part.transform(table)
    found: dict[str, Giveaway] = {}
    for column in y.T if task.has_several else [y]:
        for giveaway in find_giveaways(features, part.feature_columns_, column, has_classes=task.has_classes):
            found.setdefault(giveaway.column, giveaway)
    return list(found.values())


def _is_copy(cells: pd.Series, y: AnyArray, task: Task) -> bool:
    """Whether a column has one value for each class, or is the target itself."""
    pairs = pd.DataFrame({"cell": cells.astype(str).to_numpy(), "target": y}).drop_duplicates()
    one_to_one = not pairs["cell"].duplicated().any() and not pairs["target"].duplicated().any()
    if task.has_classes:
        return one_to_one
    return one_to_one and bool(np.array_equal(pd.to_numeric(cells, errors="coerce").to_numpy(), y))
