"""What ``ksparse fit`` and ``ksparse predict`` do; both raise `InputError` for errors that the user can fix."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from datetime import date
from functools import partial
from glob import glob
from pathlib import Path

from ..persistence import dumps
from ..writing import Hold, check_output_file, replace_files, write_text
from .data import load_data
from .errors import InputError, MemoryLimitError, escape_control, explain_write_errors, quote_path
from .files.sources import shorten_source
from .fitted_model import FittedModel
from .fitting import fit_model
from .outputs import find_output_files
from .predicting import PredictionOptions, predict_rows, predict_stored_rows
from .printing import print_model, show_progress
from .reading import ReadingOptions
from .settings import FILES, Settings
from .stored.large_files import can_be_stored, find_stored_files
from .stored.work_folder import make_work_folder
from .streams import complain, is_output_closed, require_output, write_output
from .tables_out import write_features, write_predictions


def run_fit(settings: Settings, hold: Hold = nullcontext) -> None:
    """Fit a model, print it, and write a report and the model if a folder is given; `hold` is for `replace_files`."""
    if settings.out is None:
        require_output("give --out DIR to write a report and the model")
    if settings.out is not None:
        find_output_files(settings.out, FILES)  # before the work
    asked = "--scheduler" if settings.scheduler is not None else "--out-of-core" if settings.out_of_core else None
    files = find_stored_files(settings.data, settings.reading, settings.max_memory, asked=asked)
    if files is not None:
        from .stored.block_fitting import fit_in_blocks

        fitted: FittedModel = fit_in_blocks(settings, files, hold)
    else:
        with show_progress(f"Reading {settings.data}"), _advise_on_blocks(settings):
            data = load_data(settings)
        with show_progress("Fitting"):
            fitted = fit_model(data, settings)
    if settings.certify is not None:
        from .certifying import prove_model

        with show_progress("Proving"):
            fitted = replace(fitted, proof=prove_model(fitted, settings.certify))
    written: list[str] = []
    try:
        if settings.out is not None:
            written = _write(fitted, settings.out, hold)
    finally:
        if settings.out is None or not is_output_closed():
            print_model(fitted, written)  # a full disk must not lose the result of a long fit


@contextmanager
def _advise_on_blocks(settings: Settings) -> Iterator[None]:
    """Where a table takes too much memory as a whole, say that it can be read in blocks, if it can."""
    try:
        yield
    except MemoryLimitError as error:
        if not can_be_stored(settings.data, settings.reading):
            raise
        raise InputError(f"{error}, or read the file in blocks with --out-of-core") from error


def _write(fitted: FittedModel, folder: Path, hold: Hold) -> list[str]:
    from .report import render_report

    data = fitted.data
    with show_progress("Writing the report"):
        page = render_report(fitted, day=date.today())
        about: dict[str, object] = {
            "data": shorten_source(data.source),
            "target": data.target.name,
            "task": fitted.task.name,
        }
        if data.first_index is not None:
            about["first_index"] = data.first_index
        about |= data.row_columns.list_notes()
        if fitted.settings.strata is not None:
            about["strata"] = fitted.settings.strata
        # The model first: not even a kill between them leaves a new report beside an old model.
        contents = (
            dumps(fitted.final.build_pipeline(), about=about),
            write_features(fitted),
            write_predictions(fitted),
            page,
        )
        with explain_write_errors(f"to {quote_path(folder)}"):
            replace_files(dict(zip(find_output_files(folder, FILES).values(), contents, strict=True)), hold=hold)
    return [f"Wrote {escape_control(folder / name)}" for name in reversed(FILES)]


def run_predict(
    model: Path,
    data: str,
    out: str | None = None,
    keep: Sequence[str] | None = None,
    max_memory: int | None = None,
    reading: ReadingOptions | None = None,
    hold: Hold = nullcontext,
    times: Sequence[float] | None = None,
) -> None:
    """Predict the rows of a file, as CSV: for a classifier with a column of probabilities for each class."""
    file = None if out is None else _find_output(out, model, data)
    if file is None:
        require_output("give --out FILE")
    terminal = sys.stdout.isatty() if file is None else Path(file).is_char_device()
    reading = reading or ReadingOptions()
    options = PredictionOptions(keep, terminal, max_memory, reading, times)
    files = find_stored_files(data, reading, max_memory)
    with ExitStack() as stack:
        predict = partial(predict_rows, source=data)
        if files is not None:
            predict = partial(predict_stored_rows, files=files, folder=stack.enter_context(make_work_folder(hold)))
        with show_progress(f"Reading {data}"):
            found = predict(model, options=options)
        parts = (
            table.to_csv(index=False, header=not place, lineterminator="\n") for place, table in enumerate(found.tables)
        )
        if file is None:
            for part in parts:
                write_output(part)
        else:
            with show_progress(f"Predicting {data}"), explain_write_errors(quote_path(file)):
                write_text(file, parts, hold=hold)
    for note in found.notes:
        complain(note)


def _find_output(out: str, model: Path, data: str) -> str | None:
    """The file that predictions go to, or None for standard output; raises if it cannot be written."""
    if out == "-":
        return None
    with explain_write_errors(quote_path(out)):
        output = check_output_file(out)
    if output.descriptor == 1:
        return None
    for source in (model, Path(data), *map(Path, glob(data))):
        if not output.is_stream and source.exists() and os.path.realpath(source) == output.path:
            raise InputError(f"--out {quote_path(out)} is a file that is read, and would be lost; give another file")
    return out
