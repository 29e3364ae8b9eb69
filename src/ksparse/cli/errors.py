"""Errors that the user can fix, as a message of one line."""

from __future__ import annotations

import csv
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..limits import describe_size, find_limit
from ..wording import escape_control, quote, quote_list, quote_path

__all__ = [
    "InputError",
    "MemoryLimitError",
    "check_memory",
    "choose_limit",
    "escape_control",
    "explain_read_errors",
    "explain_write_errors",
    "join_problems",
    "quote",
    "quote_list",
    "quote_path",
]

DAMAGED = "is damaged or not compressed as its name says; make or download it again"


class InputError(Exception):
    """Something that the user gave is wrong; the message is the one line that is shown."""


class MemoryLimitError(InputError):
    """Something would take more memory than is allowed."""


def join_problems(problems: Iterable[str]) -> InputError:
    """One error that tells all problems at once."""
    return InputError("; also, ".join(problems))


def choose_limit(path: Path, chosen: int | None) -> int:
    """Memory that the data in a file may take: --max-memory, the environment variable, or the default for its size."""
    try:
        return find_limit(chosen, path.stat().st_size if path.is_file() else 0)
    except ValueError as error:
        raise InputError(str(error)) from error


def check_memory(needed: int, limit: int, what: str) -> None:
    """Raise if something needs more memory than it may take."""
    if needed > limit:
        raise MemoryLimitError(
            f"{what} would take about {describe_size(needed)} of memory, more than {describe_size(limit)}; if you trust"
            " the file, allow more with --max-memory SIZE"
        )


@contextmanager
def explain_read_errors(path: Path | str) -> Iterator[None]:
    """Turn what can go wrong while a file is read into an `InputError`."""
    name = quote_path(path)
    try:
        yield
    except UnicodeDecodeError as error:
        encoding = "-".join(error.encoding.upper().split("-")[:2])
        raise InputError(
            f"{name} is not {encoding} text; save it as UTF-8, or check that it is the right file"
        ) from error
    except (gzip.BadGzipFile, lzma.LZMAError, zipfile.BadZipFile, EOFError, NotImplementedError, zlib.error) as error:
        raise InputError(f"{name} {DAMAGED}") from error
    except OSError as error:
        # bz2 reports damaged data as an OSError without a number.
        problem = f"cannot read {name}: {error.strerror}; check the path" if error.strerror else f"{name} {DAMAGED}"
        raise InputError(problem) from error
    except csv.Error as error:
        raise InputError(f"cannot read {name} as a table: {error}; check its quotes and separators") from error


@contextmanager
def explain_write_errors(where: str) -> Iterator[None]:
    """Turn what can go wrong while an output is written into an `InputError`; a broken pipe remains one."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"cannot write {where}: {error.strerror or error}") from error
