"""``ksparse fit`` of data in blocks: larger than memory, or on a cluster."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from sklearn.metrics import accuracy_score, r2_score

from .._types import AnyArray
from ..designs import as_design
from ..persistence import dumps
from ..writing import Hold, replace_files
from .errors import InputError, escape_control, explain_write_errors, quote, quote_path
from .outputs import find_output_files
from .printing import describe_search, print_parts, print_table, say, show_progress
from .settings import FOLDS, Settings
from .splitting import hold_out_rows
from .stored_table import NEEDS_DASK, StoredTable, describe_reading, open_features
from .target import choose_task
from .tasks import Task

#: What ``fit --out`` writes of data in blocks.
STORED_FILES = ("model.json", "features.csv")
#: Options that have no meaning for data in blocks.
MEMORY_ONLY = (
    "always",
    "categories",
    "certify",
    "criterion",
    "dates",
    "include",
    "nested",
    "positive",
    "resamples",
    "time",
    "title",
)
#: Seconds to wait for a scheduler.
CONNECTION_SECONDS = 10


@dataclass(frozen=True)
class StoredFit:
    """A model of data in blocks."""

    table: StoredTable
    settings: Settings
    task: Task
    reason: str
    model: Any
    #: The score of the held-out rows, in words; empty without such rows.
    score: str
    seconds: float

    def list_features(self) -> pd.DataFrame:
        """The selected features with their coefficients, the largest first in units of standard deviations."""
        names = self.model.get_feature_names_out()
        coefficients = np.atleast_2d(self.model.coef_)[:, self.model.support_]
        outputs = [f"coefficient {label}" for label in getattr(self.model, "classes_", [])]
        heads = outputs if len(outputs) == len(coefficients) else ["coefficient"]
        table = pd.DataFrame(coefficients.T, index=pd.Index(names, name="feature"), columns=heads)
        if self.model.fit_intercept:
            table.loc["(intercept)"] = np.atleast_1d(self.model.intercept_)
        return table


def run_stored_fit(settings: Settings, table: StoredTable, hold: Hold = nullcontext) -> None:
    """Fit a model to files that are read in blocks, print it, and write it if a folder is given."""
    _check_settings(settings)
    if settings.out is not None:
        find_output_files(settings.out, STORED_FILES)  # before the work
    with _connect(settings.scheduler):
        fitted = fit_stored(settings, table)
    written = [] if settings.out is None else _write_stored(fitted, settings.out, hold)
    print_parts(lambda console: _print_stored(console, fitted, written))


def fit_stored(settings: Settings, table: StoredTable) -> StoredFit:
    """Fit to the training rows, score the held-out rows, and fit to all rows what was chosen."""
    assert isinstance(settings.target, (list, tuple, str))
    column = settings.target if isinstance(settings.target, str) else settings.target[0]
    if column not in table.names:
        raise InputError(f"{quote_path(table.source)} has no column {quote(column)} for --target")
    with show_progress(f"Reading {quote(column)}"):
        task, y, reason, _ = choose_task(table.read_target(column), settings.task)
    train, test = hold_out_rows(y, task, settings)
    X, began = open_features(table, settings, column), time.perf_counter()
    try:
        with show_progress("Fitting"):
            design = as_design(X, task.estimator)
            part = design.select_rows(train) if len(test) else design
            names = getattr(X, "column_names", getattr(X, "columns", None))
            part.column_names = design.column_names = np.asarray(names, dtype=object)
            model = make_stored_estimator(settings, task).fit(part, y[train])
            score = _describe_score(model, design.select_rows(test), y[test], task) if len(test) else ""
            if len(test) and settings.refit_all:
                model = _fix_choice(model).fit(design, y)
    except (ValueError, TypeError, OSError) as error:
        raise InputError(f"cannot fit {quote_path(table.source)}: {escape_control(error)}") from error
    return StoredFit(table, settings, task, reason, model, score, time.perf_counter() - began)


def make_stored_estimator(settings: Settings, task: Task) -> Any:
    """The estimator: with a fixed k, or one that chooses it; ridges are chosen where that takes no more passes."""
    options: dict[str, Any] = {"effort": settings.effort, "standardize": True}
    options |= {name: getattr(settings, name) for name in task.parameters if getattr(settings, name) is not None}
    if settings.class_weight is not None:
        options["class_weight"] = settings.class_weight
    chooses = settings.k is None or (settings.alpha is None and task.name == "regression")
    if not chooses:
        return task.find_class()(
            k=settings.k, **({} if settings.alpha is None else {"alpha": settings.alpha}), **options
        )
    ks: Any = [settings.k] if settings.k is not None else settings.ks or "auto"
    if settings.alpha is not None:
        options |= {"alphas": settings.alpha, "refit_alphas": None}
    return task.find_class("CV")(ks=ks, cv=FOLDS, rule=settings.rule, **options)


def _fix_choice(model: Any) -> Any:
    """A model with the k and the ridges that another has chosen."""
    return model.at(model.k_) if hasattr(model, "k_") else model


def _describe_score(model: Any, X: Any, y: AnyArray, task: Task) -> str:
    predicted = model.predict(X)
    if task.has_classes:
        return f"Accuracy on {len(y)} held-out rows: {accuracy_score(y, predicted):.4g}"
    return f"R² on {len(y)} held-out rows: {r2_score(y, predicted):.4g}"


def _check_settings(settings: Settings) -> None:
    """Refuse options that data in blocks have no use for."""
    defaults = {field.name: field.default for field in fields(Settings) if field.name in MEMORY_ONLY}
    given = [name for name, default in defaults.items() if getattr(settings, name) != default]
    if given:
        raise InputError(f"--{given[0]} is for data in memory; leave it out for files that are read in blocks")
    if settings.target is None or (not isinstance(settings.target, str) and len(settings.target) != 1):
        raise InputError("files that are read in blocks need one --target COL")


@contextmanager
def _connect(address: str | None) -> Iterator[None]:
    """A client of the scheduler while the context lasts."""
    if address is None:
        yield
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError(NEEDS_DASK) from error
    try:
        client = Client(address, timeout=CONNECTION_SECONDS)
    except (OSError, ValueError) as error:
        raise InputError(
            f"no scheduler answers at {quote(address)} within {CONNECTION_SECONDS} seconds; check the address, and "
            "whether it runs"
        ) from error
    with client:
        yield


def _write_stored(fitted: StoredFit, folder: Path, hold: Hold) -> list[str]:
    about: dict[str, object] = {"data": Path(fitted.table.source).name, "task": fitted.task.name}
    contents = dumps(fitted.model, about=about), fitted.list_features().to_csv(lineterminator="\n")
    with explain_write_errors(f"to {quote_path(folder)}"):
        replace_files(dict(zip(find_output_files(folder, STORED_FILES).values(), contents, strict=True)), hold=hold)
    return [f"Wrote {escape_control(folder / name)}" for name in STORED_FILES]


def _print_stored(console: Console, fitted: StoredFit, written: list[str]) -> None:
    table, model = fitted.table, fitted.model
    say(console, f"Data: {quote_path(table.source)}: {table.rows} rows, {model.n_features_in_} features")
    say(console, describe_reading(table, fitted.settings))
    say(console, f"Task: {fitted.task.name} ({fitted.reason})")
    features = fitted.list_features()
    say(
        console,
        f"\n{fitted.task.model} with {int(model.support_.sum())} of {model.n_features_in_} features\n",
        style="bold",
    )
    shown = features.rename(index=escape_control).rename_axis(columns="Feature")
    print_table(console, shown.map(lambda value: f"{value:.5g}"))
    say(console, "")
    for line in [fitted.score, describe_search(model.result_, fitted.seconds), *written]:
        if line:
            say(console, line)
