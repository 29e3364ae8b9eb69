"""The options that say how a file is read, which several commands have."""

from __future__ import annotations

import argparse
import codecs
from dataclasses import fields
from functools import partial
from typing import Any

from .argument_types import make_type
from .files.options import ReadingOptions

#: Separators by their names, as a shell would not pass them on easily.
SEPARATOR_NAMES = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}
#: Lines that can be skipped.
MOST_SKIPPED = 1_000_000


def add_reading_options(parser: argparse.ArgumentParser, *, labels: bool = True) -> None:
    """Add the options that say how a file is read; `take_reading_options` collects them.

    Parameters
    ----------
    parser : ArgumentParser
        The parser of a command that reads a table.
    labels : bool
        Whether the command needs labels, so that they may be in a second file.
    """
    group = parser.add_argument_group("how the file is read, where it is not found out rightly")
    add = partial(group.add_argument, default=argparse.SUPPRESS)
    add(
        "--sep",
        type=SEPARATOR,
        metavar="SEP",
        help="separator of cells: one character, tab, or space for runs of spaces",
    )
    add("--decimal", choices=[".", ","], help="decimal mark of numbers")
    add("--skip", type=LINES, metavar="N", help="lines to skip before the names of the columns")
    add(
        "--na",
        type=NA_VALUES,
        metavar="VALUE,…",
        help="cells that mean a missing value besides the usual ones, as in --na=-999",
    )
    add("--encoding", type=ENCODING, metavar="NAME", help="encoding of the text, such as cp1250 or utf-16-le")
    add("--transpose", action="store_true", help="features are in rows, samples in columns")
    if labels:
        add(
            "--labels",
            metavar="FILE",
            help="a second table with the target of each sample, found by the names of samples, or in their order",
        )


def take_reading_options(given: dict[str, Any]) -> ReadingOptions:
    """What the options of `add_reading_options` say; they are removed from the others."""
    return ReadingOptions(
        **{field.name: given.pop(field.name) for field in fields(ReadingOptions) if field.name in given}
    )


def _is_text_encoding(name: str) -> bool:
    """Whether there is an encoding of text with this name that can be read piece by piece."""
    try:
        return codecs.getincrementaldecoder(name)().decode(b"", True) == ""
    except (LookupError, ValueError):
        return False


SEPARATOR = make_type(
    lambda text: SEPARATOR_NAMES.get(text.lower(), text),
    lambda mark: len(mark) == 1 and mark not in '"\r\n\0',
    "one character, or tab, space, comma, semicolon or pipe",
)
LINES = make_type(int, lambda count: 0 <= count <= MOST_SKIPPED, f"a number of lines from 0 to {MOST_SKIPPED}")
NA_VALUES = make_type(
    lambda text: tuple(part.strip() for part in text.split(",") if part.strip()), bool, "values such as -999,unknown"
)
ENCODING = make_type(str, _is_text_encoding, "the name of an encoding, such as cp1250 or utf-16-le")
