"""``ksparse fit``: read, fit, print, and write a report and the model if a folder is given."""

from __future__ import annotations

from dataclasses import dataclass
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

__all__ = ["FitCommand"]


@dataclass(frozen=True)
class FitCommand:
    """``ksparse fit`` with its arguments.

    Attributes
    ----------
    data : str
        A file or a built-in data set.
    target : str or None
        The column to predict.
    drop : tuple of str
        Columns to leave out, as the user wrote them.
    settings : Settings
        How to fit.
    out : Path or None
        The folder for a report and the model.
    """

    data: str
    target: str | None
    drop: tuple[str, ...]
    settings: Settings
    out: Path | None

    def run(self) -> None:
        """Run the command; raises `InputError` for errors that the user can fix."""
        if self.out is not None:
            check_folder(self.out)
        with show_progress(f"Reading {self.data}"):
            data = load_training_data(self.data, self.target, list(self.drop))
        with show_progress("Fitting"):
            fitted = fit_model(data, self.settings)
        try:
            written = self._write(fitted)
        except BaseException:
            print_model(fitted)  # a full disk must not lose the result of a long fit
            raise
        print_model(fitted, written)

    def _write(self, fitted: FittedModel) -> list[str]:
        if self.out is None:
            return []
        with show_progress("Writing the report"):
            files = {"report.html": render_report(fitted), "model.json": write_model(fitted)}
            write_files(self.out, files)
        return [f"Wrote {escape_control(self.out / name)}" for name in files]


def write_model(fitted: FittedModel) -> str:
    """The model as the text of a file, with what ``ksparse predict`` must know about its data."""
    data, about = fitted.data, dict[str, object]()
    about |= {"data": Path(data.source).name, "target": data.target, "task": fitted.task.name}
    if data.first_index is None:
        fitted.model.feature_names_in_ = np.array(data.names, dtype=object)
    else:
        about["first_index"] = data.first_index
    return dumps(fitted.model, about=about)
