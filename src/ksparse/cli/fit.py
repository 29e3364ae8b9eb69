"""``ksparse fit``: read, fit, print, and write a report and the model if a folder is given."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..persistence import dumps
from .data import load_training_data
from .errors import escape_control
from .fitting import FittedModel, Settings, fit_model
from .output import check_folder, write_files
from .printing import print_model
from .progress import show_progress
from .report import render_report

__all__ = ["run_fit"]


def run_fit(source: str, target: str | None, drop: list[str], settings: Settings, out: Path | None) -> None:
    """Fit a model to a file or a built-in data set; raises `InputError` for errors that the user can fix."""
    if out is not None:
        check_folder(out)
    with show_progress(f"Reading {source}"):
        data = load_training_data(source, target, drop)
    with show_progress("Fitting"):
        fitted = fit_model(data, settings)
    try:
        written = [] if out is None else _write(fitted, out)
    except BaseException:
        print_model(fitted)  # a full disk must not lose the result of a long fit
        raise
    print_model(fitted, written)


def _write(fitted: FittedModel, folder: Path) -> list[str]:
    with show_progress("Writing the report"):
        files = {"report.html": render_report(fitted), "model.json": _write_model(fitted)}
        write_files(folder, files)
    return [f"Wrote {escape_control(folder / name)}" for name in files]


def _write_model(fitted: FittedModel) -> str:
    """The text of the model's file, with what ``ksparse predict`` must know about the data."""
    data = fitted.data
    about: dict[str, object] = {"data": Path(data.source).name, "target": data.target, "task": fitted.task.name}
    if data.first_index is None:
        fitted.model.feature_names_in_ = np.array(data.names, dtype=object)
    else:
        about["first_index"] = data.first_index
    return dumps(fitted.model, about=about)
