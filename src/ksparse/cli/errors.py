"""The error of this command line, and how values from data are shown in a line of text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..text import clean

__all__ = ["InputError", "clean", "listed", "quoted", "whole"]

LONGEST = 60


class InputError(Exception):
    """Something that the user gave is wrong; the message is the one line that is shown."""


def quoted(value: Any) -> str:
    """A name or a value from the data in quotes, cut if it is long."""
    text = clean(value)
    return f"'{text if len(text) <= LONGEST else text[: LONGEST - 1] + '…'}'"


def whole(name: Any) -> str:
    """The name of a file in quotes, never cut: one must be able to find it."""
    return f"'{clean(name)}'"


def listed(values: Iterable[Any], most: int = 8) -> str:
    """Some names in quotes."""
    names = list(values)
    return ", ".join(quoted(name) for name in names[:most]) + (
        f", … ({len(names)} in all)" if len(names) > most else ""
    )
