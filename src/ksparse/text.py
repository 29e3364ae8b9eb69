"""Text from anywhere, made fit to be shown."""

from __future__ import annotations

from typing import Any

__all__ = ["clean"]


def clean(text: Any) -> str:
    """Text on one line, with what a terminal would obey or cannot show written as escapes."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in str(text))
