"""Text from data in messages: on one line, harmless to a terminal, and short."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: Letters of a name or a value in a sentence, and in a table, where there is more room.
LONGEST, LONGEST_CELL = 60, 200
#: Number of names that a sentence lists.
MOST_NAMES = 8


def escape_control(text: Any) -> str:
    """Text on one line: characters that a terminal would obey or cannot show are written as escapes."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in str(text))


def cut_text(value: Any, longest: int = LONGEST) -> str:
    """A name or a value from data, escaped and cut: its first letters, and its last ones, which often differ.

    Examples
    --------
    >>> from ksparse.wording import cut_text
    >>> cut_text("a rather long name of a column", 20)
    'a rather long…column'
    """
    text, tail = str(value), longest // 3
    # Escapes make text longer, never shorter: letters beyond the limit on both sides do not matter.
    text = escape_control(text if len(text) <= 2 * longest else text[:longest] + "…" + text[-longest:])
    return text if len(text) <= longest else f"{text[: longest - tail - 1]}…{text[-tail:]}"


def quote(value: Any) -> str:
    """A name or a value from the data in quotes, cut if it is long."""
    return f"'{cut_text(value)}'"


def quote_path(name: Any) -> str:
    """The name of a file in quotes, never cut, so that it can be found."""
    return f"'{escape_control(name)}'"


def quote_list(values: Sequence[Any], most: int = MOST_NAMES) -> str:
    """The first of some names in quotes, and how many more there are."""
    more = f", … and {len(values) - most:,} more" if len(values) > most else ""
    return ", ".join(quote(name) for name in values[:most]) + more
