"""``ksparse fit``: read, fit, print, and write a report and the model if a folder is given."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from ..persistence import dumps
from .data import training_data
from .errors import InputError, clean
from .fitting import Outcome, Settings, fit_model
from .output import check_folder, write_files
from .progress import working
from .report import html_report
from .tables import print_outcome

__all__ = ["FitCommand"]


@dataclass(frozen=True)
class FitCommand:
    """``ksparse fit`` with its arguments.

    Attributes
    ----------
    data : str
        A file or an embedded data set.
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
        """Do it all; raises `InputError` for what the user can mend."""
        if self.out is not None:
            if importlib.util.find_spec("matplotlib") is None:
                raise InputError('--out draws figures with matplotlib; install it with: pip install "ksparse[plots]"')
            check_folder(self.out)
        with working(f"Reading {self.data}"):
            data = training_data(self.data, self.target, list(self.drop))
        with working("Fitting"):
            outcome = fit_model(data, self.settings)
        try:
            written = self._write(outcome)
        except BaseException:
            print_outcome(outcome)  # a full disk must not take the result of long work with it
            raise
        print_outcome(outcome, written)

    def _write(self, outcome: Outcome) -> list[str]:
        if self.out is None:
            return []
        with working("Writing the report"):
            files = {"report.html": html_report(outcome), "model.json": model_text(outcome)}
            write_files(self.out, files)
        return [f"Wrote {clean(self.out / name)}" for name in files]


def model_text(outcome: Outcome) -> str:
    """The model for raw data as text for a file, with what ``ksparse predict`` needs to know of its data."""
    model, data = outcome.model, outcome.data
    about: dict[str, object] = {"data": Path(data.source).name, "target": data.target, "task": outcome.task.name}
    if data.first_index is None:
        import numpy as np

        model.feature_names_in_ = np.array(data.names, dtype=object)
    else:
        about["first_index"] = data.first_index
    return dumps(model, about=about)
