"""Errors that the user can fix, and how names and values from data are shown in a message of one line."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LONGEST = 60
DAMAGED = "is damaged or not compressed as its name says; make or download it again"


class InputError(Exception):
    """Something that the user gave is wrong; the message is the one line that is shown."""


def escape_control(text: Any) -> str:
    """Text on one line: characters that a terminal would obey or cannot show are written as escapes."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in str(text))


def quote(value: Any) -> str:
    """A name or a value from the data in quotes, cut if it is long."""
    text = escape_control(value)
    return f"'{text if len(text) <= LONGEST else text[: LONGEST - 1] + '…'}'"


def quote_path(name: Any) -> str:
    """The name of a file in quotes, never cut, so that it can be found."""
    return f"'{escape_control(name)}'"


def quote_list(values: Iterable[Any], most: int = 8) -> str:
    """The first of some names in quotes, and how many there are."""
    names = list(values)
    more = f", … ({len(names)} in total)" if len(names) > most else ""
    return ", ".join(quote(name) for name in names[:most]) + more


@contextmanager
def explain_read_errors(path: Path) -> Iterator[None]:
    """Turn what can go wrong while a file is read into an `InputError`."""
    name = quote_path(path)
    try:
        yield
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8 text; save it as UTF-8, or check that it is the right file") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{name} {DAMAGED}") from error
    except OSError as error:
        # bz2 reports damaged data as an OSError without a number.
        problem = f"cannot read {name}: {error.strerror}; check the path" if error.strerror else f"{name} {DAMAGED}"
        raise InputError(problem) from error
    except csv.Error as error:
        raise InputError(f"cannot read {name} as a table: {error}; check its quotes and separators") from error
