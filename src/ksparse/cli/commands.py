"""What ``ksparse fit`` and ``ksparse predict`` do; both raise `InputError` for errors that the user can fix."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..persistence import dumps, write_text
from .data import load_training_data
from .errors import InputError, escape_control, quote_path
from .fitting import FittedModel, fit_model
from .predicting import predict_rows
from .printing import print_model, show_progress
from .settings import Settings


def run_fit(settings: Settings) -> None:
    """Fit a model, print it, and write a report and the model if a folder is given."""
    if settings.out is not None:
        _check_folder(settings.out)
    with show_progress(f"Reading {settings.data}"):
        data = load_training_data(settings.data, settings.target, settings.drop, settings.max_memory)
    with show_progress("Fitting"):
        fitted = fit_model(data, settings)
    written: list[str] = []
    try:
        if settings.out is not None:
            written = _write(fitted, settings.out)
    finally:
        print_model(fitted, written)  # a full disk must not lose the result of a long fit


def _write(fitted: FittedModel, folder: Path) -> list[str]:
    from .report import render_report

    data = fitted.data
    with show_progress("Writing the report"):
        page = render_report(fitted)
        about: dict[str, object] = {"data": Path(data.source).name, "target": data.target, "task": fitted.task.name}
        if data.first_index is None:
            fitted.model.feature_names_in_ = np.array(data.names, dtype=object)
        else:
            about["first_index"] = data.first_index
        files = {"report.html": page, "model.json": dumps(fitted.model, about=about)}
        _write_files(folder, files)
    return [f"Wrote {escape_control(folder / name)}" for name in files]


def _check_folder(folder: Path) -> None:
    """Raise early for a folder that nothing can be written to."""
    place = _find_existing(folder)
    if not place.is_dir():
        raise InputError(f"cannot write to --out {quote_path(folder)}: {quote_path(place)} is a file; give a folder")
    if not os.access(place, os.W_OK):
        raise InputError(f"cannot write to {quote_path(place)}; give --out a folder where you may write")


def _find_existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    return next(place for place in (folder, *folder.absolute().parents) if place.exists())


def _write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write texts to a folder, which is created if needed: first aside, then each is moved to its place."""
    try:
        # Aside in a folder that exists, so that a full disk leaves nothing behind.
        with tempfile.TemporaryDirectory(prefix=".ksparse-", dir=_find_existing(folder)) as aside:
            for name, text in files.items():
                if (folder / name).is_dir():
                    raise IsADirectoryError(None, f"{name} is a folder there")
                write_text(Path(aside) / name, text)
            folder.mkdir(parents=True, exist_ok=True)
            for name in files:
                os.replace(Path(aside) / name, folder / name)
    except OSError as error:
        raise InputError(f"cannot write to {quote_path(folder)}: {error.strerror or error}") from error


def run_predict(model: Path, data: str, out: Path | None = None, max_memory: int | None = None) -> None:
    """Predict the rows of a file, as CSV: for a classifier with a column of probabilities for each class."""
    with show_progress(f"Predicting {data}"):
        terminal = sys.stdout.isatty() if out is None else out.is_char_device()
        table = predict_rows(model, data, terminal=terminal, max_memory=max_memory)
        text = table.to_csv(index=False, lineterminator="\n")
    if out is None:
        sys.stdout.write(text)
        return
    try:
        write_text(out, text)
    except OSError as error:
        raise InputError(f"cannot write {quote_path(out)}: {error.strerror or error}; nothing was written") from error
