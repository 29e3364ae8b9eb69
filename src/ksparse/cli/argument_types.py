"""Arguments that several commands have: their types, and the text of one."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..limits import MAX_BYTES, MEMORY_VARIABLE, SIZE_FACTOR, describe_size, parse_size
from ..solvers import MAX_EFFORT

MAX_MEMORY = f"""refuse files whose content would take more memory than this, such as 8GB (default {MEMORY_VARIABLE}, or
{describe_size(MAX_BYTES)}, or {SIZE_FACTOR} times the size of the data if that is more)"""
IN_BLOCKS = "; text and Parquet that would take more as a whole are read in blocks that take no more"


def make_type(read: Callable[[str], Any], accepts: Callable[[Any], bool], expected: str) -> Callable[[str], Any]:
    """A type of arguments for argparse, whose error says what was expected."""

    def convert(text: str) -> Any:
        with suppress(ValueError):
            value = read(text)
            if accepts(value):
                return value
        raise argparse.ArgumentTypeError(f"expected {expected}, got {text!r}")

    return convert


SEED = make_type(int, lambda seed: 0 <= seed < 2**32, "an integer ≥ 0 and below 2³²")
EFFORT = make_type(int, lambda effort: 0 <= effort <= MAX_EFFORT, f"an integer from 0 to {MAX_EFFORT}")
JOBS = make_type(int, lambda jobs: jobs == -1 or jobs >= 1, "an integer ≥ 1, or -1")
MEMORY = make_type(parse_size, bool, "a size such as 500MB or 8GB")
FOLDER = make_type(lambda text: Path(text) if text else None, bool, "the name of a folder (. is the current one)")
