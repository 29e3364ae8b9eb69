"""``ksparse fit`` of data in blocks: larger than memory, or on a cluster."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ..._types import AnyArray, Array, IntArray
from ...tables import TableEncoder, fit_by_columns
from ...writing import Hold
from ..data import Data, find_names, split_names
from ..encoded_model import EncodedModel, choose_encoder
from ..errors import InputError, escape_control, quote, quote_list, quote_path
from ..fitting import check_positive, list_findings
from ..making import make_estimator
from ..printing import show_progress
from ..scoring import Scores, list_score_names, predict_encoded
from ..settings import Settings
from ..splitting import hold_out_rows
from ..target import Target, choose_task
from ..tasks import Task
from .encoded_rows import EncodedRows, read_by_columns, refit_to_rows
from .engines import Engine, open_engine
from .large_files import StoredFiles
from .stored_model import StoredModel
from .table import StoredTable
from .work_folder import make_work_folder

__all__ = ["fit_in_blocks"]

#: Options that have no meaning for data in blocks.
MEMORY_ONLY = ("categories", "certify", "exposure", "nested", "offset", "resamples", "time", "weights")
#: Tasks whose loss compares all samples with each other, so that they need X in memory.
WHOLE_TASKS = ("cox", "ordinal")
#: Rows that are held out, and of the others that are in memory for charts and training scores, at most: more say hardly
#: more. At least so many are taken, however little memory there is.
MOST_HELD_OUT, MOST_SAMPLED, LEAST_SAMPLED = 100_000, 20_000, 1000
#: Estimators that choose k and ridges without further passes over the data; others need hundreds, and choose by so many
#: numbers of the training rows: measured, in about ten minutes.
FEW_PASSES = ("SparseLinearRegression",)
MOST_CHOOSING_NUMBERS = 20_000_000
#: The fraction of the limit that these rows and what is made of them may take, with so many copies.
SAMPLE_FRACTION, COPIES = 1 / 8, 4


def fit_in_blocks(settings: Settings, files: StoredFiles, hold: Hold = nullcontext) -> StoredModel:
    """Fit to the training rows, score the held-out rows, and fit to all rows what was chosen."""
    column = _check_settings(settings)
    if settings.scheduler is not None and not files.is_parquet:
        raise InputError(
            "the workers of a cluster read Parquet files only; leave --scheduler out, or save the table as Parquet"
        )
    with make_work_folder(hold) as folder:
        with show_progress(f"Reading {settings.data}"):
            table = files.open(settings.reading, folder, partial(_find_dropped, settings, files.source, column))
        with open_engine(settings, files.limit, folder, hold) as engine, show_progress("Fitting"):
            fit = _BlockFit(settings, files, table, engine, folder, column)
            try:
                return fit.run()
            except (ValueError, TypeError) as error:
                raise InputError(f"cannot fit {quote_path(files.source)}: {escape_control(error)}") from error


def _check_settings(settings: Settings) -> str:
    """The target; options that data in blocks have no use for are refused."""
    defaults = {field.name: field.default for field in fields(Settings) if field.name in MEMORY_ONLY}
    given = [name for name, default in defaults.items() if getattr(settings, name) != default]
    if given == ["resamples"] and settings.resamples == 0:
        given = []
    if given:
        raise InputError(f"--{given[0]} is for data in memory; leave it out for files that are read in blocks")
    if settings.task in WHOLE_TASKS:
        raise InputError(f"--task {settings.task} needs data in memory; choose another task, or use fewer rows")
    if settings.target is None or (not isinstance(settings.target, str) and len(settings.target) != 1):
        raise InputError("files that are read in blocks need one --target COL")
    return settings.target if isinstance(settings.target, str) else settings.target[0]


def _find_dropped(settings: Settings, source: str, column: str, names: Sequence[str]) -> list[str]:
    """The columns of --drop, among which the target must not be."""
    found = find_names([column], names, "--target", source)
    if len(found) != 1:
        raise InputError("files that are read in blocks need one --target COL")
    dropped = find_names(settings.drop, names, "--drop", source)
    if found[0] in dropped:
        raise InputError(f"{quote(found[0])} is both --target and --drop; leave one of them out")
    return dropped


@dataclass(frozen=True)
class _Fitted:
    """Models of the training rows and of all rows."""

    training: EncodedModel
    final: EncodedModel
    chooser: Any
    moments: tuple[Array, Array]
    #: When the fit to the training rows ended.
    ended: float
    notes: list[str]


@dataclass
class _BlockFit:
    """A fit of a table, with what it needs."""

    settings: Settings
    files: StoredFiles
    table: StoredTable
    engine: Engine
    folder: Path
    column: str

    def run(self) -> StoredModel:
        """The model with all that is told about it."""
        settings, table = self.settings, self.table
        target, names = self._read_target()
        task, y, reason, advice = choose_task(target, settings.task)
        check_positive(settings, task, y)
        train, test, notes = self._split(y, task, len(names))
        sample = self._choose_sample(train, len(names))
        rows = np.sort(np.concatenate([sample, test]))
        data = self._read_some(target, advice, names, rows)
        in_train, in_test = np.searchsorted(rows, sample), np.searchsorted(rows, test)
        began = time.perf_counter()
        encoder, encoded = choose_encoder(
            lambda encoder: fit_by_columns(encoder, read_by_columns(table, names), y),
            table,
            names,
            y,
            (data.X.iloc[in_train], y[sample]),
            task,
            settings,
        )
        found = self._fit(data, encoder, task, y, train)
        scores, on_test = self._score(found.training, data, y[rows], task, in_train, in_test, y[train])
        chooser = EncodedModel(found.training.encoder, found.chooser)
        explained = self._explain(data, len(in_train))
        return StoredModel(
            data,
            settings,
            task,
            reason,
            y[rows],
            in_train,
            in_test,
            found.training,
            found.final,
            scores,
            on_test,
            found.ended - began,
            (*self._explain_blocks(), *data.notes, *encoded, *notes, *found.notes, *explained),
            tuple(list_findings(chooser, settings)),
            counts=(len(y), len(train), len(test)),
            labels=_count_labels(y, task),
            moments=found.moments,
            chooser=found.chooser,
        )

    def _explain_blocks(self) -> list[str]:
        """That data are read in blocks, why and by what."""
        by_cluster = self.settings.scheduler is not None
        return [self.files.describe(by_cluster=by_cluster), self.engine.description]

    def _read_some(self, target: Target, advice: Sequence[str], names: list[str], rows: IntArray) -> Data:
        """Some rows as data in memory; their numbers are those in the files."""
        known, shown = np.flatnonzero(target.known), np.zeros(len(target.known), dtype=bool)
        shown[known[rows]] = True
        return Data(
            self.settings.data,
            self.table.read_rows(rows, names),
            replace(target, values=target.values[rows], known=shown),
            (*self.table.notes, *target.notes, *advice),
            self.table.read_index(rows),
            max_memory=self.settings.max_memory,
        )

    def _fit(self, data: Data, encoder: TableEncoder, task: Task, y: AnyArray, train: IntArray) -> _Fitted:
        """Fit to the training rows, then to all rows."""
        blocks = EncodedRows(self.table, self.engine, self.folder, self.files.is_parquet)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the solver's message is shown
            training, X, chooser, notes = self._fit_training(blocks, data, encoder, task, y, train)
            ended, final = time.perf_counter(), training
            if self.settings.refit_all and len(train) < len(y):
                X, final = self._fit_to_all(blocks, encoder, training, y)
        moments = _measure(X)
        blocks.close()
        return _Fitted(training, final, chooser, moments, ended, notes)

    def _read_target(self) -> tuple[Target, list[str]]:
        """The target, whose rows are kept, and the columns to use besides."""
        table = self.table
        (column,) = split_names([self.column], table.names)
        dropped = split_names(self.settings.drop, table.names)
        names = [name for name in table.names if name != column and name not in dropped]
        if not names:
            raise InputError(
                f"{quote_path(table.source)} has no column besides the target; expected at least one feature"
            )
        if unknown := [name for name in split_names(self.settings.always, names) if name not in names]:
            raise InputError(
                f"--always names {quote_list(unknown)}, which are not columns of {quote_path(table.source)}"
            )
        target = Target.of_column(column, table[column])
        if not target.known.all():
            table.kept = target.known
        return target, names

    def _count_affordable(self, width: int) -> int:
        """Rows that may be in memory as they are and as features."""
        return max(int(SAMPLE_FRACTION * self.files.limit / (8 * COPIES * 2 * width)), LEAST_SAMPLED)

    def _split(self, y: AnyArray, task: Task, width: int) -> tuple[IntArray, IntArray, list[str]]:
        """Rows to train on and rows to test on: no more than can be in memory."""
        settings, most = self.settings, min(self._count_affordable(width), MOST_HELD_OUT)
        if settings.test * len(y) <= most:
            return *hold_out_rows(y, task, settings), []
        train, test = hold_out_rows(y, task, replace(settings, test=most / len(y)))
        said = f"{len(test)} rows are held out, fewer than --test {settings.test:g} of all: more would say hardly more"
        return train, test, [said]

    def _choose_sample(self, train: IntArray, width: int) -> IntArray:
        """The training rows that are in memory for charts and scores."""
        most = min(self._count_affordable(width), MOST_SAMPLED)
        if len(train) <= most:
            return train
        return np.sort(np.random.default_rng(self.settings.seed).choice(train, most, replace=False))

    def _fit_training(
        self, blocks: EncodedRows, data: Data, encoder: TableEncoder, task: Task, y: AnyArray, train: IntArray
    ) -> tuple[EncodedModel, Any, Any, list[str]]:
        """The model of the training rows and its design, what chose k and ridges, and a line if that had fewer rows."""
        part = refit_to_rows(encoder, self.table, y[train], train) if len(train) < len(y) else encoder
        estimator = make_estimator(data, encoder, task, self.settings, y[train], None)
        most = int(MOST_CHOOSING_NUMBERS / part.n_features_out_)
        if not hasattr(estimator, "ks") or task.estimator in FEW_PASSES or len(train) <= most:
            X = blocks.open(part, train)
            chooser = estimator.fit(X, y[train])
            return EncodedModel(part, chooser), X, chooser, []
        some = np.sort(np.random.default_rng(self.settings.seed).choice(train, most, replace=False))
        chooser = estimator.fit(blocks.open(part, some), y[some])
        X = blocks.open(part, train)
        fixed = clone(chooser.at(chooser.k_)).fit(X, y[train])
        said = f"k and ridges were chosen on {most} of the {len(train)} training rows: with all, this would take long"
        return EncodedModel(part, fixed), X, chooser, [said]

    def _fit_to_all(
        self, blocks: EncodedRows, encoder: TableEncoder, training: EncodedModel, y: AnyArray
    ) -> tuple[Any, EncodedModel]:
        chosen = training.estimator
        fixed = clone(chosen.at(chosen.k_) if hasattr(chosen, "ks_") else chosen)
        X = blocks.open(encoder, np.arange(len(y)))
        return X, EncodedModel(encoder, fixed.fit(X, y))

    def _score(
        self,
        training: EncodedModel,
        data: Data,
        y: AnyArray,
        task: Task,
        train: IntArray,
        test: IntArray,
        y_train: AnyArray,
    ) -> tuple[Scores, Any]:
        """Scores on the sampled training rows and on the held-out rows."""
        names = list_score_names(task, y)
        on_train = predict_encoded(training, data, y, train, task).score_all(names)
        if not len(test):
            return Scores(on_train, {}, None, None), None
        on_test = predict_encoded(training, data, y, test, task)
        comparison = on_test.compare(y_train, on_test.choose_compared(task))
        return Scores(on_train, on_test.score_all(names), comparison, None), on_test

    def _explain(self, data: Data, sampled: int) -> list[str]:
        """What is less than for data in memory."""
        notes = []
        if len(data.X) < self.table.rows:
            notes.append(f"Training scores are those of {sampled} of the training rows, drawn at random")
        return [*notes, "Intervals of coefficients and what each feature is worth are for data in memory"]


def _measure(X: Any) -> tuple[Array, Array]:
    """Means and standard deviations of the features."""
    weights = X.to_rows(np.full(X.shape[0], 1.0 / X.shape[0]))
    means, squares = X.moments(weights).means, X.center(weights).moments(weights).squares
    return means, np.where(squares > 0, np.sqrt(squares), 1.0)


def _count_labels(y: AnyArray, task: Task) -> dict[Any, int] | None:
    if not task.has_classes:
        return None
    labels, counts = np.unique(y, return_counts=True)
    return dict(zip(labels.tolist(), counts.tolist(), strict=True))
