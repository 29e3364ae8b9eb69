"""Damaged files: each is read, or refused with one line that says why, quickly and without much memory."""

from __future__ import annotations

import contextlib
import io
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import ksparse
from ksparse.cli import main
from ksparse.cli.data import load_numbered_features, load_rows, load_training_data
from ksparse.cli.errors import InputError
from ksparse.persistence import dumps, loads
from ksparse.tables import TableEncoder

from .files import File
from .outcomes import Failed, Refused, demand

__all__ = ["check_command", "check_reading"]

#: An error for a user is no longer than this.
LONGEST_MESSAGE = 4000


def check_reading(file: File) -> None:
    """A model file or a data file is read or refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            _read_model(file.content) if file.format == "json" else _read_data(file)
    except (InputError, ValueError) as error:
        # A ValueError of a model file has the reason; one of a data file is not meant for a user.
        demand(isinstance(error, InputError) or file.format == "json", f"{type(error).__name__}: {error}")
        _check_message(str(error))
        raise Refused(str(error)) from error
    except (Failed, MemoryError):
        raise
    except Exception as error:
        raise Failed(f"{type(error).__name__}: {error}") from error


def _check_message(message: str) -> None:
    demand(message.strip(), "an error without a message")
    demand("\n" not in message and len(message) <= LONGEST_MESSAGE, f"an error of many lines: {message[:300]!r}")


def _read_model(content: bytes) -> None:
    model = loads(content)
    # What was read can be written and read again, if it still looks fitted.
    with contextlib.suppress(TypeError, AttributeError, ValueError):
        loads(dumps(model))


def _read_data(file: File) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"data.{file.format}"
        path.write_bytes(file.content)
        by_label = file.format.startswith("svm")
        with contextlib.suppress(InputError):
            if by_label:
                _check_features(load_numbered_features(str(path), [0, 1], 0))
            else:
                _, rows = load_rows(str(path), None, 2)
                demand(rows.shape[1] == 2, "as many columns as the model has features")
        data = load_training_data(str(path), None if by_label else "y", [])
        demand(data.X.shape[0] == len(data.target.values) == data.target.known.sum(), "as many rows as targets")
        demand(not pd.isna(data.target.values).any(), "rows without a target were read")
        _check_features(data.X if by_label else _encode(data.X))


def _encode(table: pd.DataFrame) -> Any:
    """The features of a table; what cannot be used, or is too large a number, is refused in words for a user."""
    try:
        return TableEncoder().fit_transform(table).to_numpy()
    except ValueError as error:
        raise InputError(str(error)) from error


def _check_features(X: Any) -> None:
    values = X.data if hasattr(X, "indptr") else X
    demand(np.isfinite(values).all(), "features that are not finite were read")


def check_command(file: File) -> None:
    """The command ends with 0 or 2, and says in one line what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"data.{file.format}"
        path.write_bytes(file.content)
        if file.format == "json":
            rows = Path(folder) / "rows.csv"
            rows.write_text("size,rooms\n1,2\n3,4\n")
            arguments = ["predict", str(path), str(rows)]
        else:
            target = [] if file.format.startswith("svm") else ["--target", "y"]
            arguments = ["fit", str(path), *target, "--k", "1", "--alpha", "0.1", "--test", "0"]
        _run_command(arguments)


def _run_command(arguments: list[str]) -> None:
    said, complained = io.StringIO(), io.StringIO()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
            try:
                code = main(arguments)
            except SystemExit as end:
                code = int(end.code or 0)
    unexpected = [warning for warning in caught if not issubclass(warning.category, ksparse.ConvergenceWarning)]
    demand(not unexpected, f"warnings: {[str(warning.message) for warning in unexpected]}")
    demand(code in (0, 2), f"exit code {code}")
    demand("\x1b]" not in said.getvalue() + complained.getvalue(), "control characters reach the terminal")
    if code:
        demand("not enough memory" not in complained.getvalue(), "takes too much memory")
        _check_message(complained.getvalue().strip())
        raise Refused(complained.getvalue())
