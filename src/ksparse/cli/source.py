"""Where columns come from: what every kind of file offers, and what is said about a cell that is no number."""

from __future__ import annotations

import bz2
import csv
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from .._types import AnyArray, Array
from .errors import InputError, clean, listed, quoted, whole

__all__ = ["MISSING", "Source", "bad_cell", "check_finite", "is_number", "reading", "unpacked_suffix"]

#: How files write that a value is missing, in lower case.
MISSING = frozenset({"", "na", "n/a", "nan", "null", "<na>"})
PACKED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}


class Source(Protocol):
    """A table of named columns."""

    name: str
    names: list[str]
    optional: bool

    def read(self, features: list[int], target: int | None) -> tuple[Array, AnyArray | None]:
        """The feature columns as numbers, and the target's cells: numbers, booleans or text."""

    def place(self, row: int) -> str:
        """Where to find a row, counted from 0, in the file."""


def unpacked_suffix(path: Path) -> str:
    """The ending of a file's name in lower case, without that of its compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def open_bytes(path: Path) -> Any:
    """The file, unpacked if its name says that it is compressed."""
    return PACKED.get(path.suffix.lower(), open)(path, "rb")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what can go wrong while a file is read into one line."""
    name = whole(path)
    try:
        yield
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is not UTF-8 text (byte {error.object[error.start]:#04x}); save it as UTF-8, or check that it is"
            " the file you mean"
        ) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{name} is damaged or not compressed as its name says; make or download it again") from error
    except FileNotFoundError as error:
        raise InputError(f"there is no file {name}; check the path") from error
    except IsADirectoryError as error:
        raise InputError(f"{name} is a folder; give a file in it") from error
    except OSError as error:
        # bz2 says that data is damaged with an OSError that has no number.
        reason = error.strerror or "it is damaged or not compressed as its name says; make or download it again"
        raise InputError(f"cannot read {name}: {reason}") from error
    except csv.Error as error:
        raise InputError(f"cannot read {name} as a table: {error}; check its quotes and separators") from error
    except MemoryError as error:
        raise InputError(f"{name} does not fit into memory; use fewer rows or columns") from error


def is_number(cell: str) -> bool:
    """Whether a cell is a finite number as the fast reader understands it."""
    try:
        return cell.isascii() and "_" not in cell and bool(np.isfinite(float(cell)))
    except ValueError:
        return False


def bad_cell(source: Source, column: str, value: Any, row: int, also: list[str] | None = None) -> InputError:
    """Say what is wrong with the first cell that is not a number, and what to do; `also` are columns like it."""
    text, place = str(value).strip(), source.place(row)
    # A column that a saved model needs cannot be left out.
    leave_out = f", or leave it out with --drop {_option([column, *(also or [])])}" if source.optional else ""
    if text.lower() in MISSING or value is None:
        what = (
            f"is empty on {place}"
            if text == "" or value is None
            else f"has the missing value {quoted(text)} on {place}"
        )
        return InputError(
            f"column {quoted(column)} {what} of {whole(source.name)}; fill it in or remove the row{leave_out}"
        )
    try:
        finite = bool(np.isfinite(float(text)))
    except ValueError:
        finite = True
    if not finite:
        return InputError(
            f"column {quoted(column)} has the infinite value {quoted(text)} on {place} of {whole(source.name)};"
            f" correct it or remove the row{leave_out}"
        )
    more = f" (and so have {listed(also, 4)})" if also else ""
    advice = "write decimals with a point" if is_number(text.replace(",", ".")) else "code it as numbers"
    return InputError(
        f"column {quoted(column)} has the text {quoted(text)} on {place} of {whole(source.name)}{more}; features must"
        f" be numbers: {advice}{leave_out}"
    )


def check_finite(source: Source, X: Array, names: list[str]) -> None:
    """Raise for the first row with a number that is NaN or infinite."""
    finite = np.isfinite(X)
    if not finite.all():
        row = int(np.argmin(finite.all(axis=1)))
        column = int(np.argmin(finite[row]))
        raise bad_cell(source, names[column], X[row, column], row)


def _option(names: list[str]) -> str:
    """Names of columns as a shell takes them."""
    text = clean(",".join(names))
    plain = all(letter.isalnum() or letter in "_.,:-/" for letter in text)
    return text if plain else "'" + text.replace("'", "'\\''") + "'"
